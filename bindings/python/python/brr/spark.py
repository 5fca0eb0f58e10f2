"""Privatizing columns of a Spark DataFrame, on the cluster that it lives on.

The package must be installed for the Python of the executors, which ``PYSPARK_PYTHON``
names; the built-in model is part of it and does not travel. A model of your own travels
once to each executor, as a broadcast, and so does a language model (``context``). Each
Python worker keeps its privatizer from task to task.

Noise is drawn on the executors, from their operating systems' entropy, anew for
every batch: a task that Spark runs again does not repeat noise. For the same
reason **every action on the result draws again**, and what was released twice
has lost twice: write the result once, and read it from there.

Beside the guarantee, which is about the words of one text, a table gives away: all other
columns, the schema with its names and the metadata of the columns, which cells are null,
how many rows there are, and their order within and among partitions. Rows stay where they
were, so anyone who knows the order of the original knows whose row is whose.
"""

from __future__ import annotations

import os
import pathlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import brr
from brr import choices
from brr.privatizer import quiet

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column, DataFrame


class _Plan(NamedTuple):
    """What a task needs to know. Small: it travels with every task."""

    # Places of the columns: names may be there twice.
    columns: list[int]
    options: dict[str, Any]
    identity: str
    epsilon: float
    # Whether the driver checked the model: then the executors do, too.
    checked: bool
    # The broadcast bytes of a model, or None for the built-in one.
    model: Any
    # The identity of the language model that draws are decoded with, if they are, and its
    # broadcast bytes, or None for the built-in one.
    context: str | None = None
    language: Any = None


def privatize(
    df: DataFrame,
    columns: str | Column | Sequence[str | Column],
    *,
    model: brr.Model | str | os.PathLike[str] | None = None,
    mechanism: str = choices.MECHANISM,
    epsilon: float | None = None,
    bound: float | None = None,
    keep: float | None = None,
    layout: str = choices.LAYOUT,
    unknown: str = choices.UNKNOWN,
    search: str = choices.SEARCH,
    context: choices.Context = False,
    public: choices.Words = None,
    private: choices.Words = None,
    case: str = choices.CASE,
) -> DataFrame:
    """Privatize columns of strings; all other columns stay as they are.

    Rows stay in their partitions and in their order, nulls stay null, and the schema with
    the columns' metadata stays. Lazy like all of Spark: see the module's text for what that
    means for the noise.

    Args:
        df: The data frame.
        columns: A column of strings or several, by name or as ``F.col("name")``. Names
            are told apart by case if ``spark.sql.caseSensitive`` is set, as everywhere
            in Spark.
        model: Model, mechanism, budget, layout, unknown, search, context, public, private
            and case are those of :class:`brr.Privatizer`.
        mechanism: See there.
        epsilon: See there; one of epsilon, bound and keep must be given.
        bound: See there.
        keep: See there.
        layout: See there.
        unknown: See there.
        search: See there.
        context: See there.
        public: See there.
        private: See there.
        case: See there.

    Raises:
        BudgetError: No budget was given, or one that makes no sense.
        InputError: There is no such column, or it does not hold strings.
    """
    choices.need_budget(epsilon, bound, keep)
    from pyspark.sql.types import StructType

    places = _places(df, columns)
    options = {
        "mechanism": mechanism,
        "epsilon": epsilon,
        "bound": bound,
        "keep": keep,
        "layout": layout,
        "unknown": unknown,
        "search": search,
        "public": _fixed(public),
        "private": _fixed(private),
        "case": case,
    }
    # Here already, so that a wrong option or model fails before any task does.
    privatizer = brr.Privatizer(model, context=context, **options)  # type: ignore[arg-type]
    broadcast = df.sparkSession.sparkContext.broadcast
    language = privatizer.context
    plan = _Plan(
        places,
        options,
        privatizer.model.file_identity,
        privatizer.guarantee.epsilon,
        privatizer.model.standing == "checked",
        None if model is None else broadcast(privatizer.model.to_bytes()),
        None if language is None else language.identity,
        None if language is None or context is True else broadcast(language.to_bytes()),
    )

    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return _privatize_batches(plan, batches)

    # By place: PySpark's mapInArrow takes a name with a dot for a field of a struct.
    plain = df.toDF(*(f"_{place}" for place in range(len(df.columns))))
    return plain.mapInArrow(work, StructType(df.schema.fields))


def _fixed(words: choices.Words) -> str | tuple[str, ...] | None:
    """Give a list of words as executors get it: files are read here."""
    if isinstance(words, os.PathLike):
        words = pathlib.Path(words).read_text(encoding="utf-8").splitlines()
    return words if words is None or isinstance(words, str) else tuple(words)


def _places(df: DataFrame, columns: Any) -> list[int]:
    """Find the columns, each of them once."""
    several = isinstance(columns, Sequence) and not isinstance(columns, str)
    places = [_place(df, column) for column in (columns if several else [columns])]
    if not places:
        raise brr.InputError("name at least one column to privatize")
    return sorted(set(places))


def _place(df: DataFrame, column: Any) -> int:
    from pyspark.sql.types import StringType

    name = column if isinstance(column, str) else _name(df, column)
    cased = str(df.sparkSession.conf.get("spark.sql.caseSensitive")).lower() == "true"
    fields = df.schema.fields
    names = [field.name if cased else field.name.lower() for field in fields]
    wanted = name if cased else name.lower()
    places = [place for place, other in enumerate(names) if other == wanted]
    if len(places) != 1:
        known = ", ".join(df.columns)
        found = "no column" if not places else f"{len(places)} columns"
        raise brr.InputError(f"{found} named {name}; the columns are {known}")
    kind = fields[places[0]].dataType
    if not isinstance(kind, StringType):
        raise brr.InputError(
            f"column {name} must hold strings, but holds {kind.simpleString()}"
        )
    return places[0]


def _name(df: DataFrame, column: Any) -> str:
    """Tell the name of a plain column: an expression is none of the frame's."""
    from pyspark.sql import Column

    if not isinstance(column, Column):
        found = type(column).__name__
        raise brr.InputError(f"expected a column or its name, found {found}")
    name: str = df.select(column).columns[0]
    if str(column).replace("`", "") != f"Column<'{name.replace('`', '')}'>":
        raise brr.InputError(
            "expected a column of the data frame, found an expression: make it a column "
            "with withColumn first, and give its name"
        )
    return name


# Of this Python worker, which serves many tasks.
_privatizers: dict[tuple[Any, ...], brr.Privatizer] = {}


def _privatizer(plan: _Plan) -> brr.Privatizer:
    key = (plan.identity, plan.context, *plan.options.items())
    found = _privatizers.get(key)
    if found is None:
        model = (
            brr.Model.english()
            if plan.model is None
            else brr.Model.from_bytes(plan.model.value)
        )
        if plan.checked:
            model.check(threads=1)
        # Warnings are the driver's.
        context = _language(plan)
        found = quiet(brr.Privatizer, model, context=context, **plan.options)
        here = model.file_identity, context and context.identity, found.guarantee.epsilon
        if here != (plan.identity, plan.context, plan.epsilon):
            raise brr.ModelError(
                "this executor's brr has another built-in model than the driver's: "
                "install the same version on both"
            )
        _privatizers[key] = found
    return found


def _language(plan: _Plan) -> brr.Language | None:
    if plan.context is None:
        return None
    if plan.language is None:
        return brr.Language.english()
    return brr.Language.from_bytes(plan.language.value)


def _privatize_batches(
    plan: _Plan, batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    privatizer = _privatizer(plan)
    for batch in batches:
        for at in plan.columns:
            # One thread: Spark runs as many tasks as there are cores.
            private = privatizer.privatize_batch(batch.column(at), threads=1)
            batch = batch.set_column(at, batch.schema.field(at), private)
        yield batch

"""Privatizing a column of a Spark DataFrame, on the cluster that it lives on.

The package must be installed on the executors; the built-in model is part of it
and does not travel. A model of your own travels once to each executor, as a
broadcast. Each Python worker keeps its privatizer from task to task.

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
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import brr
from brr import choices

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame


class _Plan(NamedTuple):
    """What a task needs to know. Small: it travels with every task."""

    column: str
    options: dict[str, Any]
    identity: str
    epsilon: float
    # Whether the driver checked the model: then the executors do, too.
    checked: bool
    # The broadcast bytes of a model, or None for the built-in one.
    model: Any


def privatize(
    df: DataFrame,
    column: str,
    *,
    model: brr.Model | str | os.PathLike[str] | None = None,
    mechanism: str = choices.MECHANISM,
    epsilon: float | None = None,
    bound: float | None = None,
    keep: float | None = None,
    layout: str = choices.LAYOUT,
    unknown: str = choices.UNKNOWN,
    search: str = choices.SEARCH,
) -> DataFrame:
    """Privatize one column of strings; all other columns stay as they are.

    Rows stay in their partitions and in their order, nulls stay null, and the schema with
    the columns' metadata stays. Lazy like all of Spark: see the module's text for what that
    means for the noise.

    Args:
        df: The data frame.
        column: Name of a column of strings.
        model: Model, mechanism, budget, layout, unknown and search are those
            of :class:`brr.Privatizer`.
        mechanism: See there.
        epsilon: See there; one of epsilon, bound and keep must be given.
        bound: See there.
        keep: See there.
        layout: See there.
        unknown: See there.
        search: See there.

    Raises:
        BudgetError: No budget was given, or one that makes no sense.
        InputError: There is no such column, or it does not hold strings.
    """
    choices.need_budget(epsilon, bound, keep)
    from pyspark.sql.types import StringType, StructType

    fields = [field for field in df.schema.fields if field.name == column]
    if len(fields) != 1:
        known = ", ".join(df.columns)
        found = "no column" if not fields else f"{len(fields)} columns"
        raise brr.InputError(f"{found} named {column}; the columns are {known}")
    if not isinstance(fields[0].dataType, StringType):
        kind = fields[0].dataType.simpleString()
        raise brr.InputError(f"column {column} must hold strings, but holds {kind}")
    options = {
        "mechanism": mechanism,
        "epsilon": epsilon,
        "bound": bound,
        "keep": keep,
        "layout": layout,
        "unknown": unknown,
        "search": search,
    }
    # Here already, so that a wrong option or model fails before any task does.
    privatizer = brr.Privatizer(model, **options)  # type: ignore[arg-type]
    plan = _Plan(
        column,
        options,
        privatizer.model.file_identity,
        privatizer.guarantee.epsilon,
        privatizer.model.standing == "checked",
        None
        if model is None
        else df.sparkSession.sparkContext.broadcast(privatizer.model.to_bytes()),
    )

    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return _privatize_batches(plan, batches)

    return df.mapInArrow(work, StructType(df.schema.fields))


# Of this Python worker, which serves many tasks.
_privatizers: dict[tuple[Any, ...], brr.Privatizer] = {}


def _privatizer(plan: _Plan) -> brr.Privatizer:
    key = (plan.identity, *plan.options.items())
    found = _privatizers.get(key)
    if found is None:
        model = (
            brr.Model.english()
            if plan.model is None
            else brr.Model.from_bytes(plan.model.value)
        )
        if plan.checked:
            model.check(threads=1)
        found = brr.Privatizer(model, **plan.options)
        if model.file_identity != plan.identity or found.guarantee.epsilon != plan.epsilon:
            raise brr.ModelError(
                "this executor's brr has another built-in model than the driver's: "
                "install the same version on both"
            )
        _privatizers[key] = found
    return found


def _privatize_batches(
    plan: _Plan, batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    privatizer = _privatizer(plan)
    for batch in batches:
        at = batch.schema.get_field_index(plan.column)
        # One thread: Spark runs as many tasks as there are cores.
        private = privatizer.privatize_batch(batch.column(at), threads=1)
        yield batch.set_column(at, batch.schema.field(at), private)

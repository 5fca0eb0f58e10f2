"""Columns of text in the containers that people have them in.

No library is imported here that is not there already: an object of pandas,
polars or pyarrow has brought its library along. The libraries are told by the
name of the class's module, so that finding out imports nothing either.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from brr import _native
from brr.errors import InputError


class Series(Protocol):
    """A pandas or polars Series, a pyarrow Array or ChunkedArray: what they share."""

    def __len__(self) -> int:
        """Count the rows."""
        ...

    def to_numpy(self, *args: Any, **kwargs: Any) -> Any:
        """Give the rows as a NumPy array."""
        ...


class ArrowArray(Protocol):
    """An object that offers one Arrow array."""

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        """Give the schema and the array, as capsules."""
        ...


class ArrowStream(Protocol):
    """An object that offers a stream of Arrow arrays."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Give the stream, as a capsule."""
        ...


class Array(Protocol):
    """A NumPy array: what tells it from a list."""

    def __len__(self) -> int:
        """Count the rows."""
        ...

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        """Give itself."""
        ...


class Batch(NamedTuple):
    """A privatizer, and how it is to go about a column."""

    privatizer: _native.Privatizer
    threads: int | None
    progress: Callable[[int, int], object] | None

    def texts(self, texts: list[Any]) -> list[Any]:
        """Privatize strings and Nones."""
        return self.privatizer._privatize_list(texts, self.threads, self.progress, False)

    def arrow(self, column: Any, combine: bool) -> list[_native.ArrowColumn]:
        """Privatize an Arrow column."""
        return self.privatizer._privatize_arrow(column, self.threads, self.progress, combine)


def privatize_batch(batch: Batch, texts: Any) -> Any:
    """Privatize a column, and give it back in the container in which it came."""
    if isinstance(texts, list):
        return batch.texts(texts)
    _refuse_table(texts)
    library = type(texts).__module__.partition(".")[0]
    if library == "pandas" and hasattr(type(texts), "array"):
        return _pandas(batch, texts)
    if library == "polars" and type(texts).__name__ == "Series":
        return _polars_series(batch, texts)
    if library == "pyarrow" and hasattr(texts, "type"):
        return _pyarrow_array(batch, texts)
    if hasattr(texts, "__arrow_c_array__") or hasattr(texts, "__arrow_c_stream__"):
        return batch.arrow(texts, True)[0]
    if library == "numpy" and hasattr(texts, "ndim"):
        return _numpy_array(batch, texts)
    if isinstance(texts, Sequence) and not isinstance(texts, str | bytes | bytearray):
        return batch.texts(list(texts))
    raise _no_column(texts)


def rows(texts: Any) -> list[Any]:
    """Give the cells of a column in any container, with None for every kind of null."""
    if isinstance(texts, list):
        return texts
    _refuse_table(texts)
    if isinstance(texts, str | bytes | bytearray | Mapping) or not hasattr(texts, "__iter__"):
        raise _no_column(texts)
    cells = texts.tolist() if hasattr(texts, "tolist") else texts
    return [None if is_null(cell) else cell for cell in cells]


def _refuse_table(texts: Any) -> None:
    if hasattr(texts, "columns") or hasattr(texts, "column_names"):
        raise InputError(
            f"found a table, {type(texts).__name__}: give one of its columns, "
            "as in privatize_batch(df['text'])"
        )


def _no_column(texts: Any) -> InputError:
    kind = type(texts).__name__
    message = f"expected a column of texts (list, Series, Arrow array), found {kind}"
    return InputError(message + ("; for one text use privatize" if kind == "str" else ""))


def _pandas(batch: Batch, column: Any) -> Any:
    """Privatize a Series, which keeps its index, or an Index; both keep their name."""
    import pandas as pd

    if isinstance(column, pd.MultiIndex):
        raise InputError(
            "found a MultiIndex: give one of its levels, as in index.get_level_values('text')"
        )
    private, dtype = _pandas_cells(batch, column)
    if isinstance(column, pd.Index):
        return pd.Index(private, name=column.name, dtype=dtype)
    return pd.Series(private, index=column.index, name=column.name, dtype=dtype)


def _pandas_cells(batch: Batch, column: Any) -> tuple[Any, Any]:
    """Privatize the cells, and say in which dtype they are to be."""
    import pandas as pd

    dtype = column.dtype
    if isinstance(dtype, pd.ArrowDtype) or getattr(dtype, "storage", None) == "pyarrow":
        import pyarrow as pa

        cells = pa.chunked_array([column.array.__arrow_array__()])
        from_arrow = dtype.__from_arrow__  # pyright: ignore[reportAttributeAccessIssue]
        return from_arrow(_pyarrow_array(batch, cells)), dtype
    # A categorical column comes out as plain strings: its categories are words
    # of the input.
    cells = column.astype(object).tolist()
    private = _with_nulls(batch, cells, column.isna().tolist())
    return private, dtype if isinstance(dtype, pd.StringDtype) else object


def _with_nulls(batch: Batch, cells: list[Any], nulls: list[bool]) -> list[Any]:
    """Privatize cells; whatever stood for null (None, NaN, NA) stands there again."""
    rows = [None if null else cell for cell, null in zip(cells, nulls, strict=True)]
    private = batch.texts(rows)
    for row, null in enumerate(nulls):
        if null:
            private[row] = cells[row]
    return private


def _polars_series(batch: Batch, series: Any) -> Any:
    import polars as pl

    # Categories come out as plain strings: they are words of the input.
    plain = series.cast(pl.String) if series.dtype in (pl.Categorical, pl.Enum) else series
    if plain.dtype == pl.Null:
        return series.clone()
    if plain.dtype != pl.String:
        raise InputError(f"expected a column of strings, found {plain.dtype}")
    chunks = batch.arrow(plain, True)
    private = pl.Series(values=chunks[0]) if chunks else pl.Series(values=[], dtype=pl.String)
    return private.alias(series.name)


def _pyarrow_array(batch: Batch, array: Any) -> Any:
    import pyarrow as pa

    chunks = [pa.array(chunk) for chunk in batch.arrow(array, False)]
    if isinstance(array, pa.ChunkedArray):
        plain = array.type.value_type if pa.types.is_dictionary(array.type) else array.type
        return pa.chunked_array(chunks, type=plain)
    return chunks[0]


def _numpy_array(batch: Batch, array: Any) -> Any:
    """Privatize an array; one of fixed width comes out as wide as it needs to be."""
    import numpy as np

    if array.ndim != 1:
        raise InputError(
            f"expected an array of one dimension, found {array.ndim}: "
            "give one of its columns, as in privatize_batch(array[:, 0])"
        )
    cells = array.tolist()
    nulls = [is_null(cell) for cell in cells]
    private = np.empty(len(cells), dtype=object)
    private[:] = _with_nulls(batch, cells, nulls)
    return private.astype(str if array.dtype.kind == "U" else array.dtype)


def is_null(cell: Any) -> bool:
    """Tell what pandas takes for null, without asking pandas."""
    missing = cell is None or type(cell).__name__ == "NAType"
    return missing or (isinstance(cell, float) and cell != cell)


def cells(column: Any) -> list[Any]:
    """List the cells of a column, with None for every null."""
    listed = column.to_pylist() if hasattr(column, "to_pylist") else column
    return [None if is_null(cell) else cell for cell in listed]

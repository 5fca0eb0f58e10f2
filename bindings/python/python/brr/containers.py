"""Columns of text in the containers that people have them in.

No library is imported here that is not there already: an object of pandas,
polars or pyarrow has brought its library along. The libraries are told by the
name of the class's module, so that finding out imports nothing either.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

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


def privatize_batch(privatizer: _native.Privatizer, texts: Any, threads: int | None) -> Any:
    """Privatize a column, and give it back in the container in which it came."""
    if isinstance(texts, list):
        return privatizer._privatize_list(texts, threads)
    library = type(texts).__module__.partition(".")[0]
    kind = type(texts).__name__
    if library == "pandas" and hasattr(texts, "index") and hasattr(texts, "array"):
        return _pandas_series(privatizer, texts, threads)
    if library == "polars" and kind == "Series":
        return _polars_series(privatizer, texts, threads)
    if library == "pyarrow" and hasattr(texts, "type"):
        return _pyarrow_array(privatizer, texts, threads)
    if hasattr(texts, "__arrow_c_array__") or hasattr(texts, "__arrow_c_stream__"):
        return _arrow_column(privatizer, texts, threads)
    if library == "numpy" and getattr(texts, "ndim", None) == 1:
        return _numpy_array(privatizer, texts, threads)
    if isinstance(texts, Sequence) and not isinstance(texts, str | bytes | bytearray):
        return privatizer._privatize_list(list(texts), threads)
    message = f"expected a column of texts (list, Series, Arrow array), found {kind}"
    raise InputError(message + ("; for one text use privatize" if kind == "str" else ""))


def _pandas_series(privatizer: _native.Privatizer, series: Any, threads: int | None) -> Any:
    import pandas as pd

    dtype = series.dtype
    if isinstance(dtype, pd.ArrowDtype) or getattr(dtype, "storage", None) == "pyarrow":
        import pyarrow as pa

        column = pa.chunked_array([series.array.__arrow_array__()])
        private = dtype.__from_arrow__(_pyarrow_array(privatizer, column, threads))
        return pd.Series(private, index=series.index, name=series.name)
    # A categorical column comes out as plain strings: its categories are words
    # of the input.
    cells = series.astype(object).tolist()
    nulls = series.isna().tolist()
    rows = [None if null else cell for cell, null in zip(cells, nulls, strict=True)]
    private = privatizer._privatize_list(rows, threads)
    # Whatever stood for null (None, NaN, NA) stands there again.
    for row, null in enumerate(nulls):
        if null:
            private[row] = cells[row]
    dtype = dtype if isinstance(dtype, pd.StringDtype) else object
    return pd.Series(private, index=series.index, name=series.name, dtype=dtype)


def _polars_series(privatizer: _native.Privatizer, series: Any, threads: int | None) -> Any:
    import polars as pl

    # Categories come out as plain strings: they are words of the input.
    plain = series.cast(pl.String) if series.dtype in (pl.Categorical, pl.Enum) else series
    if plain.dtype == pl.Null:
        return series.clone()
    if plain.dtype != pl.String:
        raise InputError(f"expected a column of strings, found {plain.dtype}")
    chunks = privatizer._privatize_arrow(plain, threads, True)
    private = pl.Series(values=chunks[0]) if chunks else pl.Series(values=[], dtype=pl.String)
    return private.alias(series.name)


def _pyarrow_array(privatizer: _native.Privatizer, array: Any, threads: int | None) -> Any:
    import pyarrow as pa

    chunks = [pa.array(chunk) for chunk in privatizer._privatize_arrow(array, threads, False)]
    if isinstance(array, pa.ChunkedArray):
        plain = array.type.value_type if pa.types.is_dictionary(array.type) else array.type
        return pa.chunked_array(chunks, type=plain)
    return chunks[0]


def _arrow_column(privatizer: _native.Privatizer, column: Any, threads: int | None) -> Any:
    return privatizer._privatize_arrow(column, threads, True)[0]


def _numpy_array(privatizer: _native.Privatizer, array: Any, threads: int | None) -> Any:
    import numpy as np

    private = np.empty(len(array), dtype=object)
    private[:] = privatizer._privatize_list(array.tolist(), threads)
    return private

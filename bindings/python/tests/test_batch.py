"""Columns in every container."""

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import brr

TEXTS = ["The film.", None, "", "was good, was bad", "evening"]
KEPT = ["the film.", None, "", "was good, was bad", "evening"]


def test_list_tuple_numpy(sure):
    assert sure.privatize_batch(TEXTS) == KEPT
    assert sure.privatize_batch(tuple(TEXTS)) == KEPT
    assert sure.privatize_batch([]) == []
    private = sure.privatize_batch(pd.Series(TEXTS, dtype=object).to_numpy())
    assert private.tolist() == KEPT


@pytest.mark.parametrize(
    "arrow_type",
    [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())],
    ids=str,
)
def test_pyarrow(sure, arrow_type):
    plain = arrow_type.value_type if pa.types.is_dictionary(arrow_type) else arrow_type
    array = pa.array(TEXTS, pa.string()).cast(arrow_type)
    private = sure.privatize_batch(array)
    assert private.type == plain
    assert private.to_pylist() == KEPT
    private.validate(full=True)
    sliced = sure.privatize_batch(array.slice(2, 2))
    assert sliced.to_pylist() == KEPT[2:4]
    assert sliced.nbytes < 200, "no part of the rest of the column travels along"
    chunked = pa.chunked_array([array.slice(0, 2), array.slice(2, 0), array.slice(2)])
    private = sure.privatize_batch(chunked)
    assert isinstance(private, pa.ChunkedArray)
    assert [len(chunk) for chunk in private.chunks] == [2, 0, 3]
    assert (private.type, private.to_pylist()) == (plain, KEPT)
    empty = sure.privatize_batch(pa.chunked_array([], arrow_type))
    assert (empty.type, len(empty)) == (plain, 0)


def test_nulls_only(sure):
    assert sure.privatize_batch(pa.nulls(3)).null_count == 3
    assert sure.privatize_batch(pl.Series("x", [None, None])).to_list() == [None, None]
    assert sure.privatize_batch([None]) == [None]


@pytest.mark.parametrize(
    "dtype", [object, "string", "string[pyarrow]", pd.ArrowDtype(pa.large_string())], ids=str
)
def test_pandas(sure, dtype):
    series = pd.Series(TEXTS, index=[9, 7, 5, 3, 1], name="review", dtype=dtype)
    private = sure.privatize_batch(series)
    assert private.dtype == series.dtype
    assert private.name == "review"
    assert private.index.tolist() == [9, 7, 5, 3, 1]
    assert private.isna().tolist() == [False, True, False, False, False]
    assert private.dropna().tolist() == [text for text in KEPT if text is not None]
    assert series.dropna().tolist() == [text for text in TEXTS if text is not None]


def test_pandas_keeps_each_kind_of_null(sure):
    series = pd.Series(["film", None, float("nan"), pd.NA], dtype=object)
    private = sure.privatize_batch(series)
    assert private[0] == "film"
    assert private[1] is None
    assert private[2] != private[2]
    assert private[3] is pd.NA


def test_polars(sure):
    series = pl.Series("review", TEXTS)
    for column in (series, pl.concat([series[:2], series[2:]], rechunk=False)):
        private = sure.privatize_batch(column)
        assert (private.name, private.dtype) == ("review", pl.String)
        assert private.to_list() == KEPT
    empty = sure.privatize_batch(pl.Series("x", [], dtype=pl.String))
    assert (len(empty), empty.dtype) == (0, pl.String)


def test_categories_are_privatized_row_by_row_and_do_not_come_along(noisy):
    texts = ["the film was good"] * 50
    for column in (
        pd.Series(texts, dtype="category"),
        pl.Series(texts, dtype=pl.Categorical),
        pa.array(texts).dictionary_encode(),
    ):
        private = noisy.privatize_batch(column)
        rows = private.to_pylist() if isinstance(private, pa.Array) else private.to_list()
        assert len(set(rows)) > 40, "equal rows have noise of their own"
        assert texts[0] not in repr(getattr(private, "dtype", None))


def test_any_arrow_producer(sure):
    class Producer:
        def __arrow_c_stream__(self, requested_schema=None):
            return pa.chunked_array([TEXTS[:2], TEXTS[2:]]).__arrow_c_stream__(requested_schema)

    private = sure.privatize_batch(Producer())
    assert isinstance(private, brr.ArrowColumn)
    assert len(private) == 5
    assert pa.array(private).to_pylist() == KEPT


def test_many_rows_keep_their_order_whatever_the_threads(sure):
    words = ["film", "good", "bad", "evening", "house", None, ""]
    texts = [words[i % 7] for i in range(20_000)]
    for threads in (1, 2, 5, None):
        assert sure.privatize_batch(texts, threads=threads) == texts
    assert sure.privatize_batch(pa.array(texts)).to_pylist() == texts

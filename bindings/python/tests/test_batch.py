"""Columns in every container."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import brr

TEXTS = ["The film.", None, "", "was good, was bad", "evening"]
KEPT = ["the film.", None, "", "was good, was bad", "evening"]


def test_list_and_tuple(sure):
    assert sure.privatize_batch(TEXTS) == KEPT
    assert sure.privatize_batch(tuple(TEXTS)) == KEPT
    assert sure.privatize_batch([]) == []


def test_numpy(sure):
    private = sure.privatize_batch(np.array(TEXTS, dtype=object))
    assert (private.dtype, private.tolist()) == (np.dtype(object), KEPT)
    private = sure.privatize_batch(np.array(["The film.", "good"]))
    assert (private.dtype.kind, private.tolist()) == ("U", ["the film.", "good"])
    strings = np.dtypes.StringDType(na_object=None)
    private = sure.privatize_batch(np.array(TEXTS, dtype=strings))
    assert (private.dtype, private.tolist()) == (strings, KEPT)
    assert sure.privatize_batch(np.array([], dtype=str)).shape == (0,)
    nulls = np.array(["Film", None, float("nan"), pd.NA], dtype=object)
    private = sure.privatize_batch(nulls)
    assert private[0] == "film"
    assert all(a is b for a, b in zip(private[1:], nulls[1:]))
    with pytest.raises(brr.InputError, match=r"one dimension, found 2: .*array\[:, 0\]"):
        sure.privatize_batch(np.array([["film"]]))
    with pytest.raises(brr.InputError, match="row 1"):
        sure.privatize_batch(np.array(["film", 7], dtype=object))


def test_wide_enough(noisy):
    short = np.array(["a"] * 500)
    private = noisy.privatize_batch(short)
    assert max(len(text) for text in private.tolist()) > 1, "not cut to the width of the input"


def test_index(sure):
    for dtype in (object, "string"):
        index = pd.Index(["Film", None], name="review", dtype=dtype)
        private = sure.privatize_batch(index)
        assert isinstance(private, pd.Index)
        assert (private.name, private.dtype) == ("review", index.dtype)
        assert (private[0], private.isna().tolist()) == ("film", [False, True])
    levels = pd.MultiIndex.from_tuples([("film", 1)])
    with pytest.raises(brr.InputError, match="get_level_values"):
        sure.privatize_batch(levels)


@pytest.mark.parametrize("table", [pd.DataFrame, pl.DataFrame, pa.table], ids=str)
def test_a_table_is_told_from_a_column(sure, table):
    with pytest.raises(brr.InputError, match=r"privatize_batch\(df\['text'\]\)"):
        sure.privatize_batch(table({"secret": ["film"]}))


def test_progress(sure):
    told = []
    texts = ["film good"] * 30_000
    sure.privatize_batch(texts, threads=1, progress=lambda *done: told.append(done))
    assert told[-1] == (30_000, 30_000)
    assert all(a[0] <= b[0] for a, b in zip(told, told[1:]))

    def enough(done, rows):
        raise StopIteration

    for column in (texts, pa.array(texts)):
        with pytest.raises(StopIteration):
            sure.privatize_batch(column, threads=1, progress=enough)


def test_losses_by_row_and_a_record_of_them(sure):
    rows = sure.privatize_batch_counted(["the film", None, "zzqx", ""])
    assert rows[1] is None
    counts = [(row.text, row.tokens, row.unknown) for row in rows if row and row.tokens != 1]
    assert counts == [("the film", 2, 0), ("", 0, 0)]
    assert [row.loss for row in rows if row] == [sure.total_loss(n) for n in (2, 1, 0)]
    record = sure.manifest(rows)
    assert (record["documents"], record["words"], record["unknown_words"]) == (3, 3, 1)
    assert record["epsilon"] == sure.guarantee.epsilon
    for column in (
        np.array(["film", np.nan], dtype=object), pd.Series(["film", pd.NA]),
        pl.Series(["film", None]), pa.array(["film", None]), iter(["film", None]),
    ):  # fmt: skip
        film, null = sure.privatize_batch_counted(column)
        assert (film.text, null) == ("film", None)
    for wrong, message in (
        ("film", "for one text"), (7, "found int"), ({"film": 1}, "found dict"),
        (pd.DataFrame({"film": ["good"]}), "one of its columns"),
    ):  # fmt: skip
        with pytest.raises(brr.InputError, match=message):
            sure.privatize_batch_counted(wrong)


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

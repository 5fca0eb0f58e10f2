"""What cannot be privatized is refused, with its place and without its text."""

import pickle
import sys

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import brr

SECRET = "kryptonite"


@pytest.mark.parametrize(
    "cell", [7, 1.5, b"kryptonite", ["kryptonite"], float("nan")], ids=repr
)
def test_a_cell_that_is_no_string_is_named_by_its_row(sure, cell):
    texts = ["good", None, cell, SECRET]
    with pytest.raises(brr.InputError, match="row 2: expected a string or None") as raised:
        sure.privatize_batch(texts)
    assert raised.value.row == 2
    assert SECRET not in str(raised.value)
    assert type(cell).__name__ in str(raised.value)
    assert pickle.loads(pickle.dumps(raised.value)).row == 2


def test_lone_surrogates_are_named_and_not_shown(sure):
    broken = SECRET + "\ud800"
    with pytest.raises(
        brr.InputError, match="row 1: the string holds a lone surrogate"
    ) as raised:
        sure.privatize_batch(["good", broken])
    # A UnicodeEncodeError in the chain would carry the whole text.
    assert raised.value.__cause__ is None
    assert raised.value.__context__ is None
    assert SECRET not in str(raised.value)
    with pytest.raises(brr.InputError, match="^the string holds"):
        sure.privatize(broken)
    with pytest.raises(brr.InputError, match="row 0"):
        sure.privatize_batch(pd.Series([broken], dtype=object))


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([1, 2]),
        pl.Series([1, 2]),
        pa.array([1, 2]),
        pa.array([b"kryptonite"]),
        pa.array([["kryptonite"]]),
        pa.record_batch({"a": ["kryptonite"]}),
        pd.DataFrame({"a": ["kryptonite"]}),
        {"a": "kryptonite"},
        SECRET,
        SECRET.encode(),
        7,
        None,
    ],
    ids=lambda column: type(column).__module__ + "." + type(column).__name__,
)
def test_what_is_no_column_of_strings_is_refused(sure, column):
    with pytest.raises(brr.InputError) as raised:
        sure.privatize_batch(column)
    assert SECRET not in str(raised.value)


def test_a_text_that_is_no_text(sure):
    for text in (None, 7, b"film"):
        for ask in (sure.privatize, sure.privatize_counted, sure.trace, sure.outcomes):
            with pytest.raises(brr.InputError) as raised:
                ask(text)
            assert isinstance(raised.value, TypeError)


def test_arrow_that_lies_is_found_out(sure):
    offsets = pa.py_buffer(b"\0\0\0\0\2\0\0\0\4\0\0\0")
    array = pa.StringArray.from_buffers(2, offsets, pa.py_buffer(b"ok\xff\xfe"))
    with pytest.raises(brr.InputError, match="not UTF-8"):
        sure.privatize_batch(array)
    beyond = pa.py_buffer(b"\0\0\0\0\2\0\0\0\1\0\0\0")
    array = pa.StringArray.from_buffers(2, beyond, pa.py_buffer(b"okay"))
    with pytest.raises(brr.InputError, match="not a valid Arrow array"):
        sure.privatize_batch(array)


def test_huge_and_odd_strings_lose_nothing(sure):
    huge = "film " * 200_000
    assert sure.privatize_batch([huge, "good"]) == [huge, "good"]
    one_token = "x" * 5_000_000
    private = sure.privatize_batch([one_token, "\0", "\u202e", "\U0010ffff", " \r\n\t"])
    # What has no shape is no token; the others become a word each.
    assert [len(text.split()) for text in private] == [1, 1, 0, 1, 0]
    assert private[4] == " \r\n\t"


@pytest.mark.parametrize(
    ("budget", "message"),
    [
        ({"epsilon": 0.0}, "positive"),
        ({"epsilon": float("nan")}, "positive"),
        ({"bound": -1.0}, "positive"),
        ({"keep": 1.0}, "between 0 and 1"),
        ({"epsilon": 1.0, "keep": 0.5}, "one of epsilon, bound and keep"),
        ({"keep": 1e-9}, "epsilon instead"),
    ],
)
def test_budgets(budget, message):
    with pytest.raises(brr.BudgetError, match=message):
        brr.Privatizer(**budget)


def test_options():
    for wrong in (
        {"mechanism": "laplace"}, {"layout": "html"}, {"unknown": "ask"}, {"search": "faiss"},
    ):  # fmt: skip
        with pytest.raises(brr.ArgumentError, match="there is no such .*: choose one of"):
            brr.Privatizer(**wrong)
    with pytest.raises(brr.ArgumentError, match="threads"):
        brr.Privatizer(keep=0.5).privatize_batch(["film"], threads=0)


def test_models_that_are_not_there_or_none(tmp_path):
    missing = tmp_path / "missing.brr"
    for open_model in (brr.Model.load, brr.Privatizer):
        with pytest.raises(brr.FileError, match=r"missing\.brr") as raised:
            open_model(missing)
        assert raised.value.errno == 2
        assert raised.value.filename == str(missing)
        assert isinstance(raised.value, FileNotFoundError)
        again = pickle.loads(pickle.dumps(raised.value))
        assert type(again) is type(raised.value)
        assert (str(again), again.filename) == (str(raised.value), str(missing))
    text = tmp_path / "text.brr"
    text.write_text("not a model")
    with pytest.raises(brr.ModelError, match="brr build"):
        brr.Model.load(text)
    data = bytearray(brr.Model.english().to_bytes())
    with pytest.raises(brr.ModelError, match="cut short"):
        brr.Model.from_bytes(bytes(data[:-1000]))
    data[len(data) // 2] ^= 1
    with pytest.raises(brr.ModelError, match="checksum"):
        brr.Model.from_bytes(bytes(data))


def test_an_argument_of_the_wrong_kind_is_an_error_of_the_package(sure):
    for wrong, message in (
        (lambda: brr.Privatizer(0.5), r"did you mean keep=0\.5\?"),
        (lambda: brr.Privatizer(7), "epsilon=, bound= or keep="),
        (lambda: brr.Privatizer([SECRET]), "a model or the path .*found list"),
        (lambda: brr.Privatizer(mechanism=7), "no such mechanism"),
        (lambda: brr.Privatizer(epsilon=SECRET), "a number for epsilon; found str"),
        (lambda: brr.Model.load(7), "epsilon="),
        (lambda: brr.Model.from_bytes(SECRET), "bytes of a model file; found str"),
        (lambda: brr.Model.english().epsilon_for(SECRET), "a number; found str"),
        (lambda: sure.privatize_batch([], threads="two"), "whole number.*found str"),
        (lambda: sure.outcomes("film", top=-1), "whole number"),
        (lambda: sure.total_loss(-1), "whole number"),
        (lambda: sure.outcomes("film", draws=0), "draws must be at least 1"),
        (lambda: sure.posterior("film", draws=0), "draws must be at least 1"),
        (lambda: sure.privatize_batch(["film"], progress=3), "progress; found int"),
        (lambda: brr.Model.english().check(progress=3), "progress; found int"),
        (lambda: brr.ratio(sure.model, 3), "expected a model; found int"),
        (lambda: brr.ratio(sure.model, sure.model, SECRET), None),
        (lambda: brr.build("vectors.txt", bits=SECRET), "integer"),
        (lambda: brr.build("vectors.txt", seed=-1), "negative"),
        (lambda: brr.build(7), "int"),
        (lambda: brr.build("vectors.txt", progress=3), "progress; found int"),
        (lambda: brr.privatize_file(7, "out.txt", keep=0.5), "int"),
        (lambda: brr.privatize_file("in.csv", "out.csv", keep=0.5, columns=7), "int"),
        (lambda: brr.privatize_file("a.csv", "b.csv", keep=0.5, delimiter="ab"), "length 1"),
        (lambda: brr.privatize_file("a.csv", "b.csv", keep=0.5, max_words="x"), "integer"),
    ):
        with pytest.raises(brr.ArgumentError, match=message) as raised:
            wrong()
        assert isinstance(raised.value, TypeError)
        assert isinstance(raised.value, ValueError)
        assert SECRET not in str(raised.value)
    if sys.version_info >= (3, 11):
        with pytest.raises(brr.ArgumentError, match="'bits'"):
            brr.build("vectors.txt", bits=SECRET)
    with pytest.raises(brr.BudgetError):
        brr.Model.english().epsilon_for(2)
    np = pytest.importorskip("numpy")
    assert brr.Privatizer(keep=np.float32(0.5)).guarantee == brr.Privatizer(keep=0.5).guarantee


def test_files_that_cannot_be_built_from_are_told_apart(tmp_path):
    file = tmp_path / "file"
    file.touch()
    for path, kind in (
        (tmp_path / "none.txt", FileNotFoundError),
        (file / "none.txt", NotADirectoryError),
    ):
        with pytest.raises(brr.BuildFileError) as raised:
            brr.build(path)
        assert isinstance(raised.value, kind)
        assert isinstance(raised.value, ValueError)
        assert raised.value.filename == str(path)
    with pytest.raises(brr.BuildError, match="a folder without"):
        brr.build(tmp_path)

"""What the package brings along."""

import inspect
import os
import subprocess
import sys
from importlib.metadata import files, version
from pathlib import Path
from typing import get_args

import pytest

import brr
import brr.spark
from brr import _native, choices
from brr.sklearn import TextPrivatizer


def test_import_needs_no_other_package():
    code = (
        "import sys, brr; brr.Privatizer(keep=0.5).privatize_batch(['film']);"
        "others = {'numpy', 'pandas', 'polars', 'pyarrow', 'sklearn', 'pyspark'};"
        "print(sorted(others & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


def test_names_and_defaults_are_those_of_the_core():
    for option, names in (
        ("mechanism", choices.Mechanism), ("layout", choices.Layout),
        ("unknown", choices.Unknown), ("search", choices.Search),
    ):  # fmt: skip
        core = tuple(_native.CHOICES[option])
        assert get_args(names) == core
        for where in (
            brr.Privatizer.__new__, brr.privatize_file, brr.spark.privatize,
            TextPrivatizer.__init__,
        ):  # fmt: skip
            assert inspect.signature(where).parameters[option].default == core[0]
        assert all(_native.CHOICES[option].values()), "each has its help"
    for option, names in (
        ("format", choices.Format), ("document", choices.Document),
        ("on_bad_row", choices.OnBadRow),
    ):  # fmt: skip
        assert get_args(names) == tuple(_native.CHOICES[option])
    plain = brr.Privatizer()
    keyword, value = _native.DEFAULT_BUDGET
    stated = brr.Privatizer(
        mechanism=choices.MECHANISM, layout=choices.LAYOUT, unknown=choices.UNKNOWN,
        search=choices.SEARCH, **{keyword: value},
    )  # fmt: skip
    assert (plain.mechanism, plain.guarantee) == (choices.MECHANISM, stated.guarantee)
    # What the documentation says of the defaults.
    doc = inspect.getdoc(brr.Privatizer)
    assert f"``{keyword}={value}``" in doc
    assert f'``"{plain.mechanism}"`` (the exponential mechanism' in doc
    assert 0.4 < plain.expected_keep <= value


def test_what_writes_data_sets_wants_a_budget():
    for write in (
        lambda: brr.spark.privatize(None, "text"),
        lambda: brr.privatize_file("in.txt", "out.txt"),
        lambda: TextPrivatizer().fit(["film"]),
        lambda: TextPrivatizer().transform(["film"]),
    ):
        with pytest.raises(brr.BudgetError, match="epsilon=, bound= and keep="):
            write()


def test_types_and_version():
    folder = Path(brr.__file__).parent
    assert (folder / "py.typed").exists()
    assert (folder / "_native.pyi").exists()
    assert version("brr") == brr.__version__
    names = {Path(str(file)).name for file in files("brr") or []}
    assert {"LICENSE-MIT", "LICENSE-APACHE", "NOTICE"} <= names


def test_no_path_of_the_builder_is_inside():
    if os.environ.get("BRR_BUILT_HERE") is None:
        pytest.skip("who built the package is not known: run scripts/test-python")
    root = Path(__file__).resolve().parents[3]
    library = Path(_native.__file__).read_bytes()
    for folder in (Path.home(), root):
        assert f"{folder}/".encode() not in library


def test_everything_public_has_a_docstring():
    for name in brr.__all__:
        if name != "__version__" and not get_args(getattr(brr, name)):
            assert getattr(brr, name).__doc__, name

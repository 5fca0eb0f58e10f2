"""What the package brings along."""

import email
import inspect
import os
import re
import subprocess
import sys
import tarfile
import zipfile
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
        "others = {'numpy', 'pandas', 'polars', 'pyarrow', 'sklearn', 'pyspark',"
        " 'presidio_anonymizer'};"
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
            assert inspect.signature(where).parameters["context"].default is False
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


@pytest.fixture(scope="module")
def packages() -> tuple[Path, dict[str, bytes], dict[str, bytes]]:
    """The wheel, what is in it, and what is in the source distribution."""
    folder = os.environ.get("BRR_PACKAGES")
    if folder is None:
        pytest.skip("BRR_PACKAGES names no folder with a wheel: run scripts/test-python")
    (wheel,) = Path(folder).glob("*.whl")
    (sdist,) = Path(folder).glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as archive:
        built = {name: archive.read(name) for name in archive.namelist()}
    with tarfile.open(sdist) as archive:
        members = [member for member in archive if member.isfile()]
        sources = {member.name: archive.extractfile(member).read() for member in members}
    return wheel, built, sources


def test_what_is_installed_is_the_wheel(packages):
    _, built, _ = packages
    assert built["brr/_native.abi3.so"] == Path(_native.__file__).read_bytes()


def test_no_path_of_the_builder_is_inside(packages):
    sysroot = subprocess.run(
        ["rustc", "--print", "sysroot"], capture_output=True, text=True, check=True
    )
    cargo = os.environ.get("CARGO_HOME", Path.home() / ".cargo")
    root = Path(__file__).resolve().parents[3]
    for files_of in packages[1:]:
        for name, content in files_of.items():
            for folder in (Path.home(), root, cargo, sysroot.stdout.strip()):
                assert f"{folder}/".encode() not in content, name


@pytest.mark.skipif(sys.platform != "linux", reason="manylinux is Linux")
def test_the_wheel_keeps_the_rules_of_its_tag(packages):
    wheel = packages[0]
    tag = wheel.stem.split("-")[-1].split(".")[0]
    assert tag.startswith(("manylinux", "musllinux"))
    show = [sys.executable, "-m", "auditwheel", "show", wheel]
    told = subprocess.run(show, capture_output=True, text=True, check=True).stdout
    assert f'following platform tag: "{tag}"' in " ".join(told.split())


def test_the_packages_bring_licences_and_a_readme_without_dead_links(packages):
    _, built, sources = packages
    (metadata,) = (built[name] for name in built if name.endswith(".dist-info/METADATA"))
    (info,) = (sources[name] for name in sources if name.count("/") == 1 and "PKG-INFO" in name)
    for text in (metadata.decode(), info.decode()):
        facts = email.message_from_string(text)
        assert facts["Version"] == brr.__version__
        assert facts["License-Expression"] == "MIT OR Apache-2.0"
        readme = facts.get_payload()
        assert ">>> import brr" in readme, "the examples that pytest runs"
        extras = set(re.findall(r"bindings/python\[(\w+)\]", readme))
        assert extras != set()
        assert extras <= set(facts.get_all("Provides-Extra"))
        assert re.findall(r"\]\((?!https:|#)[^)]*\)", readme) == []
    for content in (built, sources):
        names = {Path(name).name for name in content}
        assert {"LICENSE-MIT", "LICENSE-APACHE", "NOTICE"} <= names
    # With the lock, so that what is built from it is what was tested.
    assert any(name.endswith("/Cargo.lock") for name in sources)


def test_everything_public_has_a_docstring():
    for name in brr.__all__:
        if name != "__version__" and not get_args(getattr(brr, name)):
            assert getattr(brr, name).__doc__, name

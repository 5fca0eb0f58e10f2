"""What the package brings along."""

import subprocess
import sys
from importlib.metadata import files, version
from pathlib import Path

import brr


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


def test_types_and_version():
    folder = Path(brr.__file__).parent
    assert (folder / "py.typed").exists()
    assert (folder / "_native.pyi").exists()
    assert version("brr") == brr.__version__
    names = {Path(str(file)).name for file in files("brr") or []}
    assert {"LICENSE-MIT", "LICENSE-APACHE", "NOTICE"} <= names


def test_everything_public_has_a_docstring():
    for name in brr.__all__:
        if name != "__version__":
            assert getattr(brr, name).__doc__, name

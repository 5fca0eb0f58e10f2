"""What several tests need."""

import os
import random
import signal
import string
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import brr


@pytest.fixture(scope="session", autouse=True)
def _ctrl_c() -> None:
    """Ctrl-C works here and in child processes, in a shell's background job too."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def sure() -> brr.Privatizer:
    """A privatizer so weak that every known word stays: tests can see rows move.

    Not the exponential mechanism, which has weights of at least 1: one word in some 260,000
    changes however large its epsilon.
    """
    return brr.Privatizer(mechanism="brr", epsilon=30.0)


@pytest.fixture(scope="session")
def noisy() -> brr.Privatizer:
    """A privatizer that leaves next to nothing as it was."""
    return brr.Privatizer(epsilon=0.05)


@pytest.fixture(scope="session")
def vectors(tmp_path_factory) -> Path:
    """Word vectors for a model that is quick to build and to use."""
    path = tmp_path_factory.mktemp("vectors") / "vectors.txt"
    draw = random.Random(7)
    words = ["".join(draw.choices(string.ascii_lowercase, k=6)) for _ in range(300)]
    lines = [
        " ".join([word, *(f"{draw.gauss(0, 1):.4f}" for _ in range(20))])
        for word in dict.fromkeys(["film", "good", "evening", *words])
    ]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def unchecked() -> brr.Model:
    """A small model that the package was not released with."""
    file = "../../../crates/brr/tests/fixtures/version-1.brr"
    return brr.Model.load(Path(__file__).parent / file)


@pytest.fixture(scope="session")
def cli() -> Callable[..., str]:
    """The command-line program; ``scripts/test-python`` builds it."""
    program = os.environ.get("BRR_CLI")
    if program is None:
        pytest.skip("BRR_CLI does not name the program: run scripts/test-python")

    def run(*args: str, text: str = "") -> str:
        done = subprocess.run(
            [program, *args], input=text, capture_output=True, text=True, check=True
        )
        return done.stdout

    assert Path(program).exists()
    return run

"""The Python package against the Rust core, and one thread against two.

Every round runs each way once, one after the other, so that a busy machine
slows all of them alike. The cost of a way is its CPU time for each word, which
other programs disturb less than the clock does; speeds by the clock are given
beside it. ``cores`` is CPU time over time by the clock: above 1, Python threads
do run at the same time. How much faster two threads are than one is a ratio of
times by the clock within a round, where both met the same machine.
"""

import argparse
import functools
import json
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

import brr


class Taken(NamedTuple):
    """Seconds of one run."""

    clock: float
    cpu: float


ONE_CORE, TWO_CORE = "Rust core, 1 thread", "Rust core, 2 threads"
ONE_PYTHON, TWO_PYTHON = "Arrow, threads=1", "two Python threads, threads=1 each"
EPSILON = 0.6


def main() -> None:
    """Measure, and print a JSON object."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("core", help="the core-speed program")
    parser.add_argument("texts", help="a file with a text per line")
    parser.add_argument("--rounds", type=int, default=12)
    args = parser.parse_args()

    texts = Path(args.texts).read_text().splitlines()
    array = pa.array(texts)
    privatizer = brr.Privatizer(mechanism="brr", epsilon=EPSILON)
    core = subprocess.Popen(
        [args.core, args.texts, str(EPSILON)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )

    def ask_core(threads: int) -> Taken:
        assert core.stdin is not None
        assert core.stdout is not None
        print(threads, file=core.stdin, flush=True)
        clock, cpu = core.stdout.readline().split()
        return Taken(float(clock), float(cpu))

    def two_python_threads() -> None:
        half = len(texts) // 2
        parts = [array.slice(0, half), array.slice(half)]
        one = functools.partial(privatizer.privatize_batch, threads=1)
        work = [threading.Thread(target=one, args=(part,)) for part in parts]
        for thread in work:
            thread.start()
        for thread in work:
            thread.join()

    ways: dict[str, Callable[[], Taken]] = {
        ONE_CORE: lambda: ask_core(1),
        ONE_PYTHON: timed(lambda: privatizer.privatize_batch(array, threads=1)),
        "list, threads=1": timed(lambda: privatizer.privatize_batch(texts, threads=1)),
        TWO_CORE: lambda: ask_core(2),
        "Arrow, threads=2": timed(lambda: privatizer.privatize_batch(array, threads=2)),
        "list, threads=2": timed(lambda: privatizer.privatize_batch(texts, threads=2)),
        TWO_PYTHON: timed(two_python_threads),
    }
    rounds: dict[str, list[Taken]] = {name: [] for name in ways}
    for number in range(args.rounds + 1):
        for name, way in ways.items():
            taken = way()
            if number > 0:  # the first round warms up
                rounds[name].append(taken)
        print(f"round {number} of {args.rounds}", file=sys.stderr)
    if core.stdin is not None:
        core.stdin.close()
    core.wait()
    words = sum(len(text.split()) for text in texts)
    print(json.dumps({"speed": speeds(rounds, words), "scaling": scaling(rounds)}))


def timed(work: Callable[[], object]) -> Callable[[], Taken]:
    """Make something that runs ``work`` and tells how long it took."""

    def run() -> Taken:
        clock, cpu = time.perf_counter(), time.process_time()
        work()
        return Taken(time.perf_counter() - clock, time.process_time() - cpu)

    return run


def speeds(rounds: dict[str, list[Taken]], words: int) -> list[dict[str, object]]:
    """Give the speed of each way, by the clock and by CPU time."""
    found: list[dict[str, object]] = []
    for name, taken in rounds.items():
        base = rounds[ONE_CORE if "=1" in name and name != TWO_PYTHON else TWO_CORE]
        cpu = min(t.cpu for t in taken)
        found.append(
            {
                "way": name,
                "words_per_second": words / min(t.clock for t in taken),
                "words_per_cpu_second": words / cpu,
                "of_the_core": None
                if name.startswith("Rust")
                else min(t.cpu for t in base) / cpu,
                "cores": max(t.cpu / t.clock for t in taken),
            }
        )
    return found


def scaling(rounds: dict[str, list[Taken]]) -> list[dict[str, object]]:
    """Give how much faster two threads are than one."""
    found: list[dict[str, object]] = []
    for name, one, two in [
        ("the Rust core", ONE_CORE, TWO_CORE),
        ("Python threads, each in one call", ONE_PYTHON, TWO_PYTHON),
    ]:
        ratios = [a.clock / b.clock for a, b in zip(rounds[one], rounds[two], strict=True)]
        found.append({"way": name, "best": max(ratios), "median": statistics.median(ratios)})
    return found


if __name__ == "__main__":
    main()

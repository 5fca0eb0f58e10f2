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
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
from texts import documents

import brr


class Taken(NamedTuple):
    """Seconds of one run."""

    clock: float
    cpu: float


ONE_CORE, TWO_CORE = "Rust core, 1 thread", "Rust core, 2 threads"
ONE_PYTHON, TWO_PYTHON = "Arrow, threads=1", "two Python threads, threads=1 each"
EPSILON = 0.6
WORDS = 12


def main() -> None:
    """Measure, and print a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("core", help="the core-speed program")
    parser.add_argument("texts", help="where to write the texts")
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--documents", type=int, default=4000)
    args = parser.parse_args()

    texts = documents(args.documents, WORDS)
    Path(args.texts).write_text("\n".join(texts) + "\n")
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
    report(rounds, len(texts) * WORDS)
    report_scaling(rounds)


def timed(work: Callable[[], object]) -> Callable[[], Taken]:
    """Make something that runs ``work`` and tells how long it took."""

    def run() -> Taken:
        clock, cpu = time.perf_counter(), time.process_time()
        work()
        return Taken(time.perf_counter() - clock, time.process_time() - cpu)

    return run


def report(rounds: dict[str, list[Taken]], words: int) -> None:
    """Print the table."""
    print("| way | words/s by the clock | words per CPU second | of the core's | cores |")
    print("|---|---:|---:|---:|---:|")
    for name, taken in rounds.items():
        base = rounds[ONE_CORE if "=1" in name and name != TWO_PYTHON else TWO_CORE]
        clock, cpu = min(t.clock for t in taken), min(t.cpu for t in taken)
        share = min(t.cpu for t in base) / cpu
        cores = max(t.cpu / t.clock for t in taken)
        compared = "" if name.startswith("Rust") else f"{100 * share:.0f} %"
        print(
            f"| {name} | {words / clock:,.0f} | {words / cpu:,.0f} | {compared} | {cores:.2f} |"
        )


def report_scaling(rounds: dict[str, list[Taken]]) -> None:
    """Print how much faster two threads are than one."""
    print("\n| two threads against one | best round | median round |")
    print("|---|---:|---:|")
    for name, one, two in [
        ("the Rust core", ONE_CORE, TWO_CORE),
        ("Python threads, each in one call", ONE_PYTHON, TWO_PYTHON),
    ]:
        ratios = [a.clock / b.clock for a, b in zip(rounds[one], rounds[two], strict=True)]
        print(f"| {name} | {max(ratios):.2f} | {statistics.median(ratios):.2f} |")


if __name__ == "__main__":
    main()

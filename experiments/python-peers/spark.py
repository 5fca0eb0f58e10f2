"""Spark on two workers against the command line on the same two cores.

Every round runs the program with two threads over a text file and Spark over a
Parquet file of the same texts, one after the other. Spark's job ends in Spark's
own sink that throws rows away; its executors, with their Python workers, are
warm after the first round. Run by ``scripts/test-spark``.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from pyspark.sql import SparkSession
from texts import documents

import brr.spark

EPSILON = 0.6
WORDS = 12


def main() -> None:
    """Measure, and print a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cli", help="the brr program")
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--documents", type=int, default=240_000)
    args = parser.parse_args()
    session = (
        SparkSession.builder.master(os.environ["BRR_SPARK_MASTER"])
        .config("spark.executor.cores", "1")
        .config("spark.executor.memory", "1g")
        .config("spark.cores.max", "2")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        # Several tasks a core, so that the cores end at about the same time.
        .config("spark.sql.files.minPartitionNum", "24")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    with tempfile.TemporaryDirectory() as folder:
        measure(session, args.cli, args.rounds, args.documents, Path(folder))
    session.stop()


def measure(session: SparkSession, cli: str, rounds: int, count: int, folder: Path) -> None:
    """Run both in turn."""
    texts = documents(count, WORDS)
    (folder / "texts.txt").write_text("\n".join(texts) + "\n")
    frame = session.createDataFrame([(text,) for text in texts], "text string")
    frame.repartition(24).write.parquet(str(folder / "texts"))

    def by_cli() -> float:
        command = [cli, "privatize", "-q", "--mechanism", "brr", "--epsilon", str(EPSILON)]
        command += ["--threads", "2", "--input", str(folder / "texts.txt")]
        start = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return time.perf_counter() - start

    def by_spark() -> float:
        frame = session.read.parquet(str(folder / "texts"))
        start = time.perf_counter()
        private = brr.spark.privatize(frame, "text", mechanism="brr", epsilon=EPSILON)
        private.write.format("noop").mode("overwrite").save()
        return time.perf_counter() - start

    taken: list[tuple[float, float]] = []
    for number in range(rounds + 1):
        pair = (by_cli(), by_spark())
        if number > 0:  # the first round warms up
            taken.append(pair)
        print(f"round {number} of {rounds}: {pair[0]:.2f} {pair[1]:.2f} s", file=sys.stderr)
    words = count * WORDS
    best_cli, best_spark = min(c for c, _ in taken), min(s for _, s in taken)
    print("| who | words/s (best) | of the CLI's | median round |")
    print("|---|---:|---:|---:|")
    print(f"| CLI, 2 threads | {words / best_cli:,.0f} | | |")
    share, median = best_cli / best_spark, statistics.median(c / s for c, s in taken)
    print(f"| Spark, 2 workers | {words / best_spark:,.0f} | {share:.0%} | {median:.0%} |")


if __name__ == "__main__":
    main()

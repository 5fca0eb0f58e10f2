"""Spark on two workers against the command line on the same two cores.

Every round runs the program with two threads over a text file and Spark over a
Parquet file of the same texts, one after the other. Spark's job ends in Spark's
own sink that throws rows away; its executors, with their Python workers, are
warm after the first round. Run by ``scripts/test-spark``.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from pyspark.sql import SparkSession

import brr.spark

EPSILON = 0.6


def main() -> None:
    """Measure, and write a JSON object."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cli", help="the brr program")
    parser.add_argument("texts", help="a file with a text per line")
    parser.add_argument("found", help="where to write what was found")
    parser.add_argument("--rounds", type=int, default=4)
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
        texts = Path(args.texts).read_text().splitlines()
        found = measure(session, args.cli, args.rounds, texts, Path(folder))
    Path(args.found).write_text(json.dumps(found))
    session.stop()


def measure(
    session: SparkSession, cli: str, rounds: int, texts: list[str], folder: Path
) -> dict[str, float]:
    """Run both in turn."""
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
    words = sum(len(text.split()) for text in texts)
    best_cli, best_spark = min(c for c, _ in taken), min(s for _, s in taken)
    return {
        "cli_words_per_second": words / best_cli,
        "spark_words_per_second": words / best_spark,
        "of_the_cli": best_cli / best_spark,
        "median_round": statistics.median(c / s for c, s in taken),
    }


if __name__ == "__main__":
    main()

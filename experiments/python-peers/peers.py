"""Words per second of the Python peers and of brr, on the same words in one run.

In every round each peer privatizes a few of the words, then brr all of them;
speeds are those of each one's best round. ``mldp-text`` is called as its README
shows, with its own default (FAISS) search, and has all cores as brr does.

``dp-diffractor`` installs without a network but does not run: it downloads five
vector files and NLTK's tokenizer and stop words. It is measured twice:

- as it comes, all its defaults, with stand-ins for the downloads: the first words
  of the one of its five files that mldp-text happens to bring along, five times; a
  short list of stop words where NLTK looks for it; and NLTK's word tokenizer
  without the splitting into sentences, for which data would be needed;
- stripped of what can be stripped: one list, ``str.split``, no stop words.

Short lists flatter its start, the rest of the stand-ins flatters its speed. Only
one of it can live in a process, so each has a process of its own.
"""

import argparse
import importlib.resources
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import brr

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import word_peers

LIST_WORDS = 4000


def main() -> None:
    """Measure, and print a JSON object."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", help="a file with a text per line")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--cache", default="cache", help="for dp-diffractor's lists")
    parser.add_argument(
        "--diffractor", choices=["as-it-comes", "stripped"], help=argparse.SUPPRESS
    )
    args = parser.parse_args()
    if args.diffractor:
        serve(run_diffractor(args.diffractor == "stripped", Path(args.cache).resolve()))
        return

    start: dict[str, float] = {}
    ways: dict[str, tuple[int, Callable[[list[str]], object]]] = {}

    def add(name: str, words: int, make: Callable[[], Callable[[list[str]], object]]) -> None:
        begun = time.perf_counter()
        ways[name] = (words, make())
        start[name] = time.perf_counter() - begun

    add("brr, 1 thread", 40_000, lambda: brr_in(1))
    add("brr, all cores", 40_000, lambda: brr_in(None))
    add("mldp-text MultivariateCalibrated", 40, lambda: mldp("multivariate_calibrated"))
    add("mldp-text TEM", 20, lambda: mldp("tem"))
    add("dp-diffractor, as it comes", 500, lambda: diffractor("as-it-comes", args.cache))
    add("dp-diffractor, stripped", 1000, lambda: diffractor("stripped", args.cache))

    # Words that all of them know, ten in a text.
    known = set(diffractor_words())
    words = [word for word in Path(args.texts).read_text().split() if word in known][:40_000]
    texts = [" ".join(words[i : i + 10]) for i in range(0, len(words), 10)]
    best = dict.fromkeys(ways, 0.0)
    for number in range(args.rounds):
        for name, (count, way) in ways.items():
            some = texts if name.startswith("brr") else words[:count]
            begun = time.perf_counter()
            way(some)
            done = min(count, len(words))
            best[name] = max(best[name], done / (time.perf_counter() - begun))
        print(f"round {number + 1} of {args.rounds}", file=sys.stderr)

    found = [
        {"who": name, "start_seconds": start[name], "words_per_second": speed}
        for name, speed in best.items()
    ]
    print(json.dumps(found))


def brr_in(threads: int | None) -> Callable[[list[str]], object]:
    """Make a privatizer as a user would."""
    privatizer = brr.Privatizer(mechanism="brr", epsilon=0.6)
    return lambda texts: privatizer.privatize_batch(texts, threads=threads)


def mldp(name: str) -> Callable[[list[str]], object]:
    """Make a mechanism of mldp-text as its README does."""
    import mldp_text

    mechanism = mldp_text.get_mechanism(name, epsilon=10, use_faiss=True)
    return lambda words: [mechanism.replace_word(word) for word in words]


def diffractor_words() -> list[str]:
    """Give the words of dp-diffractor's list."""
    path = importlib.resources.files("mldp_text") / "data" / "glove.840B.300d_filtered.txt"
    with path.open(encoding="utf-8") as lines:
        next(lines)
        return [next(lines).split(" ", 1)[0] for _ in range(LIST_WORDS)]


def diffractor(how: str, cache: str) -> Callable[[list[str]], object]:
    """Start a process with dp-diffractor in it."""
    command = [sys.executable, __file__, "--cache", f"{cache}/{how}", "--diffractor", how]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin is not None
    assert process.stdout is not None
    stdin, stdout = process.stdin, process.stdout

    def answer() -> None:
        # Whatever else it prints is not ours.
        while (line := stdout.readline()) != "done\n":
            if not line:
                raise RuntimeError(f"dp-diffractor ({how}) ended")

    def way(words: list[str]) -> None:
        print(" ".join(words), file=stdin, flush=True)
        answer()

    answer()
    return way


def serve(way: Callable[[list[str]], object]) -> None:
    """Privatize a line at a time, and say when it is done."""
    print("done", flush=True)
    for line in sys.stdin:
        way(line.split())
        print("done", flush=True)


def run_diffractor(stripped: bool, home: Path) -> Callable[[list[str]], object]:
    """Make dp-diffractor run without a network, see above."""
    lists = ["glove-commoncrawl-30"] if stripped else None
    return word_peers.diffractor("geometric", 1.0, home, lists, LIST_WORDS, stripped=stripped)


if __name__ == "__main__":
    main()

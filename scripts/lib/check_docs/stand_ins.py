"""Small files in place of those that a reader of the docs brings: texts, tables, vectors.

A file is made if a command names it, it is not there, and its name tells what it holds.
Tables get the columns that the command names.
"""
import fnmatch
import gzip
import json
import pathlib
import random
import shlex
import shutil
import subprocess

from . import parquet

TEXTS = [
    "The film was a terrible waste of an evening.",
    "A good doctor called on Monday, and my mother was glad!",
    "We had dinner in a small hotel; the food was cold.",
    "I would see it again with a friend.",
]
# A program that says nothing about the words it is given.
PEER = """import random, sys
for line in sys.stdin:
    print(random.SystemRandom().choice(["film", "doctor", "dinner"]))
"""
PACKAGES = pathlib.Path(__file__).resolve().parents[3] / "crates/brr-build/tests/fixtures/packages"
# Commands of these verbs write what follows these options: a reader who tries a second
# command of the page gives it another name, or removes the file.
WRITES = {"privatize": ("--output", "-o", "--manifest"), "build": ("--output", "-o")}


class Models:
    """A small model and the vectors it is made from, built when first asked for."""

    def __init__(self, program, folder):
        self.program, self.folder = program, folder

    def vectors(self):
        draw = random.Random(7).random
        words = sorted({word.strip(".,;!").lower() for text in TEXTS for word in text.split()})
        words += [a + b + c for a in ("ba", "do", "ki", "lu") for b in ("ma", "ne", "ro", "su") for c in "bcdfghklmnprst"]
        return "".join(f"{word} {' '.join(f'{draw() - 0.5:.4f}' for _ in range(32))}\n" for word in words)

    def model(self):
        model = self.folder / "stand-in.brr"
        if not model.exists():
            vectors = self.folder / "stand-in.txt"
            vectors.write_text(self.vectors())
            subprocess.run([self.program, "build", vectors, "-o", model], check=True, capture_output=True)
        return model.read_bytes()


def make(words, place, models):
    """Makes the files that a command reads, and removes those that it is to write."""
    verb = words[1] if words[0] == "brr" and len(words) > 1 else ""
    written = {value for option, value in zip(words, words[1:]) if option in WRITES.get(verb, ()) or option == ">"}
    for name in written:
        (place / name).unlink(missing_ok=True)
    # A folder has a text in it.
    folder = {word for option, word in zip(words, words[1:]) if option == "--output-dir"}
    read = {f"{word}first.txt" if word.endswith("/") else word for word in set(words) - folder}
    # Another program to run, with its files.
    for option, line in zip(words, words[1:]):
        read |= set(shlex.split(line)) if option == "--command" else set()
    for name in read - written:
        content = None if (place / name).exists() else stand_in(name, words, models)
        if content is not None:
            path = place / name.replace("*", "x")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())


def stand_in(name, words, models):
    """What a file of this name holds, or None if the name tells nothing."""
    if name.endswith(".gz"):
        inner = stand_in(name[:-3], words, models)
        return inner and gzip.compress(inner if isinstance(inner, bytes) else inner.encode())
    columns = [value for option, value in zip(words, words[1:]) if option in ("--column", "--unit")]
    kinds = [
        ("*.brr", models.model),
        ("*glove*.txt", models.vectors),
        ("EN-*.txt", lambda: "film dinner 4.5\nfilm evening 3.0\ndoctor mother 2.0\n"),
        ("*.txt", lambda: "".join(text + "\n" for text in TEXTS * 5)),
        ("*.csv", lambda: "\n".join(",".join(row) for row in [["id", *columns], *table(columns)]) + "\n"),
        ("*.jsonl", lambda: "".join(json.dumps(nested(columns, row[1:])) + "\n" for row in table(columns))),
        ("*.parquet", lambda: parquet.file(columns, [row[1:] for row in table(columns)])),
        ("*.py", lambda: PEER),
        ("*.whl", lambda: next(PACKAGES.glob("*.whl")).read_bytes()),
        ("experiment.toml", lambda: EXPERIMENT),
    ]
    return next((content() for pattern, content in kinds if fnmatch.fnmatch(name, pattern)), None)


def table(columns):
    """Rows of a number and a text for each column, without commas."""
    return [[str(i), *(text.replace(",", "") for _ in columns)] for i, text in enumerate(TEXTS)]


def nested(paths, values):
    """An object with a value at each path `a.b.c`."""
    root = {}
    for path, value in zip(paths, values):
        *folders, last = path.split(".")
        inner = root
        for folder in folders:
            inner = inner.setdefault(folder, {})
        inner[last] = value
    return root


EXPERIMENT = """name = "stand-in"
trials = 1
bounds = [3, 6]
documents = 100
[data]
format = "csv"
path = "data/small/texts.csv"
[words]
vectors = "data/small/vectors.txt"
[[mechanism]]
name = "exponential"
"""


def small_experiment(root, place):
    """The small experiment, with its data, which is made in a second."""
    shutil.copytree(root / "experiments/small", place / "experiments/small")
    subprocess.run(["experiments/small/generate"], cwd=place, check=True, capture_output=True)

"""What all experiments share: programs, made-up text, records of runs, tables in pages.

An experiment is a folder with `run`, `results.json` and `README.md`. `run` measures, writes
results.json, and fills the tables of README.md, which stand between `<!-- table NAME -->` and
`<!-- end NAME -->`. Every `run` takes

    --quick         tiny inputs: shows that the experiment still works, the numbers mean nothing
    --into FOLDER   write there instead of beside `run`
    --render        only fill README.md from results.json again
"""

import argparse
import json
import os
import pathlib
import platform
import random
import re
import shlex
import subprocess
import sys
import tarfile
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = pathlib.Path(os.environ.get("BRR_DATA", ROOT / "data"))
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
MODEL = ROOT / "crates/brr-english/src/english.brr"
SKIPPED = 77
FIELDS = ["experiment", "command", "commit", "date", "machine", "versions", "settings", "results"]


class Unavailable(Exception):
    """Something that has to be fetched cannot be had here."""


def sh(*command, **more):
    return subprocess.run([str(part) for part in command], check=True, **more)


def output(*command, **more):
    return sh(*command, stdout=subprocess.PIPE, text=True, **more).stdout


def fetch(what, *command, **more):
    """Runs a command that needs the network."""
    try:
        sh(*command, **more)
    except (subprocess.CalledProcessError, OSError) as error:
        raise Unavailable(f"{what} cannot be had here ({command[0]} failed)") from error


def fetch_data(*names):
    fetch(" and ".join(names), "scripts/fetch-data", *names, cwd=ROOT)


def environment(folder, *packages):
    """The Python of a virtual environment with these packages."""
    python = folder / "bin/python"
    wanted = " ".join(packages)
    ready = folder / "ready"
    if not ready.exists() or ready.read_text() != wanted:
        sh(sys.executable, "-m", "venv", "--clear", folder)
        fetch(wanted, python, "-m", "pip", "install", "--quiet", *packages)
        ready.write_text(wanted)
    return python


def brr():
    """The program, built if need be."""
    sh("cargo", "build", "--release", "--locked", "--quiet", "-p", "brr-cli", cwd=ROOT)
    return TARGET / "release/brr"


def example(package, name, *options):
    """A program of a crate's `examples`, built if need be."""
    sh("cargo", "build", "--release", "--locked", "--quiet", "-p", package, "--example", name, *options, cwd=ROOT)
    return TARGET / "release/examples" / name


def bench_search():
    """The program of `crates/brr/benches/search.rs`, built if need be."""
    built = output("cargo", "bench", "--locked", "--quiet", "--no-run", "-p", "brr", "--bench", "search",
                   "--message-format", "json", cwd=ROOT)
    found = [json.loads(line) for line in built.splitlines() if line.startswith("{")]
    return next(m["executable"] for m in found if m.get("executable"))


def small_language(work):
    """Vectors and labelled texts of a small made-up language."""
    output(ROOT / "experiments/small/generate", work / "small")
    return work / "small/vectors.txt", work / "small/texts.csv"


def snippets(kind):
    """Short texts of one kind (Hutto and Gilbert 2014), each with whether people rated it above 0."""
    with tarfile.open(DATA / "snippets/hutto_ICWSM_2014.tar.gz") as archive:
        lines = archive.extractfile(f"hutto_ICWSM_2014/{kind}_GroundTruth.txt").read().decode().splitlines()
    rows = [line.split("\t", 2) for line in lines]
    return [(float(rating) > 0, text) for _, rating, text in rows if float(rating) != 0]


def vocabulary():
    """The words of the built-in model, most frequent first."""
    with tempfile.TemporaryDirectory() as folder:
        output(brr(), "inspect", "--export", folder)
        return (pathlib.Path(folder) / "words.txt").read_text(encoding="utf-8").split("\n")[:-1]


def reviews(words):
    """Texts like reviews, 230 words each: words by Zipf's law, one in thirty unknown, capitals,
    punctuation, quotes, line-break tags."""
    known = vocabulary()
    weights = [1 / (i + 2.7) for i in range(len(known))]
    rng = random.Random(1)
    for _ in range(max(words // 230, 1)):
        text = ""
        for word in rng.choices(known, weights, k=230):
            if rng.random() < 1 / 30:
                word = f"{word}{rng.randrange(1000)}"
            if rng.random() < 0.15:
                word = word.capitalize()
            text += word + rng.choices([" ", ", ", ". ", ' "', '" ', "<br /><br />"], [85, 6, 6, 1, 1, 1])[0]
        yield text.strip()


def sentences(count, words):
    """Lines of frequent words, without anything between them but spaces."""
    frequent = [word for word in vocabulary()[:8000] if word.isalpha()]
    rng = random.Random(2024)
    return [" ".join(rng.choices(frequent, k=words)) for _ in range(count)]


def machine():
    info = pathlib.Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    cpu = names[0] if names else platform.processor() or platform.machine()
    return {"cpu": cpu, "cores": os.cpu_count(), "system": platform.system()}


def versions():
    manifest = (ROOT / "Cargo.toml").read_text()
    return {"brr": re.search(r'^version = "(.*)"$', manifest, re.M)[1], "rustc": output("rustc", "--version").split()[1],
            "python": platform.python_version()}


def best(rounds, ways, better=min):
    """The best result of each way, all of them in turns: a busy machine slows all alike."""
    found = {}
    for number in range(rounds):
        for name, way in ways.items():
            value = way()
            found[name] = value if name not in found else better(found[name], value)
        print(f"round {number + 1} of {rounds}", file=sys.stderr)
    return found


def table(head, rows):
    """A Markdown table; columns whose heads start with `>` are flush right."""
    marks = ["---:" if name.startswith(">") else "---" for name in head]
    lines = [[name.removeprefix(">") for name in head], *rows]
    lines = ["| " + " | ".join(map(str, line)) + " |" for line in lines]
    return "\n".join([lines[0], "|" + "|".join(marks) + "|", *lines[1:]])


def said(record):
    """How, where and with what a record was made."""
    unknown = "not recorded"
    machine = ", ".join(f"{v} cores" if k == "cores" else str(v) for k, v in record["machine"].items() if v)
    versions = ", ".join(f"{name} {version}" for name, version in record["versions"].items() if version)
    return (f"Measured by `{record['command']}`; commit: {record['commit'] or unknown}; date: "
            f"{record['date'] or unknown}; machine: {machine or unknown}; versions: {versions or unknown}. "
            "All numbers are in [results.json](results.json).")


def fill(page, tables):
    """The page with these tables between their marks."""
    for name, text in tables.items():
        start, end = f"<!-- table {name} -->", f"<!-- end {name} -->"
        before, rest = page.split(start + "\n")
        page = before + f"{start}\n{text}\n{end}" + rest.split(end, 1)[1]
    return page


class Experiment:
    """The command line of a `run`; `option` adds to it."""

    def __init__(self, run, doc):
        self.folder = pathlib.Path(run).resolve().parent
        self.name = self.folder.name
        self.parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
        self.quick = {}
        self.parser.add_argument("--quick", action="store_true", help="tiny inputs; the numbers mean nothing")
        self.parser.add_argument("--into", type=pathlib.Path, default=self.folder, help="folder for what is written")
        self.parser.add_argument("--render", action="store_true", help="only fill README.md from results.json again")

    def option(self, name, default, quick, **more):
        """An option with another default when `--quick` is given."""
        kind = {} if default is None else {"type": type(default)}
        self.parser.add_argument(name, **{**kind, **more}, default=None, help=f"default: {default}")
        self.quick[name.strip("-").replace("-", "_")] = (default, quick)

    def main(self, measure, render):
        """`measure(args, work)` gives settings, versions beyond the usual, and results;
        `render(record)` the tables of README.md."""
        args = self.parser.parse_args()
        for name, defaults in self.quick.items():
            if getattr(args, name) is None:
                setattr(args, name, defaults[args.quick])
        args.into.mkdir(parents=True, exist_ok=True)
        results = (self.folder if args.render else args.into) / "results.json"
        if not args.render:
            with tempfile.TemporaryDirectory() as work:
                try:
                    settings, more, found = measure(args, pathlib.Path(work))
                except Unavailable as why:
                    print(f"skipped: {why}", file=sys.stderr)
                    sys.exit(SKIPPED)
            results.write_text(self.record(settings, more, found), encoding="utf-8")
        record = json.loads(results.read_text(encoding="utf-8"))
        page = (self.folder / "README.md").read_text(encoding="utf-8")
        (args.into / "README.md").write_text(fill(page, {**render(record), "record": said(record)}), encoding="utf-8")

    def record(self, settings, more, found):
        command = shlex.join([f"experiments/{self.name}/run", *sys.argv[1:]])
        commit = output("git", "describe", "--always", "--dirty", "--abbrev=12", cwd=ROOT).strip()
        values = [self.name, command, commit, time.strftime("%Y-%m-%d"), machine(), {**versions(), **more}, settings, found]
        return json.dumps(dict(zip(FIELDS, values)), indent=1, ensure_ascii=False) + "\n"

"""Runs the commands of README.md and docs/*.md, as a reader would, in a folder of their own.

A command is a line of a `sh` block, or of a block without a language in which every line
begins with a program of this project. The commands of a page run one after another in one
temporary folder, so a later one may read what an earlier one wrote. Files that a reader
would bring are made on the spot (stand_ins.py).

A `text` block right after a command shows what the last command prints, and must have the
form of what it does print: see `form`.
"""
import json
import os
import pathlib
import re
import shlex
import subprocess
import time

from . import markdown, stand_ins

SECONDS = 100
PROGRAMS = re.compile(r"(brr|cargo|pip|npm|(\./)?(scripts|experiments)/\S+)(\s|$)")

# What does not run here, and why. A rule that no command meets is an error.
LEFT_OUT = [
    (r"pip install ", "compiles for minutes; scripts/test-python installs the package and runs the examples of docs/presidio.md"),
    (r"cargo ", "compiles for minutes; scripts/test and .ci/run do it"),
    (r"scripts/", "takes minutes, and runs as a step of .ci/run or of a workflow"),
    (r"experiments/imdb/run", "takes hours, on data that has to be fetched; experiments/run-all tries it on little"),
    (r"brr evaluate experiments/small/", "takes half a minute, and scripts/test-evaluate does it"),
]
# What takes minutes runs with a small model or fewer draws.
SMALLER = [
    (r"brr calibrate (?!.*(\.brr|--keep))", " model.brr"),
    (r"brr audit (?!--command)", " --trials 2000 --timings 0"),
    # More draws: with few, a claim of 5 cannot be refuted, which is an error.
    (r"brr audit --command", " --trials 20000 --timings 0"),
]
# Ways to write `brr` before it is installed.
PREFIX = re.compile(r"cargo run --release (--bin brr |--no-default-features )?-- ")


def pages(repository):
    return [page for page in repository.pages() if page == "README.md" or re.fullmatch(r"docs/[^/]+\.md", page)]


def commands(text):
    """(line, command, shown) for each command of a page; lines that end in a backslash are joined.

    `shown` is the output that the page shows for it, if any.
    """
    blocks = [block for block in markdown.blocks(text) if block.text.strip()]
    for block, after in zip(blocks, [*blocks[1:], None]):
        if block.language not in ("sh", "bash", "shell", ""):
            continue
        joined = [
            (block.line + block.text.count("\n", 0, match.start()), match[0].replace("\\\n", " ").strip())
            for match in re.finditer(r"(?:[^\n]*\\\n)*[^\n]+", block.text)
        ]
        joined = [(line, command) for line, command in joined if command and not command.startswith("#")]
        if block.language or all(PROGRAMS.match(command) for _, command in joined):
            shown = after.text if after and after.language == "text" else None
            for n, (line, command) in enumerate(joined, 1):
                yield line, command, shown if n == len(joined) else None


def form(line):
    """What of an output line stays the same when it is drawn again.

    Messages keep their words but not their numbers. Of data, JSON keeps its keys, and a text
    the number of its words.
    """
    line = line.strip()
    if re.match(r"(brr|warning|error):", line):
        return re.sub(r"\d[\d.,]*", "N", line)
    if line.startswith("{"):
        return sorted(json.loads(line))
    return len(line.split())


def differs(shown, printed):
    """What differs in form between what is shown and what was printed, if anything."""
    shown = [form(line) for line in shown.splitlines() if line.strip()]
    printed = [form(line) for line in printed.splitlines() if line.strip()]
    missing = [line for line in shown if line not in printed]
    extra = [line for line in printed if line not in shown]
    if missing or extra:
        return f"the page shows {missing}, the program prints {extra}"
    return None


def check(repository, program, folder, only=()):
    """Runs the commands of all pages, or of some; yields a line for each that fails.

    If all run, a rule without use is a fault, too.
    """
    models = stand_ins.Models(program, pathlib.Path(folder))
    used = set()
    for page in only or pages(repository):
        place = pathlib.Path(folder, page.replace("/", "-"))
        place.mkdir()
        stand_ins.small_experiment(repository.root, place)
        for line, command, shown in commands(repository.read(page)):
            command = PREFIX.sub("brr ", command)
            rule = next((rule for rule, _ in LEFT_OUT if re.match(rule, command)), None)
            if rule:
                used.add(rule)
                continue
            what = run(command, place, program, models, shown)
            if what:
                yield f"{page}:{line}: {what}"
    for rule, _ in LEFT_OUT:
        if rule not in used and not only:
            yield f"no command meets the rule {rule!r}: take it out of LEFT_OUT in scripts/lib/check_docs/commands.py"


def run(command, place, program, models, shown=None):
    """What is wrong with a command, if anything."""
    for pattern, more in SMALLER:
        if re.match(pattern, command):
            # Before a comment, a pipe or a redirection.
            head = re.match(r"(?:[^#|<>\"']|\"[^\"]*\"|'[^']*')*", command)[0]
            command = head.rstrip() + more + " " + command[len(head):]
    words = shlex.split(command, comments=True)
    stand_ins.make(words, place, models)
    environment = {**os.environ, "PATH": f"{pathlib.Path(program).parent}:{os.environ['PATH']}"}
    began = time.monotonic()
    try:
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", command], cwd=place, env=environment,
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=SECONDS, check=False,
        )
    except subprocess.TimeoutExpired:
        return f"not done after {SECONDS} seconds: {command}"
    print(f"  {time.monotonic() - began:5.1f} s  {command}", flush=True)
    if done.returncode:
        last = "\n    ".join(done.stderr.strip().splitlines()[-5:])
        return f"ends with code {done.returncode}: {command}\n    {last}"
    what = differs(shown, done.stderr + done.stdout) if shown is not None else None
    return f"{command}: {what}" if what else None

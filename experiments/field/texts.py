"""Texts as lists of tokens, the same for every mechanism, and what `brr privatize` makes of them."""

import csv
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import lab  # noqa: E402

TOKEN = re.compile(r"[^\W_]+|[^\w\s]|_")
# Contractions are written out for everybody, since not everybody knows the same.
CONTRACTIONS = [(r"\bcan['’]t\b", "can not"), (r"\bwon['’]t\b", "will not"), (r"n['’]t\b", " not"), (r"['’]re\b", " are"),
                (r"['’]ll\b", " will"), (r"['’]ve\b", " have"), (r"['’]m\b", " am"), (r"['’]d\b", " would"), (r"['’]s\b", ""),
                (r"['’]", "")]


def labelled(path):
    """Labels and texts of a file."""
    path = pathlib.Path(path)
    if not path.exists():
        sys.exit(f"error: --text: there is no file {path}; without --text, texts that come with a package are taken")
    with path.open(newline="", encoding="utf-8") as lines:
        if path.suffix == ".csv":
            return [(row["label"], row["text"]) for row in csv.DictReader(lines)]
        rows = [line.rstrip("\n").split("\t", 1) for line in lines]
        return [(label, text) for label, text in rows if (label, text) != ("label", "text")]


def tokens(text):
    """The same for everybody."""
    for written, out in CONTRACTIONS:
        text = re.sub(written, out, text, flags=re.IGNORECASE)
    return TOKEN.findall(text)


def plain(rows):
    """Labels and tokens of texts without letters of other scripts, which different programs cut differently."""
    rows = [(label, tokens(text)) for label, text in rows]
    return [(label, text) for label, text in rows if text and all(token.isascii() or not token.isalnum() for token in text)]


def release_ours(asked, texts, decoded):
    """Texts through `brr privatize`; times are of the processor."""
    command = [str(part) for part in (lab.brr(), "privatize", "--quiet", "--threads", "1", *asked)]
    command += ["--context"] if decoded else ["--no-context"]

    def once(lines):
        child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8")
        feed = threading.Thread(target=lambda: (child.stdin.write(lines), child.stdin.close()))
        feed.start()
        out = child.stdout.read()
        feed.join()
        _, status, usage = os.wait4(child.pid, 0)
        if status:
            raise RuntimeError(f"{' '.join(command)} failed")
        return out, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024

    _, start, _ = once("the\n")
    out, took, megabytes = once("".join(" ".join(text) + "\n" for text in texts))
    outputs = [line.split(" ") for line in out.splitlines()]
    words = sum(map(len, texts))
    if [len(text) for text in texts] != [len(out) for out in outputs]:
        raise RuntimeError("brr gave another number of words")
    return {"outputs": outputs, "start": start, "seconds_a_word": max(took - start, 0) / words, "megabytes": megabytes}


class Journal:
    """Finished releases, so that they are not made again."""

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def once(self, key, make, final=lambda found: True):
        """What was made for a key; what is not final is made again."""
        name = re.sub(r"\W+", "-", key)
        path = self.folder / f"{name[:60]}-{hashlib.sha256(key.encode()).hexdigest()[:12]}.json"
        if path.exists():
            found = json.loads(path.read_text())
            if final(found):
                return found
        text = json.dumps(make())
        path.write_text(text)
        return json.loads(text)

"""ARCHITECTURE.md is a map: it has every top-level folder, every binding, and all in crates/*/src.

A place is on the map if a link leads to it or below it, or if a code span or a heading names
its path. Crate roots (`lib.rs`, `main.rs`) are what a crate's heading is about.
"""
import posixpath
import re

from . import markdown

MAP = "ARCHITECTURE.md"
ROOTS = {"lib.rs", "main.rs"}


def check(repository):
    named = places(repository.read(MAP))
    return [f"{MAP}: {place} is not on the map" for place in sorted(wanted(repository) - named)]


def wanted(repository):
    """The places that must be on the map."""
    tops = {name for name in repository.entries(".") if name in repository.folders}
    bindings = {f"bindings/{name}" for name in repository.entries("bindings")}
    sources = {
        f"crates/{crate}/src/{entry}"
        for crate in repository.entries("crates")
        for entry in repository.entries(f"crates/{crate}/src") - ROOTS
    }
    # A module may be a file and a folder: the file stands for both.
    return tops | bindings | {place for place in sources if place + ".rs" not in sources}


def places(text):
    """All paths that the map names, and the folders above them."""
    named = set()
    for block in markdown.blocks(text):
        if block.language is not None:
            named.update(word for word in block.text.split() if "/" in word)
            continue
        named.update(target.partition("#")[0] for _, target in markdown.links(block))
        named.update(span for _, span in markdown.code_spans(block))
        for title in re.findall(r"(?m)^#+ (.*)$", block.text):
            named.update(re.findall(r"[\w./-]+", title))
    result = set()
    for path in map(posixpath.normpath, named):
        while path not in ("", ".", "/"):
            result.add(path)
            path = posixpath.dirname(path)
    return result

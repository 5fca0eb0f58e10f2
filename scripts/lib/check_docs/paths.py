"""Links, anchors, and paths and packages named in code, on every Markdown page."""
import posixpath
import re
import urllib.parse

from . import markdown

PATH = re.compile(r"[\w.@+-][\w.@{},*+-]*(/[\w.@{},*+-]+)*/?$")
CARGO_TARGETS = {"--example": "examples", "--test": "tests", "--bench": "benches"}


def check(repository):
    """What is wrong, a line for each: `page:line: what`."""
    found = []
    for page in repository.pages():
        for block in markdown.blocks(repository.read(page)):
            found += [f"{page}:{line}: {what}" for line, what in check_block(repository, page, block)]
    return found


def check_block(repository, page, block):
    if block.language is not None:
        for number, line in enumerate(block.text.splitlines(), block.line):
            yield from ((number, what) for what in check_code(repository, page, line))
        return
    for line, target in markdown.links(block):
        what = check_link(repository, page, target)
        if what:
            yield line, what
    for line, span in markdown.code_spans(block):
        yield from ((line, what) for what in check_code(repository, page, span))


def check_link(repository, page, target):
    """What is wrong with a link, if anything. Addresses in the network are not followed."""
    if re.match(r"[a-z][a-z0-9+.-]*:", target, re.IGNORECASE):
        return None
    path, _, anchor = urllib.parse.unquote(target).partition("#")
    if path.startswith("/"):
        return f"the link {target} is absolute: write it relative to the page"
    there = posixpath.normpath(posixpath.join(posixpath.dirname(page), path)) if path else page
    if not repository.has(there):
        return f"the link {target} leads nowhere: there is no {there}"
    if anchor and there.endswith(".md") and anchor not in markdown.anchors(repository.read(there)):
        return f"the link {target} leads to no heading of {there}"
    return None


def check_code(repository, page, code):
    """What is wrong with paths and packages in a code span or a line of code."""
    words = code.split()
    for word in words:
        if is_missing(repository, page, word):
            yield f"`{word}` is not in the repository"
    if "cargo" in words:
        yield from check_cargo(repository, words)


def is_missing(repository, page, word):
    """Whether a word looks like a path of the repository, or of the page's folder, and is none.

    It looks like one if it has a slash and its first part is an entry of that folder, or if
    it is the name of a page.
    """
    word = word.strip("()[]\"'").rstrip(".,;:")
    if not PATH.fullmatch(word):
        return False
    path = posixpath.normpath(word)
    first = path.split("/")[0]
    here = posixpath.dirname(page) or "."
    bases = [base for base in {".", here} if "/" in word and first in repository.entries(base)]
    if not bases and not path.endswith(".md"):
        return False
    candidates = {posixpath.normpath(posixpath.join(base, path)) for base in (".", here)}
    return not any(repository.matches(path) or repository.is_made(path) for path in candidates)


def check_cargo(repository, words):
    # What comes after `--` belongs to the program that cargo runs.
    words = words[: words.index("--")] if "--" in words else words
    for option, value in zip(words, words[1:]):
        if option in ("-p", "--package") and value not in repository.packages:
            yield f"there is no package {value}"
        folder = CARGO_TARGETS.get(option)
        if folder and not any(name.endswith(f"/{folder}/{value}.rs") for name in repository.files):
            yield f"there is no {folder}/{value}.rs"

"""A Markdown page as this project writes them: prose, code blocks, links, headings.

Not a whole Markdown parser. It knows fenced and indented blocks, code spans, inline and
reference links, `<img src>` and `<a href>`, and the anchors that GitHub gives to headings.
"""
import re
from dataclasses import dataclass

FENCE = re.compile(r" {0,3}(`{3,}|~{3,})\s*([\w+-]*)")
LIST_ITEM = re.compile(r"\s*([-*+]|\d+[.)])\s")
HEADING = re.compile(r"#{1,6}\s+(.*?)\s*#*\s*$")
# A code span ends at as many backticks as it began with, within its paragraph.
SPAN = re.compile(r"(?<!`)(`+)(?!`)((?:(?!\n\s*\n).)+?)(?<!`)\1(?!`)", re.DOTALL)
LINK = re.compile(r"\[(?:[^\[\]]|\[[^\[\]]*\])*\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
DEFINITION = re.compile(r"^ {0,3}\[[^\]]+\]:\s+<?([^\s>]+)", re.MULTILINE)
ATTRIBUTE = re.compile(r"<(?:img|a)\b[^>]*?\b(?:src|href)=\"([^\"]+)\"")


@dataclass(frozen=True)
class Block:
    """Lines of one kind. `language` is None for prose, "" for code without a language."""

    line: int
    language: str | None
    text: str


def blocks(text):
    """The blocks of a page, in order; `line` counts from 1."""
    result, lines, start, language = [], [], 1, None
    fence, in_list, after_blank = None, False, True

    def close(next_start, next_language):
        nonlocal lines, start, language
        if lines:
            result.append(Block(start, language, "\n".join(lines)))
        lines, start, language = [], next_start, next_language

    for number, line in enumerate(text.splitlines(), 1):
        opening = FENCE.match(line)
        if fence:
            if line.strip().startswith(fence) and not line.strip().strip(fence[0]):
                fence = None
                close(number + 1, None)
            else:
                lines.append(line)
            continue
        if opening:
            fence = opening[1]
            close(number + 1, opening[2].lower())
            continue
        blank, indented = not line.strip(), line.startswith("    ")
        if language == "" and not blank and not indented:
            close(number, None)
        elif language is None and indented and after_blank and not in_list and not blank:
            close(number, "")
        lines.append(line[4:] if language == "" else line)
        if language is None and not blank:
            in_list = bool(LIST_ITEM.match(line)) or (in_list and (line[0] == " " or not after_blank))
        after_blank = blank
    close(0, None)
    return result


def code_spans(block):
    """(line, content) of each code span in a block of prose."""
    return [(_line(block, match), match[2]) for match in SPAN.finditer(block.text)]


def links(block):
    """(line, target) of each link and image in a block of prose."""
    # What a code span says is no link; its length stays, so that places do.
    text = SPAN.sub(lambda span: span[1] + re.sub(r"[^\n]", "x", span[2]) + span[1], block.text)
    found = [match for pattern in (LINK, DEFINITION, ATTRIBUTE) for match in pattern.finditer(text)]
    return [(_line(block, match), match[1]) for match in found]


def anchors(text):
    """The anchors of a page's headings, as GitHub makes them."""
    seen, result = {}, set()
    for block in blocks(text):
        if block.language is not None:
            continue
        for match in filter(None, map(HEADING.match, block.text.splitlines())):
            title = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", match[1])
            slug = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
            seen[slug] = seen.get(slug, -1) + 1
            result.add(f"{slug}-{seen[slug]}" if seen[slug] else slug)
    return result


def _line(block, match):
    return block.line + block.text.count("\n", 0, match.start())

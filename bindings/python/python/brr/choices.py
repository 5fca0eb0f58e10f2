"""What can be chosen: names for type checkers, defaults from the core.

The names stand here as literals because type checkers want them so; a test compares them
with the core's own table. The defaults are taken from that table when the package is
imported.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, Literal

from brr import _native
from brr.errors import BudgetError

Mechanism = Literal["exponential", "brr", "tree", "k-ary"]
Layout = Literal["keep", "words"]
Unknown = Literal["random", "mask", "drop", "keep"]
Search = Literal["scan", "multi-index"]
Case = Literal["plain", "sentence"]
Format = Literal["text", "csv", "tsv", "jsonl", "json", "parquet"]
Document = Literal["line", "file"]
OnBadRow = Literal["fail", "skip", "copy-null"]
# Not of the table: a language model, its file, or whether to use the built-in one.
Context = _native.Language | str | os.PathLike[str] | bool | None
# Not of the table: the name of a built-in list, the path of a file, or words.
Words = str | os.PathLike[str] | Iterable[str] | None


def _default(option: str) -> Any:
    return next(iter(_native.CHOICES[option]))


MECHANISM: Mechanism = _default("mechanism")
LAYOUT: Layout = _default("layout")
UNKNOWN: Unknown = _default("unknown")
SEARCH: Search = _default("search")
CASE: Case = _default("case")
ON_BAD_ROW: OnBadRow = _default("on_bad_row")


def need_budget(epsilon: float | None, bound: float | None, keep: float | None) -> None:
    """Refuse to go on without a budget that somebody chose.

    The default budget is for looking at the effect. What writes a data set asks for one.
    """
    if epsilon is None and bound is None and keep is None:
        raise BudgetError(
            "choose how much privacy the data set gets: give one of epsilon=, bound= and keep="
        )

"""What is told about texts, words and models: plain records.

They compare by value, pickle, and give their fields as a dictionary. None is taken back by
any function: what a record says is a statement, not a proof.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any


class _Record:
    """What all records can do."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """Give the fields by their names, records in them as dictionaries, too."""
        return dataclasses.asdict(self)  # type: ignore[call-overload,no-any-return]


@dataclass(frozen=True)
class PairDistances(_Record):
    """Distances between the words of a vocabulary, over all ordered pairs."""

    average: float
    """P_avg: the mean over all ordered pairs; the diagonal counts."""
    maximum: float
    """P_max: the largest."""
    nearest_mean: float
    """Mean distance of a word to its nearest other word."""
    nearest_min: float
    """The smallest distance between two different words."""


@dataclass(frozen=True)
class CalibrationPoint(_Record):
    """One line of a model's calibration table."""

    epsilon: float
    """Epsilon per bit."""
    keep: float
    """Share of words that stay, counted by how often they are used."""
    keep_plain: float
    """Share of words that stay, every word of the vocabulary counted once."""


@dataclass(frozen=True)
class Certificate(_Record):
    """A certified epsilon of the exponential mechanism."""

    epsilon: float
    """The certified epsilon, rounded up."""
    scale: float
    """Scale of the weights."""
    keep: float
    """Share of words that stay, counted by how often they are used."""


@dataclass(frozen=True)
class Chance(_Record):
    """A probability, and between which numbers it is known to lie."""

    probability: float
    """The best estimate."""
    low: float
    """Not below this."""
    high: float
    """Not above this."""


@dataclass(frozen=True)
class Likely(_Record):
    """A word, and how likely it is."""

    word: str
    """The word."""
    chance: Chance
    """How likely."""


@dataclass(frozen=True)
class Outcomes(_Record):
    """What comes out when a word goes in."""

    stays: Chance
    """How likely the word stays."""
    likely: list[Likely]
    """The most likely outputs, the word itself among them."""
    reach: list[tuple[int, float]]
    """Share of outputs among the k words nearest to the input, itself counted."""
    method: str
    """How the numbers were found: ``exact`` or ``drawn``."""
    draws: int | None
    """How many draws an estimate rests on."""


@dataclass(frozen=True)
class Posterior(_Record):
    """What may have gone in when a word came out."""

    likely: list[Likely]
    """The most likely inputs. Empty if there were too few draws to tell."""
    method: str
    """How the numbers were found: ``drawn``, ``nearest`` or ``opaque``."""
    draws: int | None
    """How many draws an estimate rests on."""


@dataclass(frozen=True)
class Privatized(_Record):
    """A privatized text, and what may be said about it."""

    text: str = field(repr=False)
    """The text."""
    tokens: int
    """How many tokens it had."""
    unknown: int
    """How many of them had no code. Not private: for the user's own eyes."""
    loss: float
    """The largest loss between this text and a neighbour: that of its private tokens."""
    public: int = 0
    """How many of its tokens are public words: 0 without ``public`` and ``private``."""


@dataclass(frozen=True)
class PrivatizedSpans(_Record):
    """A text of which some spans were privatized."""

    text: str = field(repr=False)
    """The text."""
    spans: list[tuple[int, int]]
    """Where each span is now, in code points, in the order in which they were given."""
    tokens: list[int]
    """How many tokens each span had."""
    loss: float
    """The largest loss between neighbours; in a session, what this text added to it."""


@dataclass(frozen=True)
class Restored(_Record):
    """A text with the originals in it: private."""

    text: str = field(repr=False)
    """The text."""
    restored: int
    """How many surrogates became originals."""
    ambiguous: int
    """How many were left, as it is not certain what they stand for."""


@dataclass(frozen=True)
class TracePart(_Record):
    """A part of a privatized text: an output word, or structure between words."""

    output: str = field(repr=False)
    """What is released."""
    drawn: str | None = field(repr=False)
    """The word as drawn, where the output was decoded from it with ``context``; else None."""
    original: str | None = field(repr=False)
    """The token as it stood in the text: **private**. None for structure."""
    known: bool
    """Whether the model knows the token; False for structure."""
    changed: bool
    """Whether another word came out; False for structure."""
    public: bool = False
    """Whether it is a public word, which stays as it is; False for structure."""


@dataclass(frozen=True)
class Trace(_Record):
    """A privatized text, part by part. Holds the original: not for release."""

    parts: list[TracePart] = field(repr=False)
    """The parts; their outputs in a row are the privatized text."""
    tokens: int
    """How many tokens the text had."""
    unknown: int
    """How many of them had no code."""
    public: int = 0
    """How many of them are public words."""

    @property
    def text(self) -> str:
        """The privatized text."""
        return "".join(part.output for part in self.parts)


@dataclass(frozen=True)
class FileReport(_Record):
    """What was done to a file."""

    rows: int
    """Rows read, bad ones included; lines of plain text."""
    documents: int
    """Cells (in plain text: documents) that were privatized."""
    words: int
    """Their words."""
    unknown_words: int
    """How many of them the model does not know. Not private: for the user's own eyes."""
    skipped: int
    """Bad rows that were left out."""
    emptied: int
    """Bad rows that were kept without their text."""
    words_cut: int
    """Words that were deleted because their unit had ``max_words`` already."""
    unseen_columns: list[int]
    """Places in ``columns`` of those that no row of this run had."""
    manifest: dict[str, Any] | None = field(repr=False)
    """The record of the run, as a file named by ``manifest`` has it.

    None if the run that was to be resumed was complete already.
    """


@dataclass(frozen=True)
class DecodedWord(_Record):
    """What a word of a released text probably was."""

    released: str | None
    """The word of the released text; None if the model does not know it, and it stays."""
    word: str | None
    """The most probable word."""
    drawn: bool
    """Whether the released word was drawn. Others, such as public words, are certain."""
    posterior: float
    """The probability of the word, given all released words of its sentence."""
    others: list[tuple[str, float]]
    """The next most probable words."""


@dataclass(frozen=True)
class DecodedText(_Record):
    """The most probable original of a released text: a guess, not what was written."""

    text: str
    """The text, in the layout of the released one."""
    words: list[DecodedWord] = field(repr=False)
    """Its words in order."""


@dataclass(frozen=True)
class WordCount(_Record):
    """How often a word was in texts of which only the privatized form is known."""

    word: str
    """The word."""
    estimate: float
    """The likely count: what the texts and the prior say together."""
    low: float
    """Lower end of the 95 % interval."""
    high: float
    """Upper end."""
    unbiased: float
    """The count that is right on average, from the texts alone. It may be negative."""
    raw: int
    """How often it was received."""


@dataclass(frozen=True)
class Estimates(_Record):
    """Word counts of texts of which only the privatized form is known."""

    words: list[WordCount] = field(repr=False)
    """Every word of the model, the most frequent first."""
    documents: int
    """Texts that were read."""
    words_received: int
    """Their words."""
    unknown_words: tuple[float, float]
    """The fewest and the most words unknown to the model that the intervals hold for."""
    solved: bool
    """Whether the mechanism's linear system was solved.

    Where it was not, some words can hardly be told apart, and intervals may be too short.
    """

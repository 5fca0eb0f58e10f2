"""Types of the part that is written in Rust."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal, final

from typing_extensions import CapsuleType, Self

from brr.records import (
    CalibrationPoint,
    Certificate,
    Estimates,
    FileReport,
    Outcomes,
    PairDistances,
    Posterior,
    Privatized,
    PrivatizedSpans,
    Restored,
    Trace,
)

__version__: str
CHOICES: dict[str, dict[str, str]]
"""For each option its names, the default first, and what they mean."""
DEFAULT_BUDGET: tuple[str, float]
"""The keyword and the value of the budget when none is given."""

@final
class Guarantee:
    """A mechanism's promise, per token: an epsilon and the metric it is measured in."""

    @property
    def epsilon(self) -> float:
        """Loss per unit of distance, rounded up."""
    @property
    def metric(self) -> str:
        """The distance in which epsilon is measured, such as ``hamming-256``."""
    @property
    def distances(self) -> PairDistances:
        """How far the vocabulary's words lie apart."""
    @property
    def bound(self) -> float:
        """The privacy-loss bound: epsilon times the average distance of two words."""
    @property
    def nearest(self) -> float:
        """The mean loss between a word and its nearest neighbour."""
    @property
    def worst(self) -> float:
        """The loss at the two words farthest apart: no two words exceed it."""
    @property
    def unknown_loss(self) -> float:
        """The largest loss between a token without a code and a word."""
    @property
    def worst_token(self) -> float:
        """The largest loss between any two tokens, words or not."""
    @property
    def losses(self) -> list[float]:
        """The largest loss at each level of the tree, from 0 on; empty without a tree."""
    def loss_at(self, distance: float) -> float:
        """Give the largest loss between two words at this distance."""
    def total(self, tokens: int) -> float:
        """Give the largest loss between two texts of this number of tokens each."""
    def to_dict(self) -> dict[str, Any]:
        """Give its numbers by their names, the metric and the distances."""

@final
class Model:
    """Words, their codes, and what was measured about them. Read-only."""

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Model:
        """Read a model file."""
    @staticmethod
    def from_bytes(data: bytes) -> Model:
        """Read a model from the bytes of a model file."""
    @staticmethod
    def english() -> Model:
        """Give the built-in English model."""
    def to_bytes(self) -> bytes:
        """Give the bytes of the model file."""
    def subset(self, words: str | os.PathLike[str] | Iterable[str]) -> Model:
        """Give a model of these words alone, with an identity of its own.

        Words, the name of a built-in list, or the path of a file with a word on each line.
        Fix them before any private text is seen. Certificates and calibration are not
        carried over. Its tree is one of its own: two words may be at a higher level of it
        than in this model's, and their loss under tree response is then that of the higher one.
        """
    @property
    def bits(self) -> int:
        """Code length."""
    @property
    def lowercase(self) -> bool:
        """Whether words are looked up in lower case."""
    @property
    def words(self) -> list[str]:
        """All words, the most frequent first."""
    @property
    def distances(self) -> PairDistances:
        """How far the words lie apart: P_avg, P_max and the nearest neighbours.

        If unchecked, all but P_avg are bounds.
        """
    @property
    def calibration(self) -> list[CalibrationPoint]:
        """Share of kept words by epsilon, for randomized response; empty if unchecked."""
    @property
    def certificates(self) -> list[Certificate]:
        """Certificates of the exponential mechanism, by epsilon; none if unchecked."""
    @property
    def meta(self) -> dict[str, str]:
        """Provenance, licence, quality."""
    @property
    def identity(self) -> str:
        """SHA-256 of numbers, words and codes: what certificates name."""
    @property
    def file_identity(self) -> str:
        """Which file this is, every byte of it: a SHA-256 of all sections."""
    @property
    def standing(self) -> Literal["pinned", "checked", "unchecked"]:
        """Why what the file says about itself is believed, or is not.

        ``pinned``: this package was released with the file. ``checked``: :meth:`check` has
        looked at all pairs of words. ``unchecked``: neither, and only what holds for any
        codes is used.
        """
    def check(
        self, *, threads: int | None = None, progress: Callable[[float], object] | None = None
    ) -> None:
        """Check what the file says about itself, unless it is known to hold.

        Looks at all pairs of words: seconds for some ten thousand words. Other Python
        threads run meanwhile, and Ctrl-C is heeded at once. ``progress`` is called with the
        share done, from any thread. Raises :class:`brr.ModelError` if a claim does not hold.
        """
    def epsilon_for(self, keep: float) -> float:
        """Give the epsilon at which randomized response keeps this share of words."""
    def keep_at(self, epsilon: float) -> float | None:
        """Give the share of words that randomized response keeps at this epsilon.

        None if the model does not tell, or is unchecked.
        """
    def inspect(self) -> dict[str, Any]:
        """Tell everything known about the model, as ``brr inspect --json`` does.

        The program checks a model first; this does not.
        """
    def __len__(self) -> int: ...
    def __contains__(self, word: str, /) -> bool: ...

@final
class Language:
    """Which words follow which, to decode draws with. Read-only."""

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Language:
        """Read a language model file."""
    @staticmethod
    def from_bytes(data: bytes) -> Language:
        """Read a language model from the bytes of its file."""
    @staticmethod
    def english() -> Language:
        """Give the built-in language model, for the words of the built-in model."""
    def to_bytes(self) -> bytes:
        """Give the bytes of the file."""
    @property
    def words(self) -> int:
        """Number of words."""
    @property
    def pairs(self) -> int:
        """Number of pairs of words that are listed with their probability."""
    @property
    def identity(self) -> str:
        """Which file this is, every byte of it: a SHA-256 of all sections."""
    @property
    def meta(self) -> dict[str, str]:
        """Provenance and licence."""

@final
class ArrowColumn:
    """A privatized column, for any library that reads Arrow."""

    def __len__(self) -> int: ...
    def __arrow_c_array__(
        self, requested_schema: object = None
    ) -> tuple[CapsuleType, CapsuleType]:
        """Give the column as Arrow's pair of capsules."""

class Privatizer:
    """The part of ``brr.Privatizer`` that is written in Rust."""

    def __new__(
        cls,
        model: Model | str | os.PathLike[str] | None = None,
        mechanism: str = ...,
        epsilon: float | None = None,
        bound: float | None = None,
        keep: float | None = None,
        layout: str = ...,
        unknown: str = ...,
        search: str = ...,
        context: Language | str | os.PathLike[str] | bool | None = ...,
        public: str | os.PathLike[str] | Iterable[str] | None = None,
        private: str | os.PathLike[str] | Iterable[str] | None = None,
        case: str = ...,
    ) -> Self: ...
    @property
    def model(self) -> Model:
        """The model in use."""
    @property
    def mechanism(self) -> str:
        """Name of the mechanism in use."""
    @property
    def layout(self) -> str:
        """What of a text's structure is kept."""
    @property
    def unknown(self) -> str:
        """What becomes of tokens without a code."""
    @property
    def search(self) -> str:
        """How the nearest word is found."""
    @property
    def context(self) -> Language | None:
        """The language model that draws are decoded with, if they are."""
    @property
    def public(self) -> str | list[str] | None:
        """The words that stay as they are: the name of a built-in list, or words."""
    @property
    def private(self) -> str | list[str] | None:
        """The only words that are private: the name of a built-in list, or words."""
    @property
    def case(self) -> str:
        """Whether capital letters are written."""
    @property
    def guarantee(self) -> Guarantee:
        """What is promised, per token."""
    @property
    def expected_keep(self) -> float | None:
        """The expected share of words that stay as they are, if it is known."""
    @property
    def kept_words(self) -> str:
        """What ``keep`` and ``expected_keep`` are shares of, which ends a sentence.

        ``"words stay as they are"``; where some words are public, what holds of the private
        ones: decoded text under a list of your own is not measured, and may keep more.
        """
    @property
    def adjacency(self) -> str:
        """Which texts are neighbours: what the guarantee is about, and so what is public."""
    def total_loss(self, tokens: int) -> float:
        """Give the largest loss between neighbouring texts of this number of private tokens.

        ``math.inf`` if the rule for unknown tokens tells some neighbours apart.
        """
    def privatize(self, text: str, *, threads: int | None = None) -> str:
        """Privatize a text; a long one with all cores, or as many threads as given."""
    def privatize_counted(self, text: str, *, threads: int | None = None) -> Privatized:
        """Privatize a text, and tell how many tokens it had and what the loss is."""
    @property
    def spans_adjacency(self) -> str:
        """Which texts with marked spans are neighbours: what is public, marks included."""
    def privatize_spans(
        self,
        text: str,
        spans: Sequence[tuple[int, int] | tuple[int, int, str | None]],
        *,
        lists: dict[str, str | os.PathLike[str] | Iterable[str]] | None = None,
        numbers: tuple[int, int, int] | None = None,
    ) -> PrivatizedSpans:
        """Privatize these parts of a text. What is not marked goes out as it is.

        A span is ``(start, end)`` or ``(start, end, list)``, in code points. ``lists`` says
        which lists there are, by name: the name of a built-in list, a path, or words;
        without it, ``names`` and ``places``. ``numbers`` is ``(low, high, scale)``: then
        integers become integers of this range, and identifiers get new digits.
        """
    def outcomes(self, word: str, top: int = ..., draws: int = ...) -> Outcomes:
        """Tell what comes out when this word goes in. Not private: for your eyes."""
    def posterior(self, word: str, top: int = ..., draws: int = ...) -> Posterior:
        """Tell what may have gone in when this word came out."""
    def trace(self, text: str) -> Trace:
        """Privatize a text, and keep what became of what. Not private: for your eyes."""
    def _privatize_list(
        self,
        texts: list[str | None],
        threads: int | None,
        progress: Callable[[int, int], object] | None,
        counted: bool,
    ) -> list[Any]: ...
    def _privatize_arrow(
        self,
        column: object,
        threads: int | None,
        progress: Callable[[int, int], object] | None,
        combine: bool,
    ) -> list[ArrowColumn]: ...
    def _manifest(self, texts: list[tuple[int, int, int]]) -> dict[str, Any]: ...

@final
class Session:
    """A conversation in which each distinct word has one surrogate.

    Which positions held equal words is then public: :attr:`adjacency` says so. The mapping
    lives in memory alone; there is no pickling.
    """

    def __new__(
        cls,
        privatizer: Privatizer,
        *,
        lists: dict[str, str | os.PathLike[str] | Iterable[str]] | None = None,
        numbers: tuple[int, int, int] | None = None,
    ) -> Self: ...
    @staticmethod
    def from_bytes(
        privatizer: Privatizer,
        data: bytes,
        *,
        lists: dict[str, str | os.PathLike[str] | Iterable[str]] | None = None,
        numbers: tuple[int, int, int] | None = None,
    ) -> Session:
        """Go on with a session that was exported."""
    def export(self) -> bytes:
        """Give the session as bytes. They hold the originals: keep them like the texts."""
    def privatize(self, text: str) -> str:
        """Privatize a whole text, under the privatizer's policy."""
    def privatize_spans(
        self, text: str, spans: Sequence[tuple[int, int] | tuple[int, int, str | None]]
    ) -> PrivatizedSpans:
        """Privatize these parts of a text. What is not marked goes out as it is."""
    def add_public(self, text: str) -> None:
        """Tell of text that leaves in clear: surrogates that stand in it too are ambiguous."""
    def restore(self, text: str) -> Restored:
        """Put the originals back into a text, such as a model's answer."""
    def restorer(self) -> Restorer:
        """Do the same for a text that comes in parts, with what is known now."""
    @property
    def adjacency(self) -> str:
        """Which conversations are neighbours, and so what is public."""
    @property
    def loss(self) -> float:
        """The largest loss between neighbours so far: each distinct word costs once a list."""
    @property
    def words(self) -> int:
        """How many distinct words were drawn; a word counts once for each list."""
    @property
    def collisions(self) -> int:
        """How many surrogates stand for more than one word."""

@final
class Restorer:
    """Restores a text that comes in parts, cut anywhere."""

    def push(self, part: str) -> str:
        """Take the next part; give what can be told of the text now."""
    def finish(self) -> str:
        """Give the rest of the text, which has ended."""
    @property
    def restored(self) -> int:
        """How many surrogates became originals so far."""
    @property
    def ambiguous(self) -> int:
        """How many were left so far, as it is not certain what they stand for."""

def _build(
    vectors: str | os.PathLike[str],
    *,
    bits: int,
    words: int | None,
    binarizer: str,
    min_distance: int | None,
    seed: int,
    format: str | None,
    word_list: str | os.PathLike[str] | None,
    language: str,
    cased: bool,
    numbers: bool,
    exclude: list[str | os.PathLike[str]],
    strict: bool,
    partial: bool,
    shared_vectors: bool,
    similarity: list[str | os.PathLike[str]],
    certify: list[float] | None,
    meta: list[tuple[str, str]],
    threads: int | None,
    progress: Callable[[str, float], object] | None,
) -> Model: ...
def _build_language(
    texts: Iterator[str | os.PathLike[str]],
    model: Model | str | os.PathLike[str] | None,
    size: int,
    meta: list[tuple[str, str]],
) -> Language: ...
def _privatize_file(
    privatizer: Privatizer,
    input: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    columns: list[str],
    format: str | None,
    encoding: str | None,
    unit: str | None,
    max_words: int | None,
    header: bool | None,
    delimiter: str | None,
    quotes: bool,
    optional_columns: bool,
    document: str | None,
    on_bad_row: str | None,
    max_record: int | None,
    manifest: str | os.PathLike[str] | None,
    resume: bool,
    force: bool,
    threads: int | None,
    progress: Callable[[int, int], object] | None,
) -> FileReport: ...
def _estimate(
    privatizer: Privatizer,
    texts: list[Any],
    unknown_words: int | None,
    prior: str | dict[str, float],
    resamplings: int,
) -> Estimates: ...
def _estimate_file(
    path: str | os.PathLike[str],
    manifest: str,
    model: Model | str | os.PathLike[str] | None,
    prior: str | dict[str, float],
    resamplings: int,
) -> Estimates: ...
def _decode(
    privatizer: Privatizer,
    texts: list[Any],
    language: Language | str | os.PathLike[str] | bool | None,
    others: int | None,
) -> list[Any]: ...
def _decode_file(
    input: str | os.PathLike[str],
    output: str | os.PathLike[str],
    manifest: str,
    model: Model | str | os.PathLike[str] | None,
    language: Language | str | os.PathLike[str] | bool | None,
    words: str | os.PathLike[str] | Iterable[str] | None,
    case: str,
    force: bool,
) -> None: ...

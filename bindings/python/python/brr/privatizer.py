"""The privatizer: text in, privatized text out."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar, overload

from brr import _native, choices, containers
from brr.errors import PrivacyWarning
from brr.records import Privatized

Series = TypeVar("Series", bound=containers.Series | containers.Array)
Text = TypeVar("Text", str, str | None)
Progress = Callable[[int, int], object] | None


class Privatizer(_native.Privatizer):
    """Privatizes texts. Safe to share between threads, to fork and to pickle.

    A word either stays or becomes close to a random one. :attr:`adjacency` says
    which texts the guarantee speaks of: texts with equal public structure.

    Randomness comes from the operating system, anew for every call; there is no
    seed to set, because anyone who knows the seed can undo the noise.

    Args:
        model: A model, a model file, or None for the built-in English model.
        mechanism: ``"exponential"`` (the exponential mechanism over the model's
            codes, with a certified epsilon; the default), ``"brr"`` (binary
            randomized response over the same codes, the paper's), ``"tree"`` (tree
            response: mostly a word of the same small group of the model's tree) or
            ``"k-ary"`` (any other word is as likely: the smallest loss between any
            two words).
        epsilon: Privacy loss per unit of the mechanism's distance (a bit of the
            code, a level of the tree, or 1 between any two words).
        bound: Instead: epsilon times the average distance of two words.
        keep: Instead: the expected share of words that stay as they are, met
            from below. With none of the three, ``keep=0.5``: a start for
            looking at the effect, not a recommendation for a data set.
        layout: ``"keep"`` for white space and listed punctuation as they are,
            ``"words"`` for nothing but words with single spaces between.
        unknown: What becomes of a token that the model does not know:
            ``"random"`` for a random word. ``"mask"`` and ``"drop"``
            tell which tokens are unknown, ``"keep"`` writes them as they are;
            none of these is private.
        search: How ``"brr"`` finds the nearest word, with the same answers:
            ``"scan"`` looks at every code, in a time that tells nothing about
            the word; ``"multi-index"`` is faster at a large epsilon over a large
            vocabulary, but its time depends on the noisy code.
        context: True to decode the draws of each text together, after the noise, with
            the built-in language model, which is for the built-in model's words; or a
            :class:`brr.Language` or the path of its file. The text reads, at no cost in
            privacy: decoding sees nothing but the draws. It is a plausible text, not what
            was written. ``keep`` is then the share of words that stay after decoding, and
            known for the built-in language model alone (with words of your own public or
            private, it is one of the draws: :attr:`kept_words` says so).
        public: Words that stay as they are, all others being private: ``"function-words"``
            or another built-in list (``"names"``, ``"places"``, ``"names+places"``), the
            path of a file with a word on each line, or words. Fixed before any text is seen;
            which of them stand where is then public (:attr:`adjacency` says so). Private
            words are drawn among private words alone, and the exponential mechanism is
            certified on these, which takes seconds.
        private: Instead: the only words that are private, beside those that the model
            does not know.
        case: ``"plain"`` for words as the model spells them, ``"sentence"`` for capital
            letters at the start of sentences, in "I", and in names and places. They depend
            on the output alone, so they cost no privacy.

    >>> import brr
    >>> privatizer = brr.Privatizer(epsilon=0.6)
    >>> privatizer.guarantee.metric, privatizer.guarantee.epsilon <= 0.6
    ('hamming-256', True)
    """

    def __new__(
        cls,
        model: _native.Model | str | os.PathLike[str] | None = None,
        mechanism: choices.Mechanism = choices.MECHANISM,
        epsilon: float | None = None,
        bound: float | None = None,
        keep: float | None = None,
        layout: choices.Layout = choices.LAYOUT,
        unknown: choices.Unknown = choices.UNKNOWN,
        search: choices.Search = choices.SEARCH,
        context: choices.Context = False,
        public: choices.Words = None,
        private: choices.Words = None,
        case: choices.Case = choices.CASE,
    ) -> Privatizer:
        """Solve the budget for the model and set the mechanism up."""
        self = super().__new__(
            cls,
            model,
            mechanism,
            epsilon,
            bound,
            keep,
            layout,
            unknown,
            search,
            context,
            public,
            private,
            case,
        )
        warn_of(unknown, stacklevel=3)
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as the arguments. Whoever unpickles was warned where they were chosen."""
        reduced: Any = super().__reduce__()
        kind, args = reduced
        return quiet, (kind, *args)

    @overload
    def privatize_batch(
        self, texts: Sequence[Text], *, threads: int | None = None, progress: Progress = None
    ) -> list[Text]: ...
    @overload
    def privatize_batch(
        self, texts: Series, *, threads: int | None = None, progress: Progress = None
    ) -> Series: ...
    @overload
    def privatize_batch(
        self,
        texts: containers.ArrowArray | containers.ArrowStream,
        *,
        threads: int | None = None,
        progress: Progress = None,
    ) -> _native.ArrowColumn: ...

    def privatize_batch(
        self, texts: Any, *, threads: int | None = None, progress: Progress = None
    ) -> Any:
        """Privatize many texts at once: faster than one by one, same distribution.

        Args:
            texts: A list, pandas.Series or Index, polars.Series, pyarrow.Array or
                ChunkedArray, or a NumPy array of one dimension. What comes back is
                of the same kind; a Series keeps its name and its index, a NumPy
                array its dtype (as wide as it needs to be). Nulls stay null, as
                None, NaN or NA. Another sequence of strings gives a list, another
                object with Arrow's PyCapsule methods an :class:`ArrowColumn`.
            threads: How many threads to use; all cores if None. Other Python
                threads run meanwhile.
            progress: Is called with the rows done and their number several times a
                second. An exception of it ends the work.

        Raises:
            InputError: A cell is neither a string nor null, or not valid
                Unicode; ``row`` says which. Nothing was privatized then.

        >>> import brr
        >>> privatizer = brr.Privatizer(keep=0.7)
        >>> private = privatizer.privatize_batch(["a good film", None])
        >>> len(private), private[1]
        (2, None)
        """
        return containers.privatize_batch(containers.Batch(self, threads, progress), texts)

    def privatize_batch_counted(
        self,
        texts: Iterable[str | None],
        *,
        threads: int | None = None,
        progress: Progress = None,
    ) -> list[Privatized | None]:
        """Privatize many texts, and tell the tokens and the loss of each.

        >>> import brr
        >>> privatizer = brr.Privatizer(keep=0.7)
        >>> rows = privatizer.privatize_batch_counted(["a good film", None])
        >>> rows[0].tokens, rows[0].loss == privatizer.total_loss(3), rows[1]
        (3, True, None)
        """
        return self._privatize_list(containers.rows(texts), threads, progress, True)

    def manifest(self, privatized: Iterable[Privatized | None]) -> dict[str, Any]:
        """Make the record of texts that were privatized, as ``brr privatize --manifest`` does.

        Model, guarantee, adjacency and counts, never text. Each text is a unit of its own.
        For whoever ran it: the number of unknown tokens is not private.
        """
        counts = [
            (text.tokens, text.unknown, text.public) for text in privatized if text is not None
        ]
        return self._manifest(counts)


def warn_of(unknown: str, stacklevel: int) -> None:
    """Warn of a rule for unknown tokens that the guarantee does not cover."""
    if unknown == choices.UNKNOWN:
        return
    message = (
        "unknown='keep' writes unknown words as they are: they are NOT private"
        if unknown == "keep"
        else f"unknown={unknown!r} tells which words are unknown; "
        "the guarantee does not cover that"
    )
    warnings.warn(message, PrivacyWarning, stacklevel=stacklevel)


def quiet(kind: type[Privatizer], *args: Any, **options: Any) -> Privatizer:
    """Make a privatizer whose options somebody was warned of already."""
    return _native.Privatizer.__new__(kind, *args, **options)

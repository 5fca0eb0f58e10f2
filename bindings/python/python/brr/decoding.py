"""What released text probably was, on the reader's side."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from brr import _native, choices, containers
from brr.errors import InputError
from brr.estimating import recorded
from brr.records import DecodedText


def decode(
    texts: Iterable[str | None],
    privatizer: _native.Privatizer,
    *,
    language: choices.Context = True,
) -> list[str | None]:
    """Guess the original of each text, from its privatized form.

    Every word becomes the most probable one, given the whole sentence, the mechanism and a
    public language model. The result is a plausible text, not what was written. It is
    post-processing: no privacy is spent.

    Args:
        texts: The privatized texts: a list, a Series, an Arrow array. Nulls stay.
        privatizer: The one that made them, or one with the same model, mechanism, budget and
            list of public words.
        language: A language model, its file, or True for the built-in one.

    Raises:
        InputError: A text is no string, or the privatizer decodes with context itself.

    >>> import brr
    >>> privatizer = brr.Privatizer(mechanism="k-ary", epsilon=60.0)
    >>> brr.decode(["thank you very much!", None], privatizer)
    ['thank you very much!', None]
    """
    return _native._decode(privatizer, _rows(texts), language, None)


def posteriors(
    texts: Iterable[str | None],
    privatizer: _native.Privatizer,
    *,
    language: choices.Context = True,
    others: int = 3,
) -> list[DecodedText | None]:
    """Guess the original of each text, and tell how probable each word is.

    As :func:`brr.decode`, over all words of the model instead of some candidates, which takes
    longer.

    Args:
        texts: See :func:`brr.decode`.
        privatizer: See there.
        language: See there.
        others: How many of the next most probable words to give for each.

    >>> import brr
    >>> privatizer = brr.Privatizer(mechanism="k-ary", epsilon=60.0)
    >>> [found] = brr.posteriors(["thank you"], privatizer, others=1)
    >>> [(word.word, round(word.posterior, 3), len(word.others)) for word in found.words]
    [('thank', 1.0, 1), ('you', 1.0, 1)]
    """
    return _native._decode(privatizer, _rows(texts), language, others)


def decode_file(
    input: str | os.PathLike[str],
    output: str | os.PathLike[str],
    manifest: Mapping[str, Any] | str | os.PathLike[str],
    *,
    model: _native.Model | str | os.PathLike[str] | None = None,
    language: choices.Context = True,
    words: choices.Words = None,
    case: choices.Case = choices.CASE,
    force: bool = False,
) -> None:
    """Guess the original of what ``privatize_file`` wrote, into a file of the same form.

    Args:
        input: The privatized file.
        output: The file to write. It appears when it is complete.
        manifest: The record of the run, or the file that has it. It names format, columns,
            mechanism and epsilon.
        model: The model of that run; the built-in English model if None.
        language: See :func:`brr.decode`.
        words: The list of words of that run's ``public`` or ``private``, if the manifest names
            one that is not built in.
        case: Whether to write capital letters.
        force: Replace the output if it exists.

    Raises:
        FileError: A file cannot be read or written.
        InputError: The manifest is not that of the file, or of another model or list, or of
            texts that were decoded with context.
    """
    _native._decode_file(
        Path(input), Path(output), recorded(manifest), model, language, words, case, force
    )


def _rows(texts: Any) -> list[Any]:
    if isinstance(texts, str | bytes | bytearray):
        raise InputError("expected a column of texts, found one: give a list")
    return containers.cells(texts)

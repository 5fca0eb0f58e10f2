"""What words were in privatized texts, on the server's side."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

from brr import _native, containers
from brr.errors import FileError, InputError
from brr.records import Estimates

Prior = Literal["rank", "uniform"] | Mapping[str, float]


def estimate(
    texts: Iterable[str | None],
    privatizer: _native.Privatizer,
    *,
    unknown_words: int | None = None,
    prior: Prior = "rank",
    resamplings: int = 24,
) -> Estimates:
    """Estimate how often each word was in texts, from their privatized form.

    The mechanism is public, so its noise can be removed from the counts over many texts, not
    from any one text. That is post-processing: it weakens no guarantee.

    Args:
        texts: The privatized texts: a list, a Series, an Arrow array. Nulls are left out.
        privatizer: The one that made them, or one with the same model, mechanism and budget.
        unknown_words: How many tokens the model did not know, as ``"unknown_words"`` of a
            manifest says. If None, intervals hold for every number that is possible.
        prior: What is believed beforehand: ``"rank"`` (Zipf's law over the model's order of
            words), ``"uniform"``, or public counts of words. Never from the texts themselves.
        resamplings: Number of solutions for random signs behind the intervals; fewer than 2
            give none.

    Raises:
        InputError: A text is no string, the texts cannot be of that model, or the privatizer
            decodes with context: then words no longer have the mechanism's frequencies.

    >>> import brr
    >>> privatizer = brr.Privatizer(keep=0.7)
    >>> private = privatizer.privatize_batch(["a good film"] * 300)
    >>> found = brr.estimate(private, privatizer, unknown_words=0)
    >>> sorted(word.word for word in found.words[:3])
    ['a', 'film', 'good']
    """
    if isinstance(texts, str | bytes | bytearray):
        raise InputError("expected a column of texts, found one; many are needed")
    rows = containers.cells(texts)
    return _native._estimate(privatizer, rows, unknown_words, _plain(prior), resamplings)


def estimate_file(
    path: str | os.PathLike[str],
    manifest: Mapping[str, Any] | str | os.PathLike[str],
    *,
    model: _native.Model | str | os.PathLike[str] | None = None,
    prior: Prior = "rank",
    resamplings: int = 24,
) -> Estimates:
    """Estimate how often each word was in a file, from what ``privatize_file`` wrote.

    Args:
        path: The privatized file, or a folder that ``brr privatize --output-dir`` wrote.
        manifest: The record of that run, or the file that has it. It names format, columns,
            mechanism and epsilon.
        model: The model of that run; the built-in English model if None.
        prior: See :func:`brr.estimate`.
        resamplings: See there.

    Raises:
        FileError: A file cannot be read.
        InputError: The manifest is not that of the file, or of another model, or of texts
            that were decoded with context.
    """
    record = recorded(manifest)
    return _native._estimate_file(Path(path), record, model, _plain(prior), resamplings)


def recorded(manifest: Mapping[str, Any] | str | os.PathLike[str]) -> str:
    """Give the record of a run as JSON, from its file if that is named."""
    if isinstance(manifest, Mapping):
        return json.dumps(dict(manifest))
    try:
        return Path(manifest).read_text(encoding="utf-8")
    except OSError as error:
        message = f"cannot read {manifest}: {error.strerror}"
        raise FileError(error.errno, message, error.filename) from None


def _plain(prior: Any) -> Any:
    return dict(prior) if isinstance(prior, Mapping) else prior

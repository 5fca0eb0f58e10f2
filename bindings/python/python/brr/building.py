"""Models from pretrained word vectors, language models from public text."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path

from brr import _native
from brr.errors import ArgumentError, arguments


def build(
    vectors: str | os.PathLike[str],
    *,
    bits: int = 256,
    words: int | None = None,
    binarizer: str = "affinity",
    min_distance: int | None = None,
    seed: int = 1,
    format: str | None = None,
    word_list: str | os.PathLike[str] | None = None,
    language: str = "en",
    cased: bool = False,
    numbers: bool = False,
    exclude: Iterable[str | os.PathLike[str]] = (),
    strict: bool = False,
    partial: bool = False,
    shared_vectors: bool = False,
    similarity: Iterable[str | os.PathLike[str]] = (),
    certify: Iterable[float] | None = None,
    name: str | None = None,
    source: str | None = None,
    licence: str | None = None,
    threads: int | None = None,
    progress: Callable[[str, float], object] | None = None,
) -> _native.Model:
    """Build a model from a file of word vectors, as ``brr build`` does.

    Same vectors and options, same bytes: of the program and of this function.
    Takes minutes for a large vocabulary. Ctrl-C is heeded at once; what was under
    way then ends in the background, at the end of its stage. Never build a model
    from private text.

    Args:
        vectors: GloVe or word2vec text, word2vec binary, fastText .vec or .bin,
            NumPy .npy; plain, .gz, .zst or .zip. Also a package of spaCy (.whl, .tar.gz
            or a folder) or of navec (.tar, or the wheel of natasha).
        bits: Length of the codes: a multiple of 64, up to 1024.
        words: Number of words to take from the start of the file, or of the most
            frequent ones of a package; all if None.
        binarizer: How vectors become codes: affinity, autoencoder, itq or
            hyperplane.
        min_distance: Fewest bits in which any two codes may differ; by default
            4, 8 and 24 for codes of 64, 128 and 256 bits.
        seed: Seed of the build. (The noise of privatization has none.)
        format: The vectors' format: glove, word2vec-text, word2vec-binary,
            fasttext, npy, spacy or navec; recognized if None.
        word_list: The words of a .npy file, one per line.
        language: Language of the words (a code such as ``fr``, ``ja`` or ``ru``), or a file
            with a table of how it is written. It is kept in the model.
        cased: Keep upper and lower case apart.
        numbers: Let tokens with digits in.
        exclude: Lists of words to keep out, one per line, ``#`` begins a comment.
        strict: End at the first defective row instead of skipping it.
        partial: Take the rows that are there of a file that was cut short.
        shared_vectors: Also take words that have no vector of their own but that of a
            more frequent word, as most words in packages of spaCy do.
        similarity: Word-similarity files to measure the codes on.
        certify: Epsilons to certify the exponential mechanism for: a ladder if
            None, none if empty.
        name: Name of the model; the vectors' file name if None.
        source: Where the vectors come from.
        licence: Licence of the vectors.
        threads: Threads to use; the model does not depend on it.
        progress: Is called with the name of a stage and the share of it done,
            from any thread.

    Raises:
        BuildError: The vectors cannot be used; the message says why.
        BuildFileError: A file cannot be read.
    """
    with arguments():
        # The file's name only: folders are nobody's business.
        file = Path(vectors).name
        meta: list[tuple[str, str | None]] = [
            ("name", name or file), ("source", source), ("licence", licence),
            ("vectors-file", file),
        ]  # fmt: skip
        return _native._build(
            vectors,
            bits=bits,
            words=words,
            binarizer=binarizer,
            min_distance=min_distance,
            seed=seed,
            format=format,
            word_list=word_list,
            language=language,
            cased=cased,
            numbers=numbers,
            exclude=list(exclude),
            strict=strict,
            partial=partial,
            shared_vectors=shared_vectors,
            similarity=list(similarity),
            certify=None if certify is None else list(certify),
            meta=_told(meta),
            threads=threads,
            progress=progress,
        )


def build_language(
    texts: Iterable[str | os.PathLike[str]],
    *,
    model: _native.Model | str | os.PathLike[str] | None = None,
    size: int = 2_000_000,
    name: str | None = None,
    source: str | None = None,
    licence: str | None = None,
) -> _native.Language:
    """Build a language model from public text, as ``brr language build`` does.

    Same texts and options, same bytes: of the program and of this function. Never build one
    from private text: it tells which words were seen together.

    Args:
        texts: Documents, each a string, or paths (:class:`pathlib.Path`) of text files with
            a document on each line.
        model: The model whose words it is for; the built-in one if None.
        size: Largest size in bytes: pairs of words that say least are left out.
        name: Name of the language model.
        source: Where the texts come from.
        licence: Licence of the texts.

    Raises:
        BuildError: There is no word in the texts, or the size is too small.
        FileError: A file cannot be read.

    >>> import brr
    >>> language = brr.build_language(["it was a good film .", "what a good evening ."])
    >>> brr.Privatizer(bound=16.0, context=language).context.pairs == language.pairs
    True
    """
    if isinstance(texts, str | bytes | os.PathLike) or not isinstance(texts, Iterable):
        found = type(texts).__name__
        raise ArgumentError(f"expected a list of texts or of paths; found {found}")
    meta = _told([("name", name), ("source", source), ("licence", licence)])
    # What an iterator raises is its own affair, so no `arguments` here.
    if not all(isinstance(value, str) for _, value in meta):
        raise ArgumentError("name, source and licence are strings")
    return _native._build_language(iter(texts), model, size, meta)


def _told(meta: list[tuple[str, str | None]]) -> list[tuple[str, str]]:
    return [(key, value) for key, value in meta if value is not None]

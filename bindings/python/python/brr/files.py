"""Whole files: text, CSV, JSON lines and Parquet."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

from brr import _native, choices
from brr.errors import arguments
from brr.privatizer import Privatizer
from brr.records import FileReport


def privatize_file(
    input: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    columns: str | Iterable[str] = (),
    format: choices.Format | None = None,
    encoding: str | None = None,
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
    unit: str | None = None,
    max_words: int | None = None,
    header: bool | None = None,
    delimiter: str | None = None,
    quotes: bool = True,
    optional_columns: bool = False,
    document: choices.Document | None = None,
    on_bad_row: choices.OnBadRow = choices.ON_BAD_ROW,
    max_record: int | None = None,
    manifest: str | os.PathLike[str] | None = None,
    resume: bool = False,
    force: bool = False,
    threads: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> FileReport:
    r"""Privatize a file of any size, as ``brr privatize --input --output`` does.

    The named columns are privatized, and all else is copied byte by byte, and so is public.
    Memory stays small. The output appears under its name when it is complete. Until then it
    is a partial file beside it, with a checkpoint: after Ctrl-C or a crash, the same call
    with ``resume=True`` goes on from there. A run of the program can be resumed here, and
    the other way round.

    Args:
        input: The file to read. Its extension tells format and compression: ``.txt``,
            ``.csv``, ``.tsv``, ``.jsonl``, ``.json``, ``.parquet``, also with ``.gz`` or
            ``.zst``.
        output: The file to write, in the same format. Its extension tells the compression.
        columns: What is privatized. Names, or numbers from 1 such as ``"2"`` (CSV); paths
            such as ``"user.comment"`` (JSON, Parquet). Plain text has no columns.
        format: ``"text"``, ``"csv"``, ``"tsv"``, ``"jsonl"``, ``"json"`` or
            ``"parquet"``; by the extension if None, else text.
        encoding: How the input's text is encoded, such as ``"latin1"``; UTF-8 if None. The
            output is UTF-8.
        model: Model, mechanism, budget, layout, unknown, search, context, public, private
            and case are those of :class:`brr.Privatizer`.
        mechanism: See there.
        epsilon: See there; one of epsilon, bound and keep must be given.
        bound: See there.
        keep: See there.
        layout: See there.
        unknown: See there.
        search: See there.
        context: See there.
        public: See there.
        private: See there.
        case: See there.
        unit: The column that says whose a row is. It is copied, and so is public. Each
            document is its own unit if None.
        max_words: The most words to keep of each unit; words beyond are deleted.
        header: CSV: whether the first row has the names of the columns.
        delimiter: CSV: the character between two cells; a comma, or a tab in TSV, if None.
        quotes: CSV: whether quotes have a meaning.
        optional_columns: JSON lines: rows may lack a column, the first row too.
        document: Plain text: ``"line"`` (the default) or ``"file"`` is a document.
        on_bad_row: What becomes of a row that cannot be read: ``"fail"`` ends the run,
            ``"skip"`` leaves the row out, ``"copy-null"`` keeps it without its text.
        max_record: Bytes of the longest row to read; a longer one is a bad row.
        manifest: Where to write a record of the run: model, guarantee and counts, never
            text.
        resume: Go on with an unfinished run, if there is one.
        force: Replace the output and the manifest, and forget an unfinished run.
        threads: How many threads to use; all cores if None.
        progress: Is called with the bytes of the input that are done and their number, from
            any thread.

    Raises:
        BudgetError: No budget was given, or one that makes no sense.
        FileError: A file cannot be read or written, or one is there already.
        InputError: The file is not what its format says, a column is not in it, a row
            cannot be read (``row`` says which, from 1), or the settings do not fit.

    >>> import brr, tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "in.csv").write_text("stars,review\n1,a terrible evening\n")
    >>> report = brr.privatize_file(
    ...     folder / "in.csv", folder / "out.csv", columns="review", keep=0.7
    ... )
    >>> report.rows, report.words, (folder / "out.csv").read_text().splitlines()[0]
    (1, 3, 'stars,review')
    """
    choices.need_budget(epsilon, bound, keep)
    privatizer = Privatizer(
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
    with arguments():
        return _native._privatize_file(
            privatizer,
            input,
            output,
            columns=[columns] if isinstance(columns, str) else list(columns),
            format=format,
            encoding=encoding,
            unit=unit,
            max_words=max_words,
            header=header,
            delimiter=delimiter,
            quotes=quotes,
            optional_columns=optional_columns,
            document=document,
            on_bad_row=on_bad_row,
            max_record=max_record,
            manifest=manifest,
            resume=resume,
            force=force,
            threads=threads,
            progress=progress,
        )

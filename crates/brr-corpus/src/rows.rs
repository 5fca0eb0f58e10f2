//! A stream of rows through the privatizer.

use std::sync::atomic::Ordering;

use crate::checkpoint::Counts;
use crate::chunks::{Chunk, Chunks, LineFraming};
use crate::csv::{Csv, Frame};
use crate::edits::{Edits, OnBadRow, RowFormat};
use crate::error::{ColumnRole, Error, Result, RowProblem};
use crate::format::Format;
use crate::input::{Input, Opened, Wrapping};
use crate::json::{self, Json};
use crate::jsonl::Jsonl;
use crate::partial::Writer;
use crate::pipeline;
use crate::run::{Progress, Run};
use crate::text::{Document, Text};
use crate::units::Ledger;

const BOM: &[u8] = b"\xef\xbb\xbf";

/// Told by its mark; a program says how to name the encoding ([`Encoded`](Error::Encoded)).
const UTF_16: &str = "UTF-16";
const UTF_32: &str = "UTF-32";

/// Marks of encodings that are not UTF-8. Those of UTF-32 begin as those of UTF-16 do, so they come first.
const MARKS: [(&[u8], &str); 4] = [
    (b"\xff\xfe\0\0", UTF_32),
    (b"\0\0\xfe\xff", UTF_32),
    (b"\xff\xfe", UTF_16),
    (b"\xfe\xff", UTF_16),
];

/// What no text begins with.
const NO_TEXT: [(&[u8], &str); 5] = [
    (
        b"\x1f\x8b",
        "this is packed by gzip: unpack it first, or give a file whose name ends in .gz",
    ),
    (
        b"\x28\xb5\x2f\xfd",
        "this is packed by Zstandard: unpack it first, or give a file whose name ends in .zst",
    ),
    (b"BZh", "this is packed by bzip2: unpack it first"),
    (b"\xfd7zXZ\0", "this is packed by xz: unpack it first"),
    (b"PK\x03\x04", "this is a zip archive: unpack it first"),
];

/// Finds the columns by the first row; the format, and the bytes before the first row, which are
/// copied.
pub(crate) fn open<'a>(
    task: &Run<'a>,
    chunks: &mut Chunks,
) -> Result<(Box<dyn RowFormat + 'a>, Vec<u8>)> {
    let malformed = |chunks: &Chunks, problem: &str| Error::Malformed {
        name: chunks.input().name(),
        problem: problem.into(),
    };
    for (mark, problem) in NO_TEXT {
        if chunks.take_prefix(mark)? {
            return Err(malformed(chunks, problem));
        }
    }
    for (mark, encoding) in MARKS {
        if chunks.take_prefix(mark)? {
            let name = chunks.input().name();
            return Err(Error::Encoded { name, encoding });
        }
    }
    let mut head = Vec::new();
    if task.kind() == Format::Text {
        let whole = task.document == Some(Document::File);
        let line = task.document_line;
        return Ok((Box::new(Text { whole, line }), head));
    }
    if chunks.take_prefix(BOM)? {
        head.extend_from_slice(BOM);
    }
    // Blank lines are no rows, before the first as anywhere.
    while let Some(end) = chunks.take_line_end()? {
        head.push(end);
    }
    if matches!(task.kind(), Format::Jsonl | Format::Json) {
        let lines = task.kind() == Format::Jsonl;
        let mut jsonl = Jsonl::new(&task.columns, task.optional_columns)?;
        if let Some(path) = &task.unit {
            jsonl = jsonl.with_unit(path)?;
        }
        if lines {
            let first = chunks.peek_record(Box::new(LineFraming))?;
            if !first.is_empty() {
                let checked = jsonl.check_first(&first);
                checked.map_err(|e| if_text(&first, chunks, e))?;
            }
            return Ok((Box::new(jsonl), head));
        }
        let first = chunks.peek_record(Box::new(json::Frame::default()))?;
        if !json::Frame::can_begin(&first) {
            return Err(malformed(chunks, json::BROKEN));
        }
        if let Some(object) = json::first_object(&first) {
            let checked = jsonl.check_first(&first[object]);
            checked.map_err(|e| if_text(&first, chunks, e))?;
        }
        return Ok((Box::new(Json(jsonl)), head));
    }
    let first = chunks.peek_record(Box::new(Frame::new(task.dialect())))?;
    if first.is_empty() {
        // Nothing in, nothing out, as in other formats.
        return Ok((Box::new(Text::default()), head));
    }
    let opened = Csv::open(task, &first).map_err(|e| if_text(&first, chunks, e));
    if first.contains(&0) {
        // Cells that seem to be private may be parts of others.
        return Err(first_row(RowProblem::NullByte, chunks));
    }
    let (csv, header) = opened?;
    if header {
        chunks.take(first.len());
        head.extend_from_slice(&first);
    }
    Ok((Box::new(csv), head))
}

/// What is wrong with a first row, unless it is in another encoding: then its columns were looked for
/// in vain.
fn if_text(first: &[u8], chunks: &Chunks, error: Error) -> Error {
    match std::str::from_utf8(first) {
        // UTF-16 without a mark may well be UTF-8, too.
        _ if first.contains(&0) => first_row(RowProblem::NullByte, chunks),
        Err(_) => first_row(RowProblem::NotUtf8, chunks),
        Ok(_) => error,
    }
}

fn first_row(problem: RowProblem, chunks: &Chunks) -> Error {
    Error::BadRow {
        row: 1,
        offset: Some(chunks.offset()),
        problem,
    }
}

/// Privatizes all rows of the input; private columns that none of them had.
pub fn run(
    task: &Run<'_>,
    input: Input,
    wrapping: Wrapping,
    writer: &mut dyn Writer,
    counts: &mut Counts,
    ledger: &mut Option<Ledger>,
) -> Result<Vec<ColumnRole>> {
    let position = writer.so_far().map_or(0, |state| state.position);
    // A ledger has to see the rows that are done, too.
    let again = input.path().filter(|_| position > 0 && ledger.is_none());
    let again = again.map(|path| path.to_owned());
    let mut chunks = Chunks::new(input.open(wrapping)?, 0, task.max_record);
    let (format, head) = open(task, &mut chunks)?;
    task.tell(Progress::Begun);
    match again {
        Some(path) => {
            let opened = Opened::file(&path, wrapping, position)?;
            chunks = Chunks::new(opened, position, task.max_record);
        }
        None if head.is_empty() || position > 0 => {}
        None => writer.put(&head, counts, chunks.offset())?,
    }
    chunks.frame(format.framing());
    let taken = chunks.input().taken.clone();
    let so_far = policy_so_far(counts);
    let next = || {
        while let Some(mut chunk) = chunks.next_chunk()? {
            let Some(ledger) = ledger else {
                return Ok(Some((chunk, Vec::new())));
            };
            if let Some(done) = chunk.split_before(position) {
                caps(so_far, &*format, &done, ledger);
            }
            if chunk.length > 0 {
                let caps = caps(task.on_bad_row, &*format, &chunk, ledger);
                return Ok(Some((chunk, caps)));
            }
        }
        Ok(None)
    };
    let work = |(chunk, caps): (Chunk, Vec<u64>)| privatize(task, &*format, &chunk, &caps);
    let write = |done: Done| {
        counts.add(&done.counts);
        writer.put(&done.bytes, counts, done.position)?;
        task.tell(Progress::Bytes(taken.load(Ordering::Relaxed)));
        match done.failed {
            Some((offset, problem)) => Err(Error::BadRow {
                row: counts.rows + 1,
                offset: Some(offset),
                problem,
            }),
            None => task.go_on(),
        }
    };
    pipeline::run(task.threads, next, work, write)?;
    Ok(format.unseen())
}

/// What became of bad rows before a run went on, so that the same texts are counted again. If
/// there were none, any policy does; if the policy was changed on the way, the one that keeps
/// most texts, so that no unit is counted too low.
fn policy_so_far(counts: &Counts) -> OnBadRow {
    match (counts.skipped, counts.emptied) {
        (1.., 0) => OnBadRow::Skip,
        _ => OnBadRow::CopyNull,
    }
}

/// Counts the texts of a chunk, the next in the order of the file; the cap of each.
fn caps(
    on_bad_row: OnBadRow,
    format: &dyn RowFormat,
    chunk: &Chunk,
    ledger: &mut Ledger,
) -> Vec<u64> {
    let mut edits = Edits::with_units(on_bad_row, &ledger.naming);
    if !chunk.too_long() {
        format.edit(&chunk.bytes, &mut edits);
    }
    let texts = edits.texts_of_units();
    let admit = |(unit, text)| ledger.accounts.admit(unit, text);
    texts.map(admit).collect()
}

/// A chunk's output.
struct Done {
    bytes: Vec<u8>,
    /// Where in the input it ends.
    position: u64,
    counts: Counts,
    /// Where and why the next row ends the run.
    failed: Option<(u64, RowProblem)>,
}

fn privatize(task: &Run<'_>, format: &dyn RowFormat, chunk: &Chunk, caps: &[u64]) -> Result<Done> {
    let mut edits = Edits::new(task.on_bad_row);
    if chunk.too_long() {
        edits.bad_row(RowProblem::TooLong);
        edits.end_row(0..0, || format.null_row());
    } else {
        format.edit(&chunk.bytes, &mut edits);
    }
    let cap = |text: usize| caps.get(text).copied().unwrap_or(task.cap());
    let texts = task.rewritten(edits.texts(), cap)?;
    let bytes = edits.apply(&chunk.bytes, &texts, |text, style, out| {
        format.write(text, style, out);
    });
    let failed = edits.failed();
    let length = failed.map_or(chunk.length, |bad| bad.start as u64);
    let position = chunk.offset + length;
    let bad_if = |policy| {
        if task.on_bad_row == policy {
            edits.bad_rows()
        } else {
            0
        }
    };
    Ok(Done {
        bytes,
        position,
        counts: Counts {
            rows: edits.rows(),
            skipped: bad_if(OnBadRow::Skip),
            emptied: bad_if(OnBadRow::CopyNull),
            ..Counts::of(&texts)
        },
        failed: failed.map(|bad| (position, bad.problem)),
    })
}

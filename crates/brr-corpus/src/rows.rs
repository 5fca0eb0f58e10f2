//! A stream of rows through the privatizer.

use std::sync::atomic::{AtomicBool, Ordering};

use brr::{Privatized, Privatizer};

use crate::checkpoint::{Counts, Restart};
use crate::chunks::{Chunk, Chunks, Framing, LineFraming};
use crate::csv::{Csv, Dialect, Frame};
use crate::edits::{Edits, OnBadRow, Style};
use crate::error::{Error, Result};
use crate::format::Packing;
use crate::jsonl::Jsonl;
use crate::output::Output;
use crate::pipeline;
use crate::source::{Opened, Source};
use crate::text::Text;

/// A format whose records follow each other.
pub trait RowFormat: Sync {
    /// Finds where records end, from the start of one.
    fn framing(&self) -> Box<dyn Framing>;

    /// Names the private cells of whole records, until the edits want no more.
    fn edit<'c>(&self, bytes: &'c [u8], edits: &mut Edits<'c>);

    /// A record without content.
    fn null_row(&self) -> Vec<u8>;

    /// Writes a cell as the format wants it.
    fn write(&self, text: &Privatized, style: Style, out: &mut Vec<u8>);

    /// Which of the options that name columns name one that no row had so far.
    fn unseen(&self) -> Vec<String> {
        Vec::new()
    }
}

/// What to do, besides the format.
#[derive(Clone, Copy)]
pub struct Job<'a> {
    /// Privatizes the cells.
    pub privatizer: &'a Privatizer,
    /// How many threads do so.
    pub threads: usize,
    /// What becomes of bad rows.
    pub on_bad_row: OnBadRow,
    /// Longest row that is kept in memory.
    pub max_record: usize,
    /// Set from outside to end the run at the next row.
    pub stop: &'a AtomicBool,
    /// Told what happens.
    pub tell: &'a (dyn Fn(Event<'_>) + Sync),
}

/// What happens in a run, besides how it ends.
#[derive(Clone, Copy, Debug)]
pub enum Event<'e> {
    /// The input is open and its columns are found: rows come next.
    Begun,
    /// So many bytes of the input file are done.
    Passed(u64),
    /// No row of this run had anything where the column of this option should be.
    Unseen(&'e str),
}

/// What was done.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// In numbers.
    pub counts: Counts,
    /// Where the run went on after an interruption.
    pub restarts: Vec<Restart>,
}

/// A row format whose columns may still have to be found in the input.
pub enum Rows<'a> {
    /// Plain text.
    Text(Text<'a>),
    /// CSV and relatives.
    Csv {
        /// How cells are told apart.
        dialect: Dialect,
        /// Names in the header, or numbers from 1.
        columns: Vec<String>,
        /// Whether there is a header, if that was said.
        header: Option<bool>,
    },
    /// JSON lines.
    Jsonl(Jsonl),
}

impl<'a> Rows<'a> {
    /// The format, and the bytes before the first row, which are copied.
    fn prepare(self, chunks: &mut Chunks) -> Result<(Box<dyn RowFormat + 'a>, Vec<u8>)> {
        const BOM: &[u8] = b"\xef\xbb\xbf";
        // What no text begins with.
        for (mark, problem) in [
            (
                &b"\x1f\x8b"[..],
                "this is packed by gzip: unpack it first, or give a file whose name ends in .gz",
            ),
            (
                b"\x28\xb5\x2f\xfd",
                "this is packed by Zstandard: unpack it first, or give a file whose name ends in .zst",
            ),
            (b"\xff\xfe", "this is UTF-16: convert it to UTF-8 first"),
            (b"\xfe\xff", "this is UTF-16: convert it to UTF-8 first"),
        ] {
            if chunks.take_prefix(mark)? {
                return Err(Error::Malformed {
                    name: chunks.source().name().to_owned(),
                    problem: problem.into(),
                });
            }
        }
        if let Rows::Text(text) = self {
            return Ok((Box::new(text), Vec::new()));
        }
        let mut head = Vec::new();
        if chunks.take_prefix(BOM)? {
            head.extend_from_slice(BOM);
        }
        // Blank lines are no rows, before the first as anywhere.
        while let Some(end) = chunks.take_line_end()? {
            head.push(end);
        }
        match self {
            Rows::Text(text) => Ok((Box::new(text), head)),
            Rows::Jsonl(jsonl) => {
                let first = chunks.peek_record(Box::new(LineFraming))?;
                if !first.is_empty() {
                    jsonl.check_first(&first)?;
                }
                Ok((Box::new(jsonl), head))
            }
            Rows::Csv {
                dialect,
                columns,
                header,
            } => {
                let first = chunks.peek_record(Box::new(Frame::new(dialect)))?;
                if first.is_empty() {
                    return Err(Error::Malformed {
                        name: chunks.source().name().to_owned(),
                        problem: "it is empty: not even a header is there".into(),
                    });
                }
                let (csv, header) = Csv::open(dialect, &columns, &first, header)?;
                if header {
                    chunks.take(first.len());
                    head.extend_from_slice(&first);
                }
                Ok((Box::new(csv), head))
            }
        }
    }
}

/// Privatizes all rows of the source into the output.
pub fn run(
    job: &Job<'_>,
    rows: Rows<'_>,
    source: Source,
    packing: Packing,
    output: &mut Output<'_>,
) -> Result<Counts> {
    let mut counts = output.counts();
    let done = stream(job, rows, source, packing, output, &mut counts);
    let done = done.and_then(|()| output.complete());
    match done {
        Ok(()) => Ok(counts),
        Err(mut error) => {
            if let Error::Truncated { row, .. } = &mut error {
                *row = Some(counts.rows);
            }
            Err(output.fail(error))
        }
    }
}

fn stream(
    job: &Job<'_>,
    rows: Rows<'_>,
    source: Source,
    packing: Packing,
    output: &mut Output<'_>,
    counts: &mut Counts,
) -> Result {
    let position = output.position();
    let again = match &source {
        Source::File(path) if position > 0 => Some(path.clone()),
        _ => None,
    };
    let mut chunks = Chunks::new(source.open(packing)?, 0, job.max_record);
    let (format, head) = rows.prepare(&mut chunks)?;
    (job.tell)(Event::Begun);
    match again {
        Some(path) => {
            let opened = Opened::file(&path, packing, position)?;
            chunks = Chunks::new(opened, position, job.max_record);
        }
        None if head.is_empty() => {}
        None => output.put(&head, counts, chunks.offset())?,
    }
    chunks.frame(format.framing());
    let taken = chunks.source().taken.clone();
    let work = |chunk| privatize(job, &*format, &chunk);
    let write = |done: Done| {
        counts.rows += done.counts.rows;
        counts.documents += done.counts.documents;
        counts.words += done.counts.words;
        counts.unknown += done.counts.unknown;
        counts.skipped += done.counts.skipped;
        counts.emptied += done.counts.emptied;
        output.put(&done.bytes, counts, done.position)?;
        (job.tell)(Event::Passed(taken.load(Ordering::Relaxed)));
        if let Some((offset, reason)) = done.failed {
            let row = counts.rows + 1;
            return Err(Error::BadRow {
                row,
                offset: Some(offset),
                reason,
            });
        }
        if job.stop.load(Ordering::Relaxed) {
            return Err(Error::Stopped);
        }
        Ok(())
    };
    pipeline::run(job.threads, || chunks.next_chunk(), work, write)?;
    for option in format.unseen() {
        (job.tell)(Event::Unseen(&option));
    }
    Ok(())
}

/// A chunk's output.
struct Done {
    bytes: Vec<u8>,
    /// Where in the input it ends.
    position: u64,
    counts: Counts,
    /// Where and why the next row ends the run.
    failed: Option<(u64, &'static str)>,
}

fn privatize(job: &Job<'_>, format: &dyn RowFormat, chunk: &Chunk) -> Result<Done> {
    let mut edits = Edits::new(job.on_bad_row);
    if chunk.too_long() {
        edits.bad_row("is longer than --max-record allows");
        edits.end_row(0..0, || format.null_row());
    } else {
        format.edit(&chunk.bytes, &mut edits);
    }
    let texts = job.privatizer.privatize_batch(edits.texts())?;
    let bytes = edits.apply(&chunk.bytes, &texts, |text, style, out| {
        format.write(text, style, out);
    });
    let failed = edits.failed();
    let length = failed.map_or(chunk.length, |bad| bad.start as u64);
    let position = chunk.offset + length;
    let bad_if = |policy| {
        if job.on_bad_row == policy {
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
            documents: texts.len() as u64,
            words: texts.iter().map(|t| t.tokens).sum(),
            unknown: texts.iter().map(|t| t.unknown).sum(),
            skipped: bad_if(OnBadRow::Skip),
            emptied: bad_if(OnBadRow::CopyNull),
        },
        failed: failed.map(|bad| (position, bad.reason)),
    })
}

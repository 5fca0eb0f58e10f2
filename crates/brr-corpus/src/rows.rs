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
use crate::units::{Ledger, Statistics, Units};

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
    /// Whose the rows are, and how many words each unit keeps.
    pub units: Units<'a>,
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
    /// Private words per unit.
    pub units: Statistics,
    /// Where the run went on after an interruption.
    pub restarts: Vec<Restart>,
}

impl Report {
    /// Of a run whose units are counted in a ledger, or are the documents.
    pub(crate) fn new(counts: Counts, ledger: Option<&Ledger>, output: &Output<'_>) -> Report {
        let documents = || counts.lengths.statistics();
        Report {
            units: ledger.map_or_else(documents, |ledger| ledger.accounts.statistics()),
            counts,
            restarts: output.restarts(),
        }
    }
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
    fn prepare(
        self,
        chunks: &mut Chunks,
        unit: Option<&str>,
    ) -> Result<(Box<dyn RowFormat + 'a>, Vec<u8>)> {
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
                let jsonl = match unit {
                    Some(path) => jsonl.with_unit(path)?,
                    None => jsonl,
                };
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
                let (csv, header) = Csv::open(dialect, &columns, unit, &first, header)?;
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
) -> Result<Report> {
    let mut counts = output.counts();
    let ledger = Ledger::open(&job.units);
    let done = ledger.and_then(|mut ledger| {
        stream(job, rows, source, packing, output, &mut counts, &mut ledger)?;
        Ok(ledger)
    });
    let done = done.and_then(|ledger| output.complete().map(|()| ledger));
    match done {
        Ok(ledger) => Ok(Report::new(counts, ledger.as_ref(), output)),
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
    ledger: &mut Option<Ledger>,
) -> Result {
    let position = output.position();
    // A ledger has to see the rows that are done, too.
    let again = match &source {
        Source::File(path) if position > 0 && ledger.is_none() => Some(path.clone()),
        _ => None,
    };
    let mut chunks = Chunks::new(source.open(packing)?, 0, job.max_record);
    let (format, head) = rows.prepare(&mut chunks, job.units.column)?;
    (job.tell)(Event::Begun);
    match again {
        Some(path) => {
            let opened = Opened::file(&path, packing, position)?;
            chunks = Chunks::new(opened, position, job.max_record);
        }
        None if head.is_empty() || position > 0 => {}
        None => output.put(&head, counts, chunks.offset())?,
    }
    chunks.frame(format.framing());
    let taken = chunks.source().taken.clone();
    let so_far = Job {
        on_bad_row: policy_so_far(counts),
        ..*job
    };
    let next = || {
        while let Some(mut chunk) = chunks.next_chunk()? {
            let Some(ledger) = ledger else {
                return Ok(Some((chunk, Vec::new())));
            };
            if let Some(done) = chunk.split_before(position) {
                caps(&so_far, &*format, &done, ledger);
            }
            if chunk.length > 0 {
                let caps = caps(job, &*format, &chunk, ledger);
                return Ok(Some((chunk, caps)));
            }
        }
        Ok(None)
    };
    let work = |(chunk, caps): (Chunk, Vec<u64>)| privatize(job, &*format, &chunk, &caps);
    let write = |done: Done| {
        counts.add(&done.counts);
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
    pipeline::run(job.threads, next, work, write)?;
    for option in format.unseen() {
        (job.tell)(Event::Unseen(&option));
    }
    Ok(())
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
fn caps(job: &Job<'_>, format: &dyn RowFormat, chunk: &Chunk, ledger: &mut Ledger) -> Vec<u64> {
    let mut edits = Edits::with_units(job.on_bad_row, &ledger.naming);
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
    failed: Option<(u64, &'static str)>,
}

fn privatize(job: &Job<'_>, format: &dyn RowFormat, chunk: &Chunk, caps: &[u64]) -> Result<Done> {
    let mut edits = Edits::new(job.on_bad_row);
    if chunk.too_long() {
        edits.bad_row("is longer than --max-record allows");
        edits.end_row(0..0, || format.null_row());
    } else {
        format.edit(&chunk.bytes, &mut edits);
    }
    let cut = edits.shorten(|text| caps.get(text).copied().unwrap_or(job.units.cap()));
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
            skipped: bad_if(OnBadRow::Skip),
            emptied: bad_if(OnBadRow::CopyNull),
            cut,
            ..Counts::of(&texts)
        },
        failed: failed.map(|bad| (position, bad.reason)),
    })
}

//! Parquet: private string columns are rewritten, all others copied as they lie in the file.
//!
//! Row groups, the schema, key-value metadata, each column's compression and whether it has a
//! dictionary stay. A copied column chunk stays byte by byte, statistics included; a rewritten one
//! has statistics of its new values. Page indexes and Bloom filters, which only help to skip, are
//! left out: those of private columns would tell about the old values.
//!
//! The crate's column readers and writers work on a column's values and levels, so nulls, lists
//! and nested records need no code here, and Arrow is not needed at all.
//!
//! [`mod@read`] has the file that is there, [`rewrite`] the one that comes to be, and [`resume`] how it
//! goes on after an interruption.

mod batch;
mod read;
mod resume;
mod rewrite;
mod units;

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use ::parquet::errors::ParquetError;

use crate::checkpoint::Counts;
use crate::error::{Error, Result};
use crate::input::Input;
use crate::partial::Writer;
use crate::run::{Progress, Run};
use crate::units::Ledger;

use read::Table;
use rewrite::Rewrite;

/// Rows that go through the pipeline together.
const BATCH: usize = 256;

/// Privatizes columns of a file into the partial output. A column is the path of a leaf, or of a
/// group with only strings in it.
pub fn run(
    task: &Run<'_>,
    input: &Input,
    writer: &mut dyn Writer,
    counts: &mut Counts,
    ledger: &mut Option<Ledger>,
) -> Result {
    let (Some(path), Some(partial)) = (input.path(), writer.partial()) else {
        return Err(Error::ParquetStream);
    };
    let trouble = Trouble {
        input: path,
        partial: partial.path().to_owned(),
    };
    let table = Table::open(task, path, &trouble)?;
    task.tell(Progress::Begun);
    let position = partial.state().position;
    if let Some(ledger) = ledger {
        for group in (0..table.groups()).take_while(|group| (*group as u64) < position) {
            table.recount(group, ledger)?;
        }
    }
    if partial.state().complete {
        return Ok(());
    }
    let mut rewrite = Rewrite::open(task, &table, partial)?;
    let mut passed: u64 = 0;
    for group in 0..table.groups() {
        passed += table.bytes(group);
        if (group as u64) >= position {
            rewrite.group(group, counts, ledger)?;
            task.tell(Progress::Bytes(passed));
        }
    }
    rewrite.finish(counts)
}

/// Hands every private value of a file to `visit`.
pub fn read(task: &Run<'_>, input: &Input, visit: &mut dyn FnMut(&str)) -> Result {
    let path = input.path().ok_or(Error::ParquetStream)?;
    let trouble = Trouble {
        input: path,
        partial: PathBuf::new(),
    };
    let table = Table::open(task, path, &trouble)?;
    task.tell(Progress::Begun);
    let mut passed = 0;
    for group in 0..table.groups() {
        table.visit(group, visit)?;
        passed += table.bytes(group);
        task.tell(Progress::Bytes(passed));
        task.go_on()?;
    }
    Ok(())
}

/// Calls into the crate that reads the format, which panics at some files that are damaged. To
/// the user that is an error like others; [`panic_is_told`] tells a panic hook so.
fn withstand<T>(call: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, ParquetError> {
    READING.set(true);
    // What a panic leaves half done is the output, which goes on from its checkpoint.
    let done = catch_unwind(AssertUnwindSafe(call));
    READING.set(false);
    done.unwrap_or_else(|_| Err(ParquetError::General(DAMAGED.into())))
}

/// Whether a panic of this thread becomes an error of the input: a program's panic hook need not
/// tell it.
pub fn panic_is_told() -> bool {
    READING.get()
}

thread_local! {
    static READING: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

const DAMAGED: &str = "it is not Parquet, or was cut short or damaged";

/// Errors of the format's crate, without whatever text they may have from the file.
struct Trouble<'p> {
    input: &'p Path,
    partial: PathBuf,
}

impl Trouble<'_> {
    fn input(&self, error: ParquetError) -> Error {
        match error {
            ParquetError::External(error) => match error.downcast::<io::Error>() {
                Ok(error) if error.kind() == io::ErrorKind::UnexpectedEof => self.cut_short(),
                Ok(error) => Error::read(self.input, *error),
                Err(_) => self.malformed("it cannot be read as Parquet"),
            },
            ParquetError::NYI(what) => self.malformed(format!("this build cannot read it: {what}")),
            ParquetError::EOF(_) | ParquetError::NeedMoreData(_) => self.cut_short(),
            _ => self.malformed(DAMAGED),
        }
    }

    fn output(&self, error: ParquetError) -> Error {
        match error {
            ParquetError::External(error) => match error.downcast::<io::Error>() {
                Ok(error) => Error::write(&self.partial, *error),
                Err(_) => self.malformed("its columns cannot be copied"),
            },
            _ => self.malformed("its columns cannot be copied"),
        }
    }

    fn cut_short(&self) -> Error {
        Error::Truncated {
            name: self.input.display().to_string(),
            place: "where its footer or a page should be".into(),
            row: None,
        }
    }

    fn malformed(&self, problem: impl Into<String>) -> Error {
        Error::Malformed {
            name: self.input.display().to_string(),
            problem: problem.into(),
        }
    }
}

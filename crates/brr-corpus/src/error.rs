//! What can go wrong with a file. No message holds a byte of the file.

use std::io;
use std::path::{Path, PathBuf};

/// Why a file was not privatized, or not wholly.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The options make no sense for this input; the message names the flag.
    #[error("{0}")]
    Usage(String),
    /// A file cannot be read or written.
    #[error("cannot {doing} {}: {source}", path.display())]
    File {
        /// `read` or `write`.
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A standard stream cannot be read or written.
    #[error("{name}: {source}")]
    Stream {
        /// Its name.
        name: &'static str,
        /// What the system says.
        source: io::Error,
    },
    /// The input stops where it cannot be complete.
    #[error("{name} ends {place}: it was cut short{}", after_row(*.row))]
    Truncated {
        /// The input's name.
        name: String,
        /// Inside what.
        place: String,
        /// Rows before that place, if they are known.
        row: Option<u64>,
    },
    /// A row that cannot be read, under [`OnBadRow::Fail`](crate::OnBadRow::Fail).
    #[error("row {row}{}", bad_row(*.offset, reason))]
    BadRow {
        /// Counted from 1, without the header.
        row: u64,
        /// In the unpacked input, from 0; of a format whose rows have no place of their own,
        /// nothing.
        offset: Option<u64>,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// Not what its format says.
    #[error("{name}: {problem}")]
    Malformed {
        /// The input's name.
        name: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The run was asked to stop.
    #[error("stopped")]
    Stopped,
    /// The run did not finish, and can go on.
    #[error("{cause}; {}, go on with --resume", kept(*.rows, partial))]
    Unfinished {
        /// Why.
        cause: Box<Error>,
        /// Rows that are safe.
        rows: u64,
        /// Where they are.
        partial: PathBuf,
    },
    /// A thread ended by a panic.
    #[error("a thread died; this is a bug of brr")]
    Thread,
    /// The privatizer failed.
    #[error(transparent)]
    Privatizer(#[from] brr::Error),
}

/// The crate's result.
pub type Result<T = (), E = Error> = std::result::Result<T, E>;

/// A unit must be known to whoever counts, and a private column is not.
pub(crate) const UNIT_IS_PRIVATE: &str =
    "--unit: that column is private by --column; units are named by a column that is copied";

/// Rows of nobody, by format.
pub(crate) const NO_UNIT: &str = "has nothing where --unit points, so nobody can say whose it is";

/// How to speak of an option that may be given several times. Its value may be text that was
/// given in the wrong place, so it is not repeated.
pub(crate) fn nth_option(option: &str, index: usize, of: usize) -> String {
    if of == 1 {
        return option.to_owned();
    }
    let end = match (index + 1) % 100 {
        11..=13 => "th",
        n if n % 10 == 1 => "st",
        n if n % 10 == 2 => "nd",
        n if n % 10 == 3 => "rd",
        _ => "th",
    };
    format!("the {}{end} {option}", index + 1)
}

fn after_row(row: Option<u64>) -> String {
    row.map_or(String::new(), |row| format!(" after row {row}"))
}

fn bad_row(offset: Option<u64>, reason: &str) -> String {
    match offset {
        Some(offset) => format!(
            " (at byte {offset}) {reason}; --on-bad-row skip leaves such rows out, copy-null keeps them without their text"
        ),
        // Nor can a row without a place be left out.
        None => format!(" {reason}; --on-bad-row copy-null keeps such rows without their text"),
    }
}

fn kept(rows: u64, partial: &Path) -> String {
    let rows = match rows {
        1 => "1 row is".to_owned(),
        n => format!("{n} rows are"),
    };
    format!("{rows} safe in {}", partial.display())
}

impl Error {
    /// A file that cannot be read.
    pub fn read(path: &Path, source: io::Error) -> Error {
        Error::File {
            doing: "read",
            path: path.to_owned(),
            source,
        }
    }

    /// A file that cannot be written.
    pub fn write(path: &Path, source: io::Error) -> Error {
        Error::File {
            doing: "write",
            path: path.to_owned(),
            source,
        }
    }
}

//! What can go wrong with a run. No message holds a byte of the file, nor the name of a column,
//! which may be text in the wrong place; and none names an option of a program: a
//! program finds in the fields what its own message needs.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use brr::Choice;

use crate::format::Format;
use crate::manifest::SCHEMA;
use crate::paths::Known;

/// Why a file was not privatized, or not wholly.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file that is there, or is not there, stands in the way.
    #[error("{} {problem}", path.display())]
    InTheWay {
        /// The file.
        path: PathBuf,
        /// In what way.
        problem: FileProblem,
    },
    /// The unfinished run was another.
    #[error("the unfinished run differs from this one in {}", joined(differences))]
    Differs {
        /// In what.
        differences: Vec<Difference>,
    },
    /// The input is not what the unfinished run read.
    #[error("the input has changed since the unfinished run (size or time of modification)")]
    InputChanged,
    /// A run that can be resumed needs a file as input and as output.
    #[error("the input is not a file that can be read again from the middle")]
    NotRestartable,
    /// A setting that the format does not have.
    #[error("{setting} is for {formats}; this input is {}", format.name())]
    Misfit {
        /// What was set: a field of [`Run`](crate::Run).
        setting: &'static str,
        /// The formats that have it.
        formats: &'static str,
        /// The input's format.
        format: Format,
    },
    /// A format with columns, and none named.
    #[error("say which columns of the {} input are to be privatized", format.name())]
    NoColumns {
        /// The input's format.
        format: Format,
    },
    /// Formats are not converted.
    #[error("{} in, {} out: brr does not convert formats", input.name(), output.name())]
    FormatsDiffer {
        /// The input's format.
        input: Format,
        /// The output's format, by its name.
        output: Format,
    },
    /// No delimiter of cells.
    #[error("must be an ASCII character other than letters, digits, quotes and line ends")]
    Delimiter,
    /// Parquet in a compressed file.
    #[error("Parquet is compressed inside: leave the last extension of the output out")]
    CompressedParquet,
    /// Parquet needs files on both sides.
    #[error("Parquet is no stream: it needs files as input and output")]
    ParquetStream,
    /// [`OnBadRow::Skip`](crate::OnBadRow::Skip) where rows do not stand alone.
    #[error("a row of {} cannot be left out, as what is around it is copied", format.name())]
    CannotSkip {
        /// The input's format.
        format: Format,
    },
    /// A feature of the crate is off: `parquet` or `zstd`.
    #[error("this brr was built without {feature}")]
    Lacks {
        /// Its name.
        feature: &'static str,
    },
    /// A column that was named cannot be found or used.
    #[error("{column}: {problem}{known}")]
    Column {
        /// Which one.
        column: ColumnRole,
        /// Why not.
        problem: ColumnProblem,
        /// Paths that the input has, if it was looked for one that it has not.
        known: Known,
    },
    /// Columns by number alone, and nobody said whether there is a header.
    #[error("a column by number alone does not tell whether the first row is a header")]
    HeaderUnknown,
    /// The first row of CSV has text after a closing quote.
    #[error("the first row has text after a closing quote: a quote in a cell must be doubled")]
    TornFirstRow,
    /// A JSON array where a row should be.
    #[error("the input begins with an array: its format is json, not jsonl")]
    JsonArray,
    /// A first row that cannot be looked at.
    #[error("{name}: the first row is longer than a row may be")]
    FirstRowTooLong {
        /// The input's name.
        name: String,
    },
    /// Words of a unit are counted within one file.
    #[error(
        "the words of a unit are counted within one file: join the files, or privatize each by itself"
    )]
    UnitAcrossFiles,
    /// Files of several folders would have one name.
    #[error(
        "{} and {} have the same name: privatize them into different folders",
        files[0].display(), files[1].display()
    )]
    SameName {
        /// Two of them.
        files: [PathBuf; 2],
    },
    /// What is wrong with one of several files.
    #[error("{}: {cause}", path.display())]
    InFile {
        /// Which one.
        path: PathBuf,
        /// What is wrong with it.
        cause: Box<Error>,
    },
    /// Nothing to do.
    #[error("no file of a known kind is there")]
    NoFiles,
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
    /// An input that is no file cannot be read.
    #[error("the input: {0}")]
    Input(#[source] io::Error),
    /// An output that is no file cannot be written.
    #[error("the output: {0}")]
    Output(#[source] io::Error),
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
    #[error("row {row}{} {problem}", at_byte(*.offset))]
    BadRow {
        /// Counted from 1, without the header.
        row: u64,
        /// In the unpacked input, from 0; of a format whose rows have no place of their own,
        /// nothing.
        offset: Option<u64>,
        /// What is wrong with it.
        problem: RowProblem,
    },
    /// By its mark it is in an encoding that was not named, or that is not read.
    #[error("{name}: this is {encoding}: name that encoding, or convert it to UTF-8 first")]
    Encoded {
        /// The input's name.
        name: String,
        /// UTF-16 or UTF-32.
        encoding: &'static str,
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
    /// The run did not finish, and can be resumed.
    #[error("{cause}; {}", kept(*.rows, partial))]
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

/// Why a file stands in the way of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FileProblem {
    /// The output is there, and was not to be replaced.
    #[error("exists already")]
    OutputExists,
    /// As [`OutputExists`](Self::OutputExists), where a run was to be resumed. Whether the output
    /// is that run's cannot be known: what it was made with is not in it.
    #[error(
        "exists already and no unfinished run is beside it, so either that run is complete or the file is another's"
    )]
    NothingToResume,
    /// The output was not there when the run began, but is at its end.
    #[error("has appeared meanwhile: move it away and resume the run")]
    OutputAppeared,
    /// A folder has the output's name.
    #[error("is a folder: name a file in it")]
    OutputIsFolder,
    /// The output's name is that of a device or a pipe.
    #[error("is not a plain file: give it as a stream")]
    OutputIsSpecial,
    /// A device or a pipe among files that are read by name, perhaps again.
    #[error("is not a plain file: privatize it by itself, as a stream")]
    InputIsSpecial,
    /// An input would have the name of the record of the run.
    #[error("has the name of the record: rename it, or write the record elsewhere")]
    NameOfRecord,
    /// The manifest has the name of the output.
    #[error("is the output, too: give the record a name of its own")]
    ManifestIsOutput,
    /// The manifest is there, and was not to be replaced.
    #[error("exists already")]
    ManifestExists,
    /// A run was not finished, and this one is not to resume it.
    #[error("is there from an unfinished run")]
    UnfinishedRun,
    /// Another process writes this output.
    #[error("is being written by another brr: wait for it, or choose another name")]
    InUse,
    /// The run cannot be resumed: nobody knows how far it came.
    #[error("has no checkpoint beside it")]
    NoCheckpoint,
    /// The run cannot be resumed: this is no checkpoint, or one of another version.
    #[error("is no checkpoint of this version of brr")]
    OtherVersion,
    /// The run cannot be resumed: its output so far was changed.
    #[error("does not fit its checkpoint")]
    UnlikeCheckpoint,
}

impl FileProblem {
    pub(crate) fn of(self, path: &Path) -> Error {
        Error::InTheWay {
            path: path.to_owned(),
            problem: self,
        }
    }
}

/// Why a record does not tell how to read what a run wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RecordProblem {
    /// Not what a run writes.
    #[error("is no record of a run")]
    NoRecord,
    /// Of a form that this version does not know.
    #[error("is the record of a newer brr, and this one reads schema 1 to {SCHEMA}: use that brr")]
    Newer,
    /// Its model has other codes.
    #[error("is of texts that were privatized with another model")]
    OtherModel,
    /// What the model offers has changed.
    #[error("has an epsilon that no mechanism of this model has")]
    OtherEpsilon,
    /// It was edited, or is of two runs.
    #[error("contradicts itself: its mechanism and epsilon do not have its bound")]
    Contradiction,
    /// What left is not what was drawn.
    #[error(
        "is of texts that were decoded with context, which no longer have the mechanism's frequencies: \
         estimate from texts that were privatized without it"
    )]
    Decoded,
    /// Some words were public.
    #[error(
        "is of texts of which some words were public, and frequencies are known of private words alone: \
         estimate from texts that were privatized without a list"
    )]
    Policy,
    /// Other words were public, or none.
    #[error("is of texts of which other words were public")]
    OtherList,
    /// Of a mechanism that this version does not have.
    #[error("is of a mechanism that this brr does not have")]
    OtherMechanism,
    /// It is of other files.
    #[error("is of several files, and the input is none of them")]
    OtherFile,
}

/// A setting that an unfinished run had otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Its name: that of a field of [`Run`](crate::Run), or of an option of the privatizer.
    pub setting: String,
    /// Then and now; none if the value may be text in the wrong place.
    pub values: Option<[String; 2]>,
}

impl Difference {
    /// As a message tells it, given what the setting is called there.
    pub fn told(&self, name: &str) -> String {
        match &self.values {
            Some([then, now]) => format!("{name} ({then} then, {now} now)"),
            None => name.to_owned(),
        }
    }
}

/// What a column was named for. The name may be text that was given in the wrong place, so it is
/// not repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnRole {
    /// To be privatized.
    Private {
        /// Its place among the private columns, as they were given.
        index: usize,
        /// How many were given.
        of: usize,
    },
    /// To name the unit of a row.
    Unit,
}

impl ColumnRole {
    /// How to speak of it, given what columns of each role are called.
    pub fn called(self, private: &str, unit: &str) -> String {
        let ColumnRole::Private { index, of } = self else {
            return unit.to_owned();
        };
        if of == 1 {
            return private.to_owned();
        }
        let end = match (index + 1) % 100 {
            11..=13 => "th",
            n if n % 10 == 1 => "st",
            n if n % 10 == 2 => "nd",
            n if n % 10 == 3 => "rd",
            _ => "th",
        };
        format!("the {}{end} {private}", index + 1)
    }

    pub(crate) fn error(self, problem: ColumnProblem) -> Error {
        self.error_among(problem, Known::default())
    }

    pub(crate) fn error_among(self, problem: ColumnProblem, known: Known) -> Error {
        Error::Column {
            column: self,
            problem,
            known,
        }
    }
}

impl fmt::Display for ColumnRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.called("column", "unit"))
    }
}

/// Why a column cannot be found or used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ColumnProblem {
    /// CSV: a name that is not in the header, which has this many cells.
    #[error("no such name among the {0} cells of the first row")]
    NoSuchName(usize),
    /// CSV: a number beyond the last column, which is this.
    #[error("the first row has {0} columns, counted from 1")]
    NoSuchNumber(usize),
    /// CSV: a name where there is no header, in rows of this many cells.
    #[error("without a header, columns are numbers from 1 to {0}")]
    NotANumber(usize),
    /// CSV: not quite the name that this column has, counted from 1.
    #[error("the name of column {0} differs in case or white space; give it as it is, or as #{0}")]
    NearlyNamed(usize),
    /// CSV: a name that is also a number.
    #[error(
        "it is the name of one column and the number of another; write {sign}{by_number} for the number, or {sign}{by_name} for the one of that name"
    )]
    NameAndNumber {
        /// The sign that makes a number of it, unless it has one.
        sign: &'static str,
        /// The column of that number, from 1.
        by_number: usize,
        /// The column of that name, from 1.
        by_name: usize,
    },
    /// CSV: a unit must be one column.
    #[error("several columns have that name; give the number of one")]
    SeveralOfThatName,
    /// Units are counted, so they must be known; a private column is not.
    #[error("that column is private; units are named by a column that is copied")]
    Private,
    /// JSON lines: a path with an empty key.
    #[error("give keys with dots between them, such as user.comment")]
    EmptyKey,
    /// JSON lines: a path that leads nowhere.
    #[error("the first row has no such field")]
    NoSuchField,
    /// JSON lines: nothing to look for a path in.
    #[error("the first row is not a JSON object, so it does not tell whether the path is right")]
    NoObject,
    /// Parquet: no such leaf, nor group of leaves, among this many.
    #[error("no such column among the {0} of the file")]
    NoSuchColumn(usize),
    /// Parquet: nothing that can be privatized.
    #[error("it is not a column of strings")]
    NotStrings,
    /// Parquet: several units of one row.
    #[error("that column is a list, and a row belongs to one unit")]
    ListOfUnits,
    /// Parquet: a type that names nobody.
    #[error("that column has neither strings nor whole numbers")]
    NotAName,
}

/// What is wrong with a row. Fixed words, never the row's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RowProblem {
    /// No text.
    #[error("is not UTF-8")]
    NotUtf8,
    /// Plain text with bytes that no text has.
    #[error("has a null byte, so it is no text in UTF-8")]
    NullByte,
    /// CSV: cells may end where they seem not to.
    #[error("has text or a backslash at a closing quote: a quote in a cell must be doubled")]
    TornQuotes,
    /// CSV: too short.
    #[error("has fewer cells than the first row")]
    FewerCells,
    /// CSV: too long.
    #[error("has more cells than the first row")]
    MoreCells,
    /// JSON lines: something else.
    #[error("is not a JSON object")]
    NoObject,
    /// JSON lines: cut off, or never JSON.
    #[error("is not valid JSON")]
    NotJson,
    /// JSON lines: a private column that is no text.
    #[error("has a value that is not a string where a private column points")]
    NotAString,
    /// Nothing in the column that names units.
    #[error("has nothing that names its unit, so nobody can say whose it is")]
    NoUnit,
    /// Longer than what is taken into memory.
    #[error("is longer than a row may be")]
    TooLong,
}

fn joined(differences: &[Difference]) -> String {
    let told = differences.iter().map(|d| d.told(&d.setting));
    told.collect::<Vec<_>>().join(", ")
}

fn after_row(row: Option<u64>) -> String {
    row.map_or(String::new(), |row| format!(" after row {row}"))
}

fn at_byte(offset: Option<u64>) -> String {
    offset.map_or(String::new(), |offset| format!(" (at byte {offset})"))
}

fn kept(rows: u64, partial: &Path) -> String {
    let rows = match rows {
        1 => "1 row is".to_owned(),
        n => format!("{n} rows are"),
    };
    format!("{rows} safe in {}", partial.display())
}

impl Error {
    pub(crate) fn read(path: &Path, source: io::Error) -> Error {
        Error::file("read", path, source)
    }

    pub(crate) fn write(path: &Path, source: io::Error) -> Error {
        Error::file("write", path, source)
    }

    /// Where there are several files, an error says which one it is about.
    pub(crate) fn in_file(self, path: &Path) -> Error {
        use Error::{
            Encoded, File, FirstRowTooLong, InFile, InTheWay, Malformed, Stopped, Truncated,
        };
        match self {
            Error::Unfinished {
                cause,
                rows,
                partial,
            } => Error::Unfinished {
                cause: Box::new(cause.in_file(path)),
                rows,
                partial,
            },
            // These say it already, or are about none.
            File { .. } | FirstRowTooLong { .. } | InFile { .. } | InTheWay { .. } => self,
            Encoded { .. } | Malformed { .. } | Truncated { .. } | Stopped => self,
            cause => InFile {
                path: path.to_owned(),
                cause: Box::new(cause),
            },
        }
    }

    fn file(doing: &'static str, path: &Path, source: io::Error) -> Error {
        let path = path.to_owned();
        Error::File {
            doing,
            path,
            source,
        }
    }
}

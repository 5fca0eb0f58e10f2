//! What can go wrong while a model is built.

use std::io;
use std::path::PathBuf;

use crate::vectors::{Defect, Unit, VectorFormat};

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a model could not be built. Each message says what happened, where, and the way out.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no binarizer of that name.
    #[error("there is no binarizer '{name}'; there are: {}", crate::binarize::NAMES.join(", "))]
    UnknownBinarizer {
        /// The name asked for.
        name: String,
    },

    /// There is no table of a language of that name, and no file.
    #[error("neither a language that brr has a table for ({codes}) nor a file with a table")]
    UnknownLanguage {
        /// The languages there are.
        codes: String,
    },

    /// Not a file with the table of a language.
    #[error("{}: not the table of a language: {problem}", path.display())]
    Orthography {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },

    /// The progress callback asked to stop.
    #[error("the build was stopped")]
    Stopped,

    /// The vectors cannot be made into codes.
    #[error(transparent)]
    Binarize(#[from] crate::binarize::BinarizeError),

    /// The parts do not make a model.
    #[error(transparent)]
    Model(#[from] brr::Error),

    /// A word-similarity file cannot be used.
    #[error(transparent)]
    Similarity(#[from] crate::quality::SimilarityError),

    /// Not a file of tags.
    #[error(
        "{}: {reason}; a file of tags has lines of a word, a tab and a tag",
        path.display()
    )]
    Tags {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: &'static str,
    },

    /// A language model cannot be made this small.
    #[error("no language model for these words fits {size} bytes: give at least {least}")]
    LanguageTooSmall {
        /// The limit.
        size: usize,
        /// What the words alone take.
        least: usize,
    },

    /// Not an ARPA file, or a damaged one.
    #[error(
        "{}, line {line}: this is no line of an ARPA language model; check that the file is whole",
        path.display()
    )]
    BadArpa {
        /// The file.
        path: PathBuf,
        /// Which line, from 1.
        line: u64,
    },

    /// The file system or a decompressor failed.
    #[error("{}: cannot be read{}: {source}{}", path.display(), after(*offset), damage(source))]
    Read {
        /// The file.
        path: PathBuf,
        /// Bytes of (decompressed) content read before.
        offset: u64,
        /// What the system said.
        source: io::Error,
    },

    /// The file has no content.
    #[error("{}: the file is empty; was the download complete?", path.display())]
    EmptyFile {
        /// The file.
        path: PathBuf,
    },

    /// The file is of another kind.
    #[error(
        "{}: these are not word vectors but {found}; brr reads GloVe and word2vec text, word2vec \
         binary, fastText .vec and .bin, and NumPy .npy, each plain, .gz, .zst or .zip, and the vectors \
         in a package of spaCy or navec",
        path.display()
    )]
    NotVectors {
        /// The file.
        path: PathBuf,
        /// What it seems to be.
        found: &'static str,
    },

    /// The file is not in the format it was said to be in.
    #[error(
        "{}: this is not {format}: {reason}; leave the format out to have it recognized",
        path.display()
    )]
    WrongFormat {
        /// The file.
        path: PathBuf,
        /// The format asked for.
        format: VectorFormat,
        /// What does not fit.
        reason: &'static str,
    },

    /// The file is of a known format, in a form that cannot be used.
    #[error("{}: {what}; {remedy}", path.display())]
    Unsupported {
        /// The file.
        path: PathBuf,
        /// What cannot be used.
        what: &'static str,
        /// The way out.
        remedy: &'static str,
    },

    /// A binary file contradicts itself.
    #[error("{}: damaged at byte {offset}: {what}; fetch the file again", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where, in (decompressed) content.
        offset: u64,
        /// What is wrong.
        what: String,
    },

    /// A zip archive does not say which of its files is meant.
    #[error(
        "{}: the archive has {} candidate files ({}); name one as `{}#FILE`",
        path.display(), members.len(), members.join(", "), path.display()
    )]
    ChooseMember {
        /// The archive.
        path: PathBuf,
        /// Names of its files.
        members: Vec<String>,
    },

    /// One of the files that belong together is missing.
    #[error(
        "{}: there is no such file, and {format} vectors need {parts} side by side; fetch the package again, or put \
         the file there",
        path.display()
    )]
    PartMissing {
        /// The file.
        path: PathBuf,
        /// The format.
        format: VectorFormat,
        /// All files of the format.
        parts: String,
    },

    /// A row of the file is defective, and defects were not to be skipped.
    #[error("{}, {unit} {at}: {defect}; mend the file or let defective rows be skipped", path.display())]
    Defective {
        /// The file.
        path: PathBuf,
        /// What `at` counts.
        unit: Unit,
        /// Which one, from 1.
        at: u64,
        /// What is wrong with it.
        defect: Defect,
    },

    /// The header's row count is not the file's, and defects were not to be skipped.
    #[error(
        "{}: the header promises {promised} rows, the file has {found}; fetch it again, or let \
         defects be skipped to take the rows that are there",
        path.display()
    )]
    RowCount {
        /// The file.
        path: PathBuf,
        /// What the header says.
        promised: u64,
        /// What there is.
        found: u64,
    },

    /// The file ends too early.
    #[error(
        "{}: the file was cut short after {rows} rows; fetch it again, or ask for a partial file to be taken",
        path.display()
    )]
    CutShort {
        /// The file.
        path: PathBuf,
        /// Rows that are there.
        rows: u64,
    },

    /// The header's dimension is not that of the rows.
    #[error(
        "{}: the header promises {promised} numbers a row, the rows have {found}; correct line 1",
        path.display()
    )]
    HeaderDimension {
        /// The file.
        path: PathBuf,
        /// What the header says.
        promised: usize,
        /// What most of the first rows have.
        found: usize,
    },

    /// NumPy files hold no words.
    #[error(
        "{}: a NumPy file has no words; give a word list too, one word per line in the order of the rows",
        path.display()
    )]
    WordListMissing {
        /// The NumPy file.
        path: PathBuf,
    },

    /// A word list was given for a file that has its own words.
    #[error("{}: {format} has its own words; leave the word list out", path.display())]
    WordListUnused {
        /// The vector file.
        path: PathBuf,
        /// Its format.
        format: VectorFormat,
    },

    /// The word list does not fit the NumPy file.
    #[error(
        "{}: {words} words for the {rows} rows of {}; one word per line is needed, in the order of the rows",
        list.display(), path.display()
    )]
    WordListLength {
        /// The NumPy file.
        path: PathBuf,
        /// The word list.
        list: PathBuf,
        /// Lines of the word list.
        words: u64,
        /// Rows of the NumPy file.
        rows: u64,
    },

    /// Zero words were asked for.
    #[error("0 words were asked for; ask for at least 1, or leave the number out to take all")]
    NoWordsWanted,

    /// Nothing is left after the rules and the defects.
    #[error("{}: none of its {rows} rows can be used{tally}", path.display())]
    NoUsableWords {
        /// The file.
        path: PathBuf,
        /// Rows read.
        rows: u64,
        /// Why, as a list.
        tally: String,
    },
}

fn after(offset: u64) -> String {
    match offset {
        0 => String::new(),
        _ => format!(" past byte {offset} of its content"),
    }
}

/// The remedy, where the system's own words do not suggest one.
fn damage(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::UnexpectedEof
        | io::ErrorKind::InvalidData
        | io::ErrorKind::InvalidInput
        | io::ErrorKind::Other => "; it is cut short or damaged: fetch it again",
        _ => "",
    }
}

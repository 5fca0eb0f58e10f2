//! What a loader met on its way: counted, with the first place of each kind.

use std::collections::BTreeMap;
use std::fmt;

use super::VectorFormat;
use crate::exclusion::{Excluded, ExclusionList};
use crate::vocabulary_rule::Rejection;

/// A row that cannot be used, whatever its word is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum Defect {
    /// Fewer or more numbers than the other rows have.
    #[error("not as many numbers as in the other rows")]
    Ragged,
    /// A number that cannot be read.
    #[error("something that is not a number")]
    BadNumber,
    /// NaN or an infinity.
    #[error("NaN or infinity")]
    NotFinite,
    /// A vector of zeros says nothing about its word.
    #[error("a vector of zeros")]
    AllZero,
    /// A row without a word.
    #[error("no word")]
    EmptyWord,
    /// A word that is not UTF-8.
    #[error("a word that is not UTF-8")]
    NotUtf8,
    /// A word that an earlier row has, letter for letter.
    #[error("the word of an earlier row")]
    Duplicate,
    /// The file ends within the row.
    #[error("the file ends within the row")]
    CutShort,
}

/// What a place in a file is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Lines, in text files.
    Line,
    /// Rows, in binary files.
    Row,
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Unit::Line => "line",
            Unit::Row => "row",
        })
    }
}

/// How often something was met, and where first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tally {
    /// How often.
    pub count: u64,
    /// The first line or row, from 1.
    pub first: u64,
}

/// The shape that the file's header promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Rows promised.
    pub rows: u64,
    /// Numbers per row.
    pub dim: usize,
}

/// What was read, skipped and left out. Every row is a word, a defect or left out by a rule:
/// `rows = words + sum of defects + sum of left_out`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LoadReport {
    /// The format that was read.
    pub format: VectorFormat,
    /// What places are counted in.
    pub unit: Unit,
    /// The header, if the format has one.
    pub header: Option<Header>,
    /// Rows read.
    pub rows: u64,
    /// Words loaded.
    pub words: u64,
    /// Rows skipped because of a defect.
    pub defects: BTreeMap<Defect, Tally>,
    /// Rows left out by the vocabulary rule.
    pub left_out: BTreeMap<Rejection, Tally>,
    /// What each exclusion list took out, in their order.
    pub excluded: Vec<Excluded>,
    /// Whether reading ended before the file did, because enough words were found.
    pub stopped_early: bool,
    /// Whether the last line of a text file has no end. It is a row like any other, but if the file was cut within
    /// its last number, nothing else would tell.
    pub unended: bool,
    /// SHA-256 of the file as it is stored, if every byte of it was read in passing. It is not
    /// when reading stopped early, nor for formats that are read by seeking (zip archives, fastText
    /// `.bin`): see [`sha256_of_file`](super::sha256_of_file).
    pub sha256: Option<[u8; 32]>,
}

impl LoadReport {
    pub(super) fn new(format: VectorFormat, exclude: &[ExclusionList]) -> Self {
        LoadReport {
            format,
            unit: match format {
                VectorFormat::GloveText | VectorFormat::Word2vecText => Unit::Line,
                _ => Unit::Row,
            },
            header: None,
            rows: 0,
            words: 0,
            defects: BTreeMap::new(),
            left_out: BTreeMap::new(),
            excluded: exclude.iter().map(nothing_yet).collect(),
            stopped_early: false,
            unended: false,
            sha256: None,
        }
    }

    /// The rows that the header promises, if the whole file has another number of them.
    pub fn broken_promise(&self) -> Option<u64> {
        let promised = self.header?.rows;
        (!self.stopped_early && promised != self.rows).then_some(promised)
    }

    /// Whether the file ends too early: within a row, or before what its header promises.
    pub fn is_cut_short(&self) -> bool {
        let fewer = self.broken_promise().is_some_and(|rows| rows > self.rows);
        fewer || self.defects.contains_key(&Defect::CutShort)
    }

    /// One line for each kind of row that was not used.
    pub(super) fn losses(&self) -> Vec<String> {
        let line = |what: String, tally: &Tally| {
            let Tally { count, first } = tally;
            format!("{count} rows: {what} (first: {} {first})", self.unit)
        };
        let defects = self.defects.iter().map(|(d, t)| line(d.to_string(), t));
        let left_out = self.left_out.iter().map(|(r, t)| line(r.to_string(), t));
        defects.chain(left_out).collect()
    }
}

impl fmt::Display for LoadReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = if self.stopped_early {
            ", stopped early"
        } else {
            ""
        };
        write!(
            f,
            "{} words from {} rows of {}{end}",
            self.words, self.rows, self.format
        )?;
        if let Some(promised) = self.broken_promise() {
            write!(f, "\n  the header promises {promised} rows")?;
        }
        for line in self.losses() {
            write!(f, "\n  {line}")?;
        }
        Ok(())
    }
}

fn nothing_yet(list: &ExclusionList) -> Excluded {
    Excluded {
        list: list.name().to_owned(),
        words: 0,
    }
}

/// Adds one to the tally of `kind`.
pub(super) fn count<K: Ord>(tallies: &mut BTreeMap<K, Tally>, kind: K, at: u64) {
    tallies
        .entry(kind)
        .and_modify(|tally| tally.count += 1)
        .or_insert(Tally {
            count: 1,
            first: at,
        });
}

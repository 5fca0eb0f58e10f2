//! What is to be changed in a chunk; all that is not named here is copied byte by byte.

use std::borrow::Cow;
use std::ops::Range;

use brr::{Choice, Privatized};

use crate::chunks::Framing;
use crate::error::{ColumnRole, RowProblem};
use crate::units::{Naming, UnitName};

/// What becomes of a row that cannot be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnBadRow {
    /// The run ends there.
    #[default]
    Fail,
    /// It is left out.
    Skip,
    /// It stays, without its text. What else is in it stays only if it is clear which part of it
    /// is text.
    CopyNull,
}

impl Choice for OnBadRow {
    const WHAT: &'static str = "rule for bad rows";
    const ALL: &'static [(&'static str, OnBadRow, &'static str)] = &[
        ("fail", OnBadRow::Fail, "End the run"),
        ("skip", OnBadRow::Skip, "Leave the row out"),
        (
            "copy-null",
            OnBadRow::CopyNull,
            "Keep the row, without its text",
        ),
    ];
}

/// How a cell is to be written, for formats in which that differs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// Between quotes even if it needs none.
    pub quoted: bool,
}

/// A row that cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadRow {
    /// Where it begins in the chunk.
    pub start: usize,
    /// What is wrong with it.
    pub problem: RowProblem,
}

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

    /// Private columns that no row had so far.
    fn unseen(&self) -> Vec<ColumnRole> {
        Vec::new()
    }
}

enum Put {
    Cell(Style),
    Bytes(Cow<'static, [u8]>),
}

/// The edits of a chunk, in order.
pub struct Edits<'c> {
    on_bad_row: OnBadRow,
    edits: Vec<(Range<usize>, Put)>,
    texts: Vec<Cow<'c, str>>,
    /// How units are named, if anybody wants to know whose texts these are.
    naming: Option<&'c Naming>,
    /// The unit of the row at hand, and of each text of the rows before.
    unit: UnitName,
    units: Vec<UnitName>,
    /// Edits and texts before the row at hand.
    mark: (usize, usize),
    bad: Option<(RowProblem, bool)>,
    rows: u64,
    bad_rows: u64,
    failed: Option<BadRow>,
}

impl<'c> Edits<'c> {
    /// None yet.
    pub fn new(on_bad_row: OnBadRow) -> Edits<'c> {
        Edits {
            on_bad_row,
            edits: Vec::new(),
            texts: Vec::new(),
            naming: None,
            unit: UnitName::default(),
            units: Vec::new(),
            mark: (0, 0),
            bad: None,
            rows: 0,
            bad_rows: 0,
            failed: None,
        }
    }

    /// As [`new`](Self::new), to learn the unit of each text.
    pub fn with_units(on_bad_row: OnBadRow, naming: &'c Naming) -> Edits<'c> {
        Edits {
            naming: Some(naming),
            ..Edits::new(on_bad_row)
        }
    }

    /// A private cell: these bytes become the text privatized.
    pub fn cell(&mut self, range: Range<usize>, text: impl Into<Cow<'c, str>>, style: Style) {
        self.texts.push(text.into());
        self.edits.push((range, Put::Cell(style)));
    }

    /// A private cell that cannot be read, in a row that is otherwise sound.
    pub fn bad_cell(&mut self, range: Range<usize>, problem: RowProblem, null: &'static [u8]) {
        self.edits.push((range, Put::Bytes(Cow::Borrowed(null))));
        self.bad.get_or_insert((problem, false));
    }

    /// The name of the unit that the row at hand belongs to.
    pub fn unit(&mut self, name: &[u8]) {
        if let Some(naming) = self.naming {
            self.unit = naming.name(name);
        }
    }

    /// The row at hand, whose cells are all there, belongs to nobody that could be named: it is
    /// a bad row, of which the cells are clear.
    pub fn no_unit(&mut self, null: &'static [u8]) {
        let (edits, texts) = self.mark;
        self.texts.truncate(texts);
        for (_, put) in &mut self.edits[edits..] {
            *put = Put::Bytes(Cow::Borrowed(null));
        }
        self.bad.get_or_insert((RowProblem::NoUnit, false));
    }

    /// The row at hand cannot be taken apart.
    pub fn bad_row(&mut self, problem: RowProblem) {
        self.bad = Some((problem, true));
    }

    /// Ends the row at hand. `null` is what a row without any content looks like. Whether the
    /// next row is wanted.
    pub fn end_row(&mut self, range: Range<usize>, null: impl FnOnce() -> Vec<u8>) -> bool {
        let row = self.rows;
        self.rows += 1;
        if let Some((problem, whole)) = self.bad.take() {
            self.bad_rows += 1;
            let (edits, texts) = self.mark;
            if whole || self.on_bad_row != OnBadRow::CopyNull {
                self.edits.truncate(edits);
                self.texts.truncate(texts);
            }
            let start = range.start;
            match self.on_bad_row {
                OnBadRow::Fail => {
                    self.rows = row;
                    self.failed = Some(BadRow { start, problem });
                    return false;
                }
                OnBadRow::Skip => self.edits.push((range, Put::Bytes(Cow::Borrowed(b"")))),
                OnBadRow::CopyNull if whole => {
                    self.edits.push((range, Put::Bytes(Cow::Owned(null()))));
                }
                OnBadRow::CopyNull => {}
            }
        }
        self.mark = (self.edits.len(), self.texts.len());
        self.units.resize(self.texts.len(), self.unit);
        true
    }

    /// The private texts, in order, each with its unit.
    pub fn texts_of_units(&self) -> impl Iterator<Item = (UnitName, &str)> {
        let texts = self.texts.iter().map(|text| &**text);
        self.units.iter().copied().zip(texts)
    }

    /// The private texts, in order.
    pub fn texts(&self) -> &[Cow<'c, str>] {
        &self.texts
    }

    /// Rows that were ended, without the one that failed.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// How many of them were bad.
    pub fn bad_rows(&self) -> u64 {
        self.bad_rows
    }

    /// The row that ends the run, if there is one.
    pub fn failed(&self) -> Option<BadRow> {
        self.failed
    }

    /// The chunk with its edits made, up to the row that failed.
    pub fn apply(
        &self,
        chunk: &[u8],
        privatized: &[Privatized],
        mut write: impl FnMut(&Privatized, Style, &mut Vec<u8>),
    ) -> Vec<u8> {
        let mut out = Vec::with_capacity(chunk.len() + chunk.len() / 8);
        let mut copied = 0;
        let mut texts = privatized.iter();
        for (range, put) in &self.edits {
            out.extend_from_slice(&chunk[copied..range.start]);
            copied = range.end;
            match put {
                Put::Bytes(bytes) => out.extend_from_slice(bytes),
                Put::Cell(style) => {
                    if let Some(text) = texts.next() {
                        write(text, *style, &mut out);
                    }
                }
            }
        }
        let end = self.failed.map_or(chunk.len(), |bad| bad.start);
        out.extend_from_slice(&chunk[copied..end]);
        out
    }
}

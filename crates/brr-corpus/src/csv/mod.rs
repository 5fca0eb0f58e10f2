//! CSV and its relatives, without rewriting what is not private.
//!
//! The usual rules: a cell that begins with a quote goes on to the closing quote, delimiters and
//! line ends inside it are content, a doubled quote is one quote; anywhere else a quote is a
//! character. `\n`, `\r\n` and `\r` end a row. [`Frame`] (where rows end, over any cut of the
//! stream) and [`Cells`] (where cells end, in whole rows) follow the same rules; a test holds them
//! against each other and against the bytes.
//!
//! The `csv` crate reads more dialects but gives unescaped cells, not their places: whatever
//! quoting, spaces and line ends a file had would come out in the crate's own style.

mod columns;

use std::borrow::Cow;
use std::ops::Range;

use brr::Privatized;
use memchr::{memchr, memchr_iter, memchr2, memchr3};

use crate::chunks::Framing;
use crate::edits::{Edits, RowFormat, Style};
use crate::error::{Error, Result, RowProblem};
use crate::format::Dialect;
use crate::run::Run;
use crate::units::trimmed;

const QUOTE: u8 = b'"';

/// Finds where rows end.
pub struct Frame {
    dialect: Dialect,
    in_quotes: bool,
    /// The last byte seen, if what it means depends on the next: a quote in quotes, or `\r`.
    open: Option<u8>,
    /// The byte before the next; a line end at the start of a row.
    before: u8,
}

impl Frame {
    /// At the start of a row.
    pub fn new(dialect: Dialect) -> Frame {
        Frame {
            dialect,
            in_quotes: false,
            open: None,
            before: b'\n',
        }
    }

    /// The end of the row.
    fn ended(&mut self, end: usize) -> Option<usize> {
        self.before = b'\n';
        Some(end)
    }

    /// Goes on after a byte whose meaning was open.
    fn settle(&mut self, open: u8, next: u8) -> Settled {
        match (open, next) {
            (b'\r', b'\n') => Settled::RowEnd(1),
            (b'\r', _) => Settled::RowEnd(0),
            (_, QUOTE) => Settled::Skip(1),
            _ => {
                (self.in_quotes, self.before) = (false, QUOTE);
                Settled::Skip(0)
            }
        }
    }
}

enum Settled {
    RowEnd(usize),
    Skip(usize),
}

impl Framing for Frame {
    fn next_end(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut at = 0;
        loop {
            if let (Some(open), Some(&next)) = (self.open, bytes.get(at)) {
                self.open = None;
                match self.settle(open, next) {
                    Settled::RowEnd(more) => return self.ended(at + more),
                    Settled::Skip(more) => at += more,
                }
            }
            let rest = bytes.get(at..).filter(|rest| !rest.is_empty())?;
            if self.in_quotes {
                at += memchr(QUOTE, rest)? + 1;
                self.open = Some(QUOTE);
                continue;
            }
            let found = if self.dialect.quotes {
                memchr3(QUOTE, b'\n', b'\r', rest)
            } else {
                memchr2(b'\n', b'\r', rest)
            };
            let Some(found) = found else {
                self.before = bytes[bytes.len() - 1];
                return None;
            };
            at += found;
            match bytes[at] {
                b'\n' => return self.ended(at + 1),
                b'\r' => self.open = Some(b'\r'),
                _ => {
                    let before = at.checked_sub(1).map_or(self.before, |i| bytes[i]);
                    self.in_quotes =
                        before == self.dialect.delimiter || (at == 0 && self.before == b'\n');
                    self.before = QUOTE;
                }
            }
            at += 1;
        }
    }

    fn inside(&self) -> Option<&'static str> {
        (self.in_quotes && self.open.is_none()).then_some("inside a quoted cell")
    }
}

/// A cell's place in a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// Its bytes, quotes included.
    pub range: Range<usize>,
    /// Whether it is in quotes.
    pub quoted: bool,
    /// Whether something other than spaces follows the closing quote.
    pub torn: bool,
    /// Where the row goes on after it, or where the next row begins.
    pub next: usize,
    /// Whether it is its row's last.
    pub last: bool,
}

/// Goes through the cells of whole rows.
#[derive(Clone, Copy)]
pub struct Cells<'c> {
    dialect: Dialect,
    bytes: &'c [u8],
}

impl<'c> Cells<'c> {
    /// Over these rows.
    pub fn new(dialect: Dialect, bytes: &'c [u8]) -> Cells<'c> {
        Cells { dialect, bytes }
    }

    /// The cell that begins here.
    pub fn at(&self, start: usize) -> Cell {
        let bytes = self.bytes;
        let quoted = self.dialect.quotes && bytes.get(start) == Some(&QUOTE);
        let from = if quoted { self.closing(start) } else { start };
        let found = memchr3(self.dialect.delimiter, b'\n', b'\r', &bytes[from..]);
        let end = found.map_or(bytes.len(), |i| from + i);
        let (next, last) = match bytes.get(end) {
            None => (end, true),
            Some(b'\r') if bytes.get(end + 1) == Some(&b'\n') => (end + 2, true),
            Some(b'\n' | b'\r') => (end + 1, true),
            Some(_) => (end + 1, false),
        };
        Cell {
            range: start..end,
            quoted,
            torn: quoted && bytes[from..end].iter().any(|&b| b != b' '),
            next,
            last,
        }
    }

    /// Whether a backslash stands before the closing quote. Where backslashes escape quotes, the
    /// cell goes on.
    fn escaped(&self, cell: &Cell) -> bool {
        let inner = &self.bytes[cell.range.clone()].trim_ascii_end();
        let inner = inner.strip_suffix(&[QUOTE]).unwrap_or(inner);
        let backslashes = inner.iter().rev().take_while(|&&b| b == b'\\').count();
        cell.quoted && backslashes % 2 == 1
    }

    /// After the closing quote of a cell whose opening quote is here.
    fn closing(&self, start: usize) -> usize {
        let mut at = start + 1;
        while let Some(quote) = memchr(QUOTE, &self.bytes[at.min(self.bytes.len())..]) {
            at += quote + 1;
            if self.bytes.get(at) != Some(&QUOTE) {
                return at;
            }
            at += 1;
        }
        self.bytes.len()
    }

    /// Whether a row without anything begins here.
    fn blank(&self, start: usize) -> Option<usize> {
        match &self.bytes[start..] {
            [b'\r', b'\n', ..] => Some(start + 2),
            [b'\n' | b'\r', ..] => Some(start + 1),
            _ => None,
        }
    }

    /// What a cell says; none if it is not UTF-8.
    pub fn text(&self, cell: &Cell) -> Option<Cow<'c, str>> {
        let text = std::str::from_utf8(&self.bytes[cell.range.clone()]).ok()?;
        if !cell.quoted {
            return Some(Cow::Borrowed(text));
        }
        let closing = self.closing(cell.range.start).min(cell.range.end) - cell.range.start;
        // An unclosed quote can only stand in a row that the framing refused.
        let inner = text[1..closing]
            .strip_suffix('"')
            .unwrap_or(&text[1..closing]);
        let after = &text[closing..];
        if after.is_empty() && memchr(QUOTE, inner.as_bytes()).is_none() {
            return Some(Cow::Borrowed(inner));
        }
        Some(Cow::Owned(inner.replace("\"\"", "\"") + after))
    }
}

/// CSV with known columns.
pub struct Csv {
    dialect: Dialect,
    /// Private columns, ascending, and whether their cells are written between quotes even where
    /// they need none. That goes by the header: by each cell's own quotes it would tell what was
    /// in the cell.
    columns: Vec<(usize, Style)>,
    /// The column that names the unit of a row.
    unit: Option<usize>,
    width: usize,
    line_end: &'static [u8],
}

impl Csv {
    /// Finds the columns by the first row, and whether that row is the header.
    pub fn open(task: &Run<'_>, first: &[u8]) -> Result<(Csv, bool)> {
        let (dialect, header) = (task.dialect(), task.header);
        let cells = Cells::new(dialect, first);
        let (mut names, mut quoted, mut torn) = (Vec::new(), Vec::new(), false);
        let mut at = 0;
        let line_end = loop {
            let cell = cells.at(at);
            names.push(cells.text(&cell));
            quoted.push(cell.quoted);
            torn |= cell.torn;
            at = cell.next;
            if cell.last {
                break line_end(&first[cell.range.end..]);
            }
        };
        if torn {
            return Err(Error::TornFirstRow);
        }
        let found = columns::find(&task.columns, &names, header)?;
        let unit = task.unit.as_ref();
        let unit = unit.map(|unit| columns::find_unit(unit, &found, &names, header));
        let unit = unit.transpose()?;
        let header = header != Some(false);
        let style = |column: usize| Style {
            quoted: header && quoted[column],
        };
        let csv = Csv {
            dialect,
            columns: found.into_iter().map(|c| (c, style(c))).collect(),
            unit,
            width: names.len(),
            line_end,
        };
        Ok((csv, header))
    }

    /// Takes the row that begins here apart; where it ends.
    fn row<'c>(&self, cells: &Cells<'c>, start: usize, edits: &mut Edits<'c>) -> usize {
        let (mut column, mut at) = (0, start);
        let mut wanted = self.columns.iter().peekable();
        let (mut escapes, mut named) = (false, self.unit.is_none());
        loop {
            let cell = cells.at(at);
            let (next, last) = (cell.next, cell.last);
            escapes |= cell.torn;
            if self.unit == Some(column) {
                named = self.name_unit(cells, &cell, edits);
            }
            let private = wanted.next_if(|&&(c, _)| c == column);
            // Nothing, not even quotes, is null, and stays.
            if let Some(&(_, style)) = private.filter(|_| !cell.range.is_empty()) {
                escapes |= cells.escaped(&cell);
                match cells.text(&cell) {
                    Some(text) => edits.cell(cell.range, text, style),
                    None => edits.bad_cell(cell.range, RowProblem::NotUtf8, self.null_cell()),
                }
            }
            (column, at) = (column + 1, next);
            if last {
                break;
            }
        }
        if !named {
            edits.no_unit(self.null_cell());
        }
        if escapes {
            // Cells would be cut where they are not, and text land in columns that are copied.
            edits.bad_row(RowProblem::TornQuotes);
        }
        if column != self.width {
            edits.bad_row(if column < self.width {
                RowProblem::FewerCells
            } else {
                RowProblem::MoreCells
            });
        }
        at
    }
}

impl Csv {
    /// Whether a cell names the unit of its row.
    fn name_unit<'c>(&self, cells: &Cells<'c>, cell: &Cell, edits: &mut Edits<'c>) -> bool {
        let text = cells.text(cell);
        let bytes = match &text {
            Some(text) => text.as_bytes(),
            None => &cells.bytes[cell.range.clone()],
        };
        let name = trimmed(bytes);
        if let Some(name) = name {
            edits.unit(name);
        }
        name.is_some()
    }

    /// A cell without content.
    fn null_cell(&self) -> &'static [u8] {
        if self.width == 1 { b"\"\"" } else { b"" }
    }
}

fn line_end(bytes: &[u8]) -> &'static [u8] {
    match bytes {
        [b'\r', b'\n', ..] => b"\r\n",
        [b'\r', ..] => b"\r",
        _ => b"\n",
    }
}

impl RowFormat for Csv {
    fn framing(&self) -> Box<dyn Framing> {
        Box::new(Frame::new(self.dialect))
    }

    fn edit<'c>(&self, bytes: &'c [u8], edits: &mut Edits<'c>) {
        let cells = Cells::new(self.dialect, bytes);
        let mut at = 0;
        while at < bytes.len() {
            if let Some(next) = cells.blank(at) {
                at = next;
                continue;
            }
            let end = self.row(&cells, at, edits);
            if !edits.end_row(at..end, || self.null_row()) {
                return;
            }
            at = end;
        }
    }

    fn null_row(&self) -> Vec<u8> {
        let mut row = vec![self.dialect.delimiter; self.width - 1];
        if self.width == 1 {
            row.extend_from_slice(b"\"\"");
        }
        row.extend_from_slice(self.line_end);
        row
    }

    fn write(&self, text: &Privatized, style: Style, out: &mut Vec<u8>) {
        let text = text.text.as_bytes();
        let special = memchr3(self.dialect.delimiter, b'\n', b'\r', text);
        if !self.dialect.quotes {
            // No way to write these: a space says as little.
            let blank = |&b: &u8| match b {
                b'\n' | b'\r' => b' ',
                b if b == self.dialect.delimiter => b' ',
                b => b,
            };
            return out.extend(text.iter().map(blank));
        }
        let quote = memchr(QUOTE, text);
        // A text without words is not null.
        if !style.quoted && special.is_none() && quote.is_none() && !text.is_empty() {
            return out.extend_from_slice(text);
        }
        out.push(QUOTE);
        let mut copied = 0;
        for quote in memchr_iter(QUOTE, text) {
            out.extend_from_slice(&text[copied..=quote]);
            out.push(QUOTE);
            copied = quote + 1;
        }
        out.extend_from_slice(&text[copied..]);
        out.push(QUOTE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const COMMA: Dialect = Dialect {
        delimiter: b',',
        quotes: true,
    };

    fn ends_by_frame(bytes: &[u8], piece: usize) -> Vec<usize> {
        let mut frame = Frame::new(COMMA);
        let mut ends = Vec::new();
        let mut start = 0;
        for part in bytes.chunks(piece) {
            let mut from = 0;
            while let Some(end) = frame.next_end(&part[from..]) {
                from += end;
                ends.push(start + from);
            }
            start += part.len();
        }
        if frame.inside().is_none() && ends.last() != Some(&bytes.len()) {
            ends.push(bytes.len());
        }
        ends
    }

    fn ends_by_cells(bytes: &[u8]) -> Vec<usize> {
        let cells = Cells::new(COMMA, bytes);
        let (mut at, mut ends) = (0, Vec::new());
        while at < bytes.len() {
            let cell = cells.at(at);
            at = cell.next;
            if cell.last {
                ends.push(at);
            }
        }
        ends
    }

    proptest! {
        #[test]
        fn framing_and_cells_agree_however_the_stream_is_cut(
            text in "[a,\"\r\n]{0,40}", piece in 1usize..8,
        ) {
            let whole = ends_by_frame(text.as_bytes(), usize::MAX >> 1);
            prop_assert_eq!(&ends_by_frame(text.as_bytes(), piece), &whole);
            let mut frame = Frame::new(COMMA);
            frame.last_end(text.as_bytes());
            // A last row of no cells but a delimiter's empty one has no end of its own.
            if frame.inside().is_none() && !text.ends_with(',') && !text.is_empty() {
                prop_assert_eq!(ends_by_cells(text.as_bytes()), whole);
            }
        }
    }

    #[test]
    fn cells_say_what_they_mean() {
        let bytes = b"a,\"b \"\"q\"\"\",\"c\"d,5\" x,\"\"\r\n";
        let cells = Cells::new(COMMA, bytes);
        let (mut at, mut texts) = (0, Vec::new());
        loop {
            let cell = cells.at(at);
            texts.push(cells.text(&cell).unwrap().into_owned());
            at = cell.next;
            if cell.last {
                break;
            }
        }
        assert_eq!(texts, ["a", "b \"q\"", "cd", "5\" x", ""]);
        assert_eq!(at, bytes.len());
    }
}

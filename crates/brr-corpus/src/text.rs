//! Plain text: a document is a line, or the whole file.

use std::borrow::Cow;

use brr::{Choice, Privatized};

use crate::chunks::{Framing, LineFraming, WholeFraming};
use crate::edits::{Edits, RowFormat, Style};
use crate::error::RowProblem;

/// What a document is in plain text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Document {
    /// Each line.
    #[default]
    Line,
    /// All of the input.
    File,
}

impl Choice for Document {
    const WHAT: &'static str = "document";
    const ALL: &'static [(&'static str, Document, &'static str)] = &[
        ("line", Document::Line, "Each line"),
        ("file", Document::File, "The whole input"),
    ];
}

/// Plain text.
#[derive(Default)]
pub struct Text<'a> {
    /// All of the input is one document.
    pub whole: bool,
    /// Writes this line for each document, in place of its text.
    pub line: Option<&'a (dyn Fn(&Privatized) -> String + Sync)>,
}

impl Text<'_> {
    fn document<'c>(
        &self,
        bytes: &'c [u8],
        from: usize,
        end: usize,
        edits: &mut Edits<'c>,
    ) -> bool {
        // Not `str::lines`: a carriage return is part of the layout.
        let ended = bytes[..end].last() == Some(&b'\n');
        let body = if ended && !self.whole { end - 1 } else { end };
        let until = if self.line.is_some() { end } else { body };
        match std::str::from_utf8(&bytes[from..body]) {
            Err(_) => edits.bad_row(RowProblem::NotUtf8),
            Ok(text) if text.contains('\0') => edits.bad_row(RowProblem::NullByte),
            Ok(text) => edits.cell(from..until, text, Style::default()),
        }
        edits.end_row(from..end, || self.null_row())
    }
}

impl RowFormat for Text<'_> {
    fn framing(&self) -> Box<dyn Framing> {
        if self.whole {
            Box::new(WholeFraming)
        } else {
            Box::new(LineFraming)
        }
    }

    fn edit<'c>(&self, bytes: &'c [u8], edits: &mut Edits<'c>) {
        let mut from = 0;
        while from < bytes.len() {
            let line = memchr::memchr(b'\n', &bytes[from..]).filter(|_| !self.whole);
            let end = line.map_or(bytes.len(), |i| from + i + 1);
            if !self.document(bytes, from, end, edits) {
                return;
            }
            from = end;
        }
    }

    fn null_row(&self) -> Vec<u8> {
        if self.line.is_some() {
            b"null\n".to_vec()
        } else {
            b"\n".to_vec()
        }
    }

    fn write(&self, text: &Privatized, _: Style, out: &mut Vec<u8>) {
        let line = match self.line {
            Some(line) => Cow::Owned(line(text) + "\n"),
            None => Cow::Borrowed(&text.text),
        };
        out.extend_from_slice(line.as_bytes());
    }
}

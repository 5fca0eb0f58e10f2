//! GloVe text, word2vec text and fastText `.vec`: one word and its numbers per line.
//!
//! ```text
//! 400000 50                  <- word2vec and fastText only: rows and columns
//! the 0.418 0.24968 -0.41242 ...
//! ```
//!
//! Lines are read from the right: the last `dim` fields are the numbers and what is before them is
//! the word, which in GloVe 840B may contain spaces (`. . .`, `at name@domain.com`). Whether there
//! is a header, and `dim` itself, are found in the first rows: `dim` is what most of them have, so
//! that a ragged first line spoils nothing. Accepted in passing: a byte order mark, CRLF, tabs,
//! several or trailing separators, blank lines, a last line without an end.

use super::collect::Collector;
use super::format::VectorFormat;
use super::report::{Defect, Header};
use super::stream::{BUFFER, Stream};
use crate::error::{Error, Result};

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// What the beginning of a text file tells.
#[derive(Debug)]
pub(super) struct Layout {
    /// The first line, if it is a header.
    pub(super) header: Option<Header>,
    /// Numbers in most of the first rows; none if they have none.
    pub(super) dim: Option<usize>,
    /// Where the first line begins, after a byte order mark.
    pub(super) start: usize,
    /// Where the rows begin.
    pub(super) rows: usize,
}

/// Reads the layout off the first bytes of a file, or all of it (`whole`).
pub(super) fn layout(head: &[u8], whole: bool) -> Layout {
    let start = if head.starts_with(BYTE_ORDER_MARK) {
        BYTE_ORDER_MARK.len()
    } else {
        0
    };
    let first_end = head
        .iter()
        .position(|b| *b == b'\n')
        .map_or(head.len(), |at| at + 1);
    let header = parse_header(&head[start..first_end.max(start)]);
    let rows = if header.is_some() { first_end } else { start };
    let dim = usual_dim(&head[rows..], whole);
    // Rows of a word and one number are no vectors, so a first line that fits them is a row.
    match header {
        Some(header) if header.dim != 1 && dim == Some(1) => Layout {
            header: None,
            dim,
            start,
            rows: start,
        },
        _ => Layout {
            header,
            dim,
            start,
            rows,
        },
    }
}

/// Whether there is nothing but white space, after a byte order mark perhaps.
pub(super) fn is_blank(text: &[u8]) -> bool {
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    text.trim_ascii().is_empty()
}

/// `rows columns`, two whole numbers and nothing else.
pub(super) fn parse_header(line: &[u8]) -> Option<Header> {
    let mut fields = fields(line);
    let rows = str::from_utf8(fields.next()?).ok()?.parse().ok()?;
    let dim = str::from_utf8(fields.next()?).ok()?.parse().ok()?;
    fields.next().is_none().then_some(Header { rows, dim })
}

/// The number of trailing numbers that most lines have; the larger one if that is undecided,
/// since more lines are cut than grow.
fn usual_dim(rows: &[u8], whole: bool) -> Option<usize> {
    let complete = match rows.iter().rposition(|b| *b == b'\n') {
        Some(end) if !whole => &rows[..end],
        _ => rows,
    };
    let mut dims: Vec<usize> = complete
        .split(|b| *b == b'\n')
        .filter(|line| fields(line).next().is_some())
        .map(trailing_numbers)
        .collect();
    dims.sort_unstable();
    let usual = dims
        .chunk_by(|a, b| a == b)
        .max_by_key(|equal| equal.len())?[0];
    (usual > 0).then_some(usual)
}

/// How many of the last fields are numbers, the first field being the word in any case.
pub(super) fn trailing_numbers(line: &[u8]) -> usize {
    let numbers = fields(line)
        .rev()
        .take_while(|field| parse_number(field).is_some())
        .count();
    numbers.min(fields(line).count().saturating_sub(1))
}

/// Reads all rows, or as many as are wanted.
pub(super) fn read(
    stream: &mut Stream<'_>,
    format: VectorFormat,
    into: &mut Collector<'_>,
) -> Result<()> {
    let (dim, mut at) = begin(stream, format, into)?;
    let mut line = Vec::new();
    let mut row = Vec::with_capacity(dim);
    while !into.is_full() {
        let Some(ended) = stream.line(&mut line)? else {
            break;
        };
        at += 1;
        if fields(&line).next().is_none() {
            continue;
        }
        // What is left of a row when compressed content was cut, its last number perhaps cut too.
        let torn = !ended && stream.at_end()? && stream.is_cut();
        let Some((word, numbers)) = split_row(&line, dim).filter(|_| !torn) else {
            let defect = if ended {
                Defect::Ragged
            } else {
                Defect::CutShort
            };
            into.bad_row(stream, at, defect)?;
            continue;
        };
        if !ended {
            into.set_unended();
        }
        // One number too many looks like a word with a space and a number in it.
        if fields(word).count() > 1 && fields(word).next_back().and_then(parse_number).is_some() {
            into.bad_row(stream, at, Defect::Ragged)?;
        } else if let Some(candidate) = into.consider(stream, at, word)? {
            into.take(candidate, parse_row(numbers, &mut row))?;
        }
    }
    // Whether a stop comes early is a question of no more than a look: errors ahead do not matter.
    into.stop_if(into.is_full() && !stream.at_end().unwrap_or(false));
    Ok(())
}

/// Steps over byte order mark and header. The dimension, and the lines read.
fn begin(
    stream: &mut Stream<'_>,
    format: VectorFormat,
    into: &mut Collector<'_>,
) -> Result<(usize, u64)> {
    let path = stream.path().to_owned();
    let head = stream.peek()?;
    let whole = head.len() < BUFFER;
    let mut layout = layout(head, whole);
    let rest_is_blank = whole && is_blank(&head[layout.rows..]);
    let wrong = |reason| Error::WrongFormat {
        path: path.clone(),
        format,
        reason,
    };
    if format == VectorFormat::GloveText && layout.header.take().is_some() {
        // Asked for explicitly: then the first line is a row.
        layout.rows = layout.start;
    }
    if format == VectorFormat::Word2vecText && layout.header.is_none() {
        return Err(wrong(
            "the first line is not the number of rows and of columns",
        ));
    }
    if let (Some(header), Some(found)) = (layout.header, layout.dim)
        && header.dim != found
    {
        return Err(Error::HeaderDimension {
            path,
            promised: header.dim,
            found,
        });
    }
    let dim = match (layout.header, layout.dim) {
        _ if rest_is_blank => return Err(Error::EmptyFile { path }),
        (_, Some(dim)) => dim,
        (_, None) => return Err(wrong("its lines do not end in numbers")),
    };
    into.set_dim(dim);
    if let Some(header) = layout.header {
        into.set_header(header);
    }
    stream.skip(layout.rows as u64)?;
    Ok((dim, u64::from(layout.header.is_some())))
}

/// Splits a line into its word and its last `dim` fields. `None` if it has too few.
fn split_row(line: &[u8], dim: usize) -> Option<(&[u8], &[u8])> {
    let mut end = line.trim_ascii_end().len();
    for _ in 0..dim {
        let word = line[..end].trim_ascii_end().len();
        // A line that begins with a separator has an empty word; else the first field is the word.
        end = line[..word].iter().rposition(|b| is_separator(*b))?;
    }
    Some((line[..end].trim_ascii_end(), &line[end..]))
}

fn parse_row<'r>(numbers: &[u8], row: &'r mut Vec<f32>) -> Result<&'r [f32], Defect> {
    row.clear();
    for field in fields(numbers) {
        row.push(parse_number(field).ok_or(Defect::BadNumber)?);
    }
    Ok(row)
}

fn parse_number(field: &[u8]) -> Option<f32> {
    str::from_utf8(field).ok()?.parse().ok()
}

fn fields(line: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    line.split(|b| is_separator(*b))
        .filter(|field| !field.is_empty())
}

fn is_separator(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

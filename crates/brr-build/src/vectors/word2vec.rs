//! word2vec binary, as GoogleNews-vectors comes.
//!
//! ```text
//! 3000000 300\n              rows and columns, in text
//! </s> <300 x f32>\n         a word, a space, little-endian numbers, perhaps a line end
//! ```
//!
//! The original program writes the line end, gensim does not. The number of rows is not believed:
//! rows are read until the file ends.

use std::io::{BufRead, Read};

use super::collect::Collector;
use super::report::Defect;
use super::stream::Stream;
use super::{MAX_DIM, MAX_TOKEN, VectorFormat, text};
use crate::error::{Error, Result};

/// Reads all rows, or as many as are wanted.
pub(super) fn read(stream: &mut Stream<'_>, into: &mut Collector<'_>) -> Result<()> {
    let mut line = Vec::new();
    stream.line(&mut line)?;
    let header = text::parse_header(&line).ok_or_else(|| Error::WrongFormat {
        path: stream.path().to_owned(),
        format: VectorFormat::Word2vecBinary,
        reason: "the first line is not the number of rows and of columns",
    })?;
    if header.dim == 0 || header.dim > MAX_DIM {
        return Err(stream.damaged(format!("rows of {} numbers", header.dim)));
    }
    into.set_header(header);
    let mut bytes = vec![0; header.dim * 4];
    let mut row = Vec::with_capacity(header.dim);
    let mut word = Vec::new();
    let mut at = 0;
    while !into.is_full() && read_word(stream, &mut word)? {
        at += 1;
        if stream.fill(&mut bytes)? < bytes.len() {
            into.bad_row(stream, at, Defect::CutShort)?;
            break;
        }
        if let Some(candidate) = into.consider(stream, at, &word)? {
            decode_f32(&bytes, &mut row);
            into.take(candidate, Ok(&row))?;
        }
    }
    into.stop_if(at < header.rows && into.is_full());
    Ok(())
}

/// Reads up to the next space. `false` at the end of the file.
fn read_word(stream: &mut Stream<'_>, word: &mut Vec<u8>) -> Result<bool> {
    word.clear();
    match stream.by_ref().take(MAX_TOKEN).read_until(b' ', word) {
        Ok(n) if n as u64 == MAX_TOKEN => {
            return Err(stream.damaged(format!("a word of over {MAX_TOKEN} bytes")));
        }
        Ok(_) => {}
        Err(e) => return Err(stream.failed(e)),
    }
    word.pop_if(|b| *b == b' ');
    let line_ends = word.iter().take_while(|b| **b == b'\n').count();
    word.drain(..line_ends);
    Ok(!word.is_empty() || !stream.at_end()?)
}

/// Little-endian numbers.
pub(super) fn decode_f32(bytes: &[u8], row: &mut Vec<f32>) {
    let (numbers, _) = bytes.as_chunks();
    row.clear();
    row.extend(numbers.iter().map(|number| f32::from_le_bytes(*number)));
}

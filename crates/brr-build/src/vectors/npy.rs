//! NumPy matrices (`.npy`) with a word list.
//!
//! ```text
//! "\x93NUMPY", u8 major, u8 minor
//! length of what follows: u16 in version 1, u32 in versions 2 and 3, little-endian
//! {'descr': '<f4', 'fortran_order': False, 'shape': (400000, 50), }
//! rows x columns numbers
//! ```
//! Half, single and double precision, of either byte order, row after row (C order). The words
//! are in a file of their own, which may be packed as well: one per line, in the order of the rows.

use std::path::Path;

use super::collect::Collector;
use super::report::{Defect, Header};
use super::stream::Stream;
use super::{MAX_DIM, VectorFormat, archive};
use crate::error::{Error, Result};

/// The first bytes of the format.
pub(super) const MAGIC: &[u8] = b"\x93NUMPY";

/// Headers are under a kilobyte; this is what NumPy itself accepts.
const MAX_HEADER: usize = 10_000;

#[derive(Clone, Copy)]
enum Precision {
    Half,
    Single,
    Double,
}

/// What the header says of the numbers behind it.
pub(super) struct Matrix {
    precision: Precision,
    big_endian: bool,
    pub(super) header: Header,
}

/// Reads matrix and word list side by side.
pub(super) fn read(
    stream: &mut Stream<'_>,
    word_list: Option<&Path>,
    into: &mut Collector<'_>,
) -> Result<()> {
    let matrix = read_header(stream)?;
    let Some(list) = word_list else {
        return Err(Error::WordListMissing {
            path: stream.path().to_owned(),
        });
    };
    into.set_header(matrix.header);
    let words = archive::with_stream(list, |list| read_rows(stream, &matrix, list, into))?;
    if words != matrix.header.rows {
        return Err(Error::WordListLength {
            path: stream.path().to_owned(),
            list: list.to_owned(),
            words,
            rows: matrix.header.rows,
        });
    }
    Ok(())
}

/// Reads the rows; then, or once there are enough words, the rest of the word list, to count it.
fn read_rows(
    stream: &mut Stream<'_>,
    matrix: &Matrix,
    list: &mut Stream<'_>,
    into: &mut Collector<'_>,
) -> Result<u64> {
    let mut bytes = vec![0; matrix.row_bytes()];
    let mut row = Vec::with_capacity(matrix.header.dim);
    let mut word = Vec::new();
    let (mut words, mut done) = (0, false);
    while list.line(&mut word)?.is_some() {
        words += 1;
        done |= words > matrix.header.rows;
        if done {
            continue;
        }
        if into.is_full() {
            into.stop_if(true);
            done = true;
        } else if stream.fill(&mut bytes)? < bytes.len() {
            into.bad_row(stream, words, Defect::CutShort)?;
            done = true;
        } else if let Some(candidate) = into.consider(stream, words, without_mark(&word, words))? {
            matrix.decode(&bytes, &mut row);
            into.take(candidate, Ok(&row))?;
        }
    }
    Ok(words)
}

/// The word, without the byte order mark that may open the list.
fn without_mark(word: &[u8], line: u64) -> &[u8] {
    match word {
        [0xef, 0xbb, 0xbf, rest @ ..] if line == 1 => rest,
        _ => word,
    }
}

/// Reads up to the first row.
pub(super) fn read_header(stream: &mut Stream<'_>) -> Result<Matrix> {
    let wrong = |stream: &Stream<'_>, reason| Error::WrongFormat {
        path: stream.path().to_owned(),
        format: VectorFormat::Npy,
        reason,
    };
    if stream.array::<6>()? != MAGIC {
        return Err(wrong(stream, "it does not begin with NumPy's magic string"));
    }
    let [major, _minor] = stream.array()?;
    let len = match major {
        1 => u16::from_le_bytes(stream.array()?) as usize,
        2 | 3 => u32::from_le_bytes(stream.array()?) as usize,
        _ => return Err(wrong(stream, "its version is not 1, 2 or 3")),
    };
    if len > MAX_HEADER {
        return Err(stream.damaged(format!("a header of {len} bytes")));
    }
    let mut header = vec![0; len];
    stream.exactly(&mut header)?;
    let header = String::from_utf8_lossy(&header);
    parse_header(&header).map_err(|(what, remedy)| Error::Unsupported {
        path: stream.path().to_owned(),
        what,
        remedy,
    })
}

/// The matrix, or what it is instead and what to do about it.
fn parse_header(header: &str) -> Result<Matrix, (&'static str, &'static str)> {
    let value = |key: &str| {
        let (_, rest) = header.split_once(&format!("'{key}':"))?;
        Some(rest.trim_start())
    };
    let kind = value("descr")
        .and_then(|v| v.split('\'').nth(1))
        .unwrap_or_default();
    let (precision, big_endian) = match kind {
        "<f2" | ">f2" => (Precision::Half, kind.starts_with('>')),
        "<f4" | ">f4" => (Precision::Single, kind.starts_with('>')),
        "<f8" | ">f8" => (Precision::Double, kind.starts_with('>')),
        _ => {
            return Err((
                "the matrix is not of type float16, float32 or float64",
                "save it with numpy.save(file, matrix.astype('float32'))",
            ));
        }
    };
    if !value("fortran_order").is_some_and(|v| v.starts_with("False")) {
        return Err((
            "the matrix is stored column by column",
            "save it with numpy.save(file, numpy.ascontiguousarray(matrix))",
        ));
    }
    let shape = value("shape").and_then(|v| v.strip_prefix('(')?.split_once(')'));
    let numbers: Option<Vec<u64>> = shape.and_then(|(inside, _)| {
        let sizes = inside
            .split(',')
            .map(str::trim)
            .filter(|size| !size.is_empty());
        sizes.map(|size| size.parse().ok()).collect()
    });
    match numbers.as_deref() {
        Some(&[rows, dim]) if (1..=MAX_DIM as u64).contains(&dim) => {
            let header = Header {
                rows,
                dim: dim as usize,
            };
            Ok(Matrix {
                precision,
                big_endian,
                header,
            })
        }
        _ => Err((
            "the array is not a matrix of words x numbers",
            "save one row per word",
        )),
    }
}

impl Precision {
    fn bytes(self) -> usize {
        match self {
            Precision::Half => 2,
            Precision::Single => 4,
            Precision::Double => 8,
        }
    }
}

impl Matrix {
    /// The size of a row.
    pub(super) fn row_bytes(&self) -> usize {
        self.header.dim * self.precision.bytes()
    }

    /// The numbers of a row.
    pub(super) fn decode(&self, bytes: &[u8], row: &mut Vec<f32>) {
        row.clear();
        row.extend(bytes.chunks_exact(self.precision.bytes()).map(|number| {
            let mut little = [0; 8];
            little[..number.len()].copy_from_slice(number);
            if self.big_endian {
                little[..number.len()].reverse();
            }
            let bits = u64::from_le_bytes(little);
            match self.precision {
                Precision::Half => half_to_single(bits as u16),
                Precision::Single => f32::from_bits(bits as u32),
                Precision::Double => f64::from_bits(bits) as f32,
            }
        }));
    }
}

/// IEEE 754 binary16: a sign, 5 bits of exponent, 10 of fraction.
fn half_to_single(bits: u16) -> f32 {
    let sign = if bits & 0x8000 == 0 { 1.0 } else { -1.0 };
    let exponent = i32::from(bits >> 10 & 0x1f);
    let fraction = f32::from(bits & 0x3ff);
    sign * match exponent {
        0 => fraction * 2f32.powi(-24),
        31 if fraction == 0.0 => f32::INFINITY,
        31 => f32::NAN,
        _ => (1024.0 + fraction) * 2f32.powi(exponent - 25),
    }
}

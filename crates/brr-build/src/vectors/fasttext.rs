//! fastText models (`.bin`), with subwords.
//!
//! ```text
//! magic, version        i32 each; version 11 or 12
//! arguments             12 x i32: dim, ws, epoch, minCount, neg, wordNgrams, loss, model,
//!                       bucket, minn, maxn, lrUpdateRate; f64: t
//! dictionary            i32: entries, words, labels; i64: tokens, pruned
//!   entry               text ending in NUL, i64 count, i8 type (0 word, 1 label)
//! quantized?            u8
//! input matrix          i64 rows, i64 columns, f32 ...: a row per word, then one per bucket
//! output matrix         not needed
//! ```
//! All numbers are little-endian. The vector of a word is the mean of its own row and of the rows
//! of its n-grams. A Common Crawl model has 2 million words and as many buckets: 4.8 GB. So the
//! rows that the wanted words need are listed first, sorted, and then added up in one pass over
//! the matrix that jumps over the rest. (fastText adds in another order: the last bit may differ.)
//!
//! (The one word without n-grams, the end of sentence `</s>`, never enters: it is no word.)
//!
//! Models from supervised training are read too; their labels are not words. Quantized models
//! (`.ftz`) are not: they have lost what a good binarization needs.

use std::io::{BufRead, Read};

use super::collect::Collector;
use super::report::Header;
use super::stream::Stream;
use super::subwords::Subwords;
use super::word2vec::decode_f32;
use super::{MAX_DIM, MAX_TOKEN, VectorFormat};
use crate::error::{Error, Result};

/// The first four bytes of a model.
pub(super) const MAGIC: [u8; 4] = 793_712_314_i32.to_le_bytes();

/// The `model` argument of supervised training.
const SUPERVISED: i32 = 3;

/// The least size of an entry: an empty text, its NUL, count and type.
const MIN_ENTRY: u64 = 1 + 8 + 1;

struct Arguments {
    dim: usize,
    subwords: Subwords,
}

struct Dictionary {
    entries: u64,
    words: u64,
}

/// Row `row` of the matrix is part of the vector of word `word`.
#[derive(Clone, Copy)]
struct Part {
    row: u32,
    word: u32,
}

/// Reads the wanted words and then their rows.
pub(super) fn read(stream: &mut Stream<'_>, into: &mut Collector<'_>) -> Result<()> {
    let Arguments { dim, subwords } = read_arguments(stream)?;
    let dictionary = read_dictionary_header(stream)?;
    into.set_header(Header {
        rows: dictionary.words,
        dim,
    });
    let (mut parts, shares) = read_words(stream, &dictionary, &subwords, into)?;
    if stream.array::<1>()? != [0] {
        return Err(unsupported(
            stream,
            "this fastText model is quantized (.ftz)",
            "take the .bin model that it was made from",
        ));
    }
    let rows = read_matrix_header(stream, dim)?;
    parts.sort_unstable_by_key(|part| part.row);
    if let Some(last) = parts.last()
        && u64::from(last.row) >= rows
    {
        return Err(stream.damaged(format!("{rows} rows, too few for words and n-grams")));
    }
    let mut data = add_parts(stream, &parts, dim, into)?;
    for (row, share) in data.chunks_exact_mut(dim).zip(shares) {
        row.iter_mut().for_each(|x| *x *= share);
    }
    into.set_data(data)
}

fn read_arguments(stream: &mut Stream<'_>) -> Result<Arguments> {
    if stream.array()? != MAGIC {
        return Err(Error::WrongFormat {
            path: stream.path().to_owned(),
            format: VectorFormat::FastText,
            reason: "it does not begin with fastText's magic number",
        });
    }
    let version = i32::from_le_bytes(stream.array()?);
    if !(11..=12).contains(&version) {
        return Err(unsupported(
            stream,
            "this fastText model has an unknown version",
            "brr reads versions 11 and 12; save its vectors as .vec",
        ));
    }
    let mut numbers = [0; 12];
    for number in &mut numbers {
        *number = i32::from_le_bytes(stream.array()?);
    }
    let [
        dim,
        _ws,
        _epoch,
        _min_count,
        _neg,
        _word_ngrams,
        _loss,
        model,
        buckets,
        min,
        max,
        _rate,
    ] = numbers;
    stream.array::<8>()?;
    let not_negative = |n: i32| usize::try_from(n).map_err(|_| stream.damaged("a negative length"));
    let dim = not_negative(dim)?;
    if dim == 0 || dim > MAX_DIM {
        return Err(stream.damaged(format!("vectors of {dim} numbers")));
    }
    // Supervised models of version 11 say that they have n-grams, but were trained without.
    let without = version == 11 && model == SUPERVISED;
    let subwords = Subwords {
        min: not_negative(min)?,
        max: if without { 0 } else { not_negative(max)? },
        buckets: not_negative(buckets)? as u32,
    };
    Ok(Arguments { dim, subwords })
}

fn read_dictionary_header(stream: &mut Stream<'_>) -> Result<Dictionary> {
    let mut sizes = [0; 3];
    for size in &mut sizes {
        let number = i32::from_le_bytes(stream.array()?);
        *size = u64::try_from(number).map_err(|_| stream.damaged("a negative length"))?;
    }
    let [entries, words, labels] = sizes;
    let _tokens: [u8; 8] = stream.array()?;
    let pruned = i64::from_le_bytes(stream.array()?);
    if pruned >= 0 {
        return Err(unsupported(
            stream,
            "the n-grams of this fastText model are pruned (quantized, .ftz)",
            "take the .bin model that it was made from",
        ));
    }
    let fits = stream
        .remaining()
        .is_none_or(|left| entries * MIN_ENTRY <= left);
    if words + labels != entries || !fits {
        return Err(stream.damaged(format!("a dictionary of {entries} entries")));
    }
    Ok(Dictionary { entries, words })
}

/// Reads the dictionary to its end. The parts of the wanted words, and the share of each part.
fn read_words(
    stream: &mut Stream<'_>,
    dictionary: &Dictionary,
    subwords: &Subwords,
    into: &mut Collector<'_>,
) -> Result<(Vec<Part>, Vec<f32>)> {
    let mut parts = Vec::new();
    let mut shares = Vec::new();
    let mut text = Vec::new();
    for row in 0..dictionary.entries {
        read_text(stream, &mut text)?;
        let [.., kind] = stream.array::<9>()?;
        if kind != u8::from(row >= dictionary.words) {
            return Err(stream.damaged("words and labels are mixed"));
        }
        if row >= dictionary.words {
            continue;
        }
        if into.is_full() {
            into.stop_if(true);
            continue;
        }
        let Some(candidate) = into.consider(stream, row + 1, &text)? else {
            continue;
        };
        let (word, before) = (into.len() as u32, parts.len());
        into.claim(candidate);
        parts.push(Part {
            row: row as u32,
            word,
        });
        let first_bucket = dictionary.words as u32;
        subwords.for_each(&text, |bucket| {
            parts.push(Part {
                row: first_bucket.saturating_add(bucket),
                word,
            });
        });
        shares.push(1.0 / (parts.len() - before) as f32);
    }
    Ok((parts, shares))
}

fn read_text(stream: &mut Stream<'_>, text: &mut Vec<u8>) -> Result<()> {
    text.clear();
    match stream.by_ref().take(MAX_TOKEN).read_until(0, text) {
        Err(e) => Err(stream.failed(e)),
        Ok(_) if text.pop() == Some(0) => Ok(()),
        Ok(_) => Err(stream.damaged("a word without an end")),
    }
}

/// The number of rows, if they can be there.
fn read_matrix_header(stream: &mut Stream<'_>, dim: usize) -> Result<u64> {
    let rows = u64::from_le_bytes(stream.array()?);
    let columns = u64::from_le_bytes(stream.array()?);
    let bytes = rows
        .checked_mul(columns)
        .and_then(|numbers| numbers.checked_mul(4));
    let fits = bytes.is_some_and(|bytes| stream.remaining().is_none_or(|left| bytes <= left));
    if columns != dim as u64 || !fits {
        return Err(stream.damaged(format!("a matrix of {rows} x {columns}")));
    }
    Ok(rows)
}

/// Adds each row to the words that it is part of. The rows of the words themselves come first, in
/// the order of the words, so that memory grows with what is read.
fn add_parts(
    stream: &mut Stream<'_>,
    parts: &[Part],
    dim: usize,
    into: &mut Collector<'_>,
) -> Result<Vec<f32>> {
    let mut data: Vec<f32> = Vec::new();
    let mut bytes = vec![0; dim * 4];
    let mut row = Vec::with_capacity(dim);
    let mut next = 0;
    for (nth, same_row) in parts.chunk_by(|a, b| a.row == b.row).enumerate() {
        let at = u64::from(same_row[0].row);
        stream.skip((at - next) * bytes.len() as u64)?;
        stream.exactly(&mut bytes)?;
        next = at + 1;
        decode_f32(&bytes, &mut row);
        for part in same_row {
            let start = part.word as usize * dim;
            if start == data.len() {
                data.extend_from_slice(&row);
            } else {
                let sum = &mut data[start..start + dim];
                sum.iter_mut().zip(&row).for_each(|(sum, x)| *sum += x);
            }
        }
        if nth.is_multiple_of(1 << 16) {
            into.tell_progress(stream);
        }
    }
    Ok(data)
}

fn unsupported(stream: &Stream<'_>, what: &'static str, remedy: &'static str) -> Error {
    Error::Unsupported {
        path: stream.path().to_owned(),
        what,
        remedy,
    }
}

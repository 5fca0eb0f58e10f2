//! navec: product-quantized vectors of Russian words, as `natasha` carries them.
//!
//! ```text
//! meta.json      {"id": ..., "protocol": 1}
//! vocab.bin      gzip of: u32 n, n x u32 counts, n words with a line end between
//! pq.bin         u32 each: rows, dim, parts, centroids
//!                rows x parts x u8              which centroid each part of a row is
//!                parts x centroids x dim/parts x f32
//! ```
//! All numbers are little-endian. The vector of a word is the centroids of its parts, one after another
//! (Jégou et al. 2011).
//!
//! The words are stored in the order of their characters; they are read by their counts, most frequent first, of equal
//! counts the first in the file. The centroids come last in the file, so the numbers of the wanted rows, a hundred bytes
//! each, are kept until then, and only then are vectors made of them. What stands for unknown words and for padding
//! (`<unk>`, `<pad>`) never enters: it is no word.

use std::cmp::Reverse;
use std::io::Read;

use flate2::bufread::MultiGzDecoder;

use super::collect::Collector;
use super::package::Package;
use super::report::Header;
use super::source::Decoded;
use super::stream::Stream;
use super::word2vec::decode_f32;
use super::{MAX_DIM, MAX_LIST, MAX_TOKEN, MAX_WORDS, check_size};
use crate::error::{Error, Result};

const META: &str = "meta.json";
const WORDS: &str = "vocab.bin";
const VECTORS: &str = "pq.bin";

/// The only protocol with these files.
const PROTOCOL: &str = "1";

/// No description of a package is longer.
const MAX_META: u64 = 1 << 16;

/// Words by their place in the file.
struct Words {
    counts: Vec<u32>,
    text: Vec<u8>,
    /// Where in the text each word ends.
    ends: Vec<u32>,
}

/// The sizes in `pq.bin`.
struct Shape {
    rows: u64,
    dim: usize,
    parts: usize,
    centroids: usize,
}

/// Reads the words, then which centroids the wanted ones have, then the centroids.
pub(super) fn read(package: &Package, into: &mut Collector<'_>) -> Result<()> {
    package.part(META, check_protocol)?;
    let shape = package.part(VECTORS, read_shape)?;
    into.set_header(Header {
        rows: shape.rows,
        dim: shape.dim,
    });
    let rows = package.part(WORDS, |stream| {
        let words = read_words(stream, shape.rows)?;
        take_words(stream, &words, into)
    })?;
    package.part(VECTORS, |stream| {
        let shape = read_shape(stream)?;
        let parts = read_parts(stream, &shape, &rows)?;
        let centroids = read_centroids(stream, &shape)?;
        check_size(stream, rows.len(), shape.dim)?;
        into.set_data(put_together(&shape, &rows, &parts, &centroids))
    })
}

fn check_protocol(stream: &mut Stream<'_>) -> Result<()> {
    let mut meta = String::new();
    let read = stream.by_ref().take(MAX_META).read_to_string(&mut meta);
    read.map_err(|error| stream.failed(error))?;
    let protocol = meta.split_once("\"protocol\"").map(|(_, rest)| {
        let rest = rest.trim_start().trim_start_matches(':').trim_start();
        let end = rest.find(|c: char| !c.is_ascii_digit());
        &rest[..end.unwrap_or(rest.len())]
    });
    match protocol {
        Some(PROTOCOL) => Ok(()),
        _ => Err(Error::Unsupported {
            path: stream.path().to_owned(),
            what: "these vectors of navec are not of protocol 1",
            remedy: "take those of natasha 1.6.0, or write them out as text with gensim",
        }),
    }
}

fn read_shape(stream: &mut Stream<'_>) -> Result<Shape> {
    let mut sizes = [0; 4];
    for size in &mut sizes {
        *size = u32::from_le_bytes(stream.array()?);
    }
    let [rows, dim, parts, centroids] = sizes.map(|size| size as usize);
    let fits = (1..=MAX_DIM).contains(&dim)
        && (1..=dim).contains(&parts)
        && dim.is_multiple_of(parts)
        && (1..=256).contains(&centroids)
        && (1..=MAX_WORDS).contains(&(rows as u64));
    let rows = rows as u64;
    if !fits {
        let what = format!("{rows} vectors of {dim} numbers in {parts} parts of {centroids}");
        return Err(stream.damaged(what));
    }
    let size = rows * parts as u64 + centroids as u64 * dim as u64 * 4;
    if let Some(left) = stream.remaining().filter(|left| *left != size) {
        return Err(stream.damaged(format!("{left} bytes where there should be {size}")));
    }
    Ok(Shape {
        rows,
        dim,
        parts,
        centroids,
    })
}

/// Reads the words with their counts, of which there must be `rows`. Memory grows with what is read.
fn read_words(stream: &mut Stream<'_>, rows: u64) -> Result<Words> {
    let path = stream.path().to_owned();
    let unpacked = Box::new(Decoded(MultiGzDecoder::new(stream)));
    let stream = &mut Stream::unpacked(unpacked, &path);
    let size = u32::from_le_bytes(stream.array()?);
    if u64::from(size) != rows {
        return Err(stream.damaged(format!("{size} words for {rows} vectors")));
    }
    let mut counts = Vec::new();
    for _ in 0..size {
        counts.push(u32::from_le_bytes(stream.array()?));
    }
    let (mut text, mut ends, mut line) = (Vec::new(), Vec::new(), Vec::new());
    while stream.line(&mut line)?.is_some() {
        if line.len() as u64 > MAX_TOKEN || stream.offset() > MAX_LIST {
            return Err(stream.damaged("a word or a list of words that is too long"));
        }
        text.extend(&line);
        ends.push(text.len() as u32);
        if ends.len() > counts.len() {
            break;
        }
    }
    match ends.len() == counts.len() {
        true => Ok(Words { counts, text, ends }),
        false => Err(stream.damaged(format!("not as many words as the {size} counts"))),
    }
}

/// Claims the wanted words, by their counts. The row of each.
fn take_words(stream: &Stream<'_>, words: &Words, into: &mut Collector<'_>) -> Result<Vec<u32>> {
    let mut order: Vec<u32> = (0..words.counts.len() as u32).collect();
    order.sort_by_key(|&row| Reverse(words.counts[row as usize]));
    let mut rows = Vec::new();
    for row in order {
        if into.is_full() {
            into.stop_if(true);
            break;
        }
        let at = row as usize;
        let start = at.checked_sub(1).map_or(0, |before| words.ends[before]);
        let word = &words.text[start as usize..words.ends[at] as usize];
        if let Some(candidate) = into.consider(stream, u64::from(row) + 1, word)? {
            into.claim(candidate);
            rows.push(row);
        }
    }
    Ok(rows)
}

/// Which centroid each part of the wanted rows is; row after row, in the order of the file.
fn read_parts(stream: &mut Stream<'_>, shape: &Shape, rows: &[u32]) -> Result<Vec<u8>> {
    let mut ascending = rows.to_vec();
    ascending.sort_unstable();
    let width = shape.parts as u64;
    let mut parts = Vec::new();
    let mut bytes = vec![0; shape.parts];
    let mut next = 0;
    for row in ascending {
        stream.skip((u64::from(row) - next) * width)?;
        stream.exactly(&mut bytes)?;
        next = u64::from(row) + 1;
        if let Some(wrong) = bytes.iter().find(|c| usize::from(**c) >= shape.centroids) {
            let what = format!("centroid {wrong} of {}", shape.centroids);
            return Err(stream.damaged(what));
        }
        parts.extend(&bytes);
    }
    stream.skip((shape.rows - next) * width)?;
    Ok(parts)
}

/// The centroids of the first part, of the second, and so on to the end of the file.
fn read_centroids(stream: &mut Stream<'_>, shape: &Shape) -> Result<Vec<f32>> {
    let mut centroids = Vec::new();
    let mut bytes = vec![0; shape.dim / shape.parts * 4];
    let mut numbers = Vec::new();
    for _ in 0..shape.parts * shape.centroids {
        stream.exactly(&mut bytes)?;
        decode_f32(&bytes, &mut numbers);
        centroids.extend(&numbers);
    }
    match stream.at_end()? {
        true => Ok(centroids),
        false => Err(stream.damaged("more than the vectors")),
    }
}

/// The vectors in the order of `rows`, from `parts` in ascending order of the rows.
fn put_together(shape: &Shape, rows: &[u32], parts: &[u8], centroids: &[f32]) -> Vec<f32> {
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by_key(|&word| rows[word]);
    let mut places = vec![0; rows.len()];
    for (nth, &word) in order.iter().enumerate() {
        places[word] = nth;
    }
    let width = shape.dim / shape.parts;
    let mut data = Vec::with_capacity(rows.len() * shape.dim);
    for nth in places {
        let row = &parts[nth * shape.parts..(nth + 1) * shape.parts];
        for (part, &centroid) in row.iter().enumerate() {
            let start = (part * shape.centroids + usize::from(centroid)) * width;
            data.extend(&centroids[start..start + width]);
        }
    }
    data
}

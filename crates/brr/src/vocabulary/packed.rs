//! The vocabulary in a file: about four bytes a word, order included.
//!
//! ```text
//! lengths of the codes for shared prefixes (256 nibbles) and for suffixes (257 nibbles, 1 unused)
//! bit stream: for each word in byte order
//!     how many leading bytes it shares with the word before   (prefix code A)
//!     the remaining bytes, then an end mark                   (prefix code B)
//!     its id                                                  (ceil(log2 words) bits)
//! ```
//!
//! Measured on the 32,862 words of the English model, bytes per word: this
//! 4.3, front coding with whole bytes 5.6, an `fst` map 8.3 (5.2 if ids had to
//! be in alphabetical order). Ids keep the order of the vectors' file, most
//! frequent first, which frequency-weighted calibration and ties rely on.

use super::prefix_code::{BitReader, BitWriter, PrefixCode, lengths_for};
use crate::error::{Error, Result};

/// Longest word in bytes.
pub const MAX_WORD_BYTES: usize = 255;

/// Symbol that ends a word's suffix.
const END: usize = 256;
const PREFIX_SYMBOLS: usize = 256;
const SUFFIX_SYMBOLS: usize = 257;
const PREFIX_TABLE: usize = PREFIX_SYMBOLS / 2;
const SUFFIX_TABLE: usize = SUFFIX_SYMBOLS.div_ceil(2);

fn invalid(reason: &'static str) -> Error {
    Error::ModelInvalid {
        section: "vocabulary",
        reason,
    }
}

fn id_bits(words: usize) -> usize {
    (usize::BITS - (words.max(2) - 1).leading_zeros()) as usize
}

fn shared_prefix(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(x, y)| x == y).count()
}

fn pack_nibbles(lengths: &[u8], out: &mut Vec<u8>) {
    out.extend(
        lengths
            .chunks(2)
            .map(|pair| pair[0] | pair.get(1).map_or(0, |high| high << 4)),
    );
}

fn unpack_nibbles(bytes: &[u8], count: usize) -> Vec<u8> {
    let mut lengths: Vec<u8> = bytes.iter().flat_map(|b| [b & 15, b >> 4]).collect();
    lengths.truncate(count);
    lengths
}

/// Packs words given as (word, id) in byte order of the words.
pub fn pack(sorted: &[(&[u8], u32)]) -> Vec<u8> {
    let mut prefixes = [0u64; PREFIX_SYMBOLS];
    let mut suffixes = [0u64; SUFFIX_SYMBOLS];
    let mut previous: &[u8] = &[];
    for (word, _) in sorted {
        let shared = shared_prefix(previous, word);
        prefixes[shared] += 1;
        word[shared..]
            .iter()
            .for_each(|&b| suffixes[usize::from(b)] += 1);
        suffixes[END] += 1;
        previous = word;
    }
    let (prefixes, suffixes) = (lengths_for(&prefixes), lengths_for(&suffixes));
    let mut out = Vec::new();
    pack_nibbles(&prefixes, &mut out);
    pack_nibbles(&suffixes, &mut out);

    let a = PrefixCode::new(&prefixes).expect("lengths of a real code");
    let b = PrefixCode::new(&suffixes).expect("lengths of a real code");
    let mut bits = BitWriter::default();
    let mut previous: &[u8] = &[];
    for (word, id) in sorted {
        let shared = shared_prefix(previous, word);
        a.write(shared, &mut bits);
        word[shared..]
            .iter()
            .for_each(|&byte| b.write(byte.into(), &mut bits));
        b.write(END, &mut bits);
        bits.write((*id).into(), id_bits(sorted.len()));
        previous = word;
    }
    out.extend(bits.finish());
    out
}

/// Unpacks exactly `count` words, handing each to `each(word, id)` in byte
/// order. Words are checked to be non-empty, ascending, valid UTF-8 and at most
/// [`MAX_WORD_BYTES`] long; ids are below `count` but may repeat.
pub fn unpack(
    bytes: &[u8],
    count: usize,
    mut each: impl FnMut(&str, u32) -> Result<()>,
) -> Result<()> {
    if bytes.len() < PREFIX_TABLE + SUFFIX_TABLE {
        return Err(invalid("too short for its code tables"));
    }
    let (table, rest) = bytes.split_at(PREFIX_TABLE);
    let (table_b, stream) = rest.split_at(SUFFIX_TABLE);
    let a = PrefixCode::new(&unpack_nibbles(table, PREFIX_SYMBOLS));
    let b = PrefixCode::new(&unpack_nibbles(table_b, SUFFIX_SYMBOLS));
    let (a, b) = a.zip(b).ok_or(invalid("bad code lengths"))?;
    let mut bits = BitReader::new(stream);
    let mut word: Vec<u8> = Vec::with_capacity(MAX_WORD_BYTES);
    let mut previous: Vec<u8> = Vec::with_capacity(MAX_WORD_BYTES);
    for _ in 0..count {
        read_word(&a, &b, &mut bits, &mut word)?;
        if word <= previous {
            return Err(invalid("words are not in ascending order"));
        }
        let id = bits.bits(id_bits(count)).ok_or(invalid("ends early"))?;
        if id as usize >= count {
            return Err(invalid("a word id is out of range"));
        }
        let text = std::str::from_utf8(&word).map_err(|_| invalid("a word is not UTF-8"))?;
        each(text, id)?;
        previous.clone_from(&word);
    }
    if bits.at_end() {
        Ok(())
    } else {
        Err(invalid("longer than its words"))
    }
}

/// Turns `word`, the word before, into the next one.
fn read_word(
    a: &PrefixCode,
    b: &PrefixCode,
    bits: &mut BitReader<'_>,
    word: &mut Vec<u8>,
) -> Result<()> {
    let shared = a.read(bits).ok_or(invalid("bad prefix code"))?;
    if shared > word.len() {
        return Err(invalid("a word shares more than the word before has"));
    }
    word.truncate(shared);
    loop {
        match b.read(bits).ok_or(invalid("bad suffix code"))? {
            END => return Ok(()),
            _ if word.len() == MAX_WORD_BYTES => return Err(invalid("a word is too long")),
            byte => word.push(byte as u8),
        }
    }
}

//! `strings.json`, and the keys by which spaCy knows the words in it.
//!
//! The file is a JSON array of strings. The key of a word is MurmurHash64A of its UTF-8 bytes with seed 1 (Appleby;
//! `hash_utf8` of spaCy), except that names of spaCy's own labels have their numbers there as keys and are not in the file.
//! Some of them are frequent words: `aux` in French, `root` and `number` in English.

use std::collections::HashMap;
use std::io::BufRead;

use super::keys::Keys;
use crate::error::Result;
use crate::vectors::stream::Stream;
use crate::vectors::{MAX_LIST, MAX_TOKEN};

/// Labels of spaCy 3 that could be words, from this number on: `spacy.symbols`.
const LABELS: [(u64, &str); 2] = [
    (
        64,
        "ID ORTH LOWER NORM SHAPE PREFIX SUFFIX LENGTH CLUSTER LEMMA POS TAG DEP ENT_IOB ENT_TYPE HEAD SENT_START SPACY PROB LANG \
         ADJ ADP ADV AUX CONJ CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X EOL SPACE",
    ),
    (
        380,
        "PERSON NORP FACILITY ORG GPE LOC PRODUCT EVENT WORK_OF_ART LANGUAGE LAW DATE TIME PERCENT MONEY QUANTITY ORDINAL \
         CARDINAL acomp advcl advmod agent amod appos attr aux auxpass cc ccomp complm conj cop csubj csubjpass dep det dobj \
         expl hmod hyph infmod intj iobj mark meta neg nmod nn npadvmod nsubj nsubjpass num number oprd obj obl parataxis \
         partmod pcomp pobj poss possessive preconj prep prt punct quantmod relcl rcmod root xcomp acl ENT_KB_ID MORPH ENT_ID \
         IDX _",
    ),
];

/// The words of some keys.
pub(super) struct Names(HashMap<u64, Box<str>>);

impl Names {
    /// The word of this key; nothing if the package does not have it.
    pub(super) fn word(&self, key: u64) -> &str {
        self.0.get(&key).map_or("", |word| word)
    }
}

/// The words of `keys`.
pub(super) fn of_keys(stream: &mut Stream<'_>, keys: &Keys) -> Result<Names> {
    let wanted = keys.entries.iter().map(|&(key, _)| (key, Box::default()));
    let mut names: HashMap<u64, Box<str>> = wanted.collect();
    for (first, labels) in LABELS {
        for (number, label) in (first..).zip(labels.split(' ')) {
            names.entry(number).and_modify(|name| *name = label.into());
        }
    }
    each_string(stream, |word| {
        if let Some(name) = names.get_mut(&hash(word.as_bytes())) {
            *name = word.into();
        }
    })?;
    Ok(Names(names))
}

/// MurmurHash64A with seed 1.
fn hash(bytes: &[u8]) -> u64 {
    const M: u64 = 0xc6a4_a793_5bd1_e995;
    const R: u32 = 47;
    let mut hash = 1 ^ (bytes.len() as u64).wrapping_mul(M);
    let (words, rest) = bytes.as_chunks();
    for word in words {
        let word = u64::from_le_bytes(*word).wrapping_mul(M);
        hash = (hash ^ (word ^ word >> R).wrapping_mul(M)).wrapping_mul(M);
    }
    if !rest.is_empty() {
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        hash = (hash ^ u64::from_le_bytes(last)).wrapping_mul(M);
    }
    hash = (hash ^ hash >> R).wrapping_mul(M);
    hash ^ hash >> R
}

/// Calls `found` with each string of a JSON array.
fn each_string(stream: &mut Stream<'_>, mut found: impl FnMut(&str)) -> Result<()> {
    let not_strings = |stream: &Stream<'_>| stream.damaged("no JSON array of strings");
    if token(stream)? != Some(b'[') {
        return Err(not_strings(stream));
    }
    let mut string = Vec::new();
    let mut first = true;
    loop {
        match token(stream)? {
            Some(b'"') => read_string(stream, &mut string)?,
            Some(b']') if first => break,
            _ => return Err(not_strings(stream)),
        }
        first = false;
        match str::from_utf8(&string) {
            Ok(string) => found(string),
            Err(_) => return Err(stream.damaged("a string that is not UTF-8")),
        }
        if stream.offset() > MAX_LIST {
            return Err(stream.damaged(format!("a list of words of over {MAX_LIST} bytes")));
        }
        match token(stream)? {
            Some(b',') => {}
            Some(b']') => break,
            _ => return Err(not_strings(stream)),
        }
    }
    match token(stream)? {
        None => Ok(()),
        Some(_) => Err(stream.damaged("something after the JSON array")),
    }
}

/// The next byte that is not white space.
fn token(stream: &mut Stream<'_>) -> Result<Option<u8>> {
    loop {
        match byte(stream)? {
            Some(b' ' | b'\t' | b'\r' | b'\n') => {}
            other => return Ok(other),
        }
    }
}

fn byte(stream: &mut Stream<'_>) -> Result<Option<u8>> {
    let next = match stream.fill_buf() {
        Ok(bytes) => bytes.first().copied(),
        Err(error) => return Err(stream.failed(error)),
    };
    stream.consume(usize::from(next.is_some()));
    Ok(next)
}

/// Reads a string whose opening quote has been read, up to its closing one.
fn read_string(stream: &mut Stream<'_>, string: &mut Vec<u8>) -> Result<()> {
    string.clear();
    loop {
        match byte(stream)? {
            Some(b'"') => return Ok(()),
            Some(b'\\') => {
                let character = escaped(stream)?;
                string.extend(character.encode_utf8(&mut [0; 4]).as_bytes());
            }
            Some(other @ 0x20..) => string.push(other),
            _ => return Err(stream.damaged("a string without an end")),
        }
        if string.len() as u64 > MAX_TOKEN {
            return Err(stream.damaged(format!("a string of over {MAX_TOKEN} bytes")));
        }
    }
}

/// What a backslash and what follows it stand for.
fn escaped(stream: &mut Stream<'_>) -> Result<char> {
    Ok(match byte(stream)? {
        Some(same @ (b'"' | b'\\' | b'/')) => char::from(same),
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'n') => '\n',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        Some(b'u') => {
            let mut units = vec![code_unit(stream)?];
            if (0xd800..0xdc00).contains(&units[0]) && stream.array()? == *b"\\u" {
                units.push(code_unit(stream)?);
            }
            let mut characters = char::decode_utf16(units);
            match (characters.next(), characters.next()) {
                (Some(Ok(character)), None) => character,
                _ => return Err(stream.damaged("half a character")),
            }
        }
        _ => return Err(stream.damaged("an unknown escape in a string")),
    })
}

fn code_unit(stream: &mut Stream<'_>) -> Result<u16> {
    let digits: [u8; 4] = stream.array()?;
    let number = str::from_utf8(&digits).ok().filter(|d| !d.starts_with('+'));
    let number = number.and_then(|digits| u16::from_str_radix(digits, 16).ok());
    number.ok_or_else(|| stream.damaged("an unknown escape in a string"))
}

//! The words of a model: word to id and back.

mod packed;
mod prefix_code;

use std::ops::Range;

pub use packed::MAX_WORD_BYTES;

use crate::error::{Error, Result};

pub use brr_search::WordId;

/// All words of a model, fixed when the model is built.
///
/// In memory: one string of all words in byte order, their ends, and an
/// open-addressing table from hash to position. Looking a word up costs a hash
/// and a comparison or two, far below a scan over the codes.
pub struct Vocabulary {
    text: String,
    /// End of each word in `text`, in byte order.
    ends: Vec<u32>,
    /// Id of each word, in byte order.
    ids: Vec<WordId>,
    /// Position (in byte order) of each id.
    positions: Vec<u32>,
    /// Position + 1 by hash, 0 for free; a power of two, at most half full.
    table: Vec<u32>,
}

impl Vocabulary {
    /// Packs words, given in id order, for a model file.
    ///
    /// Fails if a word is empty, too long, there twice, or could pass for structure.
    pub fn pack(words: &[impl AsRef<str>]) -> Result<Vec<u8>> {
        let mut sorted: Vec<(&[u8], u32)> = words
            .iter()
            .enumerate()
            .map(|(id, word)| (word.as_ref().as_bytes(), id as u32))
            .collect();
        sorted.sort_unstable();
        let invalid = |reason| Error::ModelInvalid {
            section: "vocabulary",
            reason,
        };
        if sorted.is_empty() || sorted[0].0.is_empty() {
            return Err(invalid("there is an empty word or no word at all"));
        }
        if words.iter().any(|word| !is_word(word.as_ref())) {
            return Err(invalid(NO_WORD));
        }
        if sorted.iter().any(|(w, _)| w.len() > MAX_WORD_BYTES) {
            return Err(invalid("a word is longer than 255 bytes"));
        }
        if sorted.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            return Err(invalid("a word is there twice"));
        }
        Ok(packed::pack(&sorted))
    }

    /// Reads `count` packed words.
    pub fn unpack(bytes: &[u8], count: usize) -> Result<Vocabulary> {
        let mut vocabulary = Vocabulary {
            text: String::with_capacity(count * 8),
            ends: Vec::with_capacity(count),
            ids: Vec::with_capacity(count),
            positions: vec![u32::MAX; count],
            table: vec![0; (count * 2).next_power_of_two()],
        };
        let v = &mut vocabulary;
        packed::unpack(bytes, count, |word, id| {
            let position = &mut v.positions[id as usize];
            let invalid = |reason| Error::ModelInvalid {
                section: "vocabulary",
                reason,
            };
            if *position != u32::MAX {
                return Err(invalid("a word id is there twice"));
            }
            if !is_word(word) {
                return Err(invalid(NO_WORD));
            }
            *position = v.ids.len() as u32;
            v.text.push_str(word);
            let end = u32::try_from(v.text.len()).map_err(|_| invalid("over 4 GiB of words"))?;
            v.ends.push(end);
            v.ids.push(id);
            let mask = v.table.len() - 1;
            let mut slot = hash(word) & mask;
            while v.table[slot] != 0 {
                slot = (slot + 1) & mask;
            }
            v.table[slot] = v.ids.len() as u32;
            Ok(())
        })?;
        Ok(vocabulary)
    }

    /// Number of words.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there is no word.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// The id of a word, exactly as it is spelled in the vocabulary.
    pub fn id(&self, word: &str) -> Option<WordId> {
        let mask = self.table.len() - 1;
        let mut slot = hash(word) & mask;
        loop {
            let position = self.table[slot].checked_sub(1)? as usize;
            if self.at(position) == word {
                return Some(self.ids[position]);
            }
            slot = (slot + 1) & mask;
        }
    }

    /// The word with this id.
    ///
    /// # Panics
    /// If there is none.
    pub fn word(&self, id: WordId) -> &str {
        self.at(self.positions[id as usize] as usize)
    }

    /// All words in id order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        (0..self.len() as WordId).map(|id| self.word(id))
    }

    /// All words, of which those with a common beginning are found step by step.
    pub(crate) fn prefix(&self) -> Prefix<'_> {
        Prefix {
            vocabulary: self,
            positions: 0..self.len(),
            length: 0,
        }
    }

    fn at(&self, position: usize) -> &str {
        let start = position.checked_sub(1).map_or(0, |p| self.ends[p]);
        &self.text[start as usize..self.ends[position] as usize]
    }
}

/// The words that begin with some bytes.
pub(crate) struct Prefix<'v> {
    vocabulary: &'v Vocabulary,
    /// Of these words, in byte order.
    positions: Range<usize>,
    length: usize,
}

impl Prefix<'_> {
    /// With more bytes; whether any word is left.
    pub(crate) fn extend(&mut self, more: &[u8]) -> bool {
        let rest = |position: usize| &self.vocabulary.at(position).as_bytes()[self.length..];
        let start = self.first(|position| rest(position) >= more);
        let end = self.first(|position| {
            let rest = rest(position);
            rest > more && !rest.starts_with(more)
        });
        self.positions = start..end;
        self.length += more.len();
        !self.positions.is_empty()
    }

    /// The first position from which on this holds.
    fn first(&self, holds: impl Fn(usize) -> bool) -> usize {
        let (mut low, mut high) = (self.positions.start, self.positions.end);
        while low < high {
            let middle = low + (high - low) / 2;
            match holds(middle) {
                true => high = middle,
                false => low = middle + 1,
            }
        }
        low
    }

    /// The word that is these bytes and no more.
    pub(crate) fn word(&self) -> Option<WordId> {
        let first = self.positions.start;
        let is_it = first < self.positions.end && self.vocabulary.at(first).len() == self.length;
        is_it.then(|| self.vocabulary.ids[first])
    }
}

const NO_WORD: &str = "a word has white space, a line end or a control character in it";

/// Whether a word cannot be taken for structure when it comes out: a word with a line end in it
/// would make two documents of one.
fn is_word(text: &str) -> bool {
    !text.contains(|c: char| c.is_whitespace() || c.is_control())
}

/// FNV-1a with a final mix. The table is made of public words alone, so there
/// is nobody who could choose them against the hash.
fn hash(word: &str) -> usize {
    let h = word.bytes().fold(0xcbf2_9ce4_8422_2325u64, |h, b| {
        (h ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    (h ^ h >> 32) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn round_trip(words: &[String]) -> Vocabulary {
        Vocabulary::unpack(&Vocabulary::pack(words).unwrap(), words.len()).unwrap()
    }

    proptest! {
        #[test]
        fn packing_keeps_every_word_and_its_id(
            words in prop::collection::hash_set("[a-d]{1,3}|\\PC{1,12}|[a-z]{200,255}", 1..200)
        ) {
            let fits = |w: &String| w.len() <= 255 && is_word(w);
            let words: Vec<String> = words.into_iter().filter(fits).collect();
            prop_assume!(!words.is_empty());
            let v = round_trip(&words);
            prop_assert_eq!(v.len(), words.len());
            for (id, word) in words.iter().enumerate() {
                prop_assert_eq!(v.id(word), Some(id as WordId));
                prop_assert_eq!(v.word(id as WordId), word);
            }
            prop_assert_eq!(v.id("\u{0}not there"), None);
        }

        #[test]
        fn hostile_bytes_are_an_error_or_a_sound_vocabulary(
            mut bytes in prop::collection::vec(any::<u8>(), 0..600), count in 1usize..50, at in any::<prop::sample::Index>(),
        ) {
            let _ = Vocabulary::unpack(&bytes, count);
            let words: Vec<String> = (0..count).map(|i| format!("word{i}")).collect();
            let mut good = Vocabulary::pack(&words).unwrap();
            if let Some(&b) = bytes.first() {
                let at = at.index(good.len());
                good[at] = b;
                bytes = good;
            }
            if let Ok(v) = Vocabulary::unpack(&bytes, count) {
                for id in 0..count as WordId {
                    prop_assert_eq!(v.id(v.word(id)), Some(id));
                }
            }
        }
    }

    #[test]
    fn what_cannot_be_packed_is_refused() {
        let bad = ["a b", "a\n", "\u{7}", "a\u{85}b", "\u{2028}", "a\u{a0}b"];
        for words in [&["a", "a"][..], &["", "b"], &[], &[&"x".repeat(256)]] {
            assert!(Vocabulary::pack(words).is_err());
        }
        for word in bad {
            assert!(Vocabulary::pack(&["fine", word]).is_err(), "{word:?}");
            // Nor does a file bring such a word in.
            let sorted = [(word.as_bytes(), 0), ("fine".as_bytes(), 1)];
            let mut sorted = sorted.to_vec();
            sorted.sort_unstable();
            assert!(
                Vocabulary::unpack(&packed::pack(&sorted), 2).is_err(),
                "{word:?}"
            );
        }
        assert_eq!(round_trip(&["solo".into()]).id("solo"), Some(0));
    }
}

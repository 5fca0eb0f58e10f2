//! The words of a model: word to id and back.

mod packed;
mod prefix_code;

use std::ops::Range;

pub use packed::MAX_WORD_BYTES;

use zeroize::Zeroizing;

use crate::error::{Error, Result};

pub use brr_search::WordId;

/// All words of a model, fixed when the model is built.
///
/// In memory: one string of all words in the order of their ids, their ends, and an
/// open-addressing table from hash to id. Looking a word up costs a hash
/// and a comparison or two, far below a scan over the codes. Ids begin with the most frequent words, so those that most
/// texts consist of stand close together, where a processor finds them in its caches.
pub struct Vocabulary {
    text: String,
    /// End of each word in `text`.
    ends: Vec<u32>,
    /// All ids, in byte order of the words.
    ids: Vec<WordId>,
    /// Id + 1 by hash, 0 for free; a power of two, at most half full.
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
        let invalid = |reason| Error::ModelInvalid {
            section: "vocabulary",
            reason,
        };
        // In byte order: all words, the end of each and its id; and the place in that order + 1 of each id.
        let mut sorted = String::with_capacity(count * 8);
        let (mut ends, mut ids) = (Vec::with_capacity(count), Vec::with_capacity(count));
        let mut places = vec![0; count];
        packed::unpack(bytes, count, |word, id: WordId| {
            let place = &mut places[id as usize];
            if *place != 0 {
                return Err(invalid("a word id is there twice"));
            }
            if !is_word(word) {
                return Err(invalid(NO_WORD));
            }
            sorted.push_str(word);
            u32::try_from(sorted.len()).map_err(|_| invalid("over 4 GiB of words"))?;
            ends.push(sorted.len());
            ids.push(id);
            *place = ids.len();
            Ok(())
        })?;
        let mut vocabulary = Vocabulary {
            text: String::with_capacity(sorted.len()),
            ends: Vec::with_capacity(count),
            ids,
            table: vec![0; (count * 2).next_power_of_two()],
        };
        for place in places {
            let start = place.checked_sub(2).map_or(0, |before| ends[before]);
            vocabulary.push(&sorted[start..ends[place - 1]]);
        }
        Ok(vocabulary)
    }

    /// Adds the word of the next id.
    fn push(&mut self, word: &str) {
        self.text.push_str(word);
        self.ends.push(self.text.len() as u32);
        let mask = self.table.len() - 1;
        let mut slot = hash(word) & mask;
        while self.table[slot] != 0 {
            slot = (slot + 1) & mask;
        }
        self.table[slot] = self.ends.len() as u32;
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
            let id = self.table[slot].checked_sub(1)?;
            if self.word(id) == word {
                return Some(id);
            }
            slot = (slot + 1) & mask;
        }
    }

    /// The word with this id.
    ///
    /// # Panics
    /// If there is none.
    pub fn word(&self, id: WordId) -> &str {
        let id = id as usize;
        let start = id.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[start as usize..self.ends[id] as usize]
    }

    /// Reads these words ahead: one right behind the other, so that a processor fetches many at a time from all over the
    /// vocabulary, and each is there when it is written, with more work between.
    pub(crate) fn read_ahead(&self, words: impl Iterator<Item = WordId>) {
        let first = |word| self.word(word).as_bytes()[0];
        std::hint::black_box(words.map(first).fold(0, u8::wrapping_add));
    }

    /// Reads ahead where the words of a text will be looked up, if they are plain ones.
    pub(crate) fn read_ahead_text(&self, text: &str) {
        let mask = self.table.len() - 1;
        let slot = |word: &str| {
            let word = word.trim_end_matches(['.', ',', '?', '!']).bytes();
            hash_bytes(word.map(|b| b.to_ascii_lowercase())) & mask
        };
        // Each step is done for many words before the next, in memory that does not grow and is overwritten.
        let mut words = text.split_ascii_whitespace().map(slot).peekable();
        let mut slots = Zeroizing::new([0; AHEAD]);
        while words.peek().is_some() {
            let next = slots.iter_mut().zip(words.by_ref().take(AHEAD));
            let found = next.map(|(place, slot)| *place = slot).count();
            slots[..found]
                .iter_mut()
                .for_each(|slot| *slot = self.table[*slot] as usize);
            let ids = slots[..found]
                .iter()
                .filter_map(|entry| entry.checked_sub(1));
            self.read_ahead(ids.map(|id| id as WordId));
        }
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

    /// The word at this place in byte order.
    fn at(&self, position: usize) -> &str {
        self.word(self.ids[position])
    }
}

/// Words of a text that are read ahead at a time.
const AHEAD: usize = 64;

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
    hash_bytes(word.bytes())
}

fn hash_bytes(word: impl Iterator<Item = u8>) -> usize {
    let h = word.fold(0xcbf2_9ce4_8422_2325u64, |h, b| {
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

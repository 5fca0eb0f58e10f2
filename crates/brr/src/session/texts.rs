//! Texts of a session, one behind the other, each once.
//!
//! They stand in buffers that never grow, so that nothing is left behind by one that did, and that are overwritten
//! when they are dropped. What finds a text holds no text: entries of 32 bits of a hash, under a key of
//! the session's own, and the text's number; these are overwritten too, as they would tell whoever has
//! the key which words a session may have held.

use std::hash::{BuildHasher, Hasher, RandomState};

use zeroize::{Zeroize, Zeroizing};

use crate::vocabulary::WordId;

/// Bytes of the first buffer; each is twice as long as the one before, up to [`LARGEST`].
const SMALLEST: usize = 1 << 10;
const LARGEST: usize = 1 << 16;

/// Where a text stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Text {
    buffer: u32,
    start: u32,
    length: u32,
}

impl Text {
    pub fn len(self) -> usize {
        self.length as usize
    }
}

/// How far texts had grown.
#[derive(Clone, Copy)]
pub struct End {
    buffers: usize,
    length: usize,
}

/// Texts one behind the other.
#[derive(Default)]
pub struct Texts {
    buffers: Vec<Zeroizing<String>>,
}

impl Texts {
    pub fn push(&mut self, text: &str) -> Text {
        let room = |buffer: &Zeroizing<String>| buffer.capacity() - buffer.len() >= text.len();
        if !self.buffers.last().is_some_and(room) {
            let size = LARGEST.min(SMALLEST << self.buffers.len().min(16));
            let buffer = String::with_capacity(size.max(text.len()));
            self.buffers.push(Zeroizing::new(buffer));
        }
        let at = self.buffers.len() - 1;
        let buffer = &mut self.buffers[at];
        let start = buffer.len();
        buffer.push_str(text);
        Text {
            buffer: at as u32,
            start: start as u32,
            length: text.len() as u32,
        }
    }

    pub fn get(&self, text: Text) -> &str {
        &self.buffers[text.buffer as usize][text.start as usize..][..text.len()]
    }

    #[cfg(test)]
    pub fn bytes(&self) -> usize {
        self.buffers.iter().map(|buffer| buffer.len()).sum()
    }

    pub fn end(&self) -> End {
        End {
            buffers: self.buffers.len(),
            length: self.buffers.last().map_or(0, |buffer| buffer.len()),
        }
    }

    /// Forgets and overwrites what came behind this end.
    pub fn truncate(&mut self, end: End) {
        self.buffers.truncate(end.buffers);
        if let Some(last) = self.buffers.last_mut() {
            let kept = String::with_capacity(last.capacity());
            let mut kept = Zeroizing::new(kept);
            kept.push_str(&last[..end.length]);
            *last = kept;
        }
    }
}

/// Finds numbers of texts: at most half of its entries are taken, each with a hash and a number + 1.
pub struct Table {
    keys: RandomState,
    /// For words of a model: they have numbers, which nobody can choose freely.
    key: u64,
    /// A power of two of them, or none.
    entries: Zeroizing<Vec<u64>>,
    taken: usize,
}

impl Default for Table {
    fn default() -> Table {
        let keys = RandomState::new();
        Table {
            key: keys.hash_one(0) | 1,
            keys,
            entries: Zeroizing::default(),
            taken: 0,
        }
    }
}

impl Table {
    pub fn hash_word(&self, word: WordId) -> u32 {
        ((u64::from(word) + 1).wrapping_mul(self.key) >> 32) as u32
    }

    pub fn hash(&self, text: &str) -> u32 {
        let mut hasher = self.keys.build_hasher();
        hasher.write(text.as_bytes());
        hasher.finish() as u32
    }

    /// The number of a text with this hash, if `is_it` says so.
    pub fn find(&self, hash: u32, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        if self.entries.is_empty() {
            return None;
        }
        let mut at = self.place(hash);
        loop {
            let entry = self.entries[at];
            let number = (entry as u32).checked_sub(1)?;
            if (entry >> 32) as u32 == hash && is_it(number) {
                return Some(number);
            }
            at = self.behind(at);
        }
    }

    /// The next number, which is how many there were before.
    pub fn push(&mut self, hash: u32) -> u32 {
        if 2 * self.taken >= self.entries.len() {
            self.grow();
        }
        let number = self.taken as u32;
        self.insert(hash, number);
        self.taken += 1;
        number
    }

    /// Forgets the last number, whose hash this is. Whatever was put behind an entry is gone before the entry goes, so
    /// no way to another is broken.
    pub fn pop(&mut self, hash: u32) {
        let last = self.taken as u32;
        let mut at = self.place(hash);
        while self.entries[at] as u32 != last {
            assert_ne!(self.entries[at], 0, "the last number has this hash");
            at = self.behind(at);
        }
        self.entries[at] = 0;
        self.taken -= 1;
    }

    fn place(&self, hash: u32) -> usize {
        hash as usize & (self.entries.len() - 1)
    }

    fn behind(&self, at: usize) -> usize {
        (at + 1) & (self.entries.len() - 1)
    }

    fn insert(&mut self, hash: u32, number: u32) {
        let mut at = self.place(hash);
        while self.entries[at] != 0 {
            at = self.behind(at);
        }
        self.entries[at] = u64::from(hash) << 32 | u64::from(number + 1);
    }

    /// Entries are put into the larger table in the order of their numbers, as `pop` needs it.
    fn grow(&mut self) {
        let mut hashes = vec![0; self.taken];
        for entry in self.entries.iter().filter(|entry| **entry != 0) {
            hashes[*entry as u32 as usize - 1] = (entry >> 32) as u32;
        }
        let size = (2 * self.entries.len()).max(64);
        self.entries = Zeroizing::new(vec![0; size]);
        for (hash, number) in hashes.iter().zip(0..) {
            self.insert(*hash, number);
        }
        hashes.zeroize();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_stay_where_they_are_until_they_are_taken_back() {
        let mut texts = Texts::default();
        let all: Vec<String> = (0..3000).map(|i| "é".repeat(i % 40)).collect();
        let places: Vec<Text> = all[..2000].iter().map(|text| texts.push(text)).collect();
        let end = texts.end();
        let long = texts.push(&"x".repeat(3 * LARGEST));
        assert_eq!(texts.get(long).len(), long.len());
        for text in &all[2000..] {
            texts.push(text);
        }
        texts.truncate(end);
        let again = texts.push("again");
        assert_eq!(texts.get(again), "again");
        for (text, place) in all.iter().zip(places) {
            assert_eq!(texts.get(place), text);
        }
        texts.truncate(Texts::default().end());
        assert!(texts.buffers.is_empty());
    }

    /// Against a list, with hashes of which many are alike.
    #[test]
    fn numbers_are_found_until_the_last_ones_go() {
        let hash = |number: u32| ((number % 7) << 20) | (number % 3);
        let mut table = Table::default();
        let find = |table: &Table, number| table.find(hash(number), |found| found == number);
        let mut seed = 1u32;
        let mut count = 0;
        for _ in 0..2000 {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            if count == 0 || seed >> 30 != 0 {
                assert_eq!(table.push(hash(count)), count);
                count += 1;
            } else {
                let gone = (seed >> 20 & 63).min(count);
                for number in (count - gone..count).rev() {
                    table.pop(hash(number));
                }
                count -= gone;
            }
            for number in 0..count + 2 {
                assert_eq!(find(&table, number), (number < count).then_some(number));
            }
        }
        assert_eq!(
            table.entries.iter().filter(|e| **e != 0).count(),
            count as usize
        );
    }
}

//! What a mechanism over the private words says of all words: decoding with context needs it.

use std::ops::Range;

use crate::mechanism::{Emission, Observations};
use crate::nearest::Sieve;
use crate::vocabulary::WordId;

/// The emission of a mechanism over some words, as one over all words: the others cannot be there.
pub struct Among<'a> {
    inner: &'a dyn Emission,
    /// The ids of the mechanism's words among all, in its order, which ascends.
    words: &'a [WordId],
    offsets: Vec<f32>,
    /// The place of each word of all among the mechanism's; the first of these for words that are not
    /// among them, and cannot be there whatever their step.
    places: Vec<WordId>,
}

impl<'a> Among<'a> {
    /// Over `all` words.
    pub fn new(inner: &'a dyn Emission, words: &'a [WordId], all: usize) -> Among<'a> {
        let mut offsets = vec![f32::NEG_INFINITY; all];
        let mut places = vec![0; all];
        let own = inner.offsets();
        for (i, &word) in words.iter().enumerate() {
            offsets[word as usize] = own.get(i).copied().unwrap_or(0.0);
            places[word as usize] = i as WordId;
        }
        debug_assert!(words.is_sorted(), "words in ascending order");
        Among {
            inner,
            words,
            offsets,
            places,
        }
    }
}

impl Emission for Among<'_> {
    fn table(&self) -> &[f32] {
        self.inner.table()
    }

    fn offsets(&self) -> &[f32] {
        &self.offsets
    }

    fn unknown(&self) -> f32 {
        self.inner.unknown()
    }

    fn steps_of(&self, observations: &Observations, i: usize, words: &[WordId]) -> Vec<u16> {
        let place = |word: &WordId| self.places[*word as usize];
        let places: Vec<WordId> = words.iter().map(place).collect();
        self.inner.steps_of(observations, i, &places)
    }

    fn sift(&self, observations: &Observations, which: Range<usize>, sieve: &mut dyn Sieve) {
        let words = self.words;
        let mut sieve = SomeWords { words, sieve };
        self.inner.sift(observations, which, &mut sieve);
    }
}

/// A sieve for all words, as one for the mechanism's.
struct SomeWords<'a> {
    words: &'a [WordId],
    sieve: &'a mut dyn Sieve,
}

impl Sieve for SomeWords<'_> {
    fn words(&self) -> usize {
        self.words.len()
    }

    fn reach(&self, query: usize, words: Range<usize>) -> Option<u16> {
        let of_all = |i: usize| self.words[i] as usize;
        let all = of_all(words.start)..of_all(words.end - 1) + 1;
        self.sieve.reach(query, all)
    }

    fn take(&mut self, query: usize, word: usize, step: u16) {
        self.sieve.take(query, self.words[word] as usize, step);
    }
}

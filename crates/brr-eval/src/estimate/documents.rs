//! The words that were received, document by document.

use brr::vocabulary::WordId;
use serde::Serialize;

/// What the intervals treat as independent of each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Whole documents: words of one text belong together.
    Documents,
    /// Single words: there are too few documents. Intervals are too narrow if
    /// words come in bursts.
    Words,
}

/// With fewer documents than this, words are resampled instead.
const ENOUGH: usize = 30;

/// Outputs by document.
#[derive(Clone, Debug, Default)]
pub struct Documents {
    vocabulary: usize,
    words: Vec<WordId>,
    ends: Vec<usize>,
}

impl Documents {
    /// None yet, over a vocabulary of so many words.
    pub fn new(vocabulary: usize) -> Documents {
        Documents {
            vocabulary,
            ..Documents::default()
        }
    }

    /// Adds a document.
    ///
    /// # Panics
    /// If a word is not below the size of the vocabulary.
    pub fn push(&mut self, words: impl IntoIterator<Item = WordId>) {
        let start = self.words.len();
        self.words.extend(words);
        let within = |w: &WordId| (*w as usize) < self.vocabulary;
        assert!(
            self.words[start..].iter().all(within),
            "a word of the vocabulary"
        );
        self.ends.push(self.words.len());
    }

    /// Number of documents.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no document.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Number of words in all of them.
    pub fn total(&self) -> usize {
        self.words.len()
    }

    /// What is resampled.
    pub fn unit(&self) -> Unit {
        match self.len() >= ENOUGH {
            true => Unit::Documents,
            false => Unit::Words,
        }
    }

    /// How often each word is there.
    pub fn counts(&self) -> Vec<f64> {
        self.weighted(|_| 1.0)
    }

    /// The same with a weight for each unit, by its number.
    pub(super) fn weighted(&self, mut weight: impl FnMut(usize) -> f64) -> Vec<f64> {
        let mut counts = vec![0.0; self.vocabulary];
        match self.unit() {
            Unit::Words => {
                for (i, word) in self.words.iter().enumerate() {
                    counts[*word as usize] += weight(i);
                }
            }
            Unit::Documents => {
                let mut start = 0;
                for (i, &end) in self.ends.iter().enumerate() {
                    let weight = weight(i);
                    for word in &self.words[start..end] {
                        counts[*word as usize] += weight;
                    }
                    start = end;
                }
            }
        }
        counts
    }
}

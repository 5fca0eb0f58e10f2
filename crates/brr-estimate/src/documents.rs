//! The words that were received.

use std::borrow::Cow;

use brr::parts::vocabulary::WordId;
use brr::{Model, Unknown};

/// Outputs, counted over all documents. Tokens are privatized independently, so their counts tell
/// as much about the counts of words as the texts do.
#[derive(Clone, Debug, Default)]
pub struct Documents {
    counts: Vec<u64>,
    documents: usize,
    /// Words that the model does not have.
    strange: u64,
}

impl Documents {
    /// None yet, over a vocabulary of so many words.
    pub fn new(vocabulary: usize) -> Documents {
        Documents {
            counts: vec![0; vocabulary],
            documents: 0,
            strange: 0,
        }
    }

    /// Adds a document.
    ///
    /// # Panics
    /// If a word is not below the size of the vocabulary.
    pub fn push(&mut self, words: impl IntoIterator<Item = WordId>) {
        words.into_iter().for_each(|w| self.counts[w as usize] += 1);
        self.documents += 1;
    }

    /// Adds a privatized text, as a document.
    pub fn read(&mut self, model: &Model, text: &str) {
        // A mask in the place of an unknown token is no word, nor are its signs.
        let text = match text.contains(Unknown::MASK) {
            true => Cow::Owned(text.replace(Unknown::MASK, " ")),
            false => Cow::Borrowed(text),
        };
        let words = model.tokens(&text);
        self.strange += words.iter().filter(|w| w.0.is_none()).count() as u64;
        self.push(words.into_iter().filter_map(|w| w.0));
    }

    /// Refuses what cannot be texts that were privatized with the model, and says why.
    pub fn check(&self) -> Result<(), &'static str> {
        match self.total() {
            0 => Err("the input has no words of this model: give privatized text"),
            words if self.strange > words => Err(
                "most words of the input are not in the model: give the one that the text was privatized with",
            ),
            _ => Ok(()),
        }
    }

    /// Number of documents.
    pub fn len(&self) -> usize {
        self.documents
    }

    /// Whether there is no document.
    pub fn is_empty(&self) -> bool {
        self.documents == 0
    }

    /// Number of words in all of them.
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// How often each word is there.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }
}

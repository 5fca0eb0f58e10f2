//! The words that were received, document by document.

use brr::parts::vocabulary::WordId;
/// With fewer documents than this, halves are made of words instead.
const ENOUGH: usize = 30;

/// The same for the same number every time, but without a rhythm: texts may repeat themselves.
fn coin(number: usize) -> bool {
    // The multiplication of a linear congruential generator, twice, and a high bit.
    let mixed = (number as u64 + 1).wrapping_mul(0x5851_f42d_4c95_7f2d);
    let mixed = (mixed ^ mixed >> 32).wrapping_mul(0x5851_f42d_4c95_7f2d);
    mixed >> 63 == 1
}

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

    /// How often each word is there.
    pub fn counts(&self) -> Vec<f64> {
        self.counted(|_, _| true)
    }

    /// Whether there are too few documents to judge by halves of them.
    pub fn few(&self) -> bool {
        self.len() < ENOUGH
    }

    /// The same over one of two halves of the documents. Words of one text belong together; only
    /// if there are few texts are words put into halves, each by itself.
    pub(super) fn half(&self, second: bool) -> Vec<f64> {
        let few = self.few();
        self.counted(|document, word| coin(if few { word } else { document }) == second)
    }

    /// How often each word is there, counted where document and place say so.
    fn counted(&self, wanted: impl Fn(usize, usize) -> bool) -> Vec<f64> {
        let mut counts = vec![0.0; self.vocabulary];
        let mut start = 0;
        for (document, &end) in self.ends.iter().enumerate() {
            for place in (start..end).filter(|place| wanted(document, *place)) {
                counts[self.words[place] as usize] += 1.0;
            }
            start = end;
        }
        counts
    }
}

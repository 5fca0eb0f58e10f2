//! What pairs of words are chosen from: words with distances between them.

use std::collections::HashMap;

use brr::parts::vocabulary::WordId;
use brr::{Metric, Model};

use crate::channel::distances_in;

/// Words by id, most frequent first, and how far apart they are.
pub trait WordSpace {
    /// How many words there are.
    fn count(&self) -> usize;

    /// A word.
    fn word(&self, id: WordId) -> &str;

    /// A word's distance to every word.
    fn distances(&self, from: WordId) -> Vec<f64>;

    /// What words have in common if no program may tell them apart.
    fn position(&self, id: WordId) -> Vec<u64>;

    /// The words to ask about: here those that any tokenizer takes whole.
    fn plain(&self) -> Vec<WordId> {
        let all = 0..self.count() as WordId;
        all.filter(|id| is_plain(self.word(*id))).collect()
    }

    /// For each plain word that shares its position with an earlier one: that one, and the word.
    fn duplicates(&self) -> Vec<[WordId; 2]> {
        let mut first: HashMap<Vec<u64>, WordId> = HashMap::new();
        let mut pair = |b: WordId| {
            let a = *first.entry(self.position(b)).or_insert(b);
            (a != b).then_some([a, b])
        };
        self.plain().into_iter().filter_map(&mut pair).collect()
    }
}

/// Whether any tokenizer takes the word whole and in any case.
pub fn is_plain(word: &str) -> bool {
    word.len() > 1 && word.bytes().all(|b| b.is_ascii_lowercase())
}

/// The words of a model, in the metric of a mechanism.
pub struct ModelSpace<'a> {
    /// The model.
    pub model: &'a Model,
    /// The metric.
    pub metric: Metric,
}

impl WordSpace for ModelSpace<'_> {
    fn count(&self) -> usize {
        self.model.vocabulary().len()
    }

    fn word(&self, id: WordId) -> &str {
        self.model.vocabulary().word(id)
    }

    fn distances(&self, from: WordId) -> Vec<f64> {
        let distances = distances_in(self.metric, self.model, from);
        distances.into_iter().map(f64::from).collect()
    }

    fn position(&self, id: WordId) -> Vec<u64> {
        match (self.metric, self.model.tree()) {
            (Metric::Tree { .. }, Some(tree)) => vec![tree.places()[id as usize].into()],
            (Metric::Discrete, _) => vec![id.into()],
            _ => {
                let mut code = vec![0; self.model.bits().limbs()];
                self.model.codes().read(id as usize, &mut code);
                code
            }
        }
    }
}

//! Words to ask an unknown program about, and where they lie.

use std::collections::HashMap;
use std::sync::Arc;

use brr::parts::vocabulary::WordId;
use brr::{Model, Orthography};
use brr_build::vectors::Vectors;

use super::super::space::{ModelSpace, WordSpace};

/// Pairs are chosen among this many of the first words: a program with another vocabulary knows
/// them too, in all likelihood.
const FIRST: usize = 10_000;

/// Words, most frequent first, with distances between them.
pub struct Lexicon {
    places: Places,
    ids: HashMap<String, WordId>,
}

enum Places {
    Codes(Arc<Model>),
    Vectors(Vectors),
}

impl Lexicon {
    /// The words of a model; near and far by their codes.
    pub fn of_model(model: Arc<Model>) -> Lexicon {
        Lexicon {
            places: Places::Codes(model),
            ids: HashMap::new(),
        }
    }

    /// The words of a vector file, as it writes them.
    pub fn of_vectors(vectors: Vectors) -> Lexicon {
        let ids = vectors.words.iter().enumerate();
        let ids = ids.map(|(i, word)| (word.clone(), i as WordId)).collect();
        Lexicon {
            places: Places::Vectors(vectors),
            ids,
        }
    }

    /// Euclidean distance of two words, if both have vectors.
    pub fn euclidean(&self, a: &str, b: &str) -> Option<f64> {
        let (Places::Vectors(vectors), Some(a), Some(b)) =
            (&self.places, self.ids.get(a), self.ids.get(b))
        else {
            return None;
        };
        Some(vectors.distance(*a as usize, *b as usize))
    }

    /// Whether a token has a vector.
    pub fn knows(&self, token: &str) -> bool {
        self.ids.contains_key(token)
    }

    /// Whether it has vectors.
    pub fn has_vectors(&self) -> bool {
        matches!(self.places, Places::Vectors(_))
    }

    /// A word's vector, bit by bit.
    pub fn bits(&self, id: WordId) -> Option<Vec<u64>> {
        match &self.places {
            Places::Vectors(vectors) => {
                let bits = vectors.row(id as usize).iter().map(|x| x.to_bits());
                Some(bits.map(u64::from).collect())
            }
            Places::Codes(_) => None,
        }
    }
}

impl WordSpace for Lexicon {
    fn count(&self) -> usize {
        let words = match &self.places {
            Places::Codes(model) => model.vocabulary().len(),
            Places::Vectors(vectors) => vectors.words.len(),
        };
        words.min(FIRST)
    }

    fn word(&self, id: WordId) -> &str {
        match &self.places {
            Places::Codes(model) => model.vocabulary().word(id),
            Places::Vectors(vectors) => &vectors.words[id as usize],
        }
    }

    /// Every word that is one token by our own public cut, in any script and case. (A number is none.)
    fn plain(&self) -> Vec<WordId> {
        let is_word = |id: &WordId| {
            let word = self.word(*id);
            word.contains(char::is_alphabetic) && Orthography::english().is_one_token(word)
        };
        (0..self.count() as WordId).filter(is_word).collect()
    }

    fn distances(&self, from: WordId) -> Vec<f64> {
        match &self.places {
            Places::Codes(model) => {
                let metric = model.metric();
                let mut distances = ModelSpace { model, metric }.distances(from);
                distances.truncate(self.count());
                distances
            }
            Places::Vectors(vectors) => (0..self.count())
                .map(|to| vectors.distance(from as usize, to))
                .collect(),
        }
    }

    fn position(&self, id: WordId) -> Vec<u64> {
        vec![id.into()]
    }
}

//! How alike two words are: by real vectors, by codes, or both.

use std::sync::Arc;

use brr::parts::nearest::Scan;
use brr::parts::vocabulary::WordId;
use brr::{Metric, Model};

use crate::mechanisms::Space;

/// A word's distance to every word of a model: in the model's tree, in the discrete metric, or
/// else between codes.
pub fn distances_in(metric: Metric, model: &Model, word: WordId) -> Vec<u16> {
    let words = model.vocabulary().len();
    match (metric, model.tree()) {
        (Metric::Tree { .. }, Some(tree)) => (0..words as WordId)
            .map(|other| tree.level(word, other) as u16)
            .collect(),
        (Metric::Discrete, _) => (0..words as WordId)
            .map(|other| u16::from(other != word))
            .collect(),
        _ => {
            let mut distances = vec![0; words];
            Scan::new(model.codes()).distances_from(word, &mut distances);
            distances
        }
    }
}

/// What is known about the words beside their ids.
#[derive(Clone, Default)]
pub struct Similarity {
    /// Codes, for Hamming distances.
    pub model: Option<Arc<Model>>,
    /// Vectors of the same words in the same order, for cosines.
    pub space: Option<Arc<Space>>,
}

impl Similarity {
    /// Cosine of two words' vectors, if there are vectors.
    pub fn cosine(&self, a: WordId, b: WordId) -> Option<f64> {
        self.space.as_ref().map(|space| space.cosine(a, b))
    }

    /// Hamming distance of two words' codes, if there are codes.
    pub fn hamming(&self, a: WordId, b: WordId) -> Option<f64> {
        let codes = self.model.as_ref()?.codes();
        let mut rows = [vec![0; codes.bits().limbs()], vec![0; codes.bits().limbs()]];
        codes.read(a as usize, &mut rows[0]);
        codes.read(b as usize, &mut rows[1]);
        Some(brr::parts::codes::hamming(&rows[0], &rows[1]).into())
    }

    /// A word's distance to every word: Hamming if there are codes, else
    /// Euclidean. `None` if there is neither.
    pub fn distances(&self, word: WordId) -> Option<Vec<f32>> {
        if let Some(model) = &self.model {
            let distances = distances_in(model.metric(), model, word);
            return Some(distances.into_iter().map(f32::from).collect());
        }
        self.space.as_ref().map(|space| space.distances(word))
    }

    /// The largest of all distances.
    pub fn farthest(&self) -> Option<f32> {
        if let Some(model) = &self.model {
            return Some(model.code_distances().maximum as f32);
        }
        let space = self.space.as_ref()?;
        Some(space.pair_distances().maximum as f32)
    }
}

//! How alike two words are: by real vectors, by codes, or both.

use std::sync::Arc;

use brr::Model;
use brr::parts::nearest::Scan;
use brr::parts::vocabulary::WordId;

use crate::mechanisms::Space;

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
            let codes = model.codes();
            let mut code = vec![0; codes.bits().limbs()];
            let mut distances = vec![0u16; codes.len()];
            codes.read(word as usize, &mut code);
            Scan::new(codes).distances(&code, &mut distances);
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

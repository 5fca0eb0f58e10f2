//! Exact row probabilities Pr[y | w], for the mechanisms that have them.

use std::sync::Arc;

use brr::model::Model;
use brr::nearest::Scan;
use brr::vocabulary::WordId;

use crate::mechanisms::{Identity, Kary, Uniform};

/// A channel whose probabilities can be computed.
pub trait Rows: Send + Sync {
    /// Writes Pr[y | word] for every word y, in id order.
    fn row(&self, word: WordId, out: &mut [f64]);
}

/// Pr[y | w] = T[d(w, y)] / Z(w): one scan a row.
pub struct ExponentialRows {
    model: Arc<Model>,
    weights: Vec<f64>,
}

impl ExponentialRows {
    /// With the weights that are sampled. (As doubles: the integers have 24
    /// significant binary digits and lose nothing.)
    pub fn new(model: Arc<Model>, weights: &[u64]) -> ExponentialRows {
        ExponentialRows {
            model,
            weights: weights.iter().map(|&w| w as f64).collect(),
        }
    }
}

impl Rows for ExponentialRows {
    fn row(&self, word: WordId, out: &mut [f64]) {
        let codes = self.model.codes();
        let mut code = vec![0; codes.bits().limbs()];
        let mut distances = vec![0u16; codes.len()];
        codes.read(word as usize, &mut code);
        Scan::new(codes).distances(&code, &mut distances);
        for (p, d) in out.iter_mut().zip(distances) {
            *p = self.weights[usize::from(d)];
        }
        let total: f64 = out.iter().sum();
        out.iter_mut().for_each(|p| *p /= total);
    }
}

impl Rows for Kary {
    fn row(&self, word: WordId, out: &mut [f64]) {
        out.fill(self.other());
        out[word as usize] = self.keep();
    }
}

impl Rows for Identity {
    fn row(&self, word: WordId, out: &mut [f64]) {
        out.fill(0.0);
        out[word as usize] = 1.0;
    }
}

impl Rows for Uniform {
    fn row(&self, _: WordId, out: &mut [f64]) {
        out.fill(1.0 / out.len() as f64);
    }
}

//! Affinity codes: every word's code chosen freely so that Hamming distances
//! reproduce the words' similarities, those of near words above all.
//!
//! # Why not an encoder
//!
//! Autoencoders, ITQ and hyperplanes learn a map from vectors to codes, as they
//! must where new vectors arrive later. Here the vocabulary is fixed and public:
//! no vector will ever be encoded that is not known now. So the bits themselves
//! are the unknowns, and what is wanted of them can be asked for directly.
//!
//! # What is minimized
//!
//! With b_i in {-1, +1}^n the code and z_i the real vector of word i, s_ij = z_i.z_j
//! its similarity, and b_i.b_j = n - 2 Hamming:
//!
//! ```text
//! sum over all pairs    (s_ij - a b_i.b_j)^2
//!   + w * sum over near pairs s_ij^2 (s_ij - a b_i.b_j)^2
//! ```
//!
//! The first sum keeps the map of the language as a whole. By itself it would
//! spend the bits on the billion unrelated pairs; what people call similarity
//! and what a nearest-word search returns is decided among near words. So each
//! word's nearest words (a graph, [`super::graph`]) weigh as much in all as the
//! rest of the vocabulary does, and the nearer the more.
//!
//! z_i is the unit vector, centred, with every principal component divided by
//! the square root of its standard deviation. That half-way whitening (the
//! square-root weighting of singular values of Levy, Goldberg, Dagan 2015) tones
//! down the few strong components, which would otherwise take most of the bits.
//! Less of it keeps the cosines' order better, about as much keeps the nearest
//! neighbours best; `experiments/binarizers` has the numbers and says how the
//! settings were chosen.
//!
//! # How
//!
//! The codes of ITQ are the start. Then bit after bit of word after word is
//! flipped where that lowers the sum (coordinate descent). The field on bit k of
//! word i is the sum over j of (s_ij - a sum over l != k of b_il b_jl) b_jk. Over
//! *all* j that needs no pair: it is z_i.(Z^T b_k) - a sum of b_il (B^T B)_lk,
//! two small matrices kept up to date ([`super::descent`]). Over near words it is summed
//! as it stands. A sweep costs O(words * bits * (dim + bits + neighbours / 8)).
//!
//! Words are visited in a fixed number of groups: within a group all words see
//! the same state and can be done by any thread in any order; between groups the
//! state is refreshed. Sums are exact or in fixed order, so the codes are the
//! same bits on every machine.

use super::descent::Descent;
use super::graph::{Graph, Snapped};
use super::itq::{first_columns, rotate};
use super::spectrum::spectrum;
use super::{BinarizeError, BinarizeOptions, Binarizer, OnProgress, Progress, signs};
use crate::vectors::Vectors;
use brr::parts::codes::CodeRows;

/// Codes that reproduce similarities.
#[derive(Clone, Copy, Debug)]
pub struct Affinity {
    /// Near words per word.
    pub neighbors: usize,
    /// Weight of near pairs in all, relative to all pairs.
    pub emphasis: f64,
    /// Times every bit is visited.
    pub sweeps: usize,
    /// Rounds of ITQ for the codes to start with.
    pub start: usize,
}

impl Default for Affinity {
    fn default() -> Affinity {
        Affinity {
            neighbors: 200,
            emphasis: 1.0,
            sweeps: 12,
            start: 5,
        }
    }
}

impl Binarizer for Affinity {
    fn name(&self) -> &'static str {
        "affinity"
    }

    fn binarize(
        &self,
        vectors: &Vectors,
        options: &BinarizeOptions,
        progress: &mut OnProgress<'_>,
    ) -> Result<CodeRows, BinarizeError> {
        let flat = spectrum(options.threads, vectors)?.flattened();
        let mut report = |unit, done, loss| {
            progress(Progress::new(unit, done, loss));
        };
        let codes = {
            let start = first_columns(&flat, options.bits.get());
            let start = rotate(&start, self.start, options, &mut |p| {
                report("start", (p.step, p.steps), p.loss);
            });
            signs(&start, options.bits)
        };
        let rows = Snapped::new(flat);
        let graph = Graph::new(
            options.threads,
            &rows,
            self.neighbors,
            &mut |step, steps| {
                report("graph", (step, steps), None);
            },
        );
        let mut descent = Descent::new(&rows, &graph, codes, self.emphasis, options.threads);
        for step in 1..=self.sweeps {
            let loss = descent.fit_scale();
            descent.sweep();
            report("sweep", (step, self.sweeps), Some(loss));
        }
        Ok(descent.into_codes())
    }
}

//! BRR: randomized response on the code, then the nearest word (Alg. 3).
//!
//! # Guarantee
//!
//! Let c be the code of w. Randomized response maps c to a noisy code r with
//! Pr[r | c] <= exp(e * d(c, c')) * Pr[r | c'] ([`crate::response`]). The output
//! word is a function of r alone: the word whose code is nearest to r, the
//! lowest id among several. Summing the inequality over all r that give the same
//! word keeps it: post-processing is free. So BRR is e*d-private, d the Hamming
//! distance of codes, whatever exact or approximate search is used, as long as
//! the search does not look at w.
//!
//! **Tokens without a code.** Such a token takes the code of a uniformly random
//! word y0, unchanged, through the same search. The search gives the first word
//! that has y0's code, so the output is uniform over the N words, with words
//! of equal code counted together: each possible output has probability from
//! 1/N to (D + 1)/N, D the number of words whose code a word with a lower id
//! has too. For a known word w and a possible output y, Pr[y | w] lies between
//! p^d (1-p)^(n-d) (the noisy code is y's own, d = d(w, y) <= P_max) and 1, so
//! the loss between an unknown token and any word is at most
//!
//! ```text
//! max( ln N,  ln((D + 1)/N) + P_max * e + n * ln(1 + exp(-e)) ),
//! ```
//!
//! as p^d (1-p)^(n-d) = exp(-e d) (1-p)^n and 1-p = 1 / (1 + exp(-e)).

use std::sync::Arc;

use zeroize::Zeroizing;

use super::{Likelihoods, Mechanism};
use crate::codes::{CodeBits, CodeRows};
use crate::epsilon::{Epsilon, round_up};
use crate::guarantee::Guarantee;
use crate::model::Model;
use crate::nearest::{MultiIndex, Neighbor, Scan};
use crate::random::Noise;
use crate::response::FlipThreshold;
use crate::vocabulary::WordId;

/// How the nearest code is found. The answers are the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Search {
    /// Looks at every code: the time tells nothing about the word.
    #[default]
    Scan,
    /// Multi-index hashing: faster at large epsilon and vocabulary, but its time
    /// depends on the noisy code.
    MultiIndex,
}

/// Noisy codes that are looked at more closely to estimate likelihoods: each takes a scan.
const ACCEPTED: usize = 400;

/// Binary randomized response over a model's codes.
pub struct Brr {
    model: Arc<Model>,
    threshold: FlipThreshold,
    index: Option<MultiIndex>,
}

impl Brr {
    /// At most `epsilon` per bit.
    pub fn new(model: Arc<Model>, epsilon: Epsilon) -> Brr {
        Brr {
            model,
            threshold: FlipThreshold::new(epsilon),
            index: None,
        }
    }

    /// The same with another search.
    pub fn with_search(self, search: Search) -> Brr {
        let index = match search {
            Search::Scan => None,
            Search::MultiIndex => Some(MultiIndex::new(self.model.codes())),
        };
        Brr { index, ..self }
    }

    /// The nearest words: a function of the noisy codes alone.
    fn nearest(&self, noisy: &CodeRows) -> Vec<Neighbor> {
        let scan = Scan::new(self.model.codes());
        match &self.index {
            Some(index) => index.nearest(&scan, noisy),
            None => scan.nearest(noisy),
        }
    }

    /// The noisy codes: the last step that sees the words. Known words and
    /// unknown tokens take the same draws and the same work.
    fn noisy_codes(&self, words: &[Option<WordId>], noise: &mut Noise) -> Zeroizing<CodeRows> {
        let codes = self.model.codes();
        let mut rows = Zeroizing::new(CodeRows::zeros(codes.bits(), words.len()));
        let mut code = Zeroizing::new([0; CodeBits::MAX.limbs()]);
        let code = &mut code[..codes.bits().limbs()];
        for (i, word) in words.iter().enumerate() {
            let row = rows.row_mut(i);
            // Noise on zeros is the flips themselves.
            self.threshold.apply(row, noise);
            let random = noise.uniform_below(codes.len() as u128) as WordId;
            let (id, flips) = match word {
                Some(id) => (*id, u64::MAX),
                None => (random, 0),
            };
            codes.read(id as usize, code);
            for (limb, code) in row.iter_mut().zip(&*code) {
                *limb = (*limb & flips) ^ code;
            }
        }
        rows
    }

    fn unknown_loss(&self) -> f64 {
        let n = self.model.vocabulary().len() as f64;
        let d = self.model.code_distances();
        let e = self.threshold.epsilon();
        let bits = self.model.bits().get() as f64;
        let possible = libm::log((f64::from(d.duplicates) + 1.0) / n);
        let unlikely = f64::from(d.maximum) * e + bits * libm::log1p(libm::exp(-e)) + possible;
        round_up(libm::log(n).max(unlikely))
    }
}

impl Mechanism for Brr {
    fn name(&self) -> &'static str {
        "brr"
    }

    fn guarantee(&self) -> Guarantee {
        Guarantee {
            epsilon: self.threshold.epsilon(),
            metric: self.model.metric(),
            distances: self.model.pair_distances(),
            unknown_loss: self.unknown_loss(),
        }
    }

    /// Pr[y | w] is the probability that noise carries w's code into the set of codes whose
    /// nearest word is y: no formula gives it. But noise around *y itself* reaches the same set.
    /// If r is such a noisy code,
    ///
    /// ```text
    /// Pr[r | w] / Pr[r | y]  =  exp(-e * (d(r, w) - d(r, y)))  <=  1,
    /// ```
    ///
    /// as y is nearest to r. So the mean of this factor, over draws r around y (0 when the
    /// nearest word is not y), is an unbiased estimate of Pr[y | w] with factors between 0 and 1,
    /// and the same draws serve every w at once.
    fn likelihoods(&self, output: WordId, draws: usize, noise: &mut Noise) -> Option<Likelihoods> {
        let noisy = self.noisy_codes(&vec![Some(output); draws], noise);
        let scan = Scan::new(self.model.codes());
        let epsilon = self.threshold.epsilon();
        let factors: Vec<f32> = (0..=self.model.bits().get())
            .map(|more| libm::exp(-epsilon * more as f64) as f32)
            .collect();
        let mut distances = vec![0; self.model.vocabulary().len()];
        let nearest = self.nearest(&noisy);
        let hits = (0..draws).filter(|&i| nearest[i].id == output);
        let factors_of = |i: usize| {
            scan.distances(noisy.row(i), &mut distances);
            let own = distances[output as usize];
            let factor = |&d: &u16| factors[usize::from(d - own)];
            distances.iter().map(factor).collect()
        };
        Some(Likelihoods {
            draws: hits.take(ACCEPTED).map(factors_of).collect(),
        })
    }

    fn privatize(&self, words: &[Option<WordId>], noise: &mut Noise) -> Vec<WordId> {
        let noisy = self.noisy_codes(words, noise);
        self.nearest(&noisy)
            .iter()
            .map(|neighbor| neighbor.id)
            .collect()
    }
}

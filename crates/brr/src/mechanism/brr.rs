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
//! **Tokens without a code.** Such a token takes a uniformly random code r through the same
//! search: Pr[r | unknown] = 2^-n. A word's noise gives r at distance d from its code the
//! probability p^d (1-p)^(n-d) with p = 1 / (1 + exp(e)), which lies between p^n and (1-p)^n, so
//! before the search, and after it, the loss between the word and the unknown token is at most
//!
//! ```text
//! word over unknown:  n ln(2 (1-p))  =  n ln(2 exp(e) / (1 + exp(e))),
//! unknown over word:  n ln(1 / (2p)) =  n ln((1 + exp(e)) / 2).
//! ```
//!
//! Both go to 0 with e. The second grows like n e, but it is at most P_max * e as well. Let y be
//! an output, and C the codes whose search gives y. If r is in C, and a bit in which r
//! differs from y's code is set as in y's, then r comes nearer to y by 1 and to no word by more,
//! so it stays in C: C is closed under moving toward y. A set of this kind is the likelier
//! to be hit by flipping bits of y's code, the smaller the probability of a flip (couple
//! the flips), and flips with probability 1/2 give a uniform code. So
//!
//! ```text
//! Pr[y | unknown]  <=  Pr[y | y]  <=  exp(e * P_max) * Pr[y | w]      for every word w,
//! ```
//!
//! and the loss is at most max(n ln(2 exp(e) / (1 + exp(e))), min(n ln((1 + exp(e)) / 2), P_max * e)).
//! (A search that is not exact would leave the first two bounds alone; ours are exact.) All
//! of these grow with e, so the reported e, which is rounded up, gives upper bounds.
//!
//! **Work.** A random code is drawn for every token, and the choice between it and the
//! word's own is made by a mask: what is drawn, read and searched is as much for a word as for
//! an unknown token.

use std::ops::Range;
use std::sync::Arc;

use zeroize::Zeroizing;

use super::{Emission, Likelihoods, Mechanism, Observations};
use crate::codes::{CodeBits, CodeRows};
use crate::epsilon::{Epsilon, round_up};
use crate::guarantee::Guarantee;
use crate::model::Model;
use crate::nearest::{self, MultiIndex, Neighbor, Scan, Sieve};
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
    /// -e d for every distance d.
    log_factors: Vec<f32>,
}

impl Brr {
    /// At most `epsilon` per bit.
    pub fn new(model: Arc<Model>, epsilon: Epsilon) -> Brr {
        let threshold = FlipThreshold::new(epsilon);
        let log_factor = |d: usize| (-threshold.epsilon() * d as f64) as f32;
        Brr {
            log_factors: (0..=model.bits().get()).map(log_factor).collect(),
            model,
            threshold,
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
        let limbs = codes.bits().limbs();
        let mut rows = Zeroizing::new(CodeRows::zeros(codes.bits(), words.len()));
        let mut code = Zeroizing::new([0; CodeBits::MAX.limbs()]);
        let mut random = Zeroizing::new([0; CodeBits::MAX.limbs()]);
        let (code, random) = (&mut code[..limbs], &mut random[..limbs]);
        for (i, word) in words.iter().enumerate() {
            let row = rows.row_mut(i);
            // Noise on zeros is the flips themselves; a uniform code stays one under them.
            self.threshold.apply(row, noise);
            noise.fill(random);
            let known = 0u64.wrapping_sub(u64::from(word.is_some()));
            codes.read(word.unwrap_or(0) as usize, code);
            for ((limb, code), random) in row.iter_mut().zip(&*code).zip(&*random) {
                *limb ^= (code & known) | (random & !known);
            }
        }
        rows
    }

    fn unknown_loss(&self) -> f64 {
        let bits = self.model.bits().get() as f64;
        let e = self.threshold.epsilon();
        // With expm1 and log1p nothing cancels where e is small.
        let word_over_unknown = bits * -libm::log1p(libm::expm1(-e) / 2.0);
        let unknown_over_word = bits * libm::log1p(libm::expm1(e) / 2.0);
        let farthest = e * f64::from(self.model.code_distances().maximum);
        round_up(word_over_unknown.max(unknown_over_word.min(farthest)))
    }
}

impl Mechanism for Brr {
    fn name(&self) -> &'static str {
        "brr"
    }

    fn guarantee(&self) -> Guarantee {
        Guarantee::new(
            self.threshold.epsilon(),
            self.model.metric(),
            self.model.pair_distances(),
            self.unknown_loss(),
        )
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
        let factors = self.log_factors.iter().map(|&ln| libm::expf(ln));
        let factors: Vec<f32> = factors.collect();
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
        self.words(&self.observe(words, noise))
    }

    fn observe(&self, words: &[Option<WordId>], noise: &mut Noise) -> Observations {
        Observations::Codes(self.noisy_codes(words, noise))
    }

    fn words(&self, observations: &Observations) -> Vec<WordId> {
        match observations {
            Observations::Words(words) => words.clone(),
            Observations::Codes(noisy) => self.nearest(noisy).iter().map(|n| n.id).collect(),
        }
    }

    fn emission(&self) -> Option<&dyn Emission> {
        Some(self)
    }
}

/// ln Pr[r | w] = -e d(r, w) - n ln(1 + exp(-e)) for a noisy code r, and -n ln 2 for a token without
/// a code. The common constant is n ln(1 + exp(-e)).
impl Emission for Brr {
    fn table(&self) -> &[f32] {
        &self.log_factors
    }

    fn unknown(&self) -> f32 {
        let (bits, e) = (self.model.bits().get() as f64, self.threshold.epsilon());
        (bits * (libm::log1p(libm::exp(-e)) - std::f64::consts::LN_2)) as f32
    }

    fn steps(&self, observations: &Observations, i: usize, out: &mut [u16]) {
        let Observations::Codes(noisy) = observations else {
            unreachable!("BRR observes codes");
        };
        Scan::new(self.model.codes()).distances(noisy.row(i), out);
    }

    fn steps_of(&self, observations: &Observations, i: usize, words: &[WordId]) -> Vec<u16> {
        let Observations::Codes(noisy) = observations else {
            unreachable!("BRR observes codes");
        };
        nearest::distances_of(self.model.code_rows(), noisy.row(i), words)
    }

    fn sift(&self, observations: &Observations, which: Range<usize>, sieve: &mut dyn Sieve) {
        let Observations::Codes(noisy) = observations else {
            unreachable!("BRR observes codes");
        };
        let mut queries = Zeroizing::new(CodeRows::new(noisy.bits()));
        which.for_each(|i| queries.push(noisy.row(i)));
        Scan::new(self.model.codes()).sift(&queries, sieve);
    }
}

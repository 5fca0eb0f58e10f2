//! Weights of the exponential mechanism, and certificates for them, by looking at every pair of
//! words.
//!
//! # Guarantee
//!
//! Weights T give epsilon*d privacy on a model's codes for
//!
//! ```text
//! epsilon = max over all pairs w, w' at distance k >= 1 of
//!           (L(k) + |ln Z(w) - ln Z(w')|) / k
//! ```
//!
//! ([`Weights`] has the proof). All of it is computed from the
//! integers that are sampled: Z from exact counts of words at each distance
//! (`profile`), the maximum over every pair that can attain it (`measure`),
//! each term rounded up ([`Weights::pair_epsilon`]).
//!
//! [`Certifier::certify`] looks for the largest scale whose epsilon is at most
//! a target. Epsilon need not grow with the scale everywhere, so the search may
//! miss a larger scale between two that it tries; it never returns one that
//! was not measured over all pairs and found to be within the target.

mod certificate;
mod ladder;
mod measure;
mod profile;
mod search;
#[cfg(test)]
mod tests;
mod weights;

use crate::all_pairs::OnShare;
use crate::codes::{CodeBlocks, CodeRows};
use crate::distances::CodeDistances;
use crate::epsilon::Epsilon;
use crate::identity::CodesIdentity;
pub(crate) use certificate::Claim;
pub use certificate::{Certificate, WorstPair};
pub use ladder::certify_ladder;
pub use measure::Measure;
use profile::Profile;
use search::largest_scale;
pub use weights::Weights;

/// Halvings of the range of scales in which a share of kept words is sought.
const HALVINGS: u32 = 16;
/// Its upper end, where nearly all words stay.
const STEEP: f64 = 2.0;

/// Certifies weights on one table of codes. Making it takes one pass over all
/// pairs; each certificate then takes a fraction of a second.
pub struct Certifier {
    identity: CodesIdentity,
    rows: CodeRows,
    profile: Profile,
    threads: usize,
}

impl Certifier {
    /// Looks at all pairs of the codes that have this identity.
    pub(crate) fn new(
        identity: CodesIdentity,
        codes: CodeBlocks<'_>,
        threads: usize,
        progress: OnShare<'_>,
    ) -> Certifier {
        Certifier {
            identity,
            rows: codes.to_rows(),
            profile: Profile::new(codes, threads, progress),
            threads,
        }
    }

    /// The distances of the codes, with the sum and the number of duplicates as they are here:
    /// these take no look at the pairs.
    pub(crate) fn distances(&self, known: &CodeDistances) -> CodeDistances {
        let found = self.profile.extremes();
        CodeDistances {
            maximum: found.maximum,
            nearest_sum: found.nearest_sum,
            nearest_min: found.nearest_min,
            ..*known
        }
    }

    /// What weights do on these codes.
    ///
    /// # Panics
    /// If the weights are for another code length.
    pub fn measure(&self, weights: &Weights) -> Measure {
        measure::measure(&self.profile, &self.rows, weights, self.threads)
    }

    /// The steepest exponential weights, level from `radius` on, that give at
    /// most `target`.
    pub fn certify(&self, target: Epsilon, radius: Option<usize>) -> Certificate {
        let bits = self.rows.bits();
        let best = largest_scale(target.get(), |scale| {
            let weights = Weights::exponential(bits, scale, radius);
            let measure = self.measure(&weights);
            (measure.epsilon, (weights, measure))
        });
        let (scale, (weights, measure)) = best;
        self.certificate(target.get(), scale, &weights, measure)
    }

    /// About the steepest exponential weights that keep at most this share of words, by use; none if
    /// uniform draws keep more.
    pub fn certify_keeping(&self, share: f64) -> Option<Certificate> {
        let attempt = |scale: f64| {
            let weights = Weights::exponential(self.rows.bits(), scale, None);
            let measure = self.measure(&weights);
            (measure.keep.weighted <= share).then_some((scale, weights, measure))
        };
        // Level weights keep the fewest.
        let (mut low, mut high) = (attempt(0.0)?, STEEP);
        for _ in 0..HALVINGS {
            let middle = (low.0 + high) / 2.0;
            match attempt(middle) {
                Some(within) => low = within,
                None => high = middle,
            }
        }
        let (scale, weights, measure) = low;
        Some(self.certificate(measure.epsilon, scale, &weights, measure))
    }

    fn certificate(
        &self,
        asked: f64,
        scale: f64,
        weights: &Weights,
        measure: Measure,
    ) -> Certificate {
        Certificate::of_true(Claim {
            identity: self.identity,
            epsilon: measure.epsilon,
            asked,
            scale,
            weights: weights.table().to_vec(),
            keep: measure.keep,
            normalizers: measure.normalizers,
            worst_pair: measure.worst_pair,
        })
    }

    /// Computes a claim's numbers again, from its weights and the codes.
    pub(crate) fn verify(&self, claim: Claim) -> Result<Certificate, Refuted> {
        if claim.identity != self.identity {
            return Err(Refuted::OtherModel);
        }
        let weights = Weights::new(claim.weights.clone())
            .filter(|w| w.table().len() == self.rows.bits().get() + 1)
            .ok_or(Refuted::Weights)?;
        let found = self.measure(&weights);
        let (c, same) = (&claim, |a: f64, b: f64| (a - b).abs() <= 1e-9);
        if found.epsilon > c.epsilon || c.epsilon > c.asked {
            return Err(Refuted::Epsilon {
                stored: c.epsilon.min(c.asked),
                found: found.epsilon,
            });
        }
        if found.normalizers != c.normalizers {
            return Err(Refuted::Number("normalizers"));
        }
        if found.worst_pair != c.worst_pair {
            return Err(Refuted::Number("worst pair"));
        }
        if !same(found.keep.plain, c.keep.plain) || !same(found.keep.weighted, c.keep.weighted) {
            return Err(Refuted::Number("share of kept words"));
        }
        Ok(Certificate::of_true(claim))
    }
}

/// Why a certificate does not hold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Refuted {
    /// It names another model.
    OtherModel,
    /// Its table is not one of weights for this code length.
    Weights,
    /// Its weights give a larger epsilon than it says.
    Epsilon {
        /// What it says.
        stored: f64,
        /// What its weights give.
        found: f64,
    },
    /// Its epsilon holds, but another of its numbers is wrong.
    Number(&'static str),
}

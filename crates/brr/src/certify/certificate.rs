//! Certificates, and what a file claims of them.
//!
//! A [`Certificate`] can only come from a look at all pairs of words: from a
//! [`Certifier`](super::Certifier) in this process, or from a model file whose claims are known
//! to hold ([`crate::model::Standing`]). What a file says is a [`Claim`] until then.

use std::ops::RangeInclusive;

use super::weights::Weights;
use crate::frequency::Keep;
use crate::identity::CodesIdentity;
use crate::vocabulary::WordId;

/// The pair of words that decides a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorstPair {
    /// The two words.
    pub words: (WordId, WordId),
    /// Their distance.
    pub distance: u32,
}

/// What a certificate says, whether it is true or not.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Claim {
    /// The codes that it is about.
    pub identity: CodesIdentity,
    /// The certified epsilon, rounded up.
    pub epsilon: f64,
    /// The epsilon that was asked for; `epsilon` is at most this.
    pub asked: f64,
    /// Scale of the weights.
    pub scale: f64,
    /// Integer weight of each distance.
    pub weights: Vec<u64>,
    /// Expected share of words that stay as they are.
    pub keep: Keep,
    /// Smallest and largest Z(w).
    pub normalizers: RangeInclusive<u128>,
    /// The pair with the largest loss per unit of distance.
    pub worst_pair: WorstPair,
}

impl Claim {
    /// Whether its numbers can belong to a model of `words` words.
    pub fn is_plausible(&self, words: u32) -> bool {
        let Some(weights) = Weights::new(self.weights.clone()) else {
            return false;
        };
        let (top, n) = (u128::from(weights.table()[0]), u128::from(words));
        let (low, high) = (*self.normalizers.start(), *self.normalizers.end());
        let (a, b) = self.worst_pair.words;
        self.epsilon >= 0.0
            && self.epsilon <= self.asked
            && low >= top
            && low <= high
            && high <= n * top
            && a < words
            && b < words
    }
}

/// Proof by exhaustion that weights give an epsilon on one model's codes.
#[derive(Clone, Debug, PartialEq)]
pub struct Certificate(Claim);

impl Certificate {
    /// Of a claim that was found true.
    pub(crate) fn of_true(claim: Claim) -> Certificate {
        Certificate(claim)
    }

    pub(crate) fn claim(&self) -> &Claim {
        &self.0
    }

    /// The codes that it is about.
    pub fn identity(&self) -> CodesIdentity {
        self.0.identity
    }

    /// The certified epsilon, rounded up.
    pub fn epsilon(&self) -> f64 {
        self.0.epsilon
    }

    /// The epsilon that was asked for; [`epsilon`](Self::epsilon) is at most this.
    pub fn asked(&self) -> f64 {
        self.0.asked
    }

    /// Scale of the weights.
    pub fn scale(&self) -> f64 {
        self.0.scale
    }

    /// Integer weight of each distance.
    pub fn weights(&self) -> &[u64] {
        &self.0.weights
    }

    /// Expected share of words that stay as they are, exactly.
    pub fn keep(&self) -> Keep {
        self.0.keep
    }

    /// Smallest and largest Z(w).
    pub fn normalizers(&self) -> RangeInclusive<u128> {
        self.0.normalizers.clone()
    }

    /// The pair with the largest loss per unit of distance.
    pub fn worst_pair(&self) -> WorstPair {
        self.0.worst_pair
    }
}

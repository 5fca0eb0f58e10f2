//! Weights of the exponential mechanism, and proofs of what they guarantee.
//!
//! # Guarantee
//!
//! The mechanism draws y with probability T[d(w, y)] / Z(w), where T is a table
//! of integer weights and Z(w) the sum of T[d(w, y)] over all words y. For words
//! w, w' at distance k >= 1 and any output y,
//!
//! ```text
//! ln Pr[y | w] - ln Pr[y | w']
//!     = (ln T[d(w, y)] - ln T[d(w', y)]) + (ln Z(w') - ln Z(w))
//!     <= L(k) + |ln Z(w) - ln Z(w')|,
//! L(k) = max { ln T[i] - ln T[j] : |i - j| <= k },
//! ```
//!
//! by the triangle inequality |d(w, y) - d(w', y)| <= k. So the mechanism is
//! e*d-private for e = max over all pairs of (L(k) + |ln Z(w) - ln Z(w')|) / k.
//!
//! - **Textbook.** |ln Z(w) - ln Z(w')| <= L(k), so e <= max over k of 2 L(k) / k:
//!   no look at the pairs is needed. [`Weights::textbook_epsilon`].
//! - **Certified.** Z is computed for every word and the maximum taken over every
//!   pair: on real codes 1.4 to 2 times smaller. That is a
//!   [`Certificate`](super::Certificate); it holds for the very integers that are sampled, and
//!   names the codes it was made for by their hash.
//!
//! If two words share a code (k = 0) they have the same distances, the same Z
//! and so the same distribution: nothing to bound.
//!
//! **The certificate is tight** where T falls by its steepest from 0 to k, as
//! T ~ exp(-scale * d) does above its floor: then y = w gives ln `T[0]` - ln `T[k]` =
//! L(k) with the difference of ln Z one way round, y = w' the other way round.
//!
//! **Floor.** `T[d]` = max(TOP * exp(-scale * d), FLOOR), rounded down to whole
//! numbers of [`SIGNIFICANT`] significant binary digits, never 0: every word
//! stays possible, rounding changes ln T by less than 2^-23 (2^-14 next to the
//! floor), and a table stores in four bytes a
//! weight. The epsilon is always that of the rounded table. Beyond a radius the
//! weights can be held at their value there: that is the truncated mechanism
//! (TEM, Carvalho et al. 2021) as a table of weights, under the same proof.
//!
//! **Rounding.** T and Z are integers, and Z is summed exactly. Only their
//! logarithms are inexact, and each enters an epsilon with a slack that exceeds
//! its error: [`LOG_SLACK`] and [`Weights::pair_epsilon`] do the sums.

use crate::codes::CodeBits;
use crate::epsilon::{Epsilon, round_up};

/// Largest weight: six bytes, as few as this range takes. A block of 64 fits a
/// u64, all words together a u128.
const TOP: u64 = 1 << 47;
/// Smallest weight that [`Weights::exponential`] makes.
const FLOOR: u64 = 1 << 14;
/// Binary digits of a weight before its trailing zeros.
const SIGNIFICANT: u32 = 24;

/// More than the error of a difference of two logarithms of weights or
/// normalizers.
///
/// Weights are below 2^48 and exact as f64, normalizers below 2^80 and within
/// 2^-53 of theirs, so logarithms are below 64, where libm's `log` errs by at
/// most 2^-47. Two of them and their subtraction stay below 2^-45.
const LOG_SLACK: f64 = 1.0 / (1u64 << 45) as f64;

/// Integer weights by distance, falling (or level) as distance grows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weights(Vec<u64>);

impl Weights {
    /// The scale from which on all weights but the first are at the floor:
    /// a little more than ln(TOP / FLOOR).
    pub const MAX_SCALE: f64 = 22.875;

    /// `T[d]` ~ exp(-scale * d), level from `radius` on.
    pub fn exponential(bits: CodeBits, scale: f64, radius: Option<usize>) -> Weights {
        let level = radius.unwrap_or(usize::MAX);
        let weight = |d: usize| {
            let w = TOP as f64 * libm::exp(-scale * d.min(level) as f64);
            let w = (w as u64).clamp(FLOOR, TOP);
            let excess = (w.ilog2() + 1).saturating_sub(SIGNIFICANT);
            w >> excess << excess
        };
        Weights((0..=bits.get()).map(weight).collect())
    }

    /// Takes a table; `None` unless weights fall from at most 2^47 to at least
    /// 1 and have at most 24 significant binary digits.
    pub fn new(table: Vec<u64>) -> Option<Weights> {
        let falls = table.windows(2).all(|pair| pair[0] >= pair[1]);
        let within =
            table.first().is_some_and(|&w| w <= TOP) && table.last().is_some_and(|&w| w > 0);
        let short = |&w: &u64| w >> w.trailing_zeros() < 1 << SIGNIFICANT;
        (falls && within && table.iter().all(short)).then_some(Weights(table))
    }

    /// The largest scale whose textbook epsilon is at most `epsilon`.
    pub fn textbook(bits: CodeBits, epsilon: Epsilon, radius: Option<usize>) -> Weights {
        // Rounding to integers adds a little to twice the scale.
        let (mut low, mut high) = (0.0, epsilon.get() / 2.0);
        if Weights::exponential(bits, high, radius).textbook_epsilon() <= epsilon.get() {
            return Weights::exponential(bits, high, radius);
        }
        for _ in 0..60 {
            let middle = (low + high) / 2.0;
            if Weights::exponential(bits, middle, radius).textbook_epsilon() <= epsilon.get() {
                low = middle;
            } else {
                high = middle;
            }
        }
        Weights::exponential(bits, low, radius)
    }

    /// The weight of each distance.
    pub fn table(&self) -> &[u64] {
        &self.0
    }

    /// L(k) for k = 0, 1, ..., rounded up: how much ln T can change between two
    /// distances at most k apart. Exactly 0 where T does not change.
    pub fn log_change(&self) -> Vec<f64> {
        let logs: Vec<f64> = self.0.iter().map(|&w| libm::log(w as f64)).collect();
        // T falls, so the largest change over at most k steps is over exactly k.
        let change = |k: usize| {
            let steps = logs.iter().zip(&logs[k..]).map(|(a, b)| a - b);
            let most = steps.fold(0.0, f64::max);
            // Different weights have different logarithms: they differ by 2^-24
            // of themselves at least.
            if most > 0.0 { most + LOG_SLACK } else { 0.0 }
        };
        (0..logs.len()).map(change).collect()
    }

    /// The epsilon that holds for any codes whatever, rounded up.
    pub fn textbook_epsilon(&self) -> f64 {
        let change = self.log_change();
        let worst = (1..change.len()).map(|k| 2.0 * change[k] / k as f64);
        up_or_zero(worst.fold(0.0, f64::max))
    }

    /// ln Z as [`pair_epsilon`](Self::pair_epsilon) takes it.
    pub fn log_normalizer(z: u128) -> f64 {
        libm::log(z as f64)
    }

    /// What a pair of words at distance `k` >= 1 asks of epsilon, rounded up:
    /// (L(k) + |ln Z - ln Z'|) / k, from [`log_change`](Self::log_change)'s L(k)
    /// and the difference of two [`log_normalizer`](Self::log_normalizer)s.
    ///
    /// It grows with `difference`, so the largest difference of all pairs at
    /// distance `k` decides for them.
    pub fn pair_epsilon(log_change: f64, difference: f64, k: usize) -> f64 {
        // Equal Z have equal logarithms; close but different Z may have, too,
        // but they can be no farther apart than the slack.
        if log_change == 0.0 && difference == 0.0 {
            // T is level over k steps everywhere, that is, everywhere: Z = Z'.
            return 0.0;
        }
        up_or_zero((log_change + difference.abs() + LOG_SLACK) / k as f64)
    }
}

/// Rounds up what is not exactly 0.
fn up_or_zero(x: f64) -> f64 {
    if x > 0.0 { round_up(x) } else { 0.0 }
}

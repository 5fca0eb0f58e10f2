//! An attacker who sees one output word and names the input.
//!
//! With row probabilities the best possible attacker is computed exactly
//! ([`super::exact`]). Without them, plugging estimated probabilities into the
//! same formula would *overstate* success: the maximum picks up noise. Instead
//! an attack is made and tested on draws that it has not seen, which can only
//! understate what the best attacker reaches: a lower bound, with an interval.
//!
//! The attack: Pr[y | w] is taken to depend on the distance d(w, y) alone. The
//! kernel g(d) is learned from the draws of half the sampled words; the attacker
//! names the w with the largest prior(w) g(d(w, y)), or simply y itself where
//! that did better on the training draws.

use brr::parts::vocabulary::WordId;
use brr::parts::{frequency, parallel};
use serde::Serialize;

use super::simulated::Draws;
use super::{Sampling, Similarity};
use crate::interval::{Binomial, Estimate};

/// Bins of distances.
const BINS: usize = 256;
/// Outputs of each word that are attacked.
const TRIES: usize = 8;

/// What the attacker believes before seeing anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Prior {
    /// All words are equally likely.
    Uniform,
    /// Words are as likely as they are frequent.
    ByUse,
}

impl Prior {
    /// Probability of every word.
    pub fn shares(self, words: usize) -> Vec<f64> {
        match self {
            Prior::Uniform => vec![1.0 / words as f64; words],
            Prior::ByUse => frequency::shares(words),
        }
    }
}

/// How often an attacker names the input.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Guess {
    /// Probability of success.
    pub success: Estimate,
    /// Whether the best attacker may do better: true if an attack was simulated,
    /// false if the best attacker was computed.
    pub at_least: bool,
}

impl Guess {
    /// The best attacker's, computed.
    pub fn bayes(success: f64) -> Guess {
        Guess {
            success: Estimate::exact(success),
            at_least: false,
        }
    }
}

/// Attacks draws of words that were chosen by `prior`.
pub fn attack(
    draws: &[Draws],
    prior: Prior,
    words: usize,
    similarity: &Similarity,
    plan: &Sampling,
) -> Guess {
    let (train, test): (Vec<_>, Vec<_>) = (0..draws.len()).partition(|i| i % 2 == 0);
    let pick = |ids: &[usize]| ids.iter().map(|&i| &draws[i]).collect::<Vec<_>>();
    let (train, test) = (pick(&train), pick(&test));
    let shares = prior.shares(words);
    let kernel = Kernel::learn(&train, similarity, plan);
    let by_kernel = |draws: &[&Draws]| {
        let kernel = kernel.as_ref()?;
        Some(successes(draws, plan, |y| {
            kernel.guess(y, &shares, similarity)
        }))
    };
    let by_output = |draws: &[&Draws]| successes(draws, plan, Some);
    let use_kernel = by_kernel(&train).is_some_and(|k| k.share() > by_output(&train).share());
    let found = match use_kernel {
        true => by_kernel(&test).unwrap_or_else(|| by_output(&test)),
        false => by_output(&test),
    };
    Guess {
        success: found.estimate(),
        at_least: true,
    }
}

/// How often `guess` names the input.
fn successes(
    draws: &[&Draws],
    plan: &Sampling,
    guess: impl Fn(WordId) -> Option<WordId> + Sync,
) -> Binomial {
    let right = parallel::map(plan.threads, draws.len(), |i| {
        let tries = draws[i].outputs.iter().take(TRIES);
        tries.filter(|y| guess(**y) == Some(draws[i].word)).count()
    });
    let tries: usize = draws.iter().map(|d| d.outputs.len().min(TRIES)).sum();
    Binomial::new(right.iter().sum::<usize>() as u64, tries as u64)
}

/// The probability of one output at each distance, up to a factor.
struct Kernel {
    width: f32,
    bins: Vec<f64>,
}

impl Kernel {
    /// Draws seen in each bin over words that lie in it. `None` without distances.
    fn learn(train: &[&Draws], similarity: &Similarity, plan: &Sampling) -> Option<Kernel> {
        let width = (similarity.farthest()? / (BINS - 1) as f32).max(f32::MIN_POSITIVE);
        let counts = parallel::map(plan.threads, train.len(), |i| {
            let distances = similarity.distances(train[i].word).unwrap_or_default();
            let (mut seen, mut there) = ([0.0; BINS], [0.0; BINS]);
            distances.iter().for_each(|d| there[bin(*d, width)] += 1.0);
            let outputs = &train[i].outputs;
            outputs
                .iter()
                .for_each(|y| seen[bin(distances[*y as usize], width)] += 1.0);
            (seen, there.map(|t| t * outputs.len() as f64))
        });
        let sum = |pick: &dyn Fn(usize) -> f64| (0..counts.len()).map(pick).sum::<f64>();
        let of_bin = |b: usize| {
            let (seen, there) = (sum(&|i| counts[i].0[b]), sum(&|i| counts[i].1[b]));
            // A bin without draws is still possible, if barely.
            if there > 0.0 {
                seen.max(1e-3) / there
            } else {
                0.0
            }
        };
        let bins = (0..BINS).map(of_bin).collect();
        Some(Kernel { width, bins })
    }

    /// The likeliest input given output `y`.
    fn guess(&self, y: WordId, shares: &[f64], similarity: &Similarity) -> Option<WordId> {
        let distances = similarity.distances(y)?;
        let mut best = (0.0, 0);
        for (w, (d, share)) in distances.iter().zip(shares).enumerate() {
            let joint = share * self.bins[bin(*d, self.width)];
            if joint > best.0 {
                best = (joint, w);
            }
        }
        Some(best.1 as WordId)
    }
}

fn bin(distance: f32, width: f32) -> usize {
    ((distance / width) as usize).min(BINS - 1)
}

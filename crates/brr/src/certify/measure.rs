//! The smallest epsilon that a table of weights gives, over all pairs.
//!
//! Near pairs are listed ([`Profile`]): each is looked at. Of the others, at
//! distance k > reach, only those can matter whose normalizers differ so much
//! that (L(k) + |ln Z - ln Z'|) / k exceeds what the near pairs have already
//! shown. That is a least difference, over all such k; with words sorted by
//! ln Z, the pairs that reach it are found without looking at the others, and
//! *their* distances are computed. So no pair is left out, and the result is the
//! maximum over all pairs.

use std::ops::RangeInclusive;

use super::certificate::WorstPair;
use super::weights::Weights;
use crate::codes::{CodeRows, hamming};
use crate::frequency::{self, Keep};

use super::profile::Profile;
use crate::parallel;

/// What weights do on a model's codes.
#[derive(Clone, Debug, PartialEq)]
pub struct Measure {
    /// The certified epsilon, rounded up.
    pub epsilon: f64,
    /// The pair that sets it: the lowest ids among equals.
    pub worst_pair: WorstPair,
    /// Smallest and largest Z.
    pub normalizers: RangeInclusive<u128>,
    /// Share of words that stay as they are.
    pub keep: Keep,
}

/// The pair that asks most so far.
#[derive(Clone, Copy)]
struct Worst {
    epsilon: f64,
    pair: (u32, u32),
    distance: usize,
}

impl Worst {
    const NONE: Worst = Worst {
        epsilon: 0.0,
        pair: (0, 0),
        distance: 0,
    };

    fn exceeds(&self, other: &Worst) -> bool {
        self.epsilon > other.epsilon || (self.epsilon == other.epsilon && self.pair < other.pair)
    }

    fn or(self, other: Worst) -> Worst {
        if other.exceeds(&self) { other } else { self }
    }
}

/// Looks at what `weights` give over all pairs of `rows`.
pub fn measure(profile: &Profile, rows: &CodeRows, weights: &Weights, threads: usize) -> Measure {
    let z = profile.normalizers(weights.table(), threads);
    let logs: Vec<f64> = z.iter().map(|&z| Weights::log_normalizer(z)).collect();
    let change = weights.log_change();
    let near = worst_near(profile, &logs, &change);
    let worst = near.or(worst_far(profile, rows, &logs, &change, near, threads));
    let top = weights.table()[0] as f64;
    let stays = || z.iter().map(|&z| top / z as f64);
    Measure {
        epsilon: worst.epsilon,
        worst_pair: WorstPair {
            words: worst.pair,
            distance: worst.distance as u32,
        },
        keep: Keep {
            weighted: frequency::mean(stays()),
            plain: stays().sum::<f64>() / z.len() as f64,
        },
        normalizers: *z.iter().min().expect("a word")..=*z.iter().max().expect("a word"),
    }
}

/// The worst of the listed pairs. Pairs at distance 0 have equal codes and are
/// passed over.
fn worst_near(profile: &Profile, logs: &[f64], change: &[f64]) -> Worst {
    let difference = |&(a, b): &(u32, u32)| (logs[a as usize] - logs[b as usize]).abs();
    let at = |(k, pairs): (usize, &Vec<(u32, u32)>)| {
        let most = pairs.iter().map(difference).fold(-1.0, f64::max);
        let pair = *pairs.iter().find(|pair| difference(pair) == most)?;
        Some(Worst {
            epsilon: Weights::pair_epsilon(change[k], most, k),
            pair,
            distance: k,
        })
    };
    let distances = profile.near().iter().enumerate().skip(1);
    distances.filter_map(at).fold(Worst::NONE, Worst::or)
}

/// The worst of the pairs that are not listed and may exceed `near`.
fn worst_far(
    profile: &Profile,
    rows: &CodeRows,
    logs: &[f64],
    change: &[f64],
    near: Worst,
    threads: usize,
) -> Worst {
    let first = profile.near().len();
    let mut order: Vec<u32> = (0..logs.len() as u32).collect();
    order.sort_by(|&a, &b| logs[a as usize].total_cmp(&logs[b as usize]));
    let sorted: Vec<f64> = order.iter().map(|&w| logs[w as usize]).collect();
    let least = least_difference(change, near.epsilon, first);
    let parts = parallel::map(threads, order.len().div_ceil(64), |part| {
        let mut worst = near;
        for i in part * 64..order.len().min((part + 1) * 64) {
            let from = sorted
                .partition_point(|&log| log < sorted[i] + least)
                .max(i + 1);
            for &other in &order[from..] {
                let pair = (order[i].min(other), order[i].max(other));
                let k = hamming(rows.row(pair.0 as usize), rows.row(pair.1 as usize)) as usize;
                if k >= first {
                    let difference = logs[other as usize] - sorted[i];
                    let epsilon = Weights::pair_epsilon(change[k], difference, k);
                    worst = worst.or(Worst {
                        epsilon,
                        pair,
                        distance: k,
                    });
                }
            }
        }
        worst
    });
    parts.into_iter().fold(near, Worst::or)
}

/// A difference of ln Z below which no pair at distance `first` or more asks for
/// more than `epsilon`.
///
/// (L(k) + x) / k > epsilon takes x > k epsilon - L(k). A millionth less
/// is more than rounding can be, and costs a few pairs.
fn least_difference(change: &[f64], epsilon: f64, first: usize) -> f64 {
    let asks = (first..change.len()).map(|k| k as f64 * epsilon - change[k]);
    let least = asks.fold(f64::INFINITY, f64::min);
    (least - 1e-6 * least.abs() - 1e-9).max(0.0)
}

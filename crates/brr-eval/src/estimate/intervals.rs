//! How far an estimate may be off.
//!
//! **Noise.** The Poisson bootstrap: every document gets a random weight with mean and
//! variance 1, and the whole estimation is run again, from the same start and with
//! as many turns. Half an interval is 1.96 times the standard deviation of a word's share
//! over these runs, or what follows.
//!
//! **What can be told at all.** Near 0 shares hardly move from run to run, since they
//! cannot fall below. But no estimate can be surer than the information that the outputs
//! hold about a word (Cramér and Rao): with n words received, the variance of f(w) is at
//! least 1 / (n * sum over y of (C(y | w) - p(y))^2 / p(y)), even if all other words
//! were known.
//!
//! **Bias.** An estimate that stops early is drawn toward where it started. Going on for
//! three times as many turns shows what it may still be short of: the interval is
//! stretched to there.
//!
//! Together they cover the truth about as often as they say for words that the data
//! tell anything of. `experiments/estimate` has the measured shares.

use brr_train::parallel;
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

use super::Plan;
use super::channel::WordChannel;
use super::documents::Documents;
use super::update::{Frequencies, predict, run};

/// How many times as many turns show the bias.
const FURTHER: usize = 3;
/// Half the width of a 95 % interval, in standard deviations.
const Z95: f64 = 1.96;

/// Half widths of all shares, and where they go with more turns.
pub(super) struct Spread {
    pub(super) error: Vec<f64>,
    pub(super) further: Vec<f64>,
}

impl Spread {
    /// Of the estimate `found`, reached from `first` in so many turns.
    pub(super) fn of(
        channel: &WordChannel,
        documents: &Documents,
        first: &Frequencies,
        found: &Frequencies,
        turns: usize,
        plan: &Plan,
    ) -> Spread {
        let zero = vec![0.0; found.words.len()];
        if plan.resamplings == 0 {
            return Spread {
                error: zero,
                further: found.words.clone(),
            };
        }
        let further = run(channel, &documents.counts(), found.clone(), FURTHER * turns);
        // Sums of squares in parts, so that memory does not grow with the resamplings.
        let threads = plan.threads.clamp(1, plan.resamplings);
        let sums = parallel::map(threads, PARTS, |part| {
            let mut sums = zero.clone();
            for number in (part..plan.resamplings).step_by(PARTS) {
                let counts = resample(documents, plan.seed, number as u64);
                let other = run(channel, &counts, first.clone(), turns);
                let squares = combine(&other.words, &found.words, |a, f| (a - f) * (a - f));
                sums = combine(&sums, &squares, |a, b| a + b);
            }
            sums
        });
        let total = sums.iter().fold(zero, |a, b| combine(&a, b, |a, b| a + b));
        let least = least_variance(channel, found, documents.total() as f64);
        let half =
            |sum: f64, least: f64| Z95 * libm::sqrt((sum / plan.resamplings as f64).max(least));
        Spread {
            error: combine(&total, &least, half),
            further: further.words,
        }
    }
}

/// The smallest variance that an unbiased estimate of each share can have.
fn least_variance(channel: &WordChannel, found: &Frequencies, total: f64) -> Vec<f64> {
    let predicted = predict(channel, found);
    let over = |x: f64, y: usize| x / predicted[y].max(f64::MIN_POSITIVE);
    let background = channel.background();
    let of_background: f64 = (0..predicted.len())
        .map(|y| over(background[y] * background[y], y))
        .sum();
    // Shares are below 1, and so are their variances.
    let variance = |information: f64| (1.0 / (total * information).max(1.0)).min(1.0);
    let word = |w: usize| {
        let rest = channel.rest(w);
        let (outputs, excess) = channel.row(w);
        let stored = outputs.iter().zip(excess).map(|(y, e)| {
            let (y, e) = (*y as usize, f64::from(*e));
            over(e * (e + 2.0 * rest * background[y]), y)
        });
        variance(stored.sum::<f64>() + rest * rest * of_background - 1.0)
    };
    (0..channel.words()).map(word).collect()
}

/// Parts of the resamplings.
const PARTS: usize = 8;

fn combine(a: &[f64], b: &[f64], of: impl Fn(f64, f64) -> f64) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| of(*a, *b)).collect()
}

fn resample(documents: &Documents, seed: u64, number: u64) -> Vec<f64> {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    rng.set_stream(number);
    documents.weighted(|_| poisson(&mut rng))
}

/// A Poisson number of mean 1, by inversion.
fn poisson(rng: &mut ChaCha20Rng) -> f64 {
    let u = (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
    let (mut k, mut term) = (0.0, libm::exp(-1.0));
    let mut end = term;
    while u >= end && k < 20.0 {
        k += 1.0;
        term /= k;
        end += term;
    }
    k
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean and variance 1; 200,000 draws put both within 0.02 but with probability below 1e-9.
    #[test]
    fn weights_have_mean_and_variance_one() {
        let mut rng = ChaCha20Rng::seed_from_u64(5);
        let draws: Vec<f64> = (0..200_000).map(|_| poisson(&mut rng)).collect();
        let mean = draws.iter().sum::<f64>() / draws.len() as f64;
        let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / draws.len() as f64;
        assert!((mean - 1.0).abs() < 0.02 && (variance - 1.0).abs() < 0.02);
    }
}

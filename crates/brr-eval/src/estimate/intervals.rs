//! How far an estimate may be off.
//!
//! **Noise.** The parametric bootstrap: were the estimate the truth, outputs would be
//! Poisson numbers with the means that it predicts. They are drawn again and again, and the
//! whole estimation is run on them, from the same start and with as many iterations. Half an
//! interval is 1.96 times the standard deviation of a word's share over these runs, or what
//! follows. So words are taken as independent draws from a source: for the number of
//! occurrences in these very texts that is on the safe side, for a source whose words come in
//! bursts it is not.
//!
//! **What can be told at all.** Near 0 shares hardly move from run to run, since they
//! cannot fall below. But the outputs hold only so much information about a word: with n
//! words received, half a width is taken from a variance of at least
//! 1 / (n * sum over y of (C(y | w) - p(y))^2 / p(y)), what an unbiased estimate of a rare
//! word has at best (Cramér and Rao).
//!
//! **Bias.** An estimate that stops early is drawn toward where it started, and one that
//! goes on gives rare words, which cannot have less than nothing, what it takes from
//! frequent ones. Both show in the runs of the bootstrap, whose truth is known: how far they
//! are off on average, the estimate may be off, too, and the interval is stretched by that.
//! It is stretched as well to where four times as many iterations lead, and no fewer than some.
//!
//! `experiments/estimate` has the measured shares of words within their intervals.

use brr::parts::parallel;
use brr_build::seeded::normal;
use chacha20::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

use super::EstimateOptions;
use super::channel::WordChannel;
use super::update::{Frequencies, predict, run};

/// How many times as many iterations, and how many at least, show the bias.
const FURTHER: usize = 3;
const FURTHER_LEAST: usize = 30;
/// Half the width of a 95 % interval, in standard deviations.
const Z95: f64 = 1.96;

/// Ends of the intervals of all shares.
pub(super) struct Intervals {
    pub(super) low: Vec<f64>,
    pub(super) high: Vec<f64>,
}

impl Intervals {
    /// Of the estimate `found`, reached from `first` in so many iterations.
    pub(super) fn of(
        channel: &WordChannel,
        counts: &[f64],
        first: &Frequencies,
        found: &Frequencies,
        iterations: usize,
        plan: &EstimateOptions,
    ) -> Intervals {
        let share = &found.words;
        if plan.resamplings < 2 {
            let (low, high) = (share.clone(), share.clone());
            return Intervals { low, high };
        }
        let total: f64 = counts.iter().sum();
        let predicted = predict(channel, found);
        let further = {
            let iterations = (FURTHER * iterations).max(FURTHER_LEAST);
            run(channel, counts, found.clone(), iterations).words
        };
        let errors = parallel::map(plan.threads.clamp(1, PARTS), PARTS, |part| {
            let mut errors = Errors::none(share.len());
            for number in (part..plan.resamplings).step_by(PARTS) {
                let drawn = draw(&predicted, total, plan.seed, number as u64);
                let again = run(channel, &drawn, first.clone(), iterations);
                errors.add(&again.words, share);
            }
            errors
        });
        // Sums in parts, so that memory does not grow with the resamplings.
        let none = Errors::none(share.len());
        let errors = errors.iter().fold(none, Errors::join);
        let least = least_variance(channel, &predicted, total);
        let n = plan.resamplings as f64;
        let end = |w: usize, side: fn(f64, f64) -> f64, sign: f64| {
            let bias = errors.sum[w] / n;
            let spread = (errors.squares[w] - n * bias * bias) / (n - 1.0);
            let variance = spread.max(least[w]);
            let centre = side(side(share[w], share[w] - bias), further[w]);
            centre + sign * Z95 * libm::sqrt(variance)
        };
        let ends = |side, sign| (0..share.len()).map(move |w| end(w, side, sign));
        Intervals {
            low: ends(f64::min, -1.0).collect(),
            high: ends(f64::max, 1.0).collect(),
        }
    }
}

/// How far off the runs of the bootstrap are, added up.
struct Errors {
    sum: Vec<f64>,
    squares: Vec<f64>,
}

impl Errors {
    fn none(words: usize) -> Errors {
        let (sum, squares) = (vec![0.0; words], vec![0.0; words]);
        Errors { sum, squares }
    }

    fn add(&mut self, found: &[f64], truth: &[f64]) {
        for (w, (found, truth)) in found.iter().zip(truth).enumerate() {
            let error = found - truth;
            self.sum[w] += error;
            self.squares[w] += error * error;
        }
    }

    fn join(self, other: &Errors) -> Errors {
        let add = |a: Vec<f64>, b: &[f64]| a.iter().zip(b).map(|(a, b)| a + b).collect();
        Errors {
            sum: add(self.sum, &other.sum),
            squares: add(self.squares, &other.squares),
        }
    }
}

/// The smallest variance that an unbiased estimate of each share can have.
fn least_variance(channel: &WordChannel, predicted: &[f64], total: f64) -> Vec<f64> {
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

/// Counts of outputs with these shares, as if words were received anew.
fn draw(predicted: &[f64], total: f64, seed: u64, number: u64) -> Vec<f64> {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    rng.set_stream(number);
    predicted
        .iter()
        .map(|p| poisson(p * total, &mut rng))
        .collect()
}

/// Above this mean a Poisson number is as good as normal.
const MANY: f64 = 50.0;

/// A Poisson number: by inversion, or rounded from a normal one if the mean is large.
fn poisson(mean: f64, rng: &mut ChaCha20Rng) -> f64 {
    if mean > MANY {
        return libm::round(mean + libm::sqrt(mean) * normal(rng)).max(0.0);
    }
    let u = (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
    let (mut k, mut term) = (0.0, libm::exp(-mean));
    let mut end = term;
    while u >= end && k < 4.0 * MANY {
        k += 1.0;
        term *= mean / k;
        end += term;
    }
    k
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 200,000 draws put mean and variance within these bounds but with probability below 1e-9.
    #[test]
    fn poisson_numbers_have_their_mean_as_variance() {
        let mut rng = ChaCha20Rng::seed_from_u64(5);
        for expected in [0.01, 1.0, 40.0, 1000.0] {
            let draws: Vec<f64> = (0..200_000).map(|_| poisson(expected, &mut rng)).collect();
            let mean = draws.iter().sum::<f64>() / draws.len() as f64;
            let squares = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>();
            let variance = squares / draws.len() as f64;
            assert!((mean - expected).abs() < 0.02 * expected.sqrt());
            let spread = (2.0 + 1.0 / expected).sqrt() * expected;
            assert!((variance - expected).abs() < 0.02 * spread);
        }
    }
}

//! How far an estimate may be off.
//!
//! The target is the count of a word in *these* texts, so all that is random is the mechanism's
//! noise. Were the true counts f, outputs would have the covariance
//!
//! ```text
//! sum over w of f(w) (diag(P_w) - P_w P_w^T),     P_w = Pr[. | w],
//! ```
//!
//! and a solution of the linear system, which is unbiased, would have what the system makes
//! of it. It is found by **resampling**: outputs of estimated counts are drawn from the rows
//! again and again, and the system is solved for what they are off from their mean. Where rows
//! were drawn themselves, from m draws each, they are off as well, and by as much as f^2 / m more
//! occurrences would be: these are added.
//!
//! **Intervals** are those values of f that the solution is within t standard deviations of, t
//! Student's quantile for the number of resamplings (score intervals, after Wilson 1927): the
//! variance grows with f itself by (1 - k) / k, k the probability to stay, and taking
//! that at the estimate would leave intervals of rare words too short.
//!
//! **Unknown tokens** are one more row of the system, q, with a count u. Outputs do not
//! tell it from the words: the solution for any u is g - u x, g the solution for the outputs and x
//! that for q, which is a little of every word. But no word occurs less than 0 times, so the
//! rarer half of the vocabulary bounds u from above. If u is not given, an interval holds for
//! every u from 0 to there.

use brr::parts::parallel;
use chacha20::ChaCha20Rng;
use rand_core::SeedableRng;

use crate::channel::WordChannel;
use crate::interval::student;

/// Draws of a word in one resampling; more are scaled up from so many.
const MOST: f64 = 2000.0;
/// Occurrences too few to make a difference.
const NONE: f64 = 1e-3;
/// Parts of the work.
const PARTS: usize = 8;

/// The variance of each word's solution, as a function of its own count: fixed + slope * count.
pub(crate) struct Variances {
    pub(crate) fixed: Vec<f64>,
    pub(crate) slope: Vec<f64>,
    /// Half a 95 % interval, in standard deviations.
    pub(crate) quantile: f64,
}

impl Variances {
    /// As if every output were as frequent as `outputs` and all confusion with other words were
    /// among them: a start.
    pub(crate) fn rough(outputs: &[f64], stays: &[f64]) -> Variances {
        let fixed = outputs.iter().zip(stays).map(|(c, k)| c / (k * k));
        Variances {
            fixed: fixed.collect(),
            slope: slope(stays),
            quantile: 2.0,
        }
    }

    /// From solutions of resampled outputs, drawn as if words had these counts.
    pub(crate) fn resampled(errors: &[Vec<f64>], counts: &[f64], stays: &[f64]) -> Variances {
        let freedom = errors.len() as f64 - 1.0;
        let slope = slope(stays);
        let fixed = |w: usize| {
            let all = errors.iter().map(|e| e[w] * e[w]).sum::<f64>() / freedom;
            (all - slope[w] * counts[w]).max(0.0)
        };
        Variances {
            fixed: (0..counts.len()).map(fixed).collect(),
            quantile: student(freedom, 0.05),
            slope,
        }
    }

    /// Counts from which a solution is no farther than chance takes it.
    pub(crate) fn interval(&self, word: usize, solution: f64) -> (f64, f64) {
        let (fixed, slope, t) = (self.fixed[word], self.slope[word], self.quantile);
        let shift = t * t * slope / 2.0;
        let inside = fixed + slope * solution + t * t * slope * slope / 4.0;
        let half = t * inside.max(0.0).sqrt();
        let (low, high) = (solution + shift - half, solution + shift + half);
        (low.max(0.0), high.max(0.0))
    }
}

fn slope(stays: &[f64]) -> Vec<f64> {
    stays.iter().map(|k| (1.0 - k).max(0.0) / k).collect()
}

/// The most unknown tokens that there may be: the rarer half of the words, `solution` without
/// and `share` for one unknown token, must not have occurred less than 0 times.
pub(crate) fn most_unknown(solution: &[f64], share: &[f64], errors: &[Vec<f64>]) -> f64 {
    let rare = |x: &[f64]| x[x.len() / 2..].iter().sum::<f64>();
    let freedom = errors.len() as f64 - 1.0;
    let variance = errors.iter().map(|e| rare(e) * rare(e)).sum::<f64>() / freedom;
    let most = rare(solution) + student(freedom, 0.05) * variance.sqrt();
    if rare(share) > 0.0 {
        (most / rare(share)).max(0.0)
    } else {
        f64::INFINITY
    }
}

/// How far outputs of these counts are off from their mean, `runs` times.
pub(crate) fn deviations(
    channel: &WordChannel<'_>,
    counts: &[f64],
    unknown: f64,
    runs: usize,
    seed: u64,
    threads: usize,
) -> Vec<Vec<f64>> {
    let words = counts.len();
    // Occurrences with the variance of these and of the row's own draws.
    let weight = |f: f64, draws: Option<f64>| f + draws.map_or(0.0, |m| f * f / m.max(1.0));
    let drawn = |weight: f64| {
        let times = weight.ceil().clamp(1.0, MOST);
        (times as usize, (weight / times).sqrt() as f32)
    };
    let generator = |number: usize| {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        rng.set_stream(number as u64);
        rng
    };
    let parts = parallel::map(threads, PARTS, |part| {
        let mut sums = vec![vec![0f32; words]; runs];
        for w in (part..words).step_by(PARTS).filter(|w| counts[*w] > NONE) {
            let (times, each) = drawn(weight(counts[w], channel.draws(w)));
            channel.sample(w, times, each, &mut generator(w), &mut sums);
        }
        if part == 0 && unknown > NONE {
            let (times, each) = drawn(weight(unknown, channel.unknown_draws()));
            channel.sample_unknown(times, each, &mut generator(words), &mut sums);
        }
        sums
    });
    let sum = |run: usize, y: usize| parts.iter().map(|p| f64::from(p[run][y])).sum::<f64>();
    let mut deviations: Vec<Vec<f64>> = (0..runs)
        .map(|run| (0..words).map(|y| sum(run, y)).collect())
        .collect();
    for y in 0..words {
        let mean = deviations.iter().map(|d| d[y]).sum::<f64>() / runs as f64;
        deviations.iter_mut().for_each(|d| d[y] -= mean);
    }
    deviations
}

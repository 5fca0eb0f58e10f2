//! How far an estimate may be off.
//!
//! The target is the count of a word in *these* texts, so all that is random is the mechanism's
//! noise. Were the true counts f, outputs would have the covariance
//!
//! ```text
//! sum over w of f(w) (diag(P_w) - P_w P_w^T)  =  diag(E c) - sum over w of f(w) P_w P_w^T,     P_w = Pr[. | w],
//! ```
//!
//! c the counts of outputs. The linear system turns P_w into the word w alone, so its solution, which is unbiased, has for
//! each word the variance that it would have if all c(y) were independent with the variance E c(y), less f(w). The
//! received c(y) stands for its mean: no guess at the counts is needed, which a prior would draw toward itself. What the
//! system makes of independent outputs is found by solving it for **random signs**: c(y)^(1/2) or -c(y)^(1/2) at every y (Hutchinson
//! 1990). Where rows were drawn themselves, from m draws each, they are off as well, and by as much as f^2 / m more
//! occurrences would be: these are added.
//!
//! **Intervals** are those values of f that the solution is within t standard deviations of, t
//! Student's quantile for the number of solutions with random signs (score intervals, after Wilson 1927): the
//! variance grows with f itself by (1 - k) / k, k the probability to stay, and taking
//! that at the estimate would leave intervals of rare words too short.
//!
//! **Unknown tokens** are one more row of the system, q, with a count u. Outputs do not
//! tell it from the words: the solution for any u is g - u x, g the solution for the outputs and x
//! that for q, which is a little of every word. But no word occurs less than 0 times, so the
//! rarer half of the vocabulary bounds u from above. If u is not given, an interval holds for
//! every u from 0 to there.

use brr_build::seeded::uniform;
use chacha20::ChaCha20Rng;
use rand_core::SeedableRng;

use crate::channel::WordChannel;
use crate::interval::student;

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

    /// From what the system makes of random signs, at these solutions.
    pub(crate) fn of_signs(errors: &[Vec<f64>], solution: &[f64], stays: &[f64]) -> Variances {
        let runs = errors.len() as f64;
        let fixed = |w: usize| {
            let all = errors.iter().map(|e| e[w] * e[w]).sum::<f64>() / runs;
            // Less the count, and less what grows with the count.
            (all - solution[w] / stays[w]).max(0.0)
        };
        Variances {
            fixed: (0..solution.len()).map(fixed).collect(),
            quantile: student(runs, 0.05),
            slope: slope(stays),
        }
    }

    /// At a count.
    pub(crate) fn of(&self, word: usize, count: f64) -> f64 {
        self.fixed[word] + self.slope[word] * count
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
    let freedom = errors.len() as f64;
    let variance = errors.iter().map(|e| rare(e) * rare(e)).sum::<f64>() / freedom;
    let most = rare(solution) + student(freedom, 0.05) * variance.sqrt();
    if rare(share) > 0.0 {
        (most / rare(share)).max(0.0)
    } else {
        f64::INFINITY
    }
}

/// Outputs with random signs that have the variance of these, `runs` times. `counts` are about those of the words.
pub(crate) fn signs(
    channel: &WordChannel<'_>,
    outputs: &[f64],
    counts: &[f64],
    runs: usize,
    seed: u64,
) -> Vec<Vec<f64>> {
    let mut variances = outputs.to_vec();
    if channel.draws(0).is_some() {
        let own = |(w, f): (usize, &f64)| f * f / channel.draws(w).unwrap_or(1.0).max(1.0);
        let own: Vec<f64> = counts.iter().enumerate().map(own).collect();
        let more = channel.outputs(&[&own]).remove(0);
        variances.iter_mut().zip(more).for_each(|(v, m)| *v += m);
    }
    let deviations: Vec<f64> = variances.iter().map(|v| v.max(0.0).sqrt()).collect();
    let run = |number: usize| {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        rng.set_stream(number as u64);
        let sign = |d: &f64| if uniform(&mut rng) < 0.5 { *d } else { -d };
        deviations.iter().map(sign).collect()
    };
    (0..runs).map(run).collect()
}

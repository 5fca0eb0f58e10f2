//! Exact confidence intervals of a probability from counts (Clopper and Pearson
//! 1934): they hold for every probability and every number of trials, so a stated
//! false-alarm rate is a bound and not an approximation.

use serde::Serialize;

/// False-alarm rate of a whole test or audit, all its comparisons together.
pub const ALPHA: f64 = 1e-6;

/// Error rate of intervals that are shown to people.
pub const SHOWN: f64 = 0.05;

/// A probability or mean with its confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// The best single number.
    pub value: f64,
    /// Lower end of the 95 % interval; the value itself if it is exact.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Estimate {
    /// A number that was computed, not estimated.
    pub fn exact(value: f64) -> Estimate {
        Estimate {
            value,
            low: value,
            high: value,
        }
    }

    /// Mean of independent values, with the normal interval: for many values of
    /// one kind, such as the shares of a random sample of words.
    pub fn mean(values: &[f64]) -> Estimate {
        Estimate::weighted_mean(values, |_| 1.0)
    }

    /// As [`mean`](Self::mean), each value with a weight.
    pub fn weighted_mean(values: &[f64], weight: impl Fn(usize) -> f64) -> Estimate {
        let total: f64 = (0..values.len()).map(&weight).sum();
        let share = |i: usize| weight(i) / total;
        let mean = (0..values.len()).map(|i| share(i) * values[i]).sum::<f64>();
        let squares = (0..values.len()).map(|i| (share(i) * (values[i] - mean)).powi(2));
        let n = values.len() as f64;
        let half = 1.96 * (squares.sum::<f64>() * n / (n - 1.0).max(1.0)).sqrt();
        Estimate {
            value: mean,
            low: mean - half,
            high: mean + half,
        }
    }

    /// Mean of a few trials, with Student's interval; one trial has none.
    pub fn of_trials(values: &[f64]) -> Estimate {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n.max(1.0);
        if values.len() < 2 {
            return Estimate::exact(mean);
        }
        let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0);
        let half = student(n - 1.0, SHOWN) * (variance / n).sqrt();
        Estimate {
            value: mean,
            low: mean - half,
            high: mean + half,
        }
    }

    /// Mean of a few trials of one thing, all measured on the same texts, whose choice alone makes
    /// a 95 % interval of `half` to either side.
    ///
    /// More trials do not make up for few texts, so the two variances are added; trials that
    /// agree need no wide interval however few they are, so the degrees of freedom are those of
    /// the sum (Welch and Satterthwaite), the texts having many.
    pub fn of_trials_on_texts(values: &[f64], half: f64) -> Estimate {
        const MANY: f64 = 1e4;
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n.max(1.0);
        let squares = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>();
        let trials = squares / (n - 1.0).max(1.0) / n.max(1.0);
        let total = trials + (half / 1.96).powi(2);
        let freedom = (n - 1.0).max(1.0) * (total / trials).powi(2);
        let half = student(freedom.clamp(1.0, MANY), SHOWN) * total.sqrt();
        Estimate {
            value: mean,
            low: mean - half,
            high: mean + half,
        }
    }

    /// Keeps the interval within the range of a probability.
    pub fn clamped(self) -> Estimate {
        Estimate {
            low: self.low.max(0.0),
            high: self.high.min(1.0),
            ..self
        }
    }

    /// Whether it has no width.
    pub fn is_exact(&self) -> bool {
        self.low == self.high
    }
}

/// Successes out of trials.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Binomial {
    successes: u64,
    trials: u64,
}

impl Binomial {
    /// # Panics
    /// If there are more successes than trials.
    pub fn new(successes: u64, trials: u64) -> Binomial {
        assert!(successes <= trials, "more successes than trials");
        Binomial { successes, trials }
    }

    /// The share of successes; 0 of nothing.
    pub fn share(&self) -> f64 {
        self.successes as f64 / (self.trials as f64).max(1.0)
    }

    /// A number that the true probability falls below with probability at most
    /// `alpha`.
    pub fn lower(&self, alpha: f64) -> f64 {
        if self.successes == 0 {
            return 0.0;
        }
        let (k, n) = (self.successes as f64, self.trials as f64);
        // Pr[X >= k] = I_p(k, n - k + 1) rises with p; find where it is alpha.
        bisect(|p| beta_cdf(p, k, n - k + 1.0) < alpha).0
    }

    /// A number that the true probability exceeds with probability at most
    /// `alpha`.
    pub fn upper(&self, alpha: f64) -> f64 {
        1.0 - Binomial::new(self.trials - self.successes, self.trials).lower(alpha)
    }

    /// Lower and upper end that both hold but with probability `alpha`.
    pub fn interval(&self, alpha: f64) -> (f64, f64) {
        (self.lower(alpha / 2.0), self.upper(alpha / 2.0))
    }

    /// The share with its 95 % interval.
    pub fn estimate(&self) -> Estimate {
        let (low, high) = self.interval(SHOWN);
        Estimate {
            value: self.share(),
            low,
            high,
        }
    }
}

/// What Student's t with `freedom` degrees exceeds in size with probability `alpha`.
pub fn student(freedom: f64, alpha: f64) -> f64 {
    // Pr[|t| > x] = I_s(freedom/2, 1/2) with s = freedom / (freedom + x^2).
    let s = bisect(|s| beta_cdf(s, freedom / 2.0, 0.5) < alpha).0;
    (freedom / s - freedom).sqrt()
}

/// The two sides of the point in 0..1 where `below` turns false.
fn bisect(below: impl Fn(f64) -> bool) -> (f64, f64) {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..100 {
        let middle = (low + high) / 2.0;
        if middle == low || middle == high {
            break;
        }
        if below(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    (low, high)
}

/// Regularized incomplete beta function I_x(a, b).
fn beta_cdf(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return f64::from(x >= 1.0);
    }
    // The continued fraction converges quickly below the mean; mirror above.
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - beta_cdf(1.0 - x, b, a);
    }
    let log_front = libm::lgamma(a + b) - libm::lgamma(a) - libm::lgamma(b)
        + a * libm::log(x)
        + b * libm::log1p(-x);
    libm::exp(log_front) / a * beta_fraction(x, a, b)
}

/// Continued fraction of the incomplete beta function, by Lentz's method.
fn beta_fraction(x: f64, a: f64, b: f64) -> f64 {
    let nonzero = |v: f64| if v.abs() < 1e-300 { 1e-300 } else { v };
    let mut c = 1.0;
    let mut d = 1.0 / nonzero(1.0 - (a + b) * x / (a + 1.0));
    let mut fraction = d;
    for m in 1..10_000 {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut change = 1.0;
        for step in [even, odd] {
            d = 1.0 / nonzero(1.0 + step * d);
            c = nonzero(1.0 + step / c);
            change = c * d;
            fraction *= change;
        }
        if (change - 1.0).abs() < 1e-14 {
            break;
        }
    }
    fraction
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R: binom.test(k, n, conf.level = 1 - alpha)$conf.int
    #[test]
    fn known_intervals() {
        let check = |k, n, alpha, low: f64, high: f64| {
            let got = Binomial::new(k, n).interval(alpha);
            assert!((got.0 - low).abs() < 1e-7, "{k}/{n}: {got:?}");
            assert!((got.1 - high).abs() < 1e-7, "{k}/{n}: {got:?}");
        };
        check(5, 10, 0.05, 0.187_086_0, 0.812_914_0);
        check(0, 20, 0.05, 0.0, 0.168_433_5);
        check(20, 20, 0.05, 0.831_566_5, 1.0);
        // Pr[X = 0] = (1-p)^n = alpha/2 exactly.
        let p = 1.0 - (5e-7f64).powf(1e-5);
        check(0, 100_000, 1e-6, 0.0, p);
    }

    /// The defining property, from the binomial distribution itself.
    #[test]
    fn ends_are_where_the_tail_is_alpha() {
        let tail = |n: u64, k: u64, p: f64| -> f64 {
            let term = |i: u64| {
                let ln_choose = libm::lgamma(n as f64 + 1.0)
                    - libm::lgamma(i as f64 + 1.0)
                    - libm::lgamma((n - i) as f64 + 1.0);
                (ln_choose + i as f64 * p.ln() + (n - i) as f64 * (-p).ln_1p()).exp()
            };
            (k..=n).map(term).sum()
        };
        for (k, n) in [(1, 7), (3, 50), (70, 120), (499, 500)] {
            for alpha in [0.025, 1e-4, 1e-8] {
                let p = Binomial::new(k, n).lower(alpha);
                assert!(
                    (tail(n, k, p) / alpha - 1.0).abs() < 1e-6,
                    "{k}/{n} {alpha}"
                );
            }
        }
    }

    /// New trials and new texts of a classifier that is right in 70 % of texts: the intervals hold
    /// what is true in 95 % of cases, be the spread that of texts, of trials or of both.
    #[test]
    fn intervals_of_trials_hold_for_new_texts() {
        use rand_core::{Rng, SeedableRng};
        let mut rng = chacha20::ChaCha20Rng::seed_from_u64(1);
        let mut uniform = move || (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        for (trials, spread) in [(2, 0.0), (2, 0.05), (3, 0.05), (5, 0.05), (5, 0.02)] {
            let (mut held, mut width) = (0, 0.0);
            const RUNS: u32 = 2000;
            for _ in 0..RUNS {
                // Half of what a text is depends on the text, half on the trial.
                let easy: Vec<bool> = (0..200).map(|_| uniform() < 0.5).collect();
                let of_trial = |uniform: &mut dyn FnMut() -> f64| {
                    let shift = spread * (uniform() + uniform() + uniform() - 1.5);
                    let p = |easy: bool| {
                        if easy { 0.9 + shift } else { 0.5 + shift }
                    };
                    let right = easy.iter().filter(|e| uniform() < p(**e)).count();
                    right as f64 / 200.0
                };
                let values: Vec<f64> = (0..trials).map(|_| of_trial(&mut uniform)).collect();
                let mean = values.iter().sum::<f64>() / f64::from(trials);
                let texts = Binomial::new((mean * 200.0).round() as u64, 200).estimate();
                let e = Estimate::of_trials_on_texts(&values, (texts.high - texts.low) / 2.0);
                held += u32::from(e.low <= 0.7 && 0.7 <= e.high);
                width += (e.high - e.low) / f64::from(RUNS);
            }
            let share = f64::from(held) / f64::from(RUNS);
            assert!(share > 0.93, "{trials} trials, spread {spread}: {share}");
            assert!(width < 0.4, "{trials} trials, spread {spread}: {width}");
        }
        // Student's alone: 12.7 times the standard error of two trials.
        let two = Estimate::of_trials_on_texts(&[0.69, 0.71], 0.02);
        assert!(two.high - two.low < 0.1, "{two:?}");
    }

    #[test]
    fn means() {
        let e = Estimate::mean(&[1.0, 2.0, 3.0]);
        assert!((e.value - 2.0).abs() < 1e-12);
        assert!((e.high - e.value - 1.96 * (1.0f64 / 3.0).sqrt()).abs() < 1e-12);
        let e = Estimate::weighted_mean(&[1.0, 3.0], |i| [3.0, 1.0][i]);
        assert!((e.value - 1.5).abs() < 1e-12);
        assert!(Estimate::exact(0.3).is_exact());
        // Tables of Student's distribution: 12.706, 4.303, 2.262.
        for (freedom, t) in [(1.0, 12.706), (2.0, 4.303), (9.0, 2.262)] {
            assert!((student(freedom, 0.05) - t).abs() < 1e-3);
        }
        let e = Estimate::of_trials(&[1.0, 2.0, 3.0]);
        assert!((e.high - 2.0 - 4.3027 / 3f64.sqrt()).abs() < 1e-3);
        assert!(Estimate::of_trials(&[0.4]).is_exact());
    }
}

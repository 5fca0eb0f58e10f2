//! K-ary randomized response over the vocabulary: plain local differential
//! privacy, what metric privacy relaxes. At a given share of kept words, no mechanism here has a
//! smaller loss between *any* two words, and none has a larger one between near words.
//!
//! It is tree response with one weight for all levels above 0, and needs no tree for that.
//!
//! # Guarantee
//!
//! With integers A >= B > 0 and N words, the word itself is drawn with
//! probability A / S and each other word with B / S, S = A + (N - 1) B. For any
//! words w, w' and output y the ratio Pr[y | w] / Pr[y | w'] is 1, A / B or
//! B / A, so the mechanism is e-private for e = ln(A / B) between *all* pairs:
//! metric [`Metric::Discrete`].
//!
//! **Rounding.** B = 2^32 and A = B exp(epsilon), rounded *down* by more than the
//! floating-point error of its computation, so ln(A / B) <= epsilon holds of the
//! integers that are sampled; the epsilon reported is that of A, rounded up.
//!
//! **Tokens without a code** become a uniformly random word, by the same steps. 1/N lies between
//! B / S and A / S, so that costs at most e too.

use std::ops::{Range, RangeInclusive};

use super::{Channel, Emission, Mechanism, Observations};
use crate::codes::LANES;
use crate::epsilon::{Epsilon, round_up};
use crate::error::{Error, Result};
use crate::frequency::Keep;
use crate::guarantee::{Budget, Guarantee, Metric, PairDistances};
use crate::nearest::Sieve;
use crate::random::Noise;
use crate::vocabulary::WordId;

/// B: the weight of every word but the input.
const OTHER: u128 = 1 << 32;
/// Largest A: epsilon saturates at ln 2^58 = 40.2, where words practically stay.
const MOST: f64 = (1u128 << 90) as f64;
/// Relative safety margin of A; the reported epsilon adds at most 41 * 2^-48.
const MARGIN: f64 = 1.0 / (1u64 << 41) as f64;

/// K-ary randomized response.
#[derive(Clone, Copy, Debug)]
pub struct Kary {
    words: u128,
    own: u128,
    /// ln Pr[y | w] where y is w, and where it is another.
    log_row: [f32; 2],
}

impl Kary {
    /// At most `epsilon` between any two of `words` words.
    ///
    /// # Panics
    /// If there is no word.
    pub fn new(words: usize, epsilon: Epsilon) -> Kary {
        assert!(words > 0, "a vocabulary has words");
        let own = OTHER as f64 * libm::exp(epsilon.get()) * (1.0 - MARGIN);
        let mut kary = Kary {
            words: words as u128,
            own: (own.min(MOST) as u128).max(OTHER),
            log_row: [0.0; 2],
        };
        kary.log_row = [kary.keep(), kary.other()].map(|p| libm::log(p) as f32);
        kary
    }

    /// The mechanism over `words` words for a budget. A share of kept words is met from below.
    pub fn for_budget(words: usize, budget: Budget) -> Result<Kary> {
        let epsilon = match budget {
            Budget::Epsilon(value) => Epsilon::new(value)?,
            Budget::Bound(value) => {
                Budget::epsilon_for_bound(value, &PairDistances::discrete(words))?
            }
            Budget::Keep(share) => epsilon_keeping(words, share)?,
        };
        Ok(Kary::new(words, epsilon))
    }

    /// The expected share of words that are drawn as they were: exact, and the same for every word.
    pub fn expected_keep(&self) -> Keep {
        Keep {
            weighted: self.keep(),
            plain: self.keep(),
        }
    }

    /// The same as bounds.
    pub fn keep_within(&self) -> RangeInclusive<f64> {
        self.keep()..=self.keep()
    }

    /// Probability that a word stays.
    pub fn keep(&self) -> f64 {
        self.own as f64 / self.total() as f64
    }

    /// Probability of each other word.
    pub fn other(&self) -> f64 {
        OTHER as f64 / self.total() as f64
    }

    fn total(&self) -> u128 {
        self.own + (self.words - 1) * OTHER
    }

    /// A number below the total to a word: the first A are the word itself, then
    /// comes a stretch of B for each of the others in order. Both answers are
    /// computed, so that the time does not tell which one it was.
    fn word_at(&self, word: u128, u: u128) -> u128 {
        let other = u.wrapping_sub(self.own) / OTHER;
        let other = other + u128::from(other >= word);
        if u < self.own { word } else { other }
    }
}

/// A word stays with probability e^c / (e^c + N - 1), which is solved for c; the weights, which are
/// rounded down, keep no more.
fn epsilon_keeping(words: usize, share: f64) -> Result<Epsilon> {
    let others = words.saturating_sub(1) as f64;
    let epsilon = Epsilon::new(libm::log(share / (1.0 - share) * others));
    epsilon.map_err(|_| Error::KeepOutOfReach {
        asked: share,
        lowest: 1.0 / (others + 1.0),
        highest: 1.0,
    })
}

impl Channel for Kary {
    fn row(&self, word: WordId, out: &mut [f64]) {
        out.fill(self.other());
        out[word as usize] = self.keep();
    }

    fn outputs(&self, counts: &[f64]) -> Option<Vec<f64>> {
        let (keep, other) = (self.keep(), self.other());
        let elsewhere = other * counts.iter().sum::<f64>();
        let output = |count: &f64| (keep - other) * count + elsewhere;
        Some(counts.iter().map(output).collect())
    }

    /// Pr[y | w] is Pr[w | y].
    fn means(&self, values: &[f64]) -> Option<Vec<f64>> {
        self.outputs(values)
    }

    fn kept(&self) -> Option<Vec<f64>> {
        Some(vec![self.keep(); self.words as usize])
    }
}

/// One likelihood for the word that was drawn, another for all others.
impl Emission for Kary {
    fn table(&self) -> &[f32] {
        &self.log_row
    }

    fn unknown(&self) -> f32 {
        -libm::log(self.words as f64) as f32
    }

    fn steps(&self, observations: &Observations, i: usize, out: &mut [u16]) {
        let drawn = observations.drawn();
        out.fill(1);
        out[drawn[i] as usize] = 0;
    }

    fn sift(&self, observations: &Observations, which: Range<usize>, sieve: &mut dyn Sieve) {
        let drawn = observations.drawn();
        for (query, &drawn) in drawn[which].iter().enumerate() {
            let drawn = drawn as usize;
            for first in (0..sieve.words()).step_by(LANES) {
                let words = first..sieve.words().min(first + LANES);
                match sieve.reach(query, words.clone()) {
                    None => {}
                    Some(0) if words.contains(&drawn) => sieve.take(query, drawn, 0),
                    Some(0) => {}
                    Some(_) => {
                        words.for_each(|word| sieve.take(query, word, u16::from(word != drawn)))
                    }
                }
            }
        }
    }

    fn steps_of(&self, observations: &Observations, i: usize, words: &[WordId]) -> Vec<u16> {
        let drawn = observations.drawn();
        words
            .iter()
            .map(|&word| u16::from(word != drawn[i]))
            .collect()
    }
}

impl Mechanism for Kary {
    fn emission(&self) -> Option<&dyn Emission> {
        Some(self)
    }

    fn channel(&self) -> Option<&dyn Channel> {
        Some(self)
    }

    fn name(&self) -> &'static str {
        "k-ary"
    }

    fn guarantee(&self) -> Guarantee {
        // ln(A/B) = ln(1 + (A - B)/B): the difference is exact.
        let excess = (self.own - OTHER) as f64 / OTHER as f64;
        let epsilon = round_up(libm::log1p(excess));
        let distances = PairDistances::discrete(self.words as usize);
        Guarantee::new(epsilon, Metric::Discrete, distances, epsilon)
    }

    fn privatize(&self, words: &[Option<WordId>], noise: &mut Noise) -> Vec<WordId> {
        let draw = |word: &Option<WordId>| {
            let range = word.map_or(self.words, |_| self.total());
            let u = noise.uniform_below(range);
            let drawn = self.word_at(word.unwrap_or(0).into(), u);
            word.map_or(u, |_| drawn) as WordId
        };
        words.iter().map(draw).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kary(words: usize, epsilon: f64) -> Kary {
        Kary::new(words, Epsilon::new(epsilon).unwrap())
    }

    #[test]
    fn reported_epsilon_is_never_above_what_was_asked() {
        let mut x = 1e-9;
        while x < 1e3 {
            let got = kary(1000, x).guarantee().epsilon;
            assert!(got <= x, "asked {x}, got {got}");
            if (1e-3..40.0).contains(&x) {
                assert!(got > x * (1.0 - 1e-6), "asked {x}, wasteful {got}");
            }
            x *= 1.07;
        }
        assert!(kary(3, 1e-12).guarantee().epsilon <= 1e-12);
    }

    /// Every number below the total, in a mechanism small enough to count.
    #[test]
    fn stretches_have_their_lengths() {
        let k = kary(4, 1.0);
        let edges = |word: u128| {
            let starts = (0..3).map(|i| k.word_at(word, k.own + i * OTHER));
            let ends = (1..=3).map(|i| k.word_at(word, k.own + i * OTHER - 1));
            assert!(k.word_at(word, 0) == word && k.word_at(word, k.own - 1) == word);
            (starts.collect::<Vec<_>>(), ends.collect::<Vec<_>>())
        };
        assert_eq!(edges(0), (vec![1, 2, 3], vec![1, 2, 3]));
        assert_eq!(edges(2), (vec![0, 1, 3], vec![0, 1, 3]));
        assert_eq!(edges(3), (vec![0, 1, 2], vec![0, 1, 2]));
    }

    /// The design's yardstick: 83 % at 12 for 33k words.
    #[test]
    fn keeps_what_the_formula_says() {
        let expected = 12f64.exp() / (12f64.exp() + 33_000.0 - 1.0);
        assert!((kary(33_000, 12.0).keep() - expected).abs() < 1e-9);
        let k = kary(33_000, 12.0);
        assert!((k.keep() + 32_999.0 * k.other() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn golden() {
        let mut noise = Noise::numbered(11);
        let out = kary(10, 1.5).privatize(&[Some(3); 12], &mut noise);
        assert_eq!(out, GOLDEN);
    }
    const GOLDEN: [WordId; 12] = [8, 3, 0, 5, 3, 3, 5, 6, 5, 3, 3, 6];

    #[test]
    fn frequencies() {
        let (k, n) = (kary(5, 1.2), 40_000);
        let mut noise = Noise::numbered(12);
        let mut seen = [0u64; 5];
        for y in k.privatize(&vec![Some(2); n], &mut noise) {
            seen[y as usize] += 1;
        }
        for (y, &count) in seen.iter().enumerate() {
            let p = if y == 2 { k.keep() } else { k.other() };
            let (mean, variance) = (n as f64 * p, n as f64 * p * (1.0 - p));
            // Five words at once: 5.3 standard deviations keep the rate below 1e-6 in all.
            let off = (count as f64 - mean).abs() / variance.sqrt();
            assert!(off < 5.3, "word {y}: {off} standard deviations off");
        }
    }

    #[test]
    fn budgets_are_met_from_below() {
        for share in [0.001, 0.1, 0.5, 0.9, 0.999] {
            let kept = Kary::for_budget(33_000, Budget::Keep(share))
                .unwrap()
                .keep();
            assert!(kept <= share && kept > share * (1.0 - 1e-9), "{kept}");
        }
        let bound = Kary::for_budget(33_000, Budget::Bound(10.0)).unwrap();
        let got = bound.guarantee().bound();
        assert!(got <= 10.0 && got > 9.999_999, "{got}");
        let out_of_reach = Kary::for_budget(10, Budget::Keep(0.05)).unwrap_err();
        assert!(matches!(out_of_reach, Error::KeepOutOfReach { .. }));
    }

    #[test]
    fn a_single_word_stays() {
        let mut noise = Noise::numbered(1);
        let out = kary(1, 1.0).privatize(&[Some(0), None], &mut noise);
        assert_eq!(out, [0, 0]);
        assert_eq!(kary(1, 1.0).guarantee().bound(), 0.0 + f64::MIN_POSITIVE);
    }

    /// The shorter ways are those of the rows.
    #[test]
    fn sums_of_rows_and_what_stays_are_those_of_the_rows() {
        let k = kary(7, 1.3);
        let counts = [3.0, 0.0, -1.5, 20.0, 1.0, 0.25, 8.0];
        let (mut row, mut sums) = ([0.0; 7], [0.0; 7]);
        let means = k.means(&counts).unwrap();
        for (word, count) in counts.iter().enumerate() {
            k.row(word as WordId, &mut row);
            let mean: f64 = row.iter().zip(&counts).map(|(p, value)| p * value).sum();
            assert!((mean - means[word]).abs() < 1e-12, "{mean} {}", means[word]);
            assert_eq!(k.kept().unwrap()[word], row[word]);
            let pairs = sums.iter_mut().zip(&row);
            pairs.for_each(|(sum, p)| *sum += count * p);
        }
        for (sum, output) in sums.iter().zip(k.outputs(&counts).unwrap()) {
            assert!((sum - output).abs() < 1e-12, "{sum} {output}");
        }
    }
}

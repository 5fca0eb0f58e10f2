//! Numbers that become numbers: integers by noise over a range, identifiers by new digits.
//!
//! Off by default: then a number is a token like any other, and becomes a random word.
//!
//! # Guarantee
//!
//! **What is public.** Whether a token is an integer, an identifier or neither is a function of its characters and of
//! the digits around it alone (`shape.rs`): its *class*. Two texts are neighbours only if they have numbers of the
//! same classes at the same places, and identifiers of the same shape: the same number of digits, with the same
//! marks between them. [`crate::Adjacency`] says so.
//!
//! **Identifiers.** Every digit is replaced by one that is drawn uniformly, independently of what it was. So the output
//! is a function of the shape and of the noise: the loss between neighbours is 0. No checksum is looked at, neither to
//! tell what is an identifier nor to write one.
//!
//! **Integers.** Let the range be low..=high, N = high - low, and `1/s` the loss wanted for each unit. The input is first
//! moved into the range. There are integer weights T\[0\] = 2^62, T\[k+1\] = ceil(a T\[k\]) for k up to N-1, and
//! R = ceil(T\[N-1\] a / (1 - a)), where a is a fraction over 2^63, at least exp(-1/s) and below 1. With S\[N\] = R and
//! S\[k\] = T\[k\] + S\[k+1\], noise of size k has weight T\[k\] in each direction for 0 < k < N, weight T\[0\] for k = 0, and
//! R for k = N; the sum of all, Z = T\[0\] + 2 S\[1\], does not depend on the input. The noise is added and the result
//! *clamped* to the range; nothing is renormalized. So, in units of 1/Z,
//!
//! ```text
//! Pr[y | v] = T[|y - v|]   for low < y < high
//! Pr[low | v] = S[v - low],  Pr[high | v] = S[high - v].
//! ```
//!
//! Between v and v + 1 the index of T or S changes by one. T\[k+1\] >= a T\[k\] by definition. S\[k+1\] >= a S\[k\] too: term by
//! term a T\[j\] <= T\[j+1\] for j < N-1, and what is left, a T\[N-1\] + a R <= R, is how R was chosen. All weights fall or stay,
//! so every ratio of probabilities lies between a and 1/a, and the loss between v and v' is at most |v - v'| ln(1/a). It is
//! stated rounded up, and is at most |v - v'| / s; N times that is the largest. The weights are the integers that are
//! sampled: one uniform number below Z, by an exact method ([`Noise`]), decides.
//!
//! **The work does not depend on the number**: every draw is compared with all N sums. **The form is canonical**: digits
//! without leading zeros or separators, a minus if it is negative.

mod shape;

use std::ops::RangeInclusive;
use std::sync::Arc;

pub(crate) use shape::{Class, classes, value};

use crate::epsilon::round_up;
use crate::error::{Error, Result};
use crate::random::Noise;

/// The denominator of a.
const UNIT: u128 = 1 << 63;
/// T\[0\].
const FIRST: u128 = 1 << 62;
/// Relative margin by which a is rounded up: more than the floating-point error of its computation.
const MARGIN: f64 = 1.0 / (1u64 << 45) as f64;
/// The widest range, and the largest scale.
const MOST: u32 = 1_000_000;

/// How integers become integers, and identifiers identifiers.
///
/// ```
/// # use std::sync::Arc;
/// # let model = Arc::new(brr::Model::open("../brr-english/src/english.brr")?);
/// use brr::{Numbers, Options, Privatizer, Span};
///
/// // Ages, with a loss of 1/5 for each year.
/// let numbers = Numbers::new(0..=120, 5)?;
/// let privatizer = Privatizer::new(model, Options::default())?.with_numbers(numbers);
/// let private = privatizer.privatize_spans("I am 47.", &[Span::new(5..7)])?;
/// let age: i64 = private.text[private.spans[0].clone()].parse().expect("an integer");
/// assert!((0..=120).contains(&age) && private.loss <= 24.001);
/// # Ok::<(), brr::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Numbers {
    low: i64,
    high: i64,
    scale: u32,
    epsilon: f64,
    /// S\[1\], S\[2\], ... S\[N\].
    tails: Arc<[u128]>,
}

impl Numbers {
    /// Integers of this range, at most 1,000,000 wide, with a loss of `1 / scale` for each unit. Larger and
    /// smaller ones are moved to its ends.
    pub fn new(range: RangeInclusive<i64>, scale: u32) -> Result<Numbers> {
        let (low, high) = range.into_inner();
        let width = high
            .checked_sub(low)
            .filter(|&width| (1..=i64::from(MOST)).contains(&width));
        let width = width.ok_or(Error::InvalidNumbers)? as usize;
        if !(1..=MOST).contains(&scale) {
            return Err(Error::InvalidNumbers);
        }
        let share = libm::exp(-1.0 / f64::from(scale)) * (1.0 + MARGIN);
        let a = libm::ceil(UNIT as f64 * share) as u128;
        let mut weights = vec![FIRST];
        for k in 1..width {
            weights.push((weights[k - 1] * a).div_ceil(UNIT));
        }
        let mut tails = vec![(weights[width - 1] * a).div_ceil(UNIT - a)];
        for k in (1..width).rev() {
            tails.push(tails[tails.len() - 1] + weights[k]);
        }
        tails.reverse();
        let rest = (UNIT - a) as f64 / UNIT as f64;
        Ok(Numbers {
            low,
            high,
            scale,
            epsilon: round_up(-libm::log1p(-rest)),
            tails: tails.into(),
        })
    }

    /// The range.
    pub fn range(&self) -> RangeInclusive<i64> {
        self.low..=self.high
    }

    /// The scale: one unit has a loss of one part in so many.
    pub fn scale(&self) -> u32 {
        self.scale
    }

    /// The largest loss between integers that are one apart.
    pub fn epsilon(&self) -> f64 {
        self.epsilon
    }

    /// The largest loss between any two integers.
    pub fn worst(&self) -> f64 {
        round_up(self.epsilon * self.tails.len() as f64)
    }

    /// Draws an integer for another.
    pub(crate) fn draw(&self, value: i64, noise: &mut Noise) -> i64 {
        let value = value.clamp(self.low, self.high);
        let drawn = noise.uniform_below(FIRST + 2 * self.tails[0]);
        let rest = drawn.wrapping_sub(FIRST);
        let size: i64 = self
            .tails
            .iter()
            .map(|&tail| i64::from(tail > rest >> 1))
            .sum();
        let size = if drawn < FIRST { 0 } else { size };
        let noisy = if rest & 1 == 0 {
            value + size
        } else {
            value - size
        };
        noisy.clamp(self.low, self.high)
    }
}

/// The same characters with new digits.
pub(crate) fn redraw(identifier: &str, noise: &mut Noise) -> String {
    let mut digit = || char::from(b'0' + noise.below(10) as u8);
    let one = |c: char| if c.is_ascii_digit() { digit() } else { c };
    identifier.chars().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pr[y | v] times Z, by the formula.
    fn weight(numbers: &Numbers, value: i64, y: i64) -> u128 {
        let tail = |k: i64| match k {
            0 => FIRST + numbers.tails[0],
            k => numbers.tails[k as usize - 1],
        };
        let end = numbers.tails.len() as i64;
        match (value - y).abs() {
            k if y == numbers.low || y == numbers.high => tail(k),
            k => tail(k) - if k < end { tail(k + 1) } else { 0 },
        }
    }

    /// Over all pairs and outputs of ranges and scales small and large.
    #[test]
    fn the_loss_is_never_above_what_is_stated() {
        for (high, scale) in [
            (1, 1),
            (7, 1),
            (30, 3),
            (30, 1000),
            (120, 2),
            (200, 1_000_000),
        ] {
            let numbers = Numbers::new(0..=high, scale).unwrap();
            assert!(numbers.epsilon() <= 1.0 / f64::from(scale));
            let most = numbers.epsilon().exp() * (1.0 + 1e-12);
            let total = FIRST + 2 * numbers.tails[0];
            for v in 0..=high {
                let row = |v: i64| (0..=high).map(move |y| (y, v));
                let weights = |v: i64| row(v).map(|(y, v)| weight(&numbers, v, y));
                assert_eq!(weights(v).sum::<u128>(), total, "nothing is renormalized");
                if v < high {
                    for (here, next) in weights(v).zip(weights(v + 1)) {
                        let ratio = here as f64 / next as f64;
                        assert!(ratio <= most && ratio >= 1.0 / most, "{high} {scale} {v}");
                    }
                }
            }
        }
    }

    #[test]
    fn draws_fit_the_weights() {
        let numbers = Numbers::new(-3..=6, 2).unwrap();
        let (draws, total) = (40_000, FIRST + 2 * numbers.tails[0]);
        let mut noise = Noise::numbered(4);
        for value in [-3, 0, 6] {
            let mut seen = [0.0; 10];
            (0..draws).for_each(|_| seen[(numbers.draw(value, &mut noise) + 3) as usize] += 1.0);
            let fit: f64 = (0..10)
                .map(|y| {
                    let share = weight(&numbers, value, y as i64 - 3) as f64 / total as f64;
                    let mean: f64 = f64::from(draws) * share;
                    (seen[y] - mean).powi(2) / mean
                })
                .sum();
            // Nine degrees of freedom, three times: above 45 with probability below 3e-7 each.
            assert!(fit < 45.0, "{value}: {fit}");
        }
    }

    #[test]
    fn golden() {
        let numbers = Numbers::new(0..=100, 4).unwrap();
        let mut noise = Noise::numbered(9);
        let drawn: Vec<i64> = (0..10).map(|_| numbers.draw(50, &mut noise)).collect();
        assert_eq!(drawn, GOLDEN);
    }
    const GOLDEN: [i64; 10] = [50, 45, 45, 40, 46, 56, 53, 49, 44, 49];

    #[test]
    fn the_ends_are_reached() {
        let numbers = Numbers::new(0..=10, 1).unwrap();
        let total = FIRST + 2 * numbers.tails[0];
        // Draws of 128 bits whose whole part below `total` is the first and the last number.
        let at = |limb: u64| Noise::scripted(move || limb);
        assert_eq!(numbers.draw(5, &mut at(1)), 5);
        assert!(crate::random::whole_part(u128::MAX, total) == total - 1);
        let last = numbers.draw(5, &mut at(u64::MAX));
        assert!(
            last == 4 || last == 6,
            "the smallest noise comes last: {last}"
        );
        // The first number behind T[0] is the largest noise.
        let first = (FIRST << 64) / total;
        let mut limbs = [first as u64 + 1, 0].into_iter().cycle();
        let mut ends = Noise::scripted(move || limbs.next().expect("it goes on"));
        assert!([0, 10].contains(&numbers.draw(5, &mut ends)));
        assert_eq!(numbers.draw(i64::MAX, &mut at(1)), 10);
        assert_eq!(numbers.draw(i64::MIN, &mut at(1)), 0);
    }

    #[test]
    fn ranges_that_make_no_sense_are_refused() {
        #[expect(clippy::reversed_empty_ranges)]
        for range in [5..=5, 5..=4, 0..=1_000_001, i64::MIN..=i64::MAX] {
            assert!(matches!(Numbers::new(range, 5), Err(Error::InvalidNumbers)));
        }
        assert!(Numbers::new(0..=9, 0).is_err() && Numbers::new(0..=9, 1_000_001).is_err());
        assert!(Numbers::new(0..=1_000_000, 1_000_000).is_ok());
    }

    #[test]
    fn identifiers_keep_their_shape_alone() {
        let mut noise = Noise::numbered(3);
        let mut seen = [[0; 10]; 4];
        for _ in 0..4_000 {
            let drawn = redraw("(12)-34", &mut noise);
            let digits: Vec<usize> = drawn
                .chars()
                .filter_map(|c| c.to_digit(10))
                .map(|d| d as usize)
                .collect();
            assert_eq!(drawn.replace(|c: char| c.is_ascii_digit(), "0"), "(00)-00");
            digits
                .iter()
                .enumerate()
                .for_each(|(i, &d)| seen[i][d] += 1);
        }
        // Mean 400, sd 19: outside 400 +- 120 with probability below 1e-9 each.
        assert!(
            seen.iter().flatten().all(|&n| (280..520).contains(&n)),
            "{seen:?}"
        );
    }
}

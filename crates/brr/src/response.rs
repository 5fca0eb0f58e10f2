//! Randomized response on the bits of a code (Alg. 2 of the paper).
//!
//! # Guarantee
//!
//! Every bit is flipped independently with probability p = t / 2^32 for an
//! integer t, 1 <= t <= 2^31. For codes c, c' at Hamming distance d and any
//! result r, the factors of Pr[r | c] and Pr[r | c'] agree on the n - d common
//! bits; on each of the other d bits one of them is p and the other 1 - p. So
//!
//! ```text
//! Pr[r | c] / Pr[r | c']  <=  ((1 - p) / p)^d  =  exp(e * d),   e = ln((2^32 - t) / t).
//! ```
//!
//! **Rounding.** The user asks for epsilon; T = 2^32 / (1 + exp(epsilon)) would
//! give it exactly. Three claims about the t that is computed:
//!
//! 1. *t >= T (1 + m), or t = 2^31*, with m = `MARGIN` - 2^-49: T is computed
//!    with a relative error below 2^-49, multiplied by 1 + `MARGIN` and rounded
//!    up to an integer. Where that exceeds 2^31 (p = 1/2: pure noise) or falls
//!    below 1 (t = 0 would give the code away), t is that end of its range.
//! 2. *e <= epsilon - m, or e = 0.* e falls with t, and its slope in ln t is
//!    -2^32 / (2^32 - t), at most -1; t exceeds T by at least m in ln t, up to
//!    a term in m^2 that the margin also covers.
//! 3. *The epsilon reported is at least e and at most epsilon.* It is e computed
//!    from t and rounded up, by at most 22.2 * 2^-47 < 2^-42 < m: e is at most
//!    ln(2^32 - 1) < 22.2, whatever was asked.
//!
//! Rounding t up to an integer costs little where p is large, and more as T
//! falls: t = 1, e = 22.18, is the least noise there is. Any t of its range is
//! a correct threshold; rounding decides how close to the request it comes.
//!
//! **Sampling.** Each bit owns a 32-bit uniform number u and flips if u < t.
//! The numbers are drawn bit-sliced: one random limb holds one binary digit of
//! 64 numbers. Comparing from the most significant digit on, a number is
//! decided at the first digit in which it differs from t; undecided after all
//! 32 digits means u = t, no flip.
//!
//! **Time.** All 32 digits are always drawn and compared, without a branch on
//! them. Most numbers are decided after a few digits, but stopping when all are
//! would let the time tell how the digits fell, and so something about the noise.

use zeroize::Zeroizing;

use crate::codes::CodeBits;
use crate::epsilon::{Epsilon, round_up};
use crate::random::Noise;

/// Relative safety margin of the flip threshold: claims 1 to 3 above hold, as
/// 2^-41 - 2^-49 > 2^-42.
const MARGIN: f64 = 1.0 / (1u64 << 41) as f64;

/// 2^32: what thresholds are out of.
const SCALE: f64 = (1u64 << 32) as f64;

/// The flip threshold t of randomized response, over 2^32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlipThreshold(u32);

impl FlipThreshold {
    /// Binary digits drawn for each bit of a code.
    pub const DIGITS: usize = 32;

    /// p = 1/2: the output is uniform, whatever the input.
    const HALF: u32 = 1 << 31;

    /// The smallest threshold known to give at most `epsilon` per bit.
    pub fn new(epsilon: Epsilon) -> FlipThreshold {
        // 2^32 / (1 + e^x) = 2^32 * q / (1 + q) with q = e^-x: no overflow for large x.
        let q = libm::exp(-epsilon.get());
        let scaled = SCALE * (q / (1.0 + q)) * (1.0 + MARGIN);
        let t = if scaled >= f64::from(Self::HALF) {
            Self::HALF
        } else {
            (scaled.ceil() as u32).max(1)
        };
        FlipThreshold(t)
    }

    /// The integer t: a bit flips with probability t / 2^32.
    pub fn get(self) -> u32 {
        self.0
    }

    /// The flip probability, for display and simulation.
    pub fn probability(self) -> f64 {
        f64::from(self.0) / SCALE
    }

    /// Loss per bit of this very threshold, rounded up.
    pub fn epsilon(self) -> f64 {
        if self.0 == Self::HALF {
            return 0.0;
        }
        // ln((2^32 - t)/t) = ln(1 + 2(2^31 - t)/t): the difference is exact, so
        // nothing cancels for t near 2^31.
        let excess = 2.0 * f64::from(Self::HALF - self.0) / f64::from(self.0);
        round_up(libm::log1p(excess))
    }

    /// Flips each bit of `code` with probability t / 2^32.
    ///
    /// # Panics
    /// If `code` is longer than the longest code.
    pub fn apply(self, code: &mut [u64], noise: &mut Noise) {
        const MAX_LIMBS: usize = CodeBits::MAX.limbs();
        assert!(code.len() <= MAX_LIMBS, "codes have at most 1024 bits");
        // A digit of every number at a time: filling all 32 beforehand is slower.
        let mut random = Zeroizing::new([0; MAX_LIMBS]);
        let random = &mut random[..code.len()];
        let mut undecided = Zeroizing::new([u64::MAX; MAX_LIMBS]);
        for digit in (0..Self::DIGITS).rev() {
            let ones = 0u64.wrapping_sub(u64::from(self.0 >> digit & 1));
            noise.fill(random);
            for ((code, undecided), random) in code.iter_mut().zip(&mut *undecided).zip(&*random) {
                // t's digit 1, ours 0: below t, flip. t's 0, ours 1: above, no flip.
                *code ^= *undecided & ones & !random;
                *undecided &= !(random ^ ones);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn threshold(epsilon: f64) -> FlipThreshold {
        FlipThreshold::new(Epsilon::new(epsilon).unwrap())
    }

    #[test]
    fn reported_epsilon_is_never_above_what_was_asked() {
        let mut x = 1e-18;
        while x < 1e4 {
            let t = threshold(x);
            assert!(t.epsilon() <= x, "asked {x}, got {}", t.epsilon());
            // Nor is it far below: one less in the threshold would be too much.
            if t.get() > 1 {
                let less = FlipThreshold(t.get() - 1).epsilon();
                assert!(less > x - 2.0 * MARGIN, "asked {x}, wasteful {t:?}");
            }
            x *= 1.0173;
        }
    }

    #[test]
    fn boundaries() {
        assert_eq!(threshold(1e-18).get(), 1 << 31);
        assert_eq!(threshold(1e-18).epsilon(), 0.0);
        // The first step away from pure noise, and no sooner: ln(1 + 2 / (2^31 - 1)).
        let step = FlipThreshold((1 << 31) - 1);
        assert!(step.epsilon() > 9.313e-10 && step.epsilon() < 9.314e-10);
        assert_eq!(threshold(step.epsilon() * 0.99).get(), 1 << 31);
        assert_eq!(threshold(step.epsilon() + 2.0 * MARGIN), step);
        // The least noise there is: ln(2^32 - 1).
        assert_eq!(threshold(1e6).get(), 1);
        let most = f64::from(u32::MAX).ln();
        assert!(threshold(1e6).epsilon() >= most);
        assert!(threshold(1e6).epsilon() < most + 1e-12);
        assert_eq!(threshold(most - 1e-9).get(), 2);
        // 1/(1+e^ln 3) = 1/4, and the next number above it.
        assert_eq!(threshold(3f64.ln()).get(), (1 << 30) + 1);
    }

    /// The bit-sliced comparison against the same digits compared as numbers.
    #[test]
    fn bit_slicing_equals_comparing_whole_numbers() {
        for (seed, epsilon) in [(1, 0.01), (2, 0.5), (3, 1.0), (4, 5.0)] {
            let t = threshold(epsilon);
            let mut code = [0u64; 4];
            t.apply(&mut code, &mut Noise::numbered(seed));

            let mut noise = Noise::numbered(seed);
            let digits: Vec<[u64; 4]> = (0..FlipThreshold::DIGITS)
                .map(|_| std::array::from_fn(|_| noise.limb()))
                .collect();
            for bit in 0..256 {
                let u = digits
                    .iter()
                    .fold(0u64, |u, d| u << 1 | d[bit / 64] >> (bit % 64) & 1);
                let flipped = code[bit / 64] >> (bit % 64) & 1 == 1;
                assert_eq!(flipped, u < u64::from(t.get()), "bit {bit}");
            }
        }
    }

    /// Noise that repeats a list of limbs, and the count of those drawn.
    fn script(limbs: Vec<u64>) -> (Noise, Arc<AtomicUsize>) {
        let drawn = Arc::new(AtomicUsize::new(0));
        let count = drawn.clone();
        let next = move || limbs[count.fetch_add(1, Ordering::Relaxed) % limbs.len()];
        (Noise::scripted(next), drawn)
    }

    /// The digits of 64 equal numbers, most significant first.
    fn digits_of(u: u32) -> Vec<u64> {
        let digits = (0..32).rev().map(|k| u64::from(u >> k & 1));
        digits.map(|digit| 0u64.wrapping_sub(digit)).collect()
    }

    #[test]
    fn a_number_equal_to_the_threshold_does_not_flip_and_one_below_does() {
        for t in [threshold(0.7), threshold(1e-18), threshold(1e6)] {
            let u = t.get();
            for (u, flips) in [(u, false), (u - 1, true), (u + 1, false)] {
                let mut code = [0];
                t.apply(&mut code, &mut script(digits_of(u)).0);
                assert_eq!(code[0], if flips { u64::MAX } else { 0 });
            }
        }
    }

    /// Whether all bits are decided by the first digit, by the last or by none,
    /// the same number of limbs is drawn.
    #[test]
    fn how_much_is_drawn_does_not_depend_on_what_is_drawn() {
        let t = threshold(0.7);
        let random = (0..97).map(|i: u64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        for digits in [
            digits_of(0),
            digits_of(u32::MAX),
            digits_of(t.get()),
            digits_of(t.get() - 1),
            random.collect(),
        ] {
            for limbs in [1, 4, 16] {
                let (mut noise, drawn) = script(digits.clone());
                t.apply(&mut vec![0; limbs], &mut noise);
                assert_eq!(drawn.load(Ordering::Relaxed), FlipThreshold::DIGITS * limbs);
            }
        }
    }
}

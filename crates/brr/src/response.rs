//! Randomized response on the bits of a code (Alg. 2 of the paper).
//!
//! # Guarantee
//!
//! Every bit is flipped independently with probability p = t / 2^64 for an
//! integer t, 1 <= t <= 2^63. For codes c, c' at Hamming distance d and any
//! result r, the factors of Pr[r | c] and Pr[r | c'] agree on the n - d common
//! bits; on each of the other d bits one of them is p and the other 1 - p. So
//!
//! ```text
//! Pr[r | c] / Pr[r | c']  <=  ((1 - p) / p)^d  =  exp(e * d),   e = ln((2^64 - t) / t).
//! ```
//!
//! **Rounding.** The user asks for epsilon; p = 1 / (1 + exp(epsilon)) would give
//! it exactly. t is rounded *up* by more than all floating-point error in its
//! computation (`MARGIN`), so e <= epsilon holds of the integers that are
//! sampled. The epsilon reported is e itself, computed from t and rounded up by
//! less than that margin. t <= 2^63 always, as p <= 1/2.
//!
//! **Sampling.** Each bit owns a 64-bit uniform number u and flips if u < t.
//! The numbers are drawn bit-sliced: one random limb holds one binary digit of
//! 64 numbers. Comparing from the most significant digit on, a number is
//! decided at the first digit in which it differs from t; the loop ends when
//! every number of the code is decided, and undecided after 64 digits means
//! u = t, no flip. How long that takes depends on the random digits alone.

use rand_core::CryptoRng;

use crate::epsilon::{Epsilon, round_up};

/// Relative safety margin of the flip threshold.
///
/// libm's `exp` and the three operations around it err by less than 2^-49; the
/// reported epsilon adds at most 44.4 * 2^-48 < 2^-42. 2^-41 covers both.
const MARGIN: f64 = 1.0 / (1u64 << 41) as f64;

/// The flip threshold t of randomized response, over 2^64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlipThreshold(u64);

impl FlipThreshold {
    /// p = 1/2: the output is uniform, whatever the input.
    const HALF: u64 = 1 << 63;

    /// The smallest threshold known to give at most `epsilon` per bit.
    pub fn new(epsilon: Epsilon) -> FlipThreshold {
        // 2^64 / (1 + e^x) = 2^64 * q / (1 + q) with q = e^-x: no overflow for large x.
        let q = libm::exp(-epsilon.get());
        let scaled = 18_446_744_073_709_551_616.0 * (q / (1.0 + q)) * (1.0 + MARGIN);
        let t = if scaled >= Self::HALF as f64 {
            Self::HALF
        } else {
            (scaled.ceil() as u64).max(1)
        };
        FlipThreshold(t)
    }

    /// The integer t: a bit flips with probability t / 2^64.
    pub fn get(self) -> u64 {
        self.0
    }

    /// The flip probability, for display and simulation.
    pub fn probability(self) -> f64 {
        self.0 as f64 / 18_446_744_073_709_551_616.0
    }

    /// Loss per bit of this very threshold, rounded up.
    pub fn epsilon(self) -> f64 {
        if self.0 == Self::HALF {
            return 0.0;
        }
        // ln((2^64 - t)/t) = ln(1 + 2(2^63 - t)/t): the difference is exact, so
        // nothing cancels for t near 2^63.
        let excess = 2.0 * (Self::HALF - self.0) as f64 / self.0 as f64;
        round_up(libm::log1p(excess))
    }

    /// Flips each bit of `code` with probability t / 2^64.
    pub fn apply<R: CryptoRng + ?Sized>(self, code: &mut [u64], rng: &mut R) {
        const MAX_LIMBS: usize = 16;
        let limbs = code.len();
        assert!(limbs <= MAX_LIMBS, "codes have at most 1024 bits");
        let mut undecided = [u64::MAX; MAX_LIMBS];
        for digit in (0..64).rev() {
            let ones = 0u64.wrapping_sub(self.0 >> digit & 1);
            let mut open = 0;
            for (code, undecided) in code.iter_mut().zip(&mut undecided) {
                let random = rng.next_u64();
                // t's digit 1, ours 0: below t, flip. t's 0, ours 1: above, no flip.
                *code ^= *undecided & ones & !random;
                *undecided &= !(random ^ ones);
                open |= *undecided;
            }
            if open == 0 {
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_chacha::ChaCha20Rng;
    use rand_core::SeedableRng;

    fn threshold(epsilon: f64) -> FlipThreshold {
        FlipThreshold::new(Epsilon::new(epsilon).unwrap())
    }

    #[test]
    fn reported_epsilon_is_never_above_what_was_asked() {
        let mut x = 1e-18;
        while x < 1e4 {
            let got = threshold(x).epsilon();
            assert!(got <= x, "asked {x}, got {got}");
            // Above, t itself is so small that its rounding shows.
            if (1e-3..20.0).contains(&x) {
                assert!(got > x * (1.0 - 1e-8), "asked {x}, wasteful {got}");
            }
            x *= 1.0173;
        }
    }

    #[test]
    fn boundaries() {
        assert_eq!(threshold(1e-18).get(), 1 << 63);
        assert_eq!(threshold(1e-18).epsilon(), 0.0);
        assert_eq!(threshold(1e6).get(), 1);
        assert!((threshold(1e6).epsilon() - 44.361).abs() < 1e-2);
        // 1/(1+e^ln 3) = 1/4, and a little above it.
        let t = threshold(3f64.ln()).get();
        assert!((1 << 62..(1 << 62) + (1 << 23)).contains(&t));
    }

    /// The bit-sliced comparison against the same digits compared as numbers.
    #[test]
    fn bit_slicing_equals_comparing_whole_numbers() {
        for (seed, epsilon) in [(1, 0.01), (2, 0.5), (3, 1.0), (4, 5.0)] {
            let t = threshold(epsilon);
            let mut code = [0u64; 4];
            t.apply(&mut code, &mut ChaCha20Rng::seed_from_u64(seed));

            let mut rng = ChaCha20Rng::seed_from_u64(seed);
            let digits: Vec<[u64; 4]> = (0..64)
                .map(|_| std::array::from_fn(|_| rand_core::Rng::next_u64(&mut rng)))
                .collect();
            for bit in 0..256 {
                let u = digits
                    .iter()
                    .fold(0u64, |u, d| u << 1 | d[bit / 64] >> (bit % 64) & 1);
                let flipped = code[bit / 64] >> (bit % 64) & 1 == 1;
                assert_eq!(flipped, u < t.get(), "bit {bit}");
            }
        }
    }

    /// A generator that repeats a fixed list of limbs: for boundary cases.
    struct Script(Vec<u64>, usize);

    impl rand_core::TryRng for Script {
        type Error = std::convert::Infallible;
        fn try_next_u32(&mut self) -> Result<u32, Self::Error> {
            Ok(self.try_next_u64()? as u32)
        }
        fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
            self.1 += 1;
            Ok(self.0[(self.1 - 1) % self.0.len()])
        }
        fn try_fill_bytes(&mut self, _: &mut [u8]) -> Result<(), Self::Error> {
            unreachable!("randomized response draws limbs")
        }
    }
    impl rand_core::TryCryptoRng for Script {}

    #[test]
    fn a_number_equal_to_the_threshold_does_not_flip_and_one_below_does() {
        let t = threshold(0.7);
        for (u, flips) in [(t.get(), false), (t.get() - 1, true), (t.get() + 1, false)] {
            let digits = (0..64)
                .rev()
                .map(|k| 0u64.wrapping_sub(u >> k & 1))
                .collect();
            let mut code = [0];
            t.apply(&mut code, &mut Script(digits, 0));
            assert_eq!(code[0], if flips { u64::MAX } else { 0 });
        }
    }
}

//! Mechanisms: words in, words out, with a guarantee.

mod brr;
mod exponential;

pub use self::brr::{Brr, Search};
pub use exponential::Exponential;

use rand_core::CryptoRng;

use crate::guarantee::Guarantee;
use crate::response::FlipThreshold;
use crate::vocabulary::WordId;

/// How a mechanism draws, as far as it can be computed with: what
/// [`crate::explain`] starts from.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Channel<'a> {
    /// Randomized response on the code's bits, then the nearest word.
    Response(FlipThreshold),
    /// Pr[y | w] is proportional to the weight of the distance of w and y.
    Weights(&'a [u64]),
    /// Only drawing tells.
    Opaque,
}

/// A randomized map from words to words.
///
/// Every mechanism stands behind this trait, on the device and in the
/// evaluation, so that they can be exchanged and compared.
pub trait Mechanism: Send + Sync {
    /// Its short name: `brr`, `exponential`, ...
    fn name(&self) -> &'static str;

    /// What it promises.
    fn guarantee(&self) -> Guarantee;

    /// How it draws.
    fn channel(&self) -> Channel<'_> {
        Channel::Opaque
    }

    /// Draws one output word for each input, independently.
    ///
    /// `None` is a token without a code: its output is a uniformly random word,
    /// found with the same work as for any other input. What is drawn depends on
    /// the input and on `rng`, and on nothing else.
    fn privatize(&self, words: &[Option<WordId>], rng: &mut dyn CryptoRng) -> Vec<WordId>;
}

/// A uniformly random number below `n` (at least 1), exactly.
///
/// Lemire's method (2019): for uniform r below 2^128, the whole part of
/// r n / 2^128 is uniform once the 2^128 mod n values of r are drawn again
/// whose fraction is too low. A fraction below n is where to look, and has a
/// probability below 2^-32 for n below 2^96: but for one draw in 2^32, all take
/// the same time, whatever n is and whatever is drawn.
pub fn uniform_below(n: u128, rng: &mut dyn CryptoRng) -> u128 {
    loop {
        let draw = u128::from(rng.next_u64()) << 64 | u128::from(rng.next_u64());
        let (whole, fraction) = multiply(draw, n);
        if fraction >= n || fraction >= n.wrapping_neg() % n {
            return whole;
        }
    }
}

/// The upper and the lower half of a product of 256 bits.
fn multiply(a: u128, b: u128) -> (u128, u128) {
    let half = |x: u128| (x >> 64, x & u128::from(u64::MAX));
    let ((a1, a0), (b1, b0)) = (half(a), half(b));
    let (low_carry, low) = half(a0 * b0);
    let (carry, middle) = half(a1 * b0 + low_carry);
    let (other_carry, middle) = half(a0 * b1 + middle);
    (a1 * b1 + carry + other_carry, middle << 64 | low)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_core::SeedableRng;

    #[test]
    fn products_are_whole() {
        let most = u128::MAX;
        assert_eq!(multiply(most, most), (most - 1, 1));
        assert_eq!(multiply(most, 1 << 127), ((1 << 127) - 1, 1 << 127));
        assert_eq!(multiply(7 << 64, 9 << 60), (63 >> 4, 15 << 124));
        assert_eq!(multiply(0, most), (0, 0));
    }

    #[test]
    fn uniform_numbers_reach_both_ends_and_no_further() {
        let mut rng = rand_chacha::ChaCha20Rng::seed_from_u64(7);
        for n in [1u128, 2, 3, 5, (1 << 64) + 1, u128::MAX] {
            assert!((0..200).all(|_| uniform_below(n, &mut rng) < n));
        }
        let mut seen = [0; 3];
        (0..3000).for_each(|_| seen[uniform_below(3, &mut rng) as usize] += 1);
        // Mean 1000, sd 26: outside 1000 +- 200 with probability below 1e-12.
        assert!(seen.iter().all(|c| (800..1200).contains(c)), "{seen:?}");
    }
}

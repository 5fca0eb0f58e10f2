//! Randomness: a ChaCha20 generator seeded by the operating system, in a handle
//! that nobody can seed.
//!
//! Premises, in the manner of rand's SECURITY.md:
//!
//! - The seed is 256 bits from the operating system (`getrandom`; in a browser
//!   `crypto.getRandomValues`). If there is none, that is an error; there is no
//!   fallback.
//! - A generator lives for one call (one text, one batch) and is never stored.
//!   A process that forks between two calls therefore cannot draw the same
//!   noise in parent and child, and a snapshot of an idle process holds no
//!   generator state.
//! - Seed and generator state are overwritten when a [`Noise`] is dropped. Copies
//!   that the compiler makes on the stack on the way are out of reach.
//! - **The handle is sealed.** A [`Mechanism`](crate::mechanism::Mechanism) draws
//!   from a [`Noise`], and [`Noise::from_os`] is the only way to one: anyone who
//!   calls a mechanism cannot choose its noise. What takes a seed is compiled
//!   with the feature `test-seam` alone, which is for tests and the seeded
//!   evaluation.

use chacha20::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};
use zeroize::Zeroizing;

use crate::error::{Error, Result};

/// The noise of one call: uniformly random numbers that nobody else knows.
pub struct Noise(Generator);

enum Generator {
    /// In a box, so that the state is not copied when the handle moves.
    ChaCha(Box<ChaCha20Rng>),
    #[cfg(feature = "test-seam")]
    Script(Box<dyn FnMut() -> u64 + Send>),
}

impl Noise {
    /// Fresh noise, seeded by the operating system.
    pub fn from_os() -> Result<Noise> {
        let mut seed = Zeroizing::new([0; 32]);
        getrandom::fill(&mut *seed).map_err(Error::NoEntropy)?;
        Ok(Noise::from_seed(&seed))
    }

    fn from_seed(seed: &[u8; 32]) -> Noise {
        Noise(Generator::ChaCha(Box::new(ChaCha20Rng::from_seed(*seed))))
    }

    /// 64 uniformly random bits.
    #[inline]
    pub fn limb(&mut self) -> u64 {
        match &mut self.0 {
            Generator::ChaCha(generator) => generator.next_u64(),
            #[cfg(feature = "test-seam")]
            Generator::Script(next) => next(),
        }
    }

    /// Fills `limbs` with as many draws of [`limb`](Self::limb).
    #[inline]
    pub fn fill(&mut self, limbs: &mut [u64]) {
        match &mut self.0 {
            Generator::ChaCha(generator) => {
                limbs.fill_with(|| generator.next_u64());
            }
            #[cfg(feature = "test-seam")]
            Generator::Script(next) => limbs.fill_with(next),
        }
    }

    /// A uniformly random number below `n` (at least 1), exactly.
    ///
    /// Lemire's method (2019): for uniform r below 2^128, the whole part of
    /// r n / 2^128 is uniform once the 2^128 mod n values of r are drawn again
    /// whose fraction is too low. A fraction below n is where to look, and has a
    /// probability below 2^-32 for n below 2^96: but for one draw in 2^32, all
    /// take the same time, whatever n is and whatever is drawn.
    pub fn uniform_below(&mut self, n: u128) -> u128 {
        loop {
            let draw = u128::from(self.limb()) << 64 | u128::from(self.limb());
            let (whole, fraction) = multiply(draw, n);
            if fraction >= n || fraction >= n.wrapping_neg() % n {
                return whole;
            }
        }
    }

    /// The same for a small `n`, by half as many bits: a second draw has a probability below
    /// 2^-32.
    #[inline]
    pub fn below(&mut self, n: u32) -> u32 {
        let limb = self.limb();
        self.below_with(limb, n)
    }

    /// The same, with the first limb drawn already.
    #[inline]
    pub(crate) fn below_with(&mut self, mut limb: u64, n: u32) -> u32 {
        let n = u64::from(n);
        loop {
            let product = u128::from(limb) * u128::from(n);
            let (whole, fraction) = ((product >> 64) as u32, product as u64);
            if fraction >= n || fraction >= n.wrapping_neg() % n {
                return whole;
            }
            limb = self.limb();
        }
    }
}

/// Noise that somebody else knows: for tests and the seeded evaluation.
#[cfg(feature = "test-seam")]
impl Noise {
    /// The same for the same seed.
    pub fn seeded(seed: [u8; 32]) -> Noise {
        Noise::from_seed(&seed)
    }

    /// The same for the same number, spread over a seed by rand's own rule.
    pub fn numbered(seed: u64) -> Noise {
        let generator = ChaCha20Rng::seed_from_u64(seed);
        Noise(Generator::ChaCha(Box::new(generator)))
    }

    /// Another, independent stream of the same seed, from its beginning.
    ///
    /// # Panics
    /// If there is a script in place of a seed.
    pub fn with_stream(mut self, stream: u64) -> Noise {
        match &mut self.0 {
            Generator::ChaCha(generator) => generator.set_stream(stream),
            Generator::Script(_) => panic!("a script has no streams"),
        }
        self
    }

    /// Whatever limbs `next` gives, to reach the ends of a range.
    pub fn scripted(next: impl FnMut() -> u64 + Send + 'static) -> Noise {
        Noise(Generator::Script(Box::new(next)))
    }
}

/// The number below `n` that this draw of 128 bits gives.
#[cfg(test)]
pub(crate) fn whole_part(draw: u128, n: u128) -> u128 {
    multiply(draw, n).0
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
        let mut noise = Noise::numbered(7);
        for n in [1u128, 2, 3, 5, (1 << 64) + 1, u128::MAX] {
            assert!((0..200).all(|_| noise.uniform_below(n) < n));
        }
        let mut seen = [0; 3];
        (0..3000).for_each(|_| seen[noise.uniform_below(3) as usize] += 1);
        // Mean 1000, sd 26: outside 1000 +- 200 with probability below 1e-12.
        assert!(seen.iter().all(|c| (800..1200).contains(c)), "{seen:?}");
        // 2^128 = 1 mod 3: of all draws, only 0 is drawn again.
        let mut limbs = [0, 0, u64::MAX, u64::MAX].into_iter();
        let mut ends = Noise::scripted(move || limbs.next().expect("a second draw at most"));
        assert_eq!(ends.uniform_below(3), 2);
    }

    #[test]
    fn small_uniform_numbers_too() {
        let mut noise = Noise::numbered(8);
        for n in [1, 2, 3, 5, 1 << 31, u32::MAX] {
            assert!((0..200).all(|_| noise.below(n) < n));
        }
        let mut seen = [0; 3];
        (0..3000).for_each(|_| seen[noise.below(3) as usize] += 1);
        // As above.
        assert!(seen.iter().all(|c| (800..1200).contains(c)), "{seen:?}");
        // 2^64 = 1 mod 3: of all draws, only 0 is drawn again.
        let mut limbs = [0, u64::MAX].into_iter();
        let mut ends = Noise::scripted(move || limbs.next().expect("a second draw at most"));
        assert_eq!(ends.below(3), 2);
    }

    #[test]
    fn filling_is_drawing_limb_by_limb() {
        for len in [0, 1, 31, 32, 33, 500] {
            let (mut a, mut b) = (Noise::numbered(3), Noise::numbered(3));
            // Not at the beginning of a block.
            assert_eq!(a.limb(), b.limb());
            let mut filled = vec![0; len];
            a.fill(&mut filled);
            assert!(filled.iter().all(|&limb| limb == b.limb()), "{len}");
            assert_eq!(a.limb(), b.limb());
        }
    }

    #[test]
    fn streams_of_a_seed_differ_and_begin_anew() {
        let mut used = Noise::seeded([7; 32]);
        let first = used.limb();
        let mut other = used.with_stream(1);
        assert_ne!(other.limb(), first);
        assert_eq!(other.with_stream(0).limb(), first);
    }

    #[test]
    fn the_operating_system_never_seeds_alike() {
        let [mut a, mut b] = [0; 2].map(|_| Noise::from_os().unwrap());
        assert_ne!([a.limb(), a.limb()], [b.limb(), b.limb()]);
    }
}

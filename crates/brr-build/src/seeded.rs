//! Seeded random numbers for building and measuring models: the same on every platform, and
//! never used as privacy noise.

use chacha20::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};

/// A generator for a seed; streams of one seed are independent.
pub fn generator(seed: u64, stream: u64) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(stream);
    rng
}

/// A number uniform in [0, 1).
pub fn uniform(rng: &mut impl Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

/// Brings items into a random order (Fisher and Yates).
pub fn shuffle<T>(items: &mut [T], rng: &mut impl Rng) {
    for i in (1..items.len()).rev() {
        items.swap(i, (uniform(rng) * (i + 1) as f64) as usize);
    }
}

/// Close to a standard normal number: twelve uniform ones, centred. Unlike a
/// logarithm or a cosine, a sum has the same last bit on every platform.
pub fn normal(rng: &mut impl Rng) -> f64 {
    (0..12).map(|_| uniform(rng)).sum::<f64>() - 6.0
}

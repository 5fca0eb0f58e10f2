//! Randomness: a ChaCha20 generator seeded by the operating system.
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
//! - Nothing here takes a seed. Tests and the seeded evaluation hand their own
//!   generator to [`Mechanism::privatize`](crate::mechanism::Mechanism::privatize).

use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
pub use rand_core::{CryptoRng, Rng};

use crate::error::{Error, Result};

/// A fresh generator, seeded by the operating system.
pub fn from_os() -> Result<ChaCha20Rng> {
    let mut seed = [0; 32];
    getrandom::fill(&mut seed).map_err(Error::NoEntropy)?;
    Ok(ChaCha20Rng::from_seed(seed))
}

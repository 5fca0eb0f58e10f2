//! [`brr_estimate`] for the evaluation: what it draws can be drawn again.

use std::sync::Arc;

use brr::parts::random::Noise;
use brr_estimate::Effort;

/// The usual effort, with the noise of a seed.
pub fn seeded(seed: u64) -> Effort {
    Effort {
        noise: Arc::new(move |stream| Ok(Noise::numbered(seed).with_stream(stream))),
        ..Effort::default()
    }
}

#[cfg(test)]
mod decode_tests;
#[cfg(test)]
mod tests;

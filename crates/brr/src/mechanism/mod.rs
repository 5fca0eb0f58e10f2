//! Mechanisms: words in, words out, with a guarantee.

mod brr;
mod exponential;

pub use self::brr::{Brr, Search};
pub use exponential::Exponential;

use crate::guarantee::Guarantee;
use crate::random::Noise;
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
    /// the input and on `noise`, and on nothing else.
    fn privatize(&self, words: &[Option<WordId>], noise: &mut Noise) -> Vec<WordId>;
}

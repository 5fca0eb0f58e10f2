//! What a privatizer does to a word, and what an output gives away.
//!
//! * [`outcomes()`]: which words come out when this one goes in, and how likely
//!   it stays;
//! * [`posterior()`]: which words may be behind an output, for an observer who
//!   holds every word for equally likely beforehand;
//! * [`in_text()`]: what comes out for each word of a text, decoded with context if the privatizer
//!   does so;
//! * [`trace()`]: a privatized text beside the words it was made from.
//!
//! With context the first two are about the draw, before it is decoded: what a word then becomes
//! depends on the words around it, and `in_text` tells it.
//!
//! All of it is for the user's own eyes, to choose a budget by. None of it is
//! private, and none of it is part of what is released. Numbers carry a
//! [`Method`] that says whether they were computed or estimated.

mod in_text;
mod outcomes;
mod posterior;
mod trace;

pub use in_text::{InText, in_text};
pub use outcomes::{Outcomes, outcomes, outcomes_with};
pub use posterior::{Posterior, posterior};
pub use trace::{Part, Trace, trace};

use crate::error::{Error, Result};
use crate::privatizer::Privatizer;
use crate::vocabulary::WordId;

/// How many words to tell if nobody says how many, in every language.
pub const TOP: usize = 10;

/// How many draws to estimate from if nobody says how many, in every language.
pub const DRAWS: usize = 10_000;

/// The word to be explained, as the privatizer would find it.
pub fn find(privatizer: &Privatizer, word: &str) -> Result<WordId> {
    privatizer.model().find(word).ok_or(Error::UnknownWord)
}

/// Half the width of a 95 % interval, in standard errors.
const Z95: f64 = 1.959_963_984_540_054;

/// How numbers were found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Method {
    /// Computed from the integers that are sampled.
    Exact,
    /// Estimated from this many draws; `low` and `high` are 95 % intervals.
    Drawn {
        /// How many draws.
        draws: usize,
    },
    /// Computed for the nearest words; all others enter with the average of a
    /// sample. `low` and `high` put the sample's extremes in its place.
    Nearest {
        /// How many words were computed.
        words: usize,
    },
    /// The mechanism does not say how it draws: there is no answer.
    Opaque,
}

impl Method {
    /// A short name: `exact`, `drawn`, `nearest`, `opaque`.
    pub fn name(self) -> &'static str {
        match self {
            Method::Exact => "exact",
            Method::Drawn { .. } => "drawn",
            Method::Nearest { .. } => "nearest",
            Method::Opaque => "opaque",
        }
    }
}

/// A probability, and between which numbers it is known to lie.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Chance {
    /// The best estimate.
    pub probability: f64,
    /// Not below this.
    pub low: f64,
    /// Not above this.
    pub high: f64,
}

impl Chance {
    fn exact(probability: f64) -> Chance {
        Chance {
            probability,
            low: probability,
            high: probability,
        }
    }

    /// Wilson's interval: honest for few hits and for none.
    fn drawn(hits: usize, draws: usize) -> Chance {
        if draws == 0 {
            return Chance {
                probability: 0.0,
                low: 0.0,
                high: 1.0,
            };
        }
        let (n, p) = (draws as f64, hits as f64 / draws as f64);
        let z2 = Z95 * Z95;
        let middle = (p + z2 / (2.0 * n)) / (1.0 + z2 / n);
        let half = Z95 / (1.0 + z2 / n) * (p * (1.0 - p) / n + z2 / (4.0 * n * n)).sqrt();
        Chance {
            probability: p,
            low: (middle - half).clamp(0.0, p),
            high: (middle + half).clamp(p, 1.0),
        }
    }
}

/// A word, and how likely it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Likely {
    /// The word.
    pub word: WordId,
    /// How likely.
    pub chance: Chance,
}

/// Names words by their ids in the privatizer's whole model.
fn whole(privatizer: &Privatizer, likely: &mut [Likely]) {
    for likely in likely {
        likely.word = privatizer.whole_id(likely.word);
    }
}

/// The `top` most likely, the lower id first among equals.
fn most_likely(mut all: Vec<Likely>, top: usize) -> Vec<Likely> {
    let order = |a: &Likely, b: &Likely| {
        let by_chance = b.chance.probability.total_cmp(&a.chance.probability);
        by_chance.then(a.word.cmp(&b.word))
    };
    if top < all.len() {
        all.select_nth_unstable_by(top, order);
        all.truncate(top);
    }
    all.sort_unstable_by(order);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_hold_the_estimate_and_stay_between_0_and_1() {
        for (hits, draws) in [(0, 0), (0, 10), (10, 10), (3, 1000), (1, 1)] {
            let c = Chance::drawn(hits, draws);
            assert!(0.0 <= c.low && c.low <= c.probability, "{c:?}");
            assert!(c.probability <= c.high && c.high <= 1.0, "{c:?}");
        }
        // Wilson, 50 of 100: 0.4038 to 0.5962.
        let c = Chance::drawn(50, 100);
        assert!((c.low - 0.4038).abs() < 1e-4 && (c.high - 0.5962).abs() < 1e-4);
    }
}

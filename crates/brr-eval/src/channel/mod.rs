//! What a mechanism does to a word.
//!
//! - **N_w**, the probability that a word stays;
//! - **S_w**, the size of the smallest set of outputs that has 95 % of the
//!   probability;
//! - how alike a changed word is to what it was;
//! - how often an attacker who knows the mechanism, sees one output word, and
//!   guesses as well as possible (Bayes) names the input.
//!
//! Where row probabilities can be computed ([`brr::parts::mechanism::Channel`]) all of this is exact, N_w and
//! the attacker over every word of the vocabulary. Elsewhere it is simulated on a
//! random sample of words, seeded, with 95 % confidence intervals.

mod attacker;
mod exact;
mod similarity;
mod simulated;

pub use attacker::{Guess, Prior};
pub use similarity::{Similarity, distances_in};
pub use simulated::{Draws, draw, measure as simulate, spread_words};

use brr::parts::mechanism::Mechanism;
use serde::Serialize;

use crate::interval::Estimate;

/// Probability that the smallest output set S_w has.
pub const MASS: f64 = 0.95;

/// How thoroughly to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Sampling {
    /// Words looked at one by one, drawn at random.
    pub words: usize,
    /// Draws for each of them, where outputs are simulated.
    pub draws: usize,
    /// Seed of the choice and of the draws.
    pub seed: u64,
    /// Threads; they change nothing but the time.
    #[serde(skip)]
    pub threads: usize,
    /// Whether to attack.
    pub attack: bool,
}

impl Default for Sampling {
    fn default() -> Sampling {
        Sampling {
            words: 500,
            draws: 200,
            seed: 1,
            threads: brr::parts::parallel::cores(),
            attack: true,
        }
    }
}

/// How a number varies over words.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// The smallest.
    pub least: f64,
    /// A quarter is below.
    pub lower_quartile: f64,
    /// Half are below.
    pub median: f64,
    /// A quarter is above.
    pub upper_quartile: f64,
    /// The largest.
    pub most: f64,
}

impl Spread {
    /// Of some values; all 0 of none.
    pub fn of(mut values: Vec<f64>) -> Spread {
        values.sort_by(f64::total_cmp);
        let at = |share: f64| {
            let index = (share * values.len().saturating_sub(1) as f64).round() as usize;
            values.get(index).copied().unwrap_or(0.0)
        };
        Spread {
            least: at(0.0),
            lower_quartile: at(0.25),
            median: at(0.5),
            upper_quartile: at(0.75),
            most: at(1.0),
        }
    }
}

/// Sizes of the smallest output sets, over words.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct OutputSets {
    /// Mean size.
    pub mean: f64,
    /// How sizes vary.
    pub spread: Spread,
    /// Whether sizes are lower bounds: a simulation with a limited number of draws cannot see
    /// sets larger than that.
    pub at_least: bool,
}

/// What a mechanism does to words.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// Whether probabilities were computed (over all words) or simulated.
    pub exact: bool,
    /// N_w, every word of the vocabulary counted once.
    pub keep: Estimate,
    /// N_w, words counted by how often they are used
    /// ([`brr::parts::frequency`]).
    pub keep_by_use: Estimate,
    /// How N_w varies over words. The worst case for privacy is the most. (If
    /// simulated: over sampled words, whose own shares carry the noise of
    /// `draws` draws.)
    pub keep_spread: Spread,
    /// S_w over sampled words.
    pub outputs: OutputSets,
    /// Mean cosine of a changed word with what it was.
    pub changed_cosine: Option<Estimate>,
    /// Mean Hamming distance of a changed word to what it was.
    pub changed_hamming: Option<Estimate>,
    /// Bayes attacker for whom all words are equally likely.
    pub guess: Option<Guess>,
    /// Bayes attacker who knows how often words are used.
    pub guess_by_use: Option<Guess>,
}

/// Measures a mechanism over `words` words. `progress` gets the share done.
pub fn measure(
    mechanism: &dyn Mechanism,
    words: usize,
    similarity: &Similarity,
    plan: &Sampling,
    progress: &(dyn Fn(f64) + Sync),
) -> Summary {
    match mechanism.channel() {
        Some(channel) => exact::measure(channel, words, similarity, plan, progress),
        None => simulated::measure(mechanism, words, similarity, plan, progress),
    }
}

/// Mean similarity of changed words, from each word's own mean and the
/// probability that it changes.
fn changed(means: &[(f64, f64)]) -> Option<Estimate> {
    let values: Vec<f64> = means.iter().map(|m| m.0).collect();
    let total: f64 = means.iter().map(|m| m.1).sum();
    (total > 0.0).then(|| Estimate::weighted_mean(&values, |i| means[i].1))
}

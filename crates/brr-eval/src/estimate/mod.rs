//! Word frequencies of texts that only their privatized form is known of.
//!
//! The server's side. A mechanism is public, so the probability C(y | w) that
//! word w becomes y is known ([`WordChannel`]), and the words received are draws
//! from the mixture
//!
//! ```text
//! p(y) = sum over w of f(w) C(y | w)
//! ```
//!
//! of the frequencies f that are wanted. The iterative Bayesian update (Agrawal
//! and Aggarwal 2001; the expectation-maximization of that mixture) starts from
//! a public guess of f and takes iterations: which word is behind each output, given
//! f; what f is, given those. Every turn raises the likelihood (`update.rs`).
//!
//! Run to its end it explains the noise as well as the words. So it stops where a
//! half of the documents that it has not seen is explained best, and what the
//! data do not tell stays near the public guess ([`Prior`]).
//!
//! Nothing here weakens what was promised: it is post-processing of released text.

mod channel;
mod documents;
mod intervals;
mod update;

pub use channel::{Effort, WordChannel};
pub use documents::Documents;
pub use update::{Frequencies, Stop};

use brr::parts::parallel;
use intervals::Intervals;

/// What is believed before any text is seen. Public: never from the texts themselves.
#[derive(Clone, Debug)]
pub struct Prior {
    /// Share of each word of the model, by id.
    pub words: Vec<f64>,
    /// Share of tokens that the model does not know, if they become random words. It is
    /// taken as given: outputs cannot tell an unknown token from a bit of every word.
    pub unknown: f64,
}

/// Share of unknown tokens if none is given: what English text has with the built-in
/// model, roughly.
const UNKNOWN: f64 = 0.03;
/// Part of every prior that is spread by rank, so that no word is impossible.
const SPREAD: f64 = 0.1;

impl Prior {
    /// Zipf's law over the model's order of words.
    pub fn by_rank(words: usize) -> Prior {
        Prior {
            words: brr::parts::frequency::shares(words),
            unknown: UNKNOWN,
        }
    }

    /// Every word alike.
    pub fn uniform(words: usize) -> Prior {
        Prior {
            words: vec![1.0 / words as f64; words],
            unknown: UNKNOWN,
        }
    }

    /// In proportion to public counts, with a little of [`by_rank`](Self::by_rank)
    /// for the words that they leave out. `None` if all counts are 0.
    pub fn from_counts(counts: &[f64]) -> Option<Prior> {
        let total: f64 = counts.iter().sum();
        let by_rank = Prior::by_rank(counts.len());
        let mix = |(count, rank): (&f64, &f64)| (1.0 - SPREAD) * count / total + SPREAD * rank;
        (total > 0.0).then(|| Prior {
            words: counts.iter().zip(&by_rank.words).map(mix).collect(),
            unknown: UNKNOWN,
        })
    }

    /// With this share of unknown tokens; 0 for runs in which they do not become words.
    pub fn with_unknown(self, share: f64) -> Prior {
        Prior {
            unknown: share.clamp(0.0, 1.0),
            ..self
        }
    }

    fn frequencies(&self) -> Frequencies {
        let total: f64 = self.words.iter().sum();
        let share = |w: &f64| w / total * (1.0 - self.unknown);
        Frequencies {
            words: self.words.iter().map(share).collect(),
            unknown: self.unknown,
        }
    }
}

/// How thoroughly to estimate.
#[derive(Clone, Copy, Debug)]
pub struct EstimateOptions {
    /// When to stop.
    pub stop: Stop,
    /// Resamplings behind the intervals; none if fewer than 2.
    pub resamplings: usize,
    /// Seed of the resampling.
    pub seed: u64,
    /// Threads; they change nothing but the time.
    pub threads: usize,
}

impl Default for EstimateOptions {
    fn default() -> EstimateOptions {
        EstimateOptions {
            stop: Stop::default(),
            resamplings: 40,
            seed: 1,
            threads: parallel::cores(),
        }
    }
}

/// One word's occurrences.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Count {
    /// The estimate.
    pub estimate: f64,
    /// Lower end of the 95 % interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// How often it was received.
    pub raw: u64,
}

/// What was found.
#[derive(Clone, Debug)]
pub struct Estimates {
    /// Each word of the model, by id.
    pub words: Vec<Count>,
    /// Turns that were taken.
    pub iterations: usize,
}

/// Estimates how often each word was in the texts.
pub fn estimate(
    channel: &WordChannel,
    documents: &Documents,
    start: &Prior,
    plan: &EstimateOptions,
) -> Estimates {
    let first = start.frequencies();
    let iterations = match plan.stop {
        Stop::After(iterations) => iterations,
        Stop::HeldOut { most } => {
            update::best_turns(channel, documents, &first, most, plan.threads)
        }
    };
    let counts = documents.counts();
    let found = update::run(channel, &counts, first.clone(), iterations);
    let total: f64 = counts.iter().sum();
    let ends = Intervals::of(channel, &counts, &first, &found, iterations, plan);
    let count = |w: usize| Count {
        estimate: found.words[w] * total,
        low: (ends.low[w] * total).max(0.0),
        high: (ends.high[w] * total).min(total),
        raw: counts[w] as u64,
    };
    let words = (0..found.words.len()).map(count).collect();
    Estimates { words, iterations }
}

#[cfg(test)]
mod tests;

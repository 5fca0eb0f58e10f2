//! Language models, from public text or from an ARPA file.
//!
//! Both sources become *masses*: how often v follows u ([`Pairs`]). From them come P(v), p(v | u),
//! and which pairs are worth their bytes.

mod arpa;
mod text;

use brr::parts::language::{DecodedKeep, LanguageParts, State};
use brr::{Language, Model};

use crate::error::{Error, Result};

pub use arpa::read_arpa;
pub use text::TextCounter;

/// Bytes of a language model file unless another limit is given.
pub const DEFAULT_SIZE: usize = 2_000_000;

/// A share of every probability P(v) that all states have alike: words that were never seen may occur.
const FLOOR: f64 = 0.01;

/// How words follow each other, before anything is rounded or left out.
pub struct Pairs {
    /// P(v) of every state.
    unigrams: Vec<f64>,
    /// How often each state stands before another, as a share of all.
    rows: Vec<f64>,
    /// (u, v, p(v | u)), ascending.
    pairs: Vec<(State, State, f64)>,
}

impl Pairs {
    /// Of ascending pairs. Makes P(v) positive everywhere and adds it up to 1, and leaves every row
    /// something for what is not listed.
    fn new(masses: Vec<f64>, rows: Vec<f64>, mut pairs: Vec<(State, State, f64)>) -> Pairs {
        for row in pairs.chunk_by_mut(|a, b| a.0 == b.0) {
            let listed: f64 = row.iter().map(|pair| pair.2).sum();
            let scale = ((1.0 - FLOOR) / listed).min(1.0);
            row.iter_mut().for_each(|pair| pair.2 *= scale);
        }
        let (total, states) = (masses.iter().sum::<f64>(), masses.len() as f64);
        let share = |mass: f64| (1.0 - FLOOR) * mass / total + FLOOR / states;
        let all: f64 = rows.iter().sum();
        Pairs {
            unigrams: masses.into_iter().map(share).collect(),
            rows: rows.into_iter().map(|row| row / all).collect(),
            pairs,
        }
    }

    /// P(v) of every state.
    pub fn unigrams(&self) -> &[f64] {
        &self.unigrams
    }

    /// (u, v, p(v | u)) of all pairs that were seen, ascending.
    pub fn listed(&self) -> &[(State, State, f64)] {
        &self.pairs
    }

    /// What P(v) is multiplied by in each row for the words that are not listed there.
    fn backoffs(&self) -> Vec<f64> {
        let mut left = vec![(1.0, 1.0); self.unigrams.len()];
        for &(u, v, p) in &self.pairs {
            let (listed, unigrams) = &mut left[u as usize];
            *listed -= p;
            *unigrams -= self.unigrams[v as usize];
        }
        left.into_iter().map(|(of, among)| of / among).collect()
    }

    /// The language model of at most `size` bytes for a model's words: the pairs that say most.
    ///
    /// A pair says as much as its probability differs from what would stand in for it, times how
    /// often that matters: P(u) p(v | u) ln(p(v | u) / (b(u) P(v))), with the b(u) that u has when all its
    /// pairs are listed. A pair may well be less likely than P(v), and worth its bytes all the same.
    pub fn write(
        &self,
        model: &Model,
        size: usize,
        decoded: &[DecodedKeep],
        meta: &[(String, String)],
    ) -> Result<Vec<u8>> {
        let backoffs = self.backoffs();
        let worth = |&(u, v, p): &(State, State, f64)| {
            let instead = backoffs[u as usize] * self.unigrams[v as usize];
            (self.rows[u as usize] * p * (p / instead).ln(), u, v, p)
        };
        let mut pairs: Vec<_> = self.pairs.iter().map(worth).collect();
        pairs.retain(|(worth, ..)| *worth > 0.0);
        pairs.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
        // A pair takes about three bytes; what is written tells how many there is room for.
        let mut count = pairs.len().min(size / 2);
        loop {
            let mut listed: Vec<_> = pairs[..count]
                .iter()
                .map(|&(_, u, v, p)| (u, v, p))
                .collect();
            listed.sort_unstable_by_key(|&(u, v, _)| (u, v));
            let parts = LanguageParts {
                vocabulary: model.vocabulary(),
                unigrams: self.unigrams.clone(),
                pairs: listed,
                decoded: decoded.to_vec(),
                meta: meta.to_vec(),
            };
            let bytes = parts.write()?;
            match bytes.len() <= size {
                true => return Ok(bytes),
                false if count == 0 => {
                    return Err(Error::LanguageTooSmall {
                        size,
                        least: bytes.len(),
                    });
                }
                false => {
                    let excess = (bytes.len() - size) as f64 / bytes.len() as f64;
                    count -= ((count as f64 * excess * 0.9) as usize).max(1);
                }
            }
        }
    }
}

/// What a language model makes of a text: its perplexity, and the number of tokens.
///
/// The unknown token counts like any other.
pub fn perplexity(language: &Language, model: &Model, texts: &[impl AsRef<str>]) -> (f64, u64) {
    let (mut ln, mut tokens) = (0.0, 0u64);
    for text in texts {
        text::for_pairs(model, language.boundary(), text.as_ref(), |u, v| {
            ln += f64::from(language.probability(u, v)).ln();
            tokens += 1;
        });
    }
    ((-ln / tokens.max(1) as f64).exp(), tokens)
}

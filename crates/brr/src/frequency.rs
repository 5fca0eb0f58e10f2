//! How often words are used: Zipf's law over word ids.
//!
//! A model's ids go from the most to the least frequent word. No corpus comes
//! with the vectors, so use is modelled by rank, as 1 / (rank + 2.7) (Zipf's
//! law with Mandelbrot's shift, fitted to English). Every share of words that
//! is called frequency-weighted is weighted by this.

use crate::vocabulary::WordId;

/// The expected share of words that a mechanism leaves unchanged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Keep {
    /// Words counted by how often they are used.
    pub weighted: f64,
    /// Every word of the vocabulary counted once.
    pub plain: f64,
}

/// Mandelbrot's shift for English.
const SHIFT: f64 = 2.7;

/// Share of each word in running text, by id; the shares add up to 1.
pub fn shares(words: usize) -> Vec<f64> {
    let raw: Vec<f64> = (0..words).map(|id| 1.0 / (id as f64 + SHIFT)).collect();
    let total: f64 = raw.iter().sum();
    raw.iter().map(|share| share / total).collect()
}

/// The mean of a property of words, by use: `values` in id order.
pub(crate) fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let shares = shares(values.len());
    shares.iter().zip(values).map(|(s, v)| s * v).sum()
}

/// Draws words by use from uniform numbers in 0..1.
pub struct Sampler {
    /// Share of this word and all before it.
    ends: Vec<f64>,
}

impl Sampler {
    /// For a vocabulary of at least one word.
    pub fn new(words: usize) -> Sampler {
        let mut end = 0.0;
        let ends = shares(words).into_iter().map(|share| {
            end += share;
            end
        });
        Sampler {
            ends: ends.collect(),
        }
    }

    /// The word in whose stretch of 0..1 `u` falls.
    pub fn word(&self, u: f64) -> WordId {
        let id = self.ends.partition_point(|&end| end <= u);
        id.min(self.ends.len() - 1) as WordId
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_fall_and_add_up() {
        let s = shares(1000);
        assert!((s.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert!(s.windows(2).all(|pair| pair[0] > pair[1]));
        assert!((mean((0..1000).map(|_| 0.25)) - 0.25).abs() < 1e-12);
    }

    #[test]
    fn sampling_gives_each_word_its_share() {
        let (sampler, s) = (Sampler::new(50), shares(50));
        let mut counts = [0u32; 50];
        let steps = 100_000;
        (0..steps).for_each(|i| {
            counts[sampler.word((f64::from(i) + 0.5) / f64::from(steps)) as usize] += 1;
        });
        for (count, share) in counts.iter().zip(s) {
            assert!((f64::from(*count) / f64::from(steps) - share).abs() < 2e-5);
        }
        assert_eq!((sampler.word(0.0), sampler.word(1.0)), (0, 49));
    }
}

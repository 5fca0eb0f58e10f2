//! Every word stays: the end of the scale with all utility and no privacy.

use brr::parts::mechanism::{Channel, Mechanism};
use brr::parts::random::Noise;
use brr::parts::vocabulary::WordId;
use brr::{Guarantee, Metric};

use super::discrete_distances;

/// Leaves words as they are. Tokens without a code become a random word.
#[derive(Clone, Copy, Debug)]
pub struct Identity {
    words: usize,
}

impl Identity {
    /// Over a vocabulary of this many words.
    ///
    /// # Panics
    /// If there is no word.
    pub fn new(words: usize) -> Identity {
        assert!(words > 0, "a vocabulary has words");
        Identity { words }
    }
}

impl Channel for Identity {
    fn row(&self, word: WordId, out: &mut [f64]) {
        out.fill(0.0);
        out[word as usize] = 1.0;
    }
}

impl Mechanism for Identity {
    fn channel(&self) -> Option<&dyn Channel> {
        Some(self)
    }

    fn name(&self) -> &'static str {
        "identity"
    }

    fn guarantee(&self) -> Guarantee {
        let distances = discrete_distances(self.words);
        Guarantee::new(f64::INFINITY, Metric::Discrete, distances, f64::INFINITY)
    }

    fn privatize(&self, words: &[Option<WordId>], noise: &mut Noise) -> Vec<WordId> {
        let random = |noise: &mut Noise| noise.uniform_below(self.words as u128) as WordId;
        words
            .iter()
            .map(|word| word.unwrap_or_else(|| random(noise)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stay_and_unknown_tokens_do_not() {
        let mut noise = Noise::numbered(1);
        let out = Identity::new(5).privatize(&[Some(4), None, Some(0)], &mut noise);
        assert!(out[0] == 4 && out[1] < 5 && out[2] == 0);
        assert_eq!(Identity::new(5).guarantee().bound(), f64::INFINITY);
    }
}

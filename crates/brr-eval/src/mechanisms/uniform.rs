//! A random word, whatever came in: the end of the scale with no utility.

use brr::guarantee::{Guarantee, Metric};
use brr::mechanism::{Mechanism, uniform_below};
use brr::vocabulary::WordId;
use rand_core::CryptoRng;

use super::discrete_distances;

/// Replaces every token by a uniformly random word.
#[derive(Clone, Copy, Debug)]
pub struct Uniform {
    words: usize,
}

impl Uniform {
    /// Over a vocabulary of so many words.
    ///
    /// # Panics
    /// If there is no word.
    pub fn new(words: usize) -> Uniform {
        assert!(words > 0, "a vocabulary has words");
        Uniform { words }
    }
}

impl Mechanism for Uniform {
    fn name(&self) -> &'static str {
        "uniform"
    }

    fn guarantee(&self) -> Guarantee {
        Guarantee {
            epsilon: 0.0,
            metric: Metric::Discrete,
            distances: discrete_distances(self.words),
            unknown_loss: 0.0,
        }
    }

    fn privatize(&self, words: &[Option<WordId>], rng: &mut dyn CryptoRng) -> Vec<WordId> {
        let draw = |_: &Option<WordId>| uniform_below(self.words as u128, rng) as WordId;
        words.iter().map(draw).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_core::SeedableRng;

    #[test]
    fn the_input_does_not_show() {
        let draw = |words: &[Option<WordId>]| {
            let mut rng = rand_chacha::ChaCha20Rng::seed_from_u64(3);
            Uniform::new(7).privatize(words, &mut rng)
        };
        assert_eq!(draw(&[Some(0); 50]), draw(&[None; 50]));
        assert!(draw(&[None; 50]).iter().all(|&w| w < 7));
        assert!(draw(&[]).is_empty());
    }
}

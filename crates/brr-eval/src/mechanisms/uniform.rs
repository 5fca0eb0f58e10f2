//! A random word, whatever came in: the end of the scale with no utility.

use brr::parts::mechanism::{Channel, Mechanism};
use brr::parts::random::Noise;
use brr::parts::vocabulary::WordId;
use brr::{Guarantee, Metric};

use super::discrete_distances;

/// Replaces every token by a uniformly random word.
#[derive(Clone, Copy, Debug)]
pub struct Uniform {
    words: usize,
}

impl Uniform {
    /// Over a vocabulary of this many words.
    ///
    /// # Panics
    /// If there is no word.
    pub fn new(words: usize) -> Uniform {
        assert!(words > 0, "a vocabulary has words");
        Uniform { words }
    }
}

impl Channel for Uniform {
    fn row(&self, _: WordId, out: &mut [f64]) {
        out.fill(1.0 / out.len() as f64);
    }
}

impl Mechanism for Uniform {
    fn channel(&self) -> Option<&dyn Channel> {
        Some(self)
    }

    fn name(&self) -> &'static str {
        "uniform"
    }

    fn guarantee(&self) -> Guarantee {
        let distances = discrete_distances(self.words);
        Guarantee::new(0.0, Metric::Discrete, distances, 0.0)
    }

    fn privatize(&self, words: &[Option<WordId>], noise: &mut Noise) -> Vec<WordId> {
        let draw = |_: &Option<WordId>| noise.uniform_below(self.words as u128) as WordId;
        words.iter().map(draw).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_input_does_not_show() {
        let draw = |words: &[Option<WordId>]| {
            let mut noise = Noise::numbered(3);
            Uniform::new(7).privatize(words, &mut noise)
        };
        assert_eq!(draw(&[Some(0); 50]), draw(&[None; 50]));
        assert!(draw(&[None; 50]).iter().all(|&w| w < 7));
        assert!(draw(&[]).is_empty());
    }
}

//! Madlib (Alg. 1 of the paper; Feyisetan et al. 2020): the word's vector plus
//! noise of density proportional to exp(-epsilon * |z|), then the nearest word.
//!
//! # Guarantee
//!
//! Over the real numbers: at a point z the densities around vectors x and x'
//! differ by exp(epsilon (|z - x'| - |z - x|)) <= exp(epsilon |x - x'|), and the
//! search looks at z alone, so the mechanism is epsilon*d-private, d the
//! Euclidean distance. **In floating point this is not a proof** (see [`VectorNoise`]):
//! a baseline, not for release.
//!
//! **Tokens without a code** take the vector of a uniformly random word, with
//! noise like any other. The output is then a mixture of the words' own output
//! distributions, each within epsilon * P_max of any word's, and so is the mixture.

use std::sync::Arc;

use brr::parts::epsilon::Epsilon;
use brr::parts::epsilon::round_up;
use brr::parts::mechanism::{Likelihoods, Mechanism};
use brr::parts::random::Noise;
use brr::parts::vocabulary::WordId;
use brr::{Guarantee, Metric};

use super::noise::VectorNoise;
use super::space::{NearestVector, Space};

/// Queries made before they are searched: bounds the memory of a long text.
const BATCH: usize = 4096;

/// Madlib over word vectors.
pub struct Madlib {
    space: Arc<Space>,
    epsilon: Epsilon,
    search: Arc<dyn NearestVector>,
}

impl Madlib {
    /// With exact search.
    pub fn new(space: Arc<Space>, epsilon: Epsilon) -> Madlib {
        let search = space.clone();
        Madlib::with_search(space, epsilon, search)
    }

    /// With another search over the same vectors. Any search is as private: it
    /// sees the noisy vector alone.
    pub fn with_search(
        space: Arc<Space>,
        epsilon: Epsilon,
        search: Arc<dyn NearestVector>,
    ) -> Madlib {
        Madlib {
            space,
            epsilon,
            search,
        }
    }

    /// Noisy vectors: the last step that sees the words.
    pub fn noisy_vectors(&self, words: &[Option<WordId>], noise: &mut Noise) -> Vec<f32> {
        let vectors = self.space.vectors();
        let vector_noise = VectorNoise::new(vectors.dim, self.epsilon.get());
        let mut z = vec![0.0; vectors.dim];
        let mut noisy = Vec::with_capacity(words.len() * vectors.dim);
        for word in words {
            let word = word.map_or_else(
                || noise.uniform_below(self.space.len() as u128) as usize,
                |word| word as usize,
            );
            vector_noise.draw(&mut z, noise);
            let pairs = z.iter().zip(vectors.row(word));
            noisy.extend(pairs.map(|(z, x)| (f64::from(*x) + z) as f32));
        }
        noisy
    }
}

impl Mechanism for Madlib {
    fn name(&self) -> &'static str {
        "madlib"
    }

    fn guarantee(&self) -> Guarantee {
        let distances = self.space.pair_distances();
        let epsilon = self.epsilon.get();
        let metric = Metric::Euclidean {
            dim: self.space.vectors().dim,
        };
        Guarantee::new(
            epsilon,
            metric,
            distances,
            round_up(epsilon * distances.maximum),
        )
    }

    /// As BRR does: noise around the output itself, of which what gives the output again counts. If z is
    /// such a noisy vector, the densities around w and around y differ by the factor
    /// exp(-epsilon (|z - w| - |z - y|)), which is at most 1 as y is nearest to z.
    fn likelihoods(&self, output: WordId, draws: usize, noise: &mut Noise) -> Option<Likelihoods> {
        let noisy = self.noisy_vectors(&vec![Some(output); draws], noise);
        let nearest = self.search.nearest(&noisy);
        let dim = self.space.vectors().dim;
        let hits = noisy.chunks_exact(dim).zip(nearest);
        let hits = hits.filter(|(_, nearest)| *nearest == output);
        let hits: Vec<f32> = hits.flat_map(|(z, _)| z.to_vec()).collect();
        let epsilon = self.epsilon.get() as f32;
        let factors = |distances: Vec<f32>| {
            let own = distances[output as usize];
            let factor = |d: f32| libm::expf(epsilon * (own - d).min(0.0));
            distances.into_iter().map(factor).collect()
        };
        let distances = self.space.distances_to(&hits).into_iter();
        Some(Likelihoods {
            draws: distances.map(factors).collect(),
        })
    }

    fn privatize(&self, words: &[Option<WordId>], noise: &mut Noise) -> Vec<WordId> {
        let mut out = Vec::with_capacity(words.len());
        for batch in words.chunks(BATCH) {
            out.extend(self.search.nearest(&self.noisy_vectors(batch, noise)));
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::super::space::tests::space;
    use super::*;
    use crate::interval::{ALPHA, Binomial};

    fn line(epsilon: f64) -> Madlib {
        let space = space(1, vec![0.0, 1.0, 3.0]);
        Madlib::new(Arc::new(space), Epsilon::new(epsilon).unwrap())
    }

    #[test]
    fn golden() {
        let words = [
            Some(0),
            Some(1),
            Some(2),
            Some(0),
            Some(1),
            Some(2),
            None,
            None,
        ];
        let out = line(0.5).privatize(&words, &mut Noise::numbered(2));
        assert_eq!(out, GOLDEN);
    }
    const GOLDEN: [WordId; 8] = [0, 1, 2, 1, 1, 2, 2, 1];

    /// On a line the noise is a Laplace variable and cells are intervals, so
    /// every probability is known.
    #[test]
    fn frequencies_on_a_line() {
        let (epsilon, n) = (0.8, 30_000);
        let cdf = |x: f64| {
            let tail = 0.5 * (-epsilon * x.abs()).exp();
            if x < 0.0 { tail } else { 1.0 - tail }
        };
        let words = [0.0, 1.0, 3.0];
        let edges = [f64::NEG_INFINITY, 0.5, 2.0, f64::INFINITY];
        let mut noise = Noise::numbered(4);
        for (w, x) in words.iter().enumerate() {
            let out = line(epsilon).privatize(&vec![Some(w as WordId); n], &mut noise);
            for y in 0..3 {
                let p = cdf(edges[y + 1] - x) - cdf(edges[y] - x);
                let count = out.iter().filter(|o| **o as usize == y).count();
                let (low, high) = Binomial::new(count as u64, n as u64).interval(ALPHA / 9.0);
                assert!(
                    (low..=high).contains(&p),
                    "{w} -> {y}: {p} in {low}..{high}"
                );
            }
        }
    }

    #[test]
    fn boundaries() {
        let mut noise = Noise::numbered(6);
        let words = [Some(2), Some(0), Some(1)];
        assert_eq!(line(1e9).privatize(&words, &mut noise), [2, 0, 1]);
        let far = line(1e-9).privatize(&[Some(1); 200], &mut noise);
        assert!(
            far.iter().all(|&y| y != 1),
            "noise of a billion words' width"
        );
        assert!(line(1.0).privatize(&[], &mut noise).is_empty());
        assert_eq!(line(2.0).guarantee().unknown_loss.round(), 6.0);
    }
}

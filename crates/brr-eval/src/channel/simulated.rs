//! Channels known by their draws alone.

use brr::parts::mechanism::Mechanism;
use brr::parts::random::Noise;
use brr::parts::vocabulary::WordId;
use brr::parts::{frequency, parallel};
use chacha20::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};
use std::collections::HashMap;

use super::attacker::{Prior, attack};
use super::{MASS, OutputSets, Sampling, Similarity, Spread, Summary, changed};
use crate::interval::Estimate;

/// A word and what it became, draw after draw.
pub struct Draws {
    /// The word.
    pub word: WordId,
    /// Its outputs.
    pub outputs: Vec<WordId>,
}

impl Draws {
    fn kept(&self) -> f64 {
        let same = self.outputs.iter().filter(|y| **y == self.word).count();
        same as f64 / self.outputs.len().max(1) as f64
    }

    /// How often each output came, most often first.
    pub fn counts(&self) -> Vec<(WordId, usize)> {
        let mut counts: HashMap<WordId, usize> = HashMap::new();
        self.outputs
            .iter()
            .for_each(|y| *counts.entry(*y).or_default() += 1);
        let mut counts: Vec<_> = counts.into_iter().collect();
        counts.sort_by_key(|&(y, count)| (std::cmp::Reverse(count), y));
        counts
    }

    /// Size of the smallest set with [`MASS`] of the draws, and whether the true
    /// one may be larger: by Good and Turing the outputs seen once measure the
    /// probability of all those not seen yet.
    fn smallest_set(&self) -> (usize, bool) {
        let counts = self.counts();
        let enough = MASS * self.outputs.len() as f64;
        let mut mass = 0;
        let within = counts.iter().take_while(|c| {
            let before = mass;
            mass += c.1;
            (before as f64) < enough
        });
        let once = counts.iter().filter(|c| c.1 == 1).count();
        (
            within.count(),
            once as f64 > 0.01 * self.outputs.len() as f64,
        )
    }

    /// Mean of `of` over the outputs that differ from the word, and their share.
    fn changed(&self, of: &dyn Fn(WordId) -> f64) -> (f64, f64) {
        let (mut sum, mut count) = (0.0, 0);
        for (y, times) in self.counts().into_iter().filter(|c| c.0 != self.word) {
            sum += of(y) * times as f64;
            count += times;
        }
        let share = count as f64 / self.outputs.len().max(1) as f64;
        (sum / f64::from(count.max(1) as u32), share)
    }
}

/// Words drawn by `prior`, one in each of `count` equal stretches of probability:
/// every draw is fair and no part of the vocabulary is left out. At most all words.
pub fn spread_words(words: usize, count: usize, seed: u64, prior: Prior) -> Vec<WordId> {
    if prior == Prior::Uniform && count >= words {
        return (0..words as WordId).collect();
    }
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    rng.set_stream(u64::MAX - prior as u64);
    let by_use = frequency::Sampler::new(words);
    let draw = |i: usize| {
        let within = (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        let u = (i as f64 + within) / count as f64;
        match prior {
            Prior::Uniform => ((u * words as f64) as usize).min(words - 1) as WordId,
            Prior::ByUse => by_use.word(u),
        }
    };
    (0..count).map(draw).collect()
}

/// Draws outputs of words; the same for any number of threads.
pub fn draw(mechanism: &dyn Mechanism, words: &[WordId], salt: u64, plan: &Sampling) -> Vec<Draws> {
    parallel::map(plan.threads, words.len(), |i| {
        let mut noise = Noise::numbered(plan.seed).with_stream((salt << 32) + i as u64);
        let inputs = vec![Some(words[i]); plan.draws];
        Draws {
            word: words[i],
            outputs: mechanism.privatize(&inputs, &mut noise),
        }
    })
}

/// Simulates a sample of words, once drawn uniformly and once by use.
pub fn measure(
    mechanism: &dyn Mechanism,
    words: usize,
    similarity: &Similarity,
    plan: &Sampling,
    progress: &(dyn Fn(f64) + Sync),
) -> Summary {
    let sample = |prior: Prior| {
        let ids = spread_words(words, plan.words, plan.seed, prior);
        draw(mechanism, &ids, prior as u64, plan)
    };
    progress(0.0);
    let plain = sample(Prior::Uniform);
    progress(0.4);
    let by_use = sample(Prior::ByUse);
    progress(0.8);
    let keep = |draws: &[Draws]| draws.iter().map(Draws::kept).collect::<Vec<f64>>();
    let sets: Vec<(usize, bool)> = plain.iter().map(Draws::smallest_set).collect();
    let sizes: Vec<f64> = sets.iter().map(|s| s.0 as f64).collect();
    let over = |of: &dyn Fn(WordId, WordId) -> f64| {
        let means = plain.iter().map(|d| d.changed(&|y| of(d.word, y)));
        changed(&means.collect::<Vec<_>>())
    };
    let space = similarity.space.as_ref();
    let hamming = |a, b| similarity.hamming(a, b).unwrap_or(0.0);
    let guess = |draws: &[Draws], prior| {
        plan.attack
            .then(|| attack(draws, prior, words, similarity, plan))
    };
    Summary {
        exact: false,
        keep: Estimate::mean(&keep(&plain)).clamped(),
        keep_by_use: Estimate::mean(&keep(&by_use)).clamped(),
        keep_spread: Spread::of(keep(&plain)),
        outputs: OutputSets {
            mean: sizes.iter().sum::<f64>() / sizes.len().max(1) as f64,
            spread: Spread::of(sizes),
            at_least: sets.iter().any(|s| s.1),
        },
        changed_cosine: space.and_then(|s| over(&|a, b| s.cosine(a, b))),
        changed_hamming: similarity.model.as_ref().and_then(|_| over(&hamming)),
        guess: guess(&plain, Prior::Uniform),
        guess_by_use: guess(&by_use, Prior::ByUse),
    }
}

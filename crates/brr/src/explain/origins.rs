//! What may have gone in when a word came out.
//!
//! An observer who holds all N words for equally likely, and sees y, believes
//! in w with probability Pr[y | w] / sum over w' of Pr[y | w'] (Bayes).
//!
//! **BRR.** Pr[y | w] is the probability that noise carries w's code into the
//! set of codes whose nearest word is y: no formula gives it. But noise around
//! *y itself* reaches the same set. If r is such a noisy code,
//!
//! ```text
//! Pr[r | w] / Pr[r | y]  =  exp(-e * (d(r, w) - d(r, y)))  <=  1,
//! ```
//!
//! as y is nearest to r. So the mean of this factor, over draws r around y
//! (0 when the nearest word is not y), is an unbiased estimate of Pr[y | w]
//! with factors between 0 and 1, and the same draws serve every w at once.
//! The quotient has a standard error by the delta method.
//!
//! **Exponential.** Pr[y | w] = T[d(w, y)] / Z(w), and each Z(w) takes a scan:
//! it is computed for the [`COMPUTED`] words nearest to y, and for as many of
//! the others, evenly spaced, to learn what 1 / Z is there on average.

use super::outcomes::scan_from;
use super::{Chance, Likely, Method, Z95, most_likely};
use crate::codes::CodeRows;
use crate::error::Result;
use crate::mechanism::Channel;
use crate::model::Model;
use crate::nearest::Scan;
use crate::privatizer::Privatizer;
use crate::random::Noise;
use crate::response::FlipThreshold;
use crate::vocabulary::WordId;

/// Words whose normalizer is computed, near the output and elsewhere each.
const COMPUTED: usize = 128;

/// Accepted noisy codes that are looked at more closely: each takes a scan.
const ACCEPTED: usize = 400;

/// What may have gone in when a word came out.
#[derive(Clone, Debug, PartialEq)]
pub struct Origins {
    /// The most likely inputs. Empty if there were too few draws to tell.
    pub likely: Vec<Likely>,
    /// How the numbers were found.
    pub method: Method,
}

/// The `top` most likely inputs behind the output `word`, every word of the
/// vocabulary being equally likely beforehand; with up to `draws` draws.
///
/// # Panics
/// If the model has no such word.
pub fn origins(privatizer: &Privatizer, word: WordId, top: usize, draws: usize) -> Result<Origins> {
    let model = privatizer.model();
    let (all, method) = match privatizer.mechanism().channel() {
        Channel::Response(threshold) => {
            let all = around(model, word, threshold, draws)?;
            (all, Method::Drawn { draws })
        }
        Channel::Weights(weights) => {
            let all = by_weight(model, word, weights);
            let words = all.len();
            (all, Method::Nearest { words })
        }
        Channel::Opaque => (Vec::new(), Method::Opaque),
    };
    Ok(Origins {
        likely: most_likely(all, top),
        method,
    })
}

/// Noisy codes around `word` whose nearest word it is, at most [`ACCEPTED`].
fn accepted(
    model: &Model,
    word: WordId,
    threshold: FlipThreshold,
    draws: usize,
) -> Result<CodeRows> {
    let codes = model.codes();
    let mut noise = Noise::from_os()?;
    let mut rows = CodeRows::zeros(codes.bits(), draws);
    for i in 0..draws {
        codes.read(word as usize, rows.row_mut(i));
        threshold.apply(rows.row_mut(i), &mut noise);
    }
    let nearest = Scan::new(codes).nearest(&rows);
    let mut kept = CodeRows::new(codes.bits());
    let hits = nearest.iter().enumerate().filter(|(_, n)| n.id == word);
    for (i, _) in hits.take(ACCEPTED) {
        kept.push(rows.row(i));
    }
    Ok(kept)
}

/// Sums over draws, of one word's factor a and the total b over all words.
#[derive(Clone, Copy, Default)]
struct Sums {
    a: f64,
    aa: f64,
    ab: f64,
}

impl Sums {
    /// a / b with its interval, by the delta method.
    fn chance(&self, b: f64, bb: f64) -> Chance {
        let p = self.a / b;
        let variance = (self.aa - 2.0 * p * self.ab + p * p * bb).max(0.0) / (b * b);
        let half = Z95 * variance.sqrt();
        Chance {
            probability: p,
            low: (p - half).max(0.0),
            high: (p + half).min(1.0),
        }
    }
}

fn around(
    model: &Model,
    word: WordId,
    threshold: FlipThreshold,
    draws: usize,
) -> Result<Vec<Likely>> {
    let rows = accepted(model, word, threshold, draws)?;
    let scan = Scan::new(model.codes());
    let epsilon = threshold.epsilon();
    let factors: Vec<f64> = (0..=model.bits().get())
        .map(|more| libm::exp(-epsilon * more as f64))
        .collect();
    let mut distances = vec![0; model.vocabulary().len()];
    let mut sums = vec![Sums::default(); distances.len()];
    let (mut b, mut bb) = (0.0, 0.0);
    for row in rows.iter() {
        scan.distances(row, &mut distances);
        let own = distances[word as usize];
        let factor = |d: u16| factors[usize::from(d - own)];
        let total: f64 = distances.iter().map(|&d| factor(d)).sum();
        b += total;
        bb += total * total;
        for (sum, &d) in sums.iter_mut().zip(&distances) {
            let a = factor(d);
            sum.a += a;
            sum.aa += a * a;
            sum.ab += a * total;
        }
    }
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    let likely = |(id, sum): (usize, &Sums)| Likely {
        word: id as WordId,
        chance: sum.chance(b, bb),
    };
    Ok(sums.iter().enumerate().map(likely).collect())
}

fn by_weight(model: &Model, word: WordId, weights: &[u64]) -> Vec<Likely> {
    let mut distances = vec![0; model.vocabulary().len()];
    scan_from(model, word, &mut distances);
    let weight = |d: u16| weights[usize::from(d)] as f64;
    let mut order: Vec<usize> = (0..distances.len()).collect();
    order.sort_by_key(|&id| distances[id]);
    let (near, rest) = order.split_at(COMPUTED.min(order.len()));

    let mut scratch = vec![0; distances.len()];
    let mut inverse = |id: usize| {
        scan_from(model, id as WordId, &mut scratch);
        1.0 / scratch.iter().map(|&d| weight(d)).sum::<f64>()
    };
    let likelihoods: Vec<f64> = near
        .iter()
        .map(|&id| weight(distances[id]) * inverse(id))
        .collect();
    let sample: Vec<f64> = rest
        .iter()
        .step_by(rest.len().div_ceil(COMPUTED).max(1))
        .map(|&id| inverse(id))
        .collect();
    let near_sum: f64 = likelihoods.iter().sum();
    let rest_weight: f64 = rest.iter().map(|&id| weight(distances[id])).sum();
    let posterior = |a: f64, inverse: f64| a / (near_sum + rest_weight * inverse);
    let least = sample.iter().copied().fold(f64::INFINITY, f64::min);
    let most = sample.iter().copied().fold(0.0, f64::max);
    let mean = sample.iter().sum::<f64>() / sample.len().max(1) as f64;
    let least = if sample.is_empty() { 0.0 } else { least };
    let likely = |(&id, &a): (&usize, &f64)| Likely {
        word: id as WordId,
        chance: Chance {
            probability: posterior(a, mean),
            low: posterior(a, most),
            high: posterior(a, least),
        },
    };
    near.iter().zip(&likelihoods).map(likely).collect()
}

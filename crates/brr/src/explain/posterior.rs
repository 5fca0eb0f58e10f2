//! What may have gone in when a word came out.
//!
//! An observer who holds all N words for equally likely, and sees y, believes
//! in w with probability Pr[y | w] / sum over w' of Pr[y | w'] (Bayes).
//!
//! Where a mechanism has a [channel](crate::mechanism::Mechanism::channel), Pr[y | w] is computed for the
//! [`COMPUTED`] words nearest to y, and for as many of the others, evenly spaced, to learn what
//! they add up to. Where it has [likelihoods](crate::mechanism::Mechanism::likelihoods) from
//! draws, the quotient has a standard error by the delta method.

use super::{Chance, Likely, Method, Z95, most_likely, whole};
use crate::error::{Error, Result};
use crate::mechanism::{Channel, Likelihoods};
use crate::model::Model;
use crate::nearest::Scan;
use crate::privatizer::Privatizer;
use crate::random::Noise;
use crate::vocabulary::WordId;

/// Words whose rows are computed, near the output and elsewhere each.
const COMPUTED: usize = 128;

/// What may have gone in when a word came out.
#[derive(Clone, Debug, PartialEq)]
pub struct Posterior {
    /// The most likely inputs. Empty if there were too few draws to tell.
    pub likely: Vec<Likely>,
    /// How the numbers were found.
    pub method: Method,
}

/// The `top` most likely inputs behind the output `word`, every word of the
/// vocabulary (under a policy, every private one) being equally likely beforehand; with up to `draws` draws.
///
/// ```
/// # use std::sync::Arc;
/// # use brr::{Options, Privatizer};
/// # let model = Arc::new(brr::Model::open("../brr-english/src/english.brr")?);
/// # let privatizer = Privatizer::new(model, Options::default())?;
/// let secret = privatizer.model().find("secret").expect("a word of the model");
/// let found = brr::explain::posterior(&privatizer, secret, 5, 10_000)?;
/// // The word itself is the likeliest origin, and not the only one.
/// assert_eq!(found.likely[0].word, secret);
/// assert!(found.likely[0].chance.probability < 1.0);
/// # Ok::<(), brr::Error>(())
/// ```
///
/// # Panics
/// If the model has no such word.
pub fn posterior(
    privatizer: &Privatizer,
    word: WordId,
    top: usize,
    draws: usize,
) -> Result<Posterior> {
    let (model, mechanism) = (privatizer.private_model(), privatizer.mechanism());
    let word = privatizer.private_id(word).ok_or(Error::PublicWord)?;
    let (all, method) = match mechanism.channel() {
        Some(channel) => {
            let all = by_rows(model, channel, word);
            let words = all.len();
            (all, Method::Nearest { words })
        }
        None if draws == 0 => return Err(Error::NoDraws),
        None => match mechanism.likelihoods(word, draws, &mut Noise::from_os()?) {
            Some(found) => (by_draws(&found), Method::Drawn { draws }),
            None => (Vec::new(), Method::Opaque),
        },
    };
    let mut likely = most_likely(all, top);
    whole(privatizer, &mut likely);
    Ok(Posterior { likely, method })
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

fn by_draws(found: &Likelihoods) -> Vec<Likely> {
    let words = found.draws.first().map_or(0, Vec::len);
    let mut sums = vec![Sums::default(); words];
    let (mut b, mut bb) = (0.0, 0.0);
    for factors in &found.draws {
        let total: f64 = factors.iter().map(|&a| f64::from(a)).sum();
        b += total;
        bb += total * total;
        for (sum, &a) in sums.iter_mut().zip(factors) {
            let a = f64::from(a);
            sum.a += a;
            sum.aa += a * a;
            sum.ab += a * total;
        }
    }
    let likely = |(word, sum): (WordId, &Sums)| Likely {
        word,
        chance: sum.chance(b, bb),
    };
    (0..).zip(&sums).map(likely).collect()
}

fn by_rows(model: &Model, channel: &dyn Channel, word: WordId) -> Vec<Likely> {
    let words = model.vocabulary().len();
    let mut distances = vec![0; words];
    Scan::new(model.codes()).distances_from(word, &mut distances);
    let mut order: Vec<usize> = (0..words).collect();
    order.sort_by_key(|&id| distances[id]);
    let (near, rest) = order.split_at(COMPUTED.min(words));

    let mut row = vec![0.0; words];
    let mut likelihood = |id: usize| {
        channel.row(id as WordId, &mut row);
        row[word as usize]
    };
    let likelihoods: Vec<f64> = near.iter().map(|&id| likelihood(id)).collect();
    let sampled = rest
        .iter()
        .step_by(rest.len().div_ceil(COMPUTED).max(1))
        .map(|&id| likelihood(id));
    let sample: Vec<f64> = sampled.collect();
    let near_sum: f64 = likelihoods.iter().sum();
    // What the others add up to, at the sample's mean and at its extremes.
    let others = |each: f64| rest.len() as f64 * each;
    let mean = sample.iter().sum::<f64>() / sample.len().max(1) as f64;
    let most = sample.iter().copied().fold(0.0, f64::max);
    let least = sample.iter().copied().fold(most, f64::min);
    let posterior = |a: f64, each: f64| a / (near_sum + others(each));
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

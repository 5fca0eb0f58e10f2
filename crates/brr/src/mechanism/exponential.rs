//! The exponential mechanism over Hamming distance, sampled exactly.
//!
//! # Guarantee
//!
//! Pr[y | w] = T[d(w, y)] / Z(w) with integer weights T and the exact integer
//! Z(w) = sum over y of T[d(w, y)]; [`super::certificate`] says which epsilon
//! that gives. The sample is exact: an integer u is drawn uniformly from
//! 0..Z(w), and the answer is the word y in whose stretch of length
//! T[d(w, y)] u falls when the stretches of all words are laid end to end.
//!
//! **Work.** Every input takes one scan over all codes, the sum of every
//! block's weights, and a search for u that looks at every block and at every
//! word of one block. None of it branches on the input.
//!
//! **Tokens without a code** go the same way, from an arbitrary public word and
//! with all weights 1: uniform over the N words. For a word w, Pr[y | w] lies
//! between T[n] / Zmax and T[0] / Zmin, so the loss between an unknown token and
//! a word is at most max(ln(N T[0] / Zmin), ln(Zmax / (N T[P_max]))).

use std::sync::Arc;

use rand_core::CryptoRng;

use super::certificate::{Certificate, Weights};
use super::{Channel, Mechanism, uniform_below};
use crate::codes::LANES;
use crate::epsilon::{Epsilon, round_up};
use crate::error::{Error, Result};
use crate::guarantee::{Budget, Guarantee};
use crate::model::{Keep, Model};
use crate::nearest::Scan;
use crate::vocabulary::WordId;

/// The exponential mechanism over a model's codes.
pub struct Exponential {
    model: Arc<Model>,
    weights: Vec<u64>,
    epsilon: f64,
    unknown_loss: f64,
    keep: Option<Keep>,
}

impl Exponential {
    /// The best that is known to be at most `epsilon`: the model's certificate
    /// with the largest epsilon not above it, or textbook weights.
    pub fn new(model: Arc<Model>, epsilon: Epsilon) -> Result<Exponential> {
        let textbook = Weights::textbook(model.bits(), epsilon, None);
        let usable = |c: &&Certificate| c.epsilon <= epsilon.get();
        // A certificate far below what is asked can be worse than the textbook.
        let best = model.certificates().iter().rfind(usable).cloned();
        match best {
            Some(c) if 2.0 * c.scale >= epsilon.get() => Exponential::certified(model, &c),
            _ => Ok(Exponential::textbook(model, textbook)),
        }
    }

    /// The mechanism for a budget. A share of kept words is met as closely as
    /// the model's certificates allow.
    pub fn for_budget(model: Arc<Model>, budget: Budget) -> Result<Exponential> {
        match budget {
            Budget::Epsilon(value) => Exponential::new(model, Epsilon::new(value)?),
            Budget::Bound(value) => {
                let epsilon = Budget::epsilon_for_bound(value, &model.pair_distances())?;
                Exponential::new(model, epsilon)
            }
            Budget::Keep(value) => {
                let off = |c: &Certificate| (c.keep.weighted - value).abs();
                let certificates = model.certificates().iter();
                let closest = certificates
                    .min_by(|a, b| off(a).total_cmp(&off(b)))
                    .cloned();
                let certificate = closest.ok_or(Error::NoCalibration {
                    mechanism: "exponential",
                })?;
                Exponential::certified(model, &certificate)
            }
        }
    }

    /// With a certificate, which must be for this model.
    pub fn certified(model: Arc<Model>, certificate: &Certificate) -> Result<Exponential> {
        if certificate.identity != model.identity() {
            return Err(Error::CertificateMismatch);
        }
        let z = &certificate.normalizers;
        Ok(Exponential {
            unknown_loss: unknown_loss(&model, &certificate.weights, *z.start(), *z.end()),
            weights: certificate.weights.clone(),
            epsilon: certificate.epsilon,
            keep: Some(certificate.keep),
            model,
        })
    }

    /// With the guarantee that holds for any codes.
    pub fn textbook(model: Arc<Model>, weights: Weights) -> Exponential {
        let table = weights.table().to_vec();
        let n = model.vocabulary().len() as u128;
        let (top, far) = (u128::from(table[0]), u128::from(table[farthest(&model)]));
        Exponential {
            epsilon: weights.textbook_epsilon(),
            unknown_loss: unknown_loss(&model, &table, top + (n - 1) * far, n * top),
            weights: table,
            keep: None,
            model,
        }
    }

    /// Whether a certificate stands behind the epsilon.
    pub fn is_certified(&self) -> bool {
        self.keep.is_some()
    }

    /// The expected share of kept words, where a certificate tells it.
    pub fn keep(&self) -> Option<Keep> {
        self.keep
    }
}

fn farthest(model: &Model) -> usize {
    model.code_distances().maximum as usize
}

fn unknown_loss(model: &Model, weights: &[u64], z_min: u128, z_max: u128) -> f64 {
    let n = model.vocabulary().len() as f64;
    let likely = libm::log(n * weights[0] as f64 / z_min as f64);
    let unlikely = libm::log(z_max as f64 / (n * weights[farthest(model)] as f64));
    round_up(likely.max(unlikely).max(0.0))
}

/// Draws the word in whose stretch a uniform number falls.
struct Sampler<'a> {
    weights: &'a [u64],
    distances: Vec<u16>,
    /// Sum of weights of each block, and of all blocks before it.
    sums: Vec<(u64, u128)>,
}

impl Sampler<'_> {
    fn draw(&mut self, scan: &Scan<'_>, code: &[u64], rng: &mut dyn CryptoRng) -> WordId {
        scan.distances(code, &mut self.distances);
        let weights = self.weights;
        let mut total = 0u128;
        for (block, (sum, before)) in self.distances.chunks(LANES).zip(&mut self.sums) {
            *before = total;
            *sum = block.iter().map(|&d| weights[usize::from(d)]).sum();
            total += u128::from(*sum);
        }
        let u = uniform_below(total, rng);
        // The last block that starts at or before u; every block is looked at.
        let block = self
            .sums
            .iter()
            .map(|&(_, before)| usize::from(before <= u))
            .sum::<usize>()
            - 1;
        let rest = (u - self.sums[block].1) as u64;
        let start = block * LANES;
        let mut before = 0;
        let mut lane = 0;
        for &d in self.distances[start..].iter().take(LANES) {
            before += weights[usize::from(d)];
            lane += usize::from(before <= rest);
        }
        (start + lane) as WordId
    }
}

impl Mechanism for Exponential {
    fn name(&self) -> &'static str {
        "exponential"
    }

    fn guarantee(&self) -> Guarantee {
        Guarantee {
            epsilon: self.epsilon,
            metric: self.model.metric(),
            distances: self.model.pair_distances(),
            unknown_loss: self.unknown_loss,
        }
    }

    fn channel(&self) -> Channel<'_> {
        Channel::Weights(&self.weights)
    }

    fn privatize(&self, words: &[Option<WordId>], rng: &mut dyn CryptoRng) -> Vec<WordId> {
        let codes = self.model.codes();
        let scan = Scan::new(codes);
        let flat = vec![1; self.weights.len()];
        let mut code = vec![0; codes.bits().limbs()];
        let mut sampler = Sampler {
            weights: &self.weights,
            distances: vec![0; codes.len()],
            sums: vec![(0, 0); codes.blocks()],
        };
        let mut draw = |word: &Option<WordId>| {
            codes.read(word.unwrap_or(0) as usize, &mut code);
            sampler.weights = if word.is_some() { &self.weights } else { &flat };
            sampler.draw(&scan, &code, rng)
        };
        words.iter().map(&mut draw).collect()
    }
}

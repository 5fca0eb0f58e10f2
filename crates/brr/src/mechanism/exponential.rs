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
//! block's weights, and a search for u that looks at the sum of every block and
//! scans one block again: that of the word that is released. None of it
//! branches on the input.
//!
//! **Tokens without a code** go the same way, from an arbitrary public word and
//! with all weights 1: uniform over the N words. For a word w, Pr[y | w] lies
//! between T[P_max] / Zmax and T[0] / Zmin, so the loss between an unknown token
//! and a word is at most max(ln(N T[0] / Zmin), ln(Zmax / (N T[P_max]))). Without
//! a certificate Zmin and Zmax are not known, but T falls, so Z(w) lies between
//! T[0] + (N - 1) T[P_max] and T[0] + (N - 1) T[P_min], P_min the smallest distance
//! between two words.

use std::sync::Arc;

use rand_core::CryptoRng;

use super::certificate::{Certificate, Weights};
use super::{Mechanism, uniform_below};
use crate::codes::{CodeBits, LANES};
use crate::epsilon::{Epsilon, round_up};
use crate::error::{Error, Result};
use crate::guarantee::{Budget, Guarantee};
use crate::model::{Keep, Model};
use crate::nearest::Scan;
use crate::vocabulary::WordId;

/// Blocks whose distances are kept at a time.
const TILE: usize = 32;

/// The exponential mechanism over a model's codes.
pub struct Exponential {
    model: Arc<Model>,
    weights: Vec<u64>,
    epsilon: f64,
    unknown_loss: f64,
    keep: Option<Keep>,
}

impl Exponential {
    /// The mechanism that keeps the most words among those known to give at
    /// most `epsilon`: the model's certificates, and textbook weights.
    ///
    /// Between two certificates the lower one is taken; only a certificate far
    /// below what is asked is worse than the textbook, which gives half away.
    pub fn new(model: Arc<Model>, epsilon: Epsilon) -> Result<Exponential> {
        let textbook = Weights::textbook(model.bits(), epsilon, None);
        let usable = model.certificates().iter();
        let usable = usable.filter(|c| c.epsilon <= epsilon.get());
        // Among equals the last: the largest epsilon.
        let best = usable.max_by(|a, b| a.keep.weighted.total_cmp(&b.keep.weighted));
        match best.cloned() {
            Some(c) if !keeps_more(&textbook, &c.weights) => Exponential::certified(model, &c),
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
        let near = model.code_distances().nearest_min as usize;
        let [top, near, far] = [0, near, farthest(&model)].map(|d| u128::from(table[d]));
        Exponential {
            epsilon: weights.textbook_epsilon(),
            unknown_loss: unknown_loss(&model, &table, top + (n - 1) * far, top + (n - 1) * near),
            weights: table,
            keep: None,
            model,
        }
    }

    /// The integer weight of each distance, as it is sampled.
    pub fn weights(&self) -> &[u64] {
        &self.weights
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

/// Whether `weights` keep every word at least as often as `other` does, and
/// some more often, on any codes: T[0] / Z falls with every T[d] / T[0].
fn keeps_more(weights: &Weights, other: &[u64]) -> bool {
    let product = |a: u64, b: u64| u128::from(a) * u128::from(b);
    let table = weights.table();
    let mut pairs = table.iter().zip(other);
    table != other && pairs.all(|(&t, &o)| product(t, other[0]) <= product(o, table[0]))
}

/// More than rounding can take off ln(N T / Z): four operations on its argument.
const RATIO_SLACK: f64 = 1.0 / (1u64 << 50) as f64;

fn unknown_loss(model: &Model, weights: &[u64], z_min: u128, z_max: u128) -> f64 {
    let n = model.vocabulary().len() as f64;
    let likely = libm::log(n * weights[0] as f64 / z_min as f64);
    let unlikely = libm::log(z_max as f64 / (n * weights[farthest(model)] as f64));
    round_up(likely.max(unlikely).max(0.0) + RATIO_SLACK)
}

/// Draws the word in whose stretch a number falls.
struct Sampler<'a> {
    scan: Scan<'a>,
    /// Distances of a tile of blocks.
    distances: Vec<u16>,
    /// Sum of weights of each block.
    sums: Vec<u64>,
}

impl<'a> Sampler<'a> {
    fn new(scan: Scan<'a>) -> Sampler<'a> {
        Sampler {
            distances: vec![0; TILE * LANES],
            sums: vec![0; scan.codes().blocks()],
            scan,
        }
    }

    /// Adds up the weights of every block; their total is Z.
    fn add_up(&mut self, code: &[u64], table: &Table) -> u128 {
        let codes = self.scan.codes();
        for (tile, sums) in self.sums.chunks_mut(TILE).enumerate() {
            let blocks = tile * TILE..tile * TILE + sums.len();
            let words = (blocks.end * LANES).min(codes.len()) - blocks.start * LANES;
            let distances = &mut self.distances[..words];
            self.scan.distances_in(code, blocks, distances);
            for (sum, block) in sums.iter_mut().zip(distances.chunks(LANES)) {
                *sum = table.sum(block);
            }
        }
        self.sums.iter().map(|&sum| u128::from(sum)).sum()
    }

    /// The word in whose stretch `u`, below Z, falls.
    fn word_at(&mut self, u: u128, code: &[u64], table: &Table) -> WordId {
        // Every block is looked at, and every word of the block found.
        let (mut end, mut start, mut block) = (0, 0, 0);
        for &sum in &self.sums {
            end += u128::from(sum);
            let is_before = end <= u;
            start = if is_before { end } else { start };
            block += usize::from(is_before);
        }
        let rest = (u - start) as u64;
        let first = block * LANES;
        let words = LANES.min(self.scan.codes().len() - first);
        let distances = &mut self.distances[..words];
        self.scan.distances_in(code, block..block + 1, distances);
        let (mut end, mut lane) = (0, 0);
        for &d in &*distances {
            end += table.weight(d);
            lane += usize::from(end <= rest);
        }
        (first + lane) as WordId
    }
}

/// Weights by distance, long enough for an index that need not be checked.
struct Table([u64; Table::LEN]);

impl Table {
    /// A power of two above the longest distance.
    const LEN: usize = (CodeBits::MAX.get() + 1).next_power_of_two();

    fn new(weights: &[u64]) -> Table {
        let mut table = [0; Table::LEN];
        table[..weights.len()].copy_from_slice(weights);
        Table(table)
    }

    fn weight(&self, distance: u16) -> u64 {
        self.0[usize::from(distance) % Table::LEN]
    }

    /// Sum over a block: at most 64 times 2^57.
    fn sum(&self, distances: &[u16]) -> u64 {
        distances.iter().map(|&d| self.weight(d)).sum()
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

    fn privatize(&self, words: &[Option<WordId>], rng: &mut dyn CryptoRng) -> Vec<WordId> {
        let codes = self.model.codes();
        let mut sampler = Sampler::new(Scan::new(codes));
        let known = Table::new(&self.weights);
        let unknown = Table::new(&vec![1; self.weights.len()]);
        let mut code = vec![0; codes.bits().limbs()];
        let mut draw = |word: &Option<WordId>| {
            codes.read(word.unwrap_or(0) as usize, &mut code);
            let table = if word.is_some() { &known } else { &unknown };
            let z = sampler.add_up(&code, table);
            sampler.word_at(uniform_below(z, rng), &code, table)
        };
        words.iter().map(&mut draw).collect()
    }
}

#[cfg(test)]
mod tests;

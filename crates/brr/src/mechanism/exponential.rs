//! The exponential mechanism over Hamming distance, sampled exactly.
//!
//! # Guarantee
//!
//! Pr[y | w] = T[d(w, y)] / Z(w) with integer weights T and the exact integer
//! Z(w) = sum over y of T[d(w, y)]; [`crate::certify`] says which epsilon
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
//! with all weights `T[0]`: uniform over the N words. For a word w, Pr[y | w] lies
//! between `T[P_max]` / Zmax and `T[0]` / Zmin, so the loss between an unknown token
//! and a word is at most max(ln(N `T[0]` / Zmin), ln(Zmax / (N `T[P_max]`))). Without
//! a certificate Zmin and Zmax are not known, but T falls, so Z(w) lies between
//! `T[0]` + (N - 1) `T[P_max]` and `T[0]` + (N - 1) `T[P_min]`, P_min the smallest distance
//! between two words.

use std::hint::black_box;
use std::ops::{Range, RangeInclusive};
use std::sync::{Arc, OnceLock};

use zeroize::{Zeroize, Zeroizing};

use super::{Channel, Emission, Mechanism, Observations};
use crate::certify::{Certificate, Weights};
use crate::codes::{CodeRows, LANES};
use crate::epsilon::{Epsilon, round_up};
use crate::error::{Error, Result};
use crate::frequency::Keep;
use crate::guarantee::{Budget, Guarantee};
use crate::model::{Model, Standing};
use crate::nearest::{self, Scan, Sieve, WeightTable};
use crate::random::Noise;
use crate::vocabulary::WordId;

/// Words that are scanned together.
const BATCH: usize = 128;
/// Words whose normalizers stand for all where text is decoded.
const MEASURED: usize = 64;

/// The exponential mechanism over a model's codes.
pub struct Exponential {
    model: Arc<Model>,
    weights: Vec<u64>,
    epsilon: f64,
    unknown_loss: f64,
    keep: Option<Keep>,
    keep_within: RangeInclusive<f64>,
    /// What decoding takes for the channel, once it is asked for.
    log_channel: OnceLock<Vec<f32>>,
}

impl Exponential {
    /// The mechanism that keeps the most words among those known to give at
    /// most `epsilon`: the model's certificates, and textbook weights.
    ///
    /// Between two certificates the lower one is taken; only a certificate far
    /// below what is asked is worse than the textbook, which gives half away.
    pub fn new(model: Arc<Model>, epsilon: Epsilon) -> Exponential {
        let textbook = Weights::textbook(model.bits(), epsilon, None);
        let usable = model.certificates().iter();
        let usable = usable.filter(|c| c.epsilon() <= epsilon.get());
        // Among equals the last: the largest epsilon.
        let best = usable.max_by(|a, b| a.keep().weighted.total_cmp(&b.keep().weighted));
        match best.cloned() {
            Some(c) if !keeps_more(&textbook, c.weights()) => Exponential::of(model, &c),
            _ => Exponential::textbook(model, textbook),
        }
    }

    /// The mechanism for a budget. A share of kept words is met from below: by the certificate
    /// that keeps the most words of those that keep no more than asked for.
    pub fn for_budget(model: Arc<Model>, budget: Budget) -> Result<Exponential> {
        match budget {
            Budget::Epsilon(value) => Ok(Exponential::new(model, Epsilon::new(value)?)),
            Budget::Bound(value) => {
                let epsilon = Budget::epsilon_for_bound(value, &model.pair_distances())?;
                Ok(Exponential::new(model, epsilon))
            }
            Budget::Keep(value) => {
                let certificate = certificate_keeping(&model, value)?;
                Ok(Exponential::of(model, &certificate))
            }
        }
    }

    /// With a certificate, which must be for this model.
    pub fn certified(model: Arc<Model>, certificate: &Certificate) -> Result<Exponential> {
        if certificate.identity() != model.identity() {
            return Err(Error::CertificateMismatch);
        }
        Ok(Exponential::of(model, certificate))
    }

    fn of(model: Arc<Model>, certificate: &Certificate) -> Exponential {
        let (weights, z) = (certificate.weights(), certificate.normalizers());
        let keep = certificate.keep();
        Exponential {
            unknown_loss: unknown_loss(&model, weights, *z.start(), *z.end()),
            weights: weights.to_vec(),
            epsilon: certificate.epsilon(),
            keep: Some(keep),
            keep_within: keep.weighted..=keep.weighted,
            log_channel: OnceLock::new(),
            model,
        }
    }

    /// With the guarantee that holds for any codes.
    pub fn textbook(model: Arc<Model>, weights: Weights) -> Exponential {
        let table = weights.table().to_vec();
        let n = model.vocabulary().len() as u128;
        let near = model.code_distances().nearest_min as usize;
        let [top, near, far] = [0, near, farthest(&model)].map(|d| u128::from(table[d]));
        let (z_min, z_max) = (top + (n - 1) * far, top + (n - 1) * near);
        Exponential {
            epsilon: weights.textbook_epsilon(),
            unknown_loss: unknown_loss(&model, &table, z_min, z_max),
            weights: table,
            keep: None,
            keep_within: top as f64 / z_max as f64..=top as f64 / z_min as f64,
            log_channel: OnceLock::new(),
            model,
        }
    }

    /// The expected share of kept words, where a certificate tells it.
    pub fn keep(&self) -> Option<Keep> {
        self.keep
    }

    /// `ln (T[d] / Z)` with the mean Z of some words. Z(w) varies by a few percent from word to word (4.5 % is its
    /// standard deviation in the built-in model where half of the words stay), and to compute it for all would take
    /// longer than to decode a text. Decoding alone uses it, after the noise, so no guarantee rests on it.
    pub(crate) fn log_channel(&self) -> &[f32] {
        self.log_channel.get_or_init(|| {
            let n = self.model.vocabulary().len();
            let some = (0..n).step_by(n.div_ceil(MEASURED));
            let mut distances = vec![0; n];
            let logs = some.map(|word| {
                Scan::new(self.model.codes()).distances_from(word as WordId, &mut distances);
                let weights = distances.iter().map(|&d| self.weights[usize::from(d)]);
                libm::log(weights.map(u128::from).sum::<u128>() as f64)
            });
            let logs: Vec<f64> = logs.collect();
            let mean = logs.iter().sum::<f64>() / logs.len() as f64;
            let ln = |&weight: &u64| (libm::log(weight as f64) - mean) as f32;
            self.weights.iter().map(ln).collect()
        })
    }

    /// Between which numbers the expected share of kept words lies: a certificate tells it, else it
    /// is within `T[0]` / Z(w) at the bounds of Z.
    pub fn keep_within(&self) -> RangeInclusive<f64> {
        self.keep_within.clone()
    }
}

fn certificate_keeping(model: &Model, keep: f64) -> Result<Certificate> {
    if model.standing() == Standing::Unchecked {
        return Err(Error::UncheckedModel);
    }
    let certificates = model.certificates();
    let (Some(first), Some(last)) = (certificates.first(), certificates.last()) else {
        return Err(Error::NoCalibration {
            mechanism: "exponential",
        });
    };
    let within = certificates.iter().filter(|c| c.keep().weighted <= keep);
    // Among equals the first: the smallest epsilon.
    let best = within.reduce(|a, b| {
        if b.keep().weighted > a.keep().weighted {
            b
        } else {
            a
        }
    });
    best.cloned().ok_or(Error::KeepOutOfReach {
        asked: keep,
        lowest: first.keep().weighted,
        highest: last.keep().weighted,
    })
}

fn farthest(model: &Model) -> usize {
    model.code_distances().maximum as usize
}

/// Whether `weights` keep every word at least as often as `other` does, and
/// some more often, on any codes: `T[0]` / Z falls with every `T[d]` / `T[0]`.
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

/// Draws the word in whose stretch a number falls, for a batch of words.
/// What it computes tells the words, and is overwritten in the end.
struct Sampler<'a> {
    scan: Scan<'a>,
    /// Sum of weights of each block, for one word after the other.
    sums: Vec<u64>,
    /// Distances of one block.
    distances: [u16; LANES],
}

impl Drop for Sampler<'_> {
    fn drop(&mut self) {
        // By slice: of a vector, each byte of its capacity would be written singly.
        self.sums.as_mut_slice().zeroize();
        self.distances.zeroize();
    }
}

impl<'a> Sampler<'a> {
    /// For batches of up to this many words.
    fn new(scan: Scan<'a>, batch: usize) -> Sampler<'a> {
        Sampler {
            scan,
            sums: vec![0; batch * scan.codes().blocks()],
            distances: [0; LANES],
        }
    }

    /// Adds up the weights of every block for every word of a batch, each by its
    /// own table.
    fn add_up(&mut self, batch: &CodeRows, tables: &[&WeightTable]) {
        let sums = &mut self.sums[..batch.len() * self.scan.codes().blocks()];
        self.scan.weigh_many(batch, tables, sums);
    }

    /// The sums of the blocks for word `i` of the batch.
    fn sums(&self, i: usize) -> &[u64] {
        let blocks = self.scan.codes().blocks();
        &self.sums[i * blocks..(i + 1) * blocks]
    }

    /// Z of word `i` of the batch.
    fn normalizer(&self, i: usize) -> u128 {
        self.sums(i).iter().map(|&sum| u128::from(sum)).sum()
    }

    /// The word in whose stretch `u`, below Z, falls for word `i` of the batch,
    /// which has this code and this table.
    fn word_at(&mut self, u: u128, i: usize, code: &[u64], table: &WeightTable) -> WordId {
        // Every block is looked at, and every word of the block found.
        let (mut end, mut start, mut block) = (0, 0, 0);
        for &sum in self.sums(i) {
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

/// Pr[y | w] = T[d(w, y)] / Z(w): one scan a row. (Weights have 24 significant binary digits, and
/// lose nothing as doubles.)
impl Channel for Exponential {
    fn row(&self, word: WordId, out: &mut [f64]) {
        let mut distances = vec![0; out.len()];
        Scan::new(self.model.codes()).distances_from(word, &mut distances);
        let mut total = 0;
        // Weights are at most 2^47: the sum of 2^16 of them fits into a limb.
        for (out, distances) in out.chunks_mut(1 << 16).zip(distances.chunks(1 << 16)) {
            let mut sum = 0;
            for (p, d) in out.iter_mut().zip(distances) {
                let weight = self.weights[usize::from(*d)];
                *p = weight as f64;
                sum += weight;
            }
            total += u128::from(sum);
        }
        let each = 1.0 / total as f64;
        out.iter_mut().for_each(|p| *p *= each);
    }
}

/// ln Pr[y | w] = ln T[d(w, y)] - ln Z(w) for a word, with the mean ln Z, and -ln N for a token without a code.
impl Emission for Exponential {
    fn table(&self) -> &[f32] {
        self.log_channel()
    }

    fn unknown(&self) -> f32 {
        -libm::log(self.model.vocabulary().len() as f64) as f32
    }

    fn steps(&self, observations: &Observations, i: usize, out: &mut [u16]) {
        let drawn = observations.drawn();
        Scan::new(self.model.codes()).distances_from(drawn[i], out);
    }

    fn steps_of(&self, observations: &Observations, i: usize, words: &[WordId]) -> Vec<u16> {
        let drawn = observations.drawn();
        let rows = self.model.code_rows();
        nearest::distances_of(rows, rows.row(drawn[i] as usize), words)
    }

    fn sift(&self, observations: &Observations, which: Range<usize>, sieve: &mut dyn Sieve) {
        let drawn = observations.drawn();
        let rows = self.model.code_rows();
        let mut queries = CodeRows::new(rows.bits());
        let drawn = drawn[which].iter();
        drawn.for_each(|&word| queries.push(rows.row(word as usize)));
        Scan::new(self.model.codes()).sift(&queries, sieve);
    }
}

impl Mechanism for Exponential {
    fn name(&self) -> &'static str {
        "exponential"
    }

    fn guarantee(&self) -> Guarantee {
        Guarantee::new(
            self.epsilon,
            self.model.metric(),
            self.model.pair_distances(),
            self.unknown_loss,
        )
    }

    fn channel(&self) -> Option<&dyn Channel> {
        Some(self)
    }

    fn emission(&self) -> Option<&dyn Emission> {
        Some(self)
    }

    fn privatize(&self, words: &[Option<WordId>], noise: &mut Noise) -> Vec<WordId> {
        let codes = self.model.codes();
        let mut sampler = Sampler::new(Scan::new(codes), words.len().min(BATCH));
        let known = WeightTable::new(&self.weights);
        // As large as the others: as many bytes, as much work.
        let unknown = WeightTable::new(&vec![self.weights[0]; self.weights.len()]);
        let mut out = Vec::with_capacity(words.len());
        for batch in words.chunks(BATCH) {
            let mut rows = Zeroizing::new(CodeRows::zeros(codes.bits(), batch.len()));
            for (i, word) in batch.iter().enumerate() {
                codes.read(word.unwrap_or(0) as usize, rows.row_mut(i));
            }
            let table = |word: &Option<WordId>| if word.is_some() { &known } else { &unknown };
            let mut tables: Vec<&WeightTable> = batch.iter().map(table).collect();
            sampler.add_up(&rows, &tables);
            for (i, table) in tables.iter().enumerate() {
                let u = noise.uniform_below(sampler.normalizer(i));
                out.push(sampler.word_at(u, i, rows.row(i), table));
            }
            // Which tokens were unknown is nobody's business either.
            tables.fill(&known);
            black_box(&tables);
        }
        out
    }
}

#[cfg(test)]
mod tests;

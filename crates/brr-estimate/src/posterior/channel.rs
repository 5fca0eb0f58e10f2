//! What an output says about the word behind it: columns of a mechanism's channel.
//!
//! Whoever knows the mechanism and sees an output y wants Pr[y | w] for every w: a *column* of
//! the channel, where [`Channel`] has rows.
//!
//! | mechanism | column |
//! |---|---|
//! | k-ary, exponential | Pr\[y \| w\] = Pr\[w \| w\] g(s), s the step of w from y and g(s) the weight of a step over that of step 0: exact, with the normalizer of every word from its own row |
//! | tree | the weight of the level of w from every place that leads to y: exact |
//! | others with rows | all rows are computed once, and the columns of outputs that occur are stored: exact to 0.1 % |
//! | BRR, Madlib | *estimated* from draws around y ([`Mechanism::likelihoods`]) until [`Draws::hits`] of them give y, or [`Draws::most`] were made, and stored |
//!
//! Few draws decide what one word has, and the most probable of many words is mostly one whose estimate is too
//! high. So words at about the same distance from y are pooled. With BRR at epsilon 0.47 (a third of words stay) the evaluation's attacker
//! then names 0.382 of 2,416 words with 24 hits, 0.385 with 64 and 0.387 with 200; without pooling 0.336 with 64. What he
//! reaches is a lower bound of what he would if he knew the channel.
//!
//! **What that costs**, for each different output: about 4 ms with BRR, and, with Madlib, a search over all vectors for each
//! draw, about a millisecond; every column that is stored takes 2 bytes a word, and [`STORED`] bytes of them are kept from one
//! set of outputs to the next.
//!
//! What a token without a code becomes, a mechanism with a channel says ([`Channel::row_of_unknown`]). Of the
//! others it is taken for a random word: as it is with Madlib, and nearly so with BRR, where it is a random code.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use brr::parts::mechanism::{Channel, Emission, Mechanism, Observations};
use brr::parts::nearest::Sieve;
use brr::parts::parallel;
use brr::parts::random::Noise;
use brr::parts::tree::WordTree;
use brr::parts::vocabulary::WordId;
use brr::{Metric, Result};
use serde::Serialize;

use super::Target;
use super::lanes::Evidence;

/// -ln p in a unit of a stored column.
const STEPS: f32 = 512.0;
/// Draws that are asked for at once: so few that a mechanism reports every one that counts.
const AT_ONCE: usize = 256;
/// Draws that words at about the same distance count for in the estimate of one: far more than are
/// made, so that single words hardly count unless very many are.
const ALIKE: f64 = 5000.0;
/// Distances that count as the same: by the mean logarithm of a word's factor.
const BINS_PER_BIT: f32 = 4.0;
/// Outputs whose columns are taken from one pass over all rows.
const PASS: usize = 1024;
/// Bytes of stored columns beyond which those of earlier outputs are forgotten.
pub const STORED: usize = 1 << 29;
/// Steps of a stored column that are one of an emission.
const COARSE: u16 = 8;
/// ln p in a unit of an emission's steps.
const EMISSION_STEPS: f32 = STEPS / COARSE as f32;
/// Steps of an emission: what is 2^-92 times as likely as the likeliest, or less, is alike.
const EMISSION_TABLE: usize = 4096;

/// How long a channel is estimated that cannot be computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Draws {
    /// Draws around an output that must give it again.
    pub hits: usize,
    /// Most draws around an output.
    pub most: usize,
}

impl Default for Draws {
    fn default() -> Draws {
        Draws {
            hits: 24,
            most: 512,
        }
    }
}

/// How channels are estimated.
#[derive(Clone)]
pub struct Estimation {
    /// How long.
    pub draws: Draws,
    /// The noise of a column, by a number that is another for each. [`Noise::from_os`] will do; an evaluation
    /// takes what it can repeat.
    pub noise: Arc<dyn Fn(u64) -> Result<Noise> + Send + Sync>,
    /// Threads; they change nothing but the time.
    pub threads: usize,
}

impl Default for Estimation {
    fn default() -> Estimation {
        Estimation {
            draws: Draws::default(),
            noise: Arc::new(|_| Noise::from_os()),
            threads: parallel::cores(),
        }
    }
}

enum Columns<'a> {
    Steps {
        emission: &'a dyn Emission,
        /// The weight of each step over that of step 0.
        weights: Vec<f32>,
        /// Pr[w | w] of each word.
        own: Vec<f32>,
    },
    Tree {
        tree: &'a WordTree,
        /// The places that lead to each word, and how often.
        sources: Vec<Vec<(u32, f64)>>,
        /// The probability of a place at each level.
        shares: Vec<f32>,
    },
    Stored {
        columns: HashMap<WordId, Column>,
        /// The probability of every number of steps.
        shares: Vec<f32>,
    },
}

/// Pr[y | w] of an output for every word.
struct Column {
    /// -ln p of each word, in units of [`STEPS`].
    steps: Vec<u16>,
    /// The least of them.
    least: u16,
    /// How far the likeliest word stays behind all words together, in steps of an emission.
    fall: u16,
}

impl Column {
    fn new(steps: Vec<u16>) -> Column {
        let least = steps.iter().copied().min().unwrap_or(0);
        let part = |&steps: &u16| libm::expf(-f32::from(steps - least) / STEPS);
        let total: f32 = steps.iter().map(part).sum();
        Column {
            fall: (libm::logf(total) * EMISSION_STEPS).round() as u16,
            steps,
            least,
        }
    }
}

/// Outputs of a mechanism, and what they say about the words behind them.
pub struct Seen<'a> {
    columns: Columns<'a>,
    /// Pr[y | a token without a code] of every output, if the mechanism says so.
    unknown: Option<Vec<f64>>,
    outputs: Observations,
    target: Target<'a>,
    estimation: Estimation,
    /// Number of words of the mechanism.
    words: usize,
}

impl<'a> Seen<'a> {
    /// `outputs` are of the target's mechanism, by its ids. None if the mechanism can neither compute nor
    /// estimate its channel.
    ///
    /// # Errors
    /// If there is no noise to estimate with.
    pub fn new(
        target: &Target<'a>,
        outputs: Vec<WordId>,
        estimation: &Estimation,
    ) -> Result<Option<Seen<'a>>> {
        let (words, threads) = (target.model.vocabulary().len(), estimation.threads);
        let mechanism = target.mechanism;
        let metric = mechanism.guarantee().metric;
        let columns = match (mechanism.channel(), mechanism.emission()) {
            (Some(_), Some(emission)) if matches!(metric, Metric::Tree { .. }) => {
                let tree = target.model.tree().expect("the tree that it draws by");
                let shares = emission.table().iter().map(|&ln| libm::expf(ln));
                Columns::Tree {
                    tree,
                    sources: tree.sources(),
                    shares: shares.collect(),
                }
            }
            (Some(channel), Some(emission)) => {
                let table = emission.table();
                let weights = table.iter().map(|&ln| libm::expf(ln - table[0]));
                Columns::Steps {
                    emission,
                    weights: weights.collect(),
                    own: diagonal(channel, metric, words, threads),
                }
            }
            _ => stored(),
        };
        let unknown = mechanism.channel().map(|channel| {
            let mut row = vec![0.0; words];
            channel.row_of_unknown(&mut row);
            row
        });
        let mut seen = Seen {
            columns,
            unknown,
            outputs: Observations::Words(Vec::new()),
            target: target.clone(),
            estimation: estimation.clone(),
            words,
        };
        Ok(seen.see(outputs)?.then_some(seen))
    }

    /// Sees other outputs; whether the mechanism can compute or estimate what they say.
    pub fn see(&mut self, outputs: Vec<WordId>) -> Result<bool> {
        let mut known = true;
        if let Columns::Stored { columns, .. } = &mut self.columns {
            let wanted = distinct(&outputs);
            let new: Vec<WordId> = wanted
                .iter()
                .copied()
                .filter(|y| !columns.contains_key(y))
                .collect();
            if (columns.len() + new.len()) * self.words * 2 > STORED {
                columns.retain(|y, _| wanted.binary_search(y).is_ok());
            }
            let mechanism = self.target.mechanism;
            let found = match mechanism.channel() {
                Some(channel) => Some(from_rows(
                    channel,
                    self.words,
                    &new,
                    self.estimation.threads,
                )),
                None => estimate(mechanism, self.words, &new, &self.estimation)?,
            };
            known = found.is_some();
            let found = found.unwrap_or_default().into_iter();
            columns.extend(found.map(|(output, steps)| (output, Column::new(steps))));
        }
        self.outputs = Observations::Words(outputs);
        Ok(known)
    }

    /// How likely the outputs are, for a decoder that looks at candidates; none where the mechanism's own emission
    /// says so already. (That of tree response leaves out empty places, which few words stand for.)
    pub fn emission(&self) -> Option<Box<dyn Emission + '_>> {
        match &self.columns {
            Columns::Tree { .. } => None,
            Columns::Steps { emission, own, .. } => {
                let first = emission.table()[0];
                let offset = |own: &f32| libm::logf(*own) - first;
                Some(Box::new(Normalized {
                    emission: *emission,
                    offsets: own.iter().map(offset).collect(),
                }))
            }
            Columns::Stored { columns, .. } => {
                let top = libm::logf(self.words as f32);
                let ln = |step: usize| top - step as f32 / EMISSION_STEPS;
                Some(Box::new(Drawn {
                    columns,
                    table: (0..EMISSION_TABLE).map(ln).collect(),
                }))
            }
        }
    }

    /// Pr[y | w] for every word of the mechanism, and what a token without a code has.
    fn column(&self, i: usize, out: &mut [f32]) -> f32 {
        let Observations::Words(outputs) = &self.outputs else {
            unreachable!("made of words");
        };
        match &self.columns {
            Columns::Steps {
                emission,
                weights,
                own,
            } => {
                let mut steps = vec![0; self.words];
                emission.steps(&self.outputs, i, &mut steps);
                for ((out, step), own) in out.iter_mut().zip(steps).zip(own) {
                    *out = own * weights[usize::from(step)];
                }
            }
            Columns::Tree {
                tree,
                sources,
                shares,
            } => {
                out.fill(0.0);
                for &(place, times) in &sources[outputs[i] as usize] {
                    let level = |own: u32| (u32::BITS - (own ^ place).leading_zeros()) as usize;
                    for (out, &own) in out.iter_mut().zip(tree.places()) {
                        *out += times as f32 * shares[level(own)];
                    }
                }
            }
            Columns::Stored { columns, shares } => {
                for (out, &steps) in out.iter_mut().zip(&columns[&outputs[i]].steps) {
                    *out = shares[usize::from(steps)];
                }
            }
        }
        match &self.unknown {
            Some(row) => row[outputs[i] as usize] as f32,
            None => out.iter().sum::<f32>() / self.words as f32,
        }
    }
}

impl Evidence for Seen<'_> {
    fn likelihoods(&self, token: usize, out: &mut [f32]) {
        let (words, others) = out.split_at_mut(out.len() - 2);
        let unknown = match self.target.among() {
            None => self.column(token, words),
            Some(among) => {
                let mut column = vec![0.0; self.words];
                let unknown = self.column(token, &mut column);
                words.fill(0.0);
                for (&word, p) in among.iter().zip(column) {
                    words[word as usize] = p;
                }
                unknown
            }
        };
        others.copy_from_slice(&[0.0, unknown]);
    }
}

/// An emission with the normalizer of every word, where its own are estimated.
struct Normalized<'a> {
    emission: &'a dyn Emission,
    offsets: Vec<f32>,
}

impl Emission for Normalized<'_> {
    fn table(&self) -> &[f32] {
        self.emission.table()
    }

    fn offsets(&self) -> &[f32] {
        &self.offsets
    }

    fn unknown(&self) -> f32 {
        self.emission.unknown()
    }

    fn steps_of(&self, observations: &Observations, i: usize, words: &[WordId]) -> Vec<u16> {
        self.emission.steps_of(observations, i, words)
    }

    fn steps(&self, observations: &Observations, i: usize, out: &mut [u16]) {
        self.emission.steps(observations, i, out);
    }

    fn sift(&self, observations: &Observations, which: Range<usize>, sieve: &mut dyn Sieve) {
        self.emission.sift(observations, which, sieve);
    }
}

/// The emission of words that were drawn, from stored columns: ln Pr[y | w] over its mean, which is that of a token
/// without a code. No word has more than all words together.
struct Drawn<'a> {
    columns: &'a HashMap<WordId, Column>,
    table: Vec<f32>,
}

impl Emission for Drawn<'_> {
    fn table(&self) -> &[f32] {
        &self.table
    }

    fn unknown(&self) -> f32 {
        0.0
    }

    fn steps_of(&self, observations: &Observations, i: usize, words: &[WordId]) -> Vec<u16> {
        let Observations::Words(outputs) = observations else {
            unreachable!("released text is of words");
        };
        let Column { steps, least, fall } = &self.columns[&outputs[i]];
        let step = |&word: &WordId| {
            let step = fall + (steps[word as usize] - least + COARSE / 2) / COARSE;
            step.min(EMISSION_TABLE as u16 - 1)
        };
        words.iter().map(step).collect()
    }
}

fn stored() -> Columns<'static> {
    let share = |steps: u16| libm::expf(-f32::from(steps) / STEPS);
    Columns::Stored {
        columns: HashMap::new(),
        shares: (0..=u16::MAX).map(share).collect(),
    }
}

/// Pr[w | w] of every word.
fn diagonal(channel: &dyn Channel, metric: Metric, words: usize, threads: usize) -> Vec<f32> {
    let own = |word: usize| {
        let mut row = vec![0.0; words];
        channel.row(word as WordId, &mut row);
        row[word] as f32
    };
    match metric {
        Metric::Discrete => vec![own(0); words],
        _ => parallel::map(threads, words, own),
    }
}

fn distinct(outputs: &[WordId]) -> Vec<WordId> {
    let mut outputs = outputs.to_vec();
    outputs.sort_unstable();
    outputs.dedup();
    outputs
}

fn steps(p: f64) -> u16 {
    (-libm::log(p) as f32 * STEPS)
        .round()
        .clamp(0.0, u16::MAX.into()) as u16
}

/// Outputs, and the steps of their columns.
type Found = Vec<(WordId, Vec<u16>)>;

/// Columns of the outputs, from every row.
fn from_rows(channel: &dyn Channel, words: usize, outputs: &[WordId], threads: usize) -> Found {
    let mut columns = Vec::new();
    for part in outputs.chunks(PASS) {
        let rows = parallel::map(threads, words, |word| {
            let mut row = vec![0.0; words];
            channel.row(word as WordId, &mut row);
            let of = part.iter().map(|&y| steps(row[y as usize]));
            of.collect::<Vec<u16>>()
        });
        for (i, &output) in part.iter().enumerate() {
            columns.push((output, rows.iter().map(|row| row[i]).collect()));
        }
    }
    columns
}

/// Columns of the outputs, from draws around each; none if the mechanism has no way to do so.
fn estimate(
    mechanism: &dyn Mechanism,
    words: usize,
    outputs: &[WordId],
    estimation: &Estimation,
) -> Result<Option<Found>> {
    let columns = parallel::map(estimation.threads, outputs.len(), |i| {
        let noise = (estimation.noise)(1 + u64::from(outputs[i]))?;
        let column = one_estimate(mechanism, words, outputs[i], estimation.draws, noise);
        Ok(column.map(|column| (outputs[i], column)))
    });
    columns.into_iter().collect()
}

fn one_estimate(
    mechanism: &dyn Mechanism,
    words: usize,
    output: WordId,
    draws: Draws,
    mut noise: Noise,
) -> Option<Vec<u16>> {
    let mut factors = Factors::new(words);
    let mut made = 0;
    let mut next = draws.hits;
    while factors.hits < draws.hits && made < draws.most {
        next = next.min(draws.most - made).min(AT_ONCE);
        let found = mechanism.likelihoods(output, next, &mut noise)?.draws;
        made += next;
        found.iter().for_each(|draw| factors.add(draw));
        next = made;
    }
    let column = match factors.hits {
        // An output that never came says nothing.
        0 => vec![1.0 / words as f64; words],
        hits => {
            let share = hits as f64 / made as f64;
            factors.means().map(|mean| share * mean).collect()
        }
    };
    Some(column.into_iter().map(steps).collect())
}

/// Factors of all words over draws that gave the output again.
struct Factors {
    hits: usize,
    sums: Vec<f64>,
    /// Sums of their logarithms to the base 2, roughly.
    logs: Vec<f32>,
}

impl Factors {
    fn new(words: usize) -> Factors {
        Factors {
            hits: 0,
            sums: vec![0.0; words],
            logs: vec![0.0; words],
        }
    }

    fn add(&mut self, draw: &[f32]) {
        self.hits += 1;
        let sums = self.sums.iter_mut().zip(&mut self.logs);
        for ((sum, log), &factor) in sums.zip(draw) {
            *sum += f64::from(factor);
            // The exponent of a float, and its fraction for a straight line between two powers.
            *log += factor.to_bits() as f32 * (1.0 / (1 << 23) as f32) - 127.0;
        }
    }

    /// The mean factor of every word, as if [`ALIKE`] more draws had given what words at about the same
    /// distance have on average.
    fn means(&self) -> impl Iterator<Item = f64> + '_ {
        let place = |log: &f32| (-log / self.hits as f32 * BINS_PER_BIT).max(0.0) as usize;
        let places: Vec<usize> = self.logs.iter().map(place).collect();
        let most = places.iter().max().map_or(0, |place| place + 1);
        let mut pooled = vec![(0.0, 0.0); most];
        for (&place, sum) in places.iter().zip(&self.sums) {
            pooled[place].0 += sum;
            pooled[place].1 += self.hits as f64;
        }
        let mean = move |(place, sum): (usize, &f64)| {
            let (sums, draws) = pooled[place];
            (sum + ALIKE * sums / draws) / (self.hits as f64 + ALIKE)
        };
        places.into_iter().zip(&self.sums).map(mean)
    }
}

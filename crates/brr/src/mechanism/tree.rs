//! Tree response: a word becomes one of its own small subtree rather than one of far away.
//!
//! # Guarantee
//!
//! Every word w stands at a place p(w) of a balanced tree with L levels ([`WordTree`]). The
//! mechanism draws a *place* q with
//!
//! ```text
//! Pr[q | w]  =  T[level(p(w), q)] / Z,        Z  =  T[0] + sum over l of T[l] 2^(l-1),
//! ```
//!
//! where T is a table of integers that falls, `T[0] >= T[1] >= ... >= T[L] >= 1`. Every place has
//! exactly 2^(l-1) places at level l, so Z is the same number for every word: the tree of places is full,
//! whatever the number of words. Let l be the level of w and w'. If q lies outside the
//! subtree of height l that holds both, its level is the same from both, and the probabilities are equal.
//! Inside it one of the levels is l and the other at most l, so
//!
//! ```text
//! Pr[q | w] / Pr[q | w']  <=  T[0] / T[l],
//! ```
//!
//! with equality at q = p(w). The output is one of the answers of q, each with the same probability:
//! a function of q and of fresh noise, and so post-processing. **The loss between two words at
//! level l is therefore at most ln(`T[0]` / `T[l]`)**: L numbers, for any number of words, without a
//! look at pairs. Words that share a place have loss 0, and empty places cost nothing. What unequal
//! numbers cost is utility: a word that shares its place stays half as often as it would alone.
//! Epsilon is the largest ln(`T[0]` / `T[l]`) / l, and the metric is the level.
//!
//! **Rounding.** `T[0]` = 2^60, and `T[l]` = `T[0]` exp(-epsilon l) is rounded *up* by more than the
//! floating-point error of its computation, to at least 1. The losses that are reported are those of
//! these integers, rounded up. They stay below 41.6, where words practically stay.
//!
//! **Tokens without a code** draw each of the 2^L places with probability 2^-L, whether words stand there
//! or not, and then one of the answers of the place, as a word does. `T[0]` >= `T[level]` >= `T[L]`, so
//! for every place q
//!
//! ```text
//! Pr[q | w] / Pr[q | unknown]  <=  T[0] 2^L / Z,      Pr[q | unknown] / Pr[q | w]  <=  Z / (T[L] 2^L),
//! ```
//!
//! with equality at q = p(w) and at every place across the root. Both are at least 1, and the answer is
//! post-processing again: the loss between an unknown token and a word is at most the larger logarithm. It is
//! at most ln(`T[0]` / `T[L]`), what the farthest words have, and goes to 0 with epsilon. (A uniformly
//! random *word* would not: whatever the input, a word beside an empty place is drawn up to twice as often as others,
//! and each of two words at one place half as often, so a loss of about ln 2 would remain.)
//!
//! **Work.** q is p(w) with some of its lowest digits exchanged, by a mask whose distribution
//! is the same for all words: a number below Z is compared with the ends of all levels, and the highest
//! digit of the mask is the level's. Then the answers of q are looked up, and one is drawn. An unknown
//! token takes the same draws and look-ups, from the place of word 0, with a mask of L random digits.

use std::ops::{Range, RangeInclusive};
use std::sync::Arc;

use zeroize::Zeroizing;

use super::{Channel, Emission, Mechanism, Observations};
use crate::codes::LANES;
use crate::epsilon::{Epsilon, round_up};
use crate::error::{Error, Result};
use crate::frequency::Keep;
use crate::guarantee::{Budget, Guarantee, Metric, PairDistances};
use crate::model::Model;
use crate::nearest::Sieve;
use crate::random::Noise;
use crate::tree::{WordTree, level};
use crate::vocabulary::WordId;

/// `T[0]`.
const TOP: u64 = 1 << 60;
/// Relative safety margin of the other weights: more than the error of their computation, and
/// than twice rounding up a loss of 41.6.
const MARGIN: f64 = 1.0 / (1u64 << 40) as f64;
/// Halvings of the range of epsilons in which a share of kept words is sought.
const HALVINGS: usize = 60;

/// Tree response over a model's tree.
pub struct TreeResponse {
    model: Arc<Model>,
    weights: Vec<u64>,
    /// Where the stretch of each level but the last ends in 0..Z.
    ends: Vec<u128>,
    /// Z.
    total: u128,
    /// ln(weight / Z).
    log_shares: Vec<f32>,
    distances: PairDistances,
    keep: Keep,
    unknown_loss: f64,
}

impl TreeResponse {
    /// At most `epsilon` per level. Fails if the model has no tree.
    pub fn new(model: Arc<Model>, epsilon: Epsilon) -> Result<TreeResponse> {
        let levels = model.tree().ok_or(Error::NoTree)?.levels();
        Ok(TreeResponse::of(model, weights(levels, epsilon)))
    }

    /// With at most these losses between words at level 1, 2 and so on: a T of any shape, to be compared with the even
    /// one. Fails if the model has no tree, or if a loss is negative, not finite, or less than the one before.
    ///
    /// # Panics
    /// If there is not one loss for each level.
    pub fn with_losses(model: Arc<Model>, losses: &[f64]) -> Result<TreeResponse> {
        let levels = model.tree().ok_or(Error::NoTree)?.levels();
        assert_eq!(losses.len(), levels as usize, "a loss for each level");
        let mut before = 0.0;
        for &value in losses {
            if !value.is_finite() || value < before {
                return Err(Error::InvalidEpsilon { value });
            }
            before = value;
        }
        let losses = std::iter::once(&0.0).chain(losses);
        let weights = losses.map(|&loss| weight(loss)).collect();
        Ok(TreeResponse::of(model, weights))
    }

    /// With weights that fall, one for each level of the tree, which is there.
    fn of(model: Arc<Model>, weights: Vec<u64>) -> TreeResponse {
        let tree = model.tree().expect("a tree");
        let mut end = 0;
        let ends = (0..).zip(&weights).map(|(level, &weight)| {
            end += u128::from(weight) * places_at(level);
            end
        });
        let mut ends: Vec<u128> = ends.collect();
        let total = ends.pop().expect("a tree has a level 0");
        let unknown_loss = unknown_loss(tree.levels(), &weights, total);
        let log_share = |&weight: &u64| libm::log(weight as f64 / total as f64) as f32;
        TreeResponse {
            log_shares: weights.iter().map(log_share).collect(),
            keep: keep(&tree.own_places(), &weights),
            distances: tree.pair_distances(),
            weights,
            ends,
            total,
            unknown_loss,
            model,
        }
    }

    /// The mechanism for a budget. A share of kept words is met from below.
    pub fn for_budget(model: Arc<Model>, budget: Budget) -> Result<TreeResponse> {
        let tree = model.tree().ok_or(Error::NoTree)?;
        let epsilon = match budget {
            Budget::Epsilon(value) => Epsilon::new(value)?,
            Budget::Bound(value) => Budget::epsilon_for_bound(value, &tree.pair_distances())?,
            Budget::Keep(share) => epsilon_keeping(tree, share)?,
        };
        TreeResponse::new(model, epsilon)
    }

    /// The expected share of words that are drawn as they were: exact.
    pub fn keep(&self) -> Keep {
        self.keep
    }

    /// The same as bounds.
    pub fn keep_within(&self) -> RangeInclusive<f64> {
        self.keep.weighted..=self.keep.weighted
    }

    fn tree(&self) -> &WordTree {
        self.model.tree().expect("checked when made")
    }

    /// The loss of every level, from 0 on.
    fn losses(&self) -> Vec<f64> {
        self.weights.iter().map(|&weight| loss(weight)).collect()
    }

    /// For every place the sum of these numbers of all places, each by the share that their level has.
    /// Up the tree, numbers are added up in every subtree; down it, each place gets from the other half of
    /// every subtree around it what the level between them has.
    fn spread(&self, leaves: Vec<f64>) -> Vec<f64> {
        let tree = self.tree();
        // The sums of all subtrees, by their height.
        let mut sums = vec![leaves];
        for height in 0..tree.levels() as usize {
            let pairs = sums[height].chunks_exact(2);
            sums.push(pairs.map(|pair| pair[0] + pair[1]).collect());
        }
        let mut from_above = vec![0.0];
        for height in (0..tree.levels() as usize).rev() {
            let share = self.share(self.weights[height + 1] as f64);
            let of_half = |half: usize| from_above[half / 2] + share * sums[height][half ^ 1];
            from_above = (0..sums[height].len()).map(of_half).collect();
        }
        let own = self.share(self.weights[0] as f64);
        let pairs = from_above.iter().zip(&sums[0]);
        pairs.map(|(above, count)| above + own * count).collect()
    }

    /// A weight as a probability.
    fn share(&self, weight: f64) -> f64 {
        weight / self.total as f64
    }
}

/// The number of places at this level from any place.
fn places_at(level: u32) -> u128 {
    match level {
        0 => 1,
        _ => 1 << (level - 1),
    }
}

/// Weights whose losses grow by at most epsilon a level, rounded up.
fn weights(levels: u32, epsilon: Epsilon) -> Vec<u64> {
    let levels = 0..=levels;
    levels
        .map(|level| weight(epsilon.get() * f64::from(level)))
        .collect()
}

/// The weight at a loss, rounded up.
fn weight(loss: f64) -> u64 {
    let exact = TOP as f64 * libm::exp(-loss);
    (libm::ceil(exact * (1.0 + MARGIN)) as u64).clamp(1, TOP)
}

/// ln(`T[0]` / weight), rounded up.
fn loss(weight: u64) -> f64 {
    log_ratio(TOP.into(), weight.into())
}

/// ln(more / less) of numbers of which the first is at least the second, rounded up. Their difference is exact.
fn log_ratio(more: u128, less: u128) -> f64 {
    match more - less {
        0 => 0.0,
        difference => round_up(libm::log1p(difference as f64 / less as f64)),
    }
}

/// The expected share of kept words, by the places that lead from each level to a word itself.
fn keep(own: &[Keep], weights: &[u64]) -> Keep {
    let mut total = 0.0;
    let mut keep = Keep {
        weighted: 0.0,
        plain: 0.0,
    };
    for ((own, &weight), level) in own.iter().zip(weights).zip(0..) {
        total += weight as f64 * places_at(level) as f64;
        keep.weighted += weight as f64 * own.weighted;
        keep.plain += weight as f64 * own.plain;
    }
    Keep {
        weighted: keep.weighted / total,
        plain: keep.plain / total,
    }
}

/// The largest epsilon that was found to keep at most this share of words (by use).
fn epsilon_keeping(tree: &WordTree, share: f64) -> Result<Epsilon> {
    let own = tree.own_places();
    let kept = |epsilon: f64| -> Result<f64> {
        let weights = weights(tree.levels(), Epsilon::new(epsilon)?);
        Ok(keep(&own, &weights).weighted)
    };
    // From nearly uniform to where every weight but the first is 1.
    let (mut low, mut high) = (1e-9, libm::log(TOP as f64));
    let (lowest, highest) = (kept(low)?, kept(high)?);
    if lowest > share {
        return Err(Error::KeepOutOfReach {
            asked: share,
            lowest,
            highest,
        });
    }
    if highest <= share {
        return Epsilon::new(high);
    }
    for _ in 0..HALVINGS {
        let middle = (low + high) / 2.0;
        match kept(middle)? > share {
            true => high = middle,
            false => low = middle,
        }
    }
    Epsilon::new(low)
}

/// The loss between a token without a code and a word: Z lies between what it would be if all weights
/// were the last and if all were the first.
fn unknown_loss(levels: u32, weights: &[u64], total: u128) -> f64 {
    let if_all = |weight: u64| u128::from(weight) << levels;
    let (first, last) = (if_all(weights[0]), if_all(weights[weights.len() - 1]));
    log_ratio(first, total).max(log_ratio(total, last))
}

/// The weight of every place, and the answers that it goes to in equal parts. Doubles hold the
/// weights to 53 binary digits.
impl Channel for TreeResponse {
    fn row(&self, word: WordId, out: &mut [f64]) {
        let tree = self.tree();
        let own = tree.places()[word as usize];
        let share = |place: u32| self.share(self.weights[level(own, place) as usize] as f64);
        for (p, &place) in out.iter_mut().zip(tree.places()) {
            *p = share(place) / f64::from(tree.answers(place).len);
        }
        for gap in tree.gaps() {
            let each = share(gap.place) * gap.each();
            let words = tree.words(gap.answers).iter();
            words.for_each(|&word| out[word as usize] += each);
        }
    }

    fn outputs(&self, counts: &[f64]) -> Option<Vec<f64>> {
        let tree = self.tree();
        let mut leaves = vec![0.0; 1 << tree.levels()];
        for (count, &place) in counts.iter().zip(tree.places()) {
            leaves[place as usize] += count;
        }
        let places = self.spread(leaves);
        let mut out: Vec<f64> = tree
            .places()
            .iter()
            .map(|&place| places[place as usize] / f64::from(tree.answers(place).len))
            .collect();
        for gap in tree.gaps() {
            // All places of a gap are at one level from any word.
            let each = places[gap.place as usize] * gap.each();
            let words = tree.words(gap.answers).iter();
            words.for_each(|&word| out[word as usize] += each);
        }
        Some(out)
    }

    fn means(&self, values: &[f64]) -> Option<Vec<f64>> {
        let tree = self.tree();
        let mut leaves = vec![0.0; 1 << tree.levels()];
        for (value, &place) in values.iter().zip(tree.places()) {
            leaves[place as usize] += value / f64::from(tree.answers(place).len);
        }
        for gap in tree.gaps() {
            // All places of a gap are at one level from any word.
            let words = tree.words(gap.answers).iter();
            let sum: f64 = words.map(|&word| values[word as usize]).sum();
            leaves[gap.place as usize] += sum * gap.each();
        }
        let places = self.spread(leaves);
        let of_word = |&place: &u32| places[place as usize];
        Some(tree.places().iter().map(of_word).collect())
    }

    fn kept(&self) -> Option<Vec<f64>> {
        let tree = self.tree();
        let share = |a: u32, b: u32| self.share(self.weights[level(a, b) as usize] as f64);
        let own = |&place: &u32| share(place, place) / f64::from(tree.answers(place).len);
        let mut kept: Vec<f64> = tree.places().iter().map(own).collect();
        for gap in tree.gaps() {
            for &word in tree.words(gap.answers) {
                let place = tree.places()[word as usize];
                kept[word as usize] += share(place, gap.place) * gap.each();
            }
        }
        Some(kept)
    }

    fn row_of_unknown(&self, out: &mut [f64]) {
        let tree = self.tree();
        let place = 1.0 / (1u64 << tree.levels()) as f64;
        for (p, places) in out.iter_mut().zip(tree.masses()) {
            *p = places * place;
        }
    }
}

/// ln Pr[y | w] = `ln(T[level] / Z)` up to a constant, as if y could only come from its own place: exact
/// on a full tree and wherever no gap has y as an answer. With a gap of height h the likelihoods of words
/// at levels below h are a little lower in truth; what is decoded then loses a little, and its
/// guarantee nothing, since decoding is post-processing. A token without a code is at every place with the
/// same probability.
impl Emission for TreeResponse {
    fn table(&self) -> &[f32] {
        &self.log_shares
    }

    fn unknown(&self) -> f32 {
        -(self.tree().levels() as f32) * std::f32::consts::LN_2
    }

    fn steps(&self, observations: &Observations, i: usize, out: &mut [u16]) {
        let drawn = observations.drawn();
        let places = self.tree().places();
        let place = places[drawn[i] as usize];
        for (step, &other) in out.iter_mut().zip(places) {
            *step = level(place, other) as u16;
        }
    }

    fn sift(&self, observations: &Observations, which: Range<usize>, sieve: &mut dyn Sieve) {
        let drawn = observations.drawn();
        let places = self.tree().places();
        for (query, &word) in drawn[which].iter().enumerate() {
            let place = places[word as usize];
            for (block, others) in places.chunks(LANES).enumerate() {
                let first = block * LANES;
                let Some(reach) = sieve.reach(query, first..first + others.len()) else {
                    continue;
                };
                // Most blocks have none, which is seen without finding a single level.
                let near = |other: u32| (place ^ other) >> u32::from(reach).min(31) == 0;
                if !others.iter().fold(false, |any, &other| any | near(other)) {
                    continue;
                }
                for (word, &other) in (first..).zip(others) {
                    if near(other) {
                        sieve.take(query, word, level(place, other) as u16);
                    }
                }
            }
        }
    }

    fn steps_of(&self, observations: &Observations, i: usize, words: &[WordId]) -> Vec<u16> {
        let drawn = observations.drawn();
        let places = self.tree().places();
        let place = places[drawn[i] as usize];
        let step = |&word: &WordId| level(place, places[word as usize]) as u16;
        words.iter().map(step).collect()
    }
}

impl Mechanism for TreeResponse {
    fn name(&self) -> &'static str {
        "tree"
    }

    fn guarantee(&self) -> Guarantee {
        let losses = self.losses();
        let per_level = |(level, loss): (u32, &f64)| round_up(loss / f64::from(level));
        let epsilon = (1..).zip(&losses[1..]).map(per_level);
        let metric = Metric::Tree {
            levels: self.tree().levels(),
        };
        Guarantee::new(
            epsilon.fold(0.0, f64::max),
            metric,
            self.distances,
            self.unknown_loss,
        )
        .with_losses(losses)
    }

    fn channel(&self) -> Option<&dyn Channel> {
        Some(self)
    }

    fn emission(&self) -> Option<&dyn Emission> {
        Some(self)
    }

    /// All words go through one step before the next: what a step looks up stands anywhere in large tables, and so a
    /// processor fetches for many words at a time.
    fn privatize(&self, words: &[Option<WordId>], noise: &mut Noise) -> Vec<WordId> {
        let tree = self.tree();
        let all_digits = (1u32 << tree.levels()) - 1;
        let own = |word: &Option<WordId>| tree.places()[word.unwrap_or(0) as usize];
        let own: Zeroizing<Vec<u32>> = Zeroizing::new(words.iter().map(own).collect());
        let draw = |(word, own): (&Option<WordId>, &u32)| {
            let u = noise.uniform_below(self.total);
            // Every end is looked at.
            let level: u32 = self.ends.iter().map(|&end| u32::from(u >= end)).sum();
            let (top, digits) = ((1u32 << level) >> 1, noise.limb() as u32);
            let known = top | (digits & top.saturating_sub(1));
            let mask = if word.is_some() {
                known
            } else {
                digits & all_digits
            };
            (own ^ mask, noise.limb())
        };
        let places: Vec<(u32, u64)> = words.iter().zip(&*own).map(draw).collect();
        let places = Zeroizing::new(places);
        let answer = |&(place, limb): &(u32, u64)| {
            let answers = tree.answers(place);
            tree.word(answers.start + noise.below_with(limb, answers.len))
        };
        places.iter().map(answer).collect()
    }
}

#[cfg(test)]
mod tests;

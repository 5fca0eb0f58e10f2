//! The likeliest words at each of many positions, by P(w) Pr[O | w].
//!
//! Words are looked at in ascending order, and the best so far are kept. A word that has not been looked at
//! is of use only if its own part (its share and offset) and that of its step are larger together than
//! the least kept: so the largest own part of a block of words tells how near they would have to stand,
//! and most blocks have no word that near. A word nearer than all before it is looked at in any case: how near the
//! nearest is bounds what any word can be worth.

use std::ops::Range;

use crate::mechanism::{Emission, Observations};
use crate::nearest::Sieve;
use crate::vocabulary::WordId;

use super::candidates::{BEAM, LIKELIEST, Scored, keep_best};

/// Words found before the best are chosen among them.
const FOUND: usize = 3 * LIKELIEST;
/// Words that have their largest own part in common.
const BLOCK: usize = 64;
/// The finest unit in which a difference of logarithms is looked up.
const FINEST: f32 = 1.0 / 64.0;
/// Most units of a difference that matters.
const UNITS: f32 = 16_000.0;
/// Less than any logarithm that is finite.
const NOTHING: f32 = f32::MIN;

/// What decides how likely words are, under one emission and one language.
pub struct Scores<'a> {
    /// ln Pr[O | w] by step, without the word's own part.
    table: &'a [f32],
    /// ln P(w) and the word's part of ln Pr[O | w].
    own: Vec<f32>,
    /// The largest of each block.
    tops: Vec<f32>,
    /// The largest part of a word of ln Pr[O | w].
    largest_offset: f32,
    /// The largest step whose part of ln Pr[O | w] lies no farther below that of step 0 than so many
    /// units, and a little more.
    reaches: Vec<u16>,
    per_nat: f32,
}

impl<'a> Scores<'a> {
    /// `log_shares` has ln P(w) of every word.
    pub fn new(emission: &'a dyn Emission, log_shares: &[f32]) -> Scores<'a> {
        let (table, offsets) = (emission.table(), emission.offsets());
        let offset = |w: usize| offsets.get(w).copied().unwrap_or(0.0);
        let own = |(w, share): (usize, &f32)| share + offset(w);
        let own: Vec<f32> = log_shares.iter().enumerate().map(own).collect();
        let largest = |block: &[f32]| block.iter().fold(f32::NEG_INFINITY, |a, &b| a.max(b));
        let fall = table[0] - table[table.len() - 1];
        let per_nat = 1.0 / (fall / UNITS).max(FINEST);
        let units = (fall * per_nat) as usize + 1;
        let reach = |unit: usize| {
            let most = (unit + 1) as f32 / per_nat;
            let within = table.partition_point(|&ln| table[0] - ln <= most);
            within as u16 - 1
        };
        Scores {
            table,
            tops: own.chunks(BLOCK).map(largest).collect(),
            own,
            largest_offset: offsets.iter().copied().reduce(f32::max).unwrap_or(0.0),
            reaches: (0..=units).map(reach).collect(),
            per_nat,
        }
    }

    /// The likeliest words of some observations, in a row for each.
    pub fn likeliest(
        &self,
        emission: &dyn Emission,
        observations: &Observations,
        which: Range<usize>,
    ) -> Vec<Likely> {
        let mut found = Found {
            scores: self,
            rows: which.clone().map(|_| Likely::default()).collect(),
        };
        emission.sift(observations, which, &mut found);
        found.rows.iter_mut().for_each(Likely::choose);
        found.rows
    }
}

/// The likeliest words of an observation.
pub struct Likely {
    /// With ln P(w) Pr[O | w], in no order.
    pub words: Vec<Scored>,
    /// A word that is not among these and has no more will not be among the candidates.
    pub least: f32,
    /// The least step of all words.
    nearest: u16,
}

impl Default for Likely {
    fn default() -> Likely {
        Likely {
            words: Vec::with_capacity(FOUND),
            least: NOTHING,
            nearest: u16::MAX,
        }
    }
}

impl Likely {
    /// Leaves the best.
    fn choose(&mut self) {
        if self.words.len() > LIKELIEST {
            keep_best(&mut self.words, LIKELIEST);
            let least = self.words.iter().fold(f32::INFINITY, |a, b| a.min(b.0));
            self.least = self.least.max(least);
        }
    }

    /// No ln Pr[O | w] is larger.
    pub fn largest(&self, scores: &Scores<'_>) -> f32 {
        scores.table[usize::from(self.nearest)] + scores.largest_offset
    }
}

/// What is found on the way.
struct Found<'a> {
    scores: &'a Scores<'a>,
    rows: Vec<Likely>,
}

impl Sieve for Found<'_> {
    fn words(&self) -> usize {
        self.scores.own.len()
    }

    fn reach(&self, query: usize, words: Range<usize>) -> Option<u16> {
        let scores = self.scores;
        let tops = &scores.tops[words.start / BLOCK..words.end.div_ceil(BLOCK)];
        let top = tops.iter().fold(f32::NEG_INFINITY, |a, &b| a.max(b));
        let row = &self.rows[query];
        let slack = scores.table[0] + top - row.least;
        let nearer = row.nearest.checked_sub(1);
        if slack.is_nan() || slack < 0.0 {
            return nearer;
        }
        let units = (slack * scores.per_nat) as usize;
        nearer.max(Some(scores.reaches[units.min(scores.reaches.len() - 1)]))
    }

    fn take(&mut self, query: usize, word: usize, step: u16) {
        let ln = self.scores.table[usize::from(step)] + self.scores.own[word];
        let row = &mut self.rows[query];
        row.nearest = row.nearest.min(step);
        if ln > row.least {
            row.words.push((ln, word as WordId));
            row.least = row.least.max(ln - BEAM);
            if row.words.len() == FOUND {
                row.choose();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Steps {
        table: Vec<f32>,
        offsets: Vec<f32>,
        steps: Vec<u16>,
    }

    impl Emission for Steps {
        fn table(&self) -> &[f32] {
            &self.table
        }
        fn offsets(&self) -> &[f32] {
            &self.offsets
        }
        fn unknown(&self) -> f32 {
            0.0
        }
        fn steps_of(&self, _: &Observations, _: usize, words: &[WordId]) -> Vec<u16> {
            words.iter().map(|&w| self.steps[w as usize]).collect()
        }
    }

    /// What is kept are the best of all words, whatever the shape of the table and the order of shares; a
    /// word that cannot be there is never among them.
    #[test]
    fn the_best_are_found() {
        let words = 5000;
        let falling: Vec<f32> = (0..words).map(|w| -0.002 * w as f32).collect();
        let mixed: Vec<f32> = (0..words).map(|w| -((w * 37 % 101) as f32) / 9.0).collect();
        let even: Vec<f32> = (0..200).map(|s| -0.47 * s.min(150) as f32).collect();
        let uneven: Vec<f32> = (0..200).map(|s| -(s as f32).sqrt()).collect();
        for (table, shares) in [
            (even.clone(), &falling),
            (even, &mixed),
            (uneven.clone(), &falling),
            (uneven, &mixed),
            (vec![0.0, -9.0], &falling),
        ] {
            let steps = (0..words).map(|w| (w * 7919 % 4999 % table.len()) as u16);
            let mut offsets: Vec<f32> = (0..words).map(|w| 0.02 * (w % 7) as f32).collect();
            offsets[5] = f32::NEG_INFINITY;
            let emission = Steps {
                steps: steps.collect(),
                table,
                offsets,
            };
            let ln = |w: usize| {
                let step = usize::from(emission.steps[w]);
                shares[w] + emission.offsets[w] + emission.table[step]
            };
            let mut right: Vec<Scored> = (0..words).map(|w| (ln(w), w as WordId)).collect();
            let best = right.iter().fold(f32::NEG_INFINITY, |a, b| a.max(b.0));
            right.retain(|scored| scored.0 > best - BEAM);
            keep_best(&mut right, LIKELIEST);
            let scores = Scores::new(&emission, shares);
            let found = scores.likeliest(&emission, &Observations::Words(vec![0]), 0..1);
            let lns = |of: &[Scored]| {
                let mut lns: Vec<f32> = of.iter().map(|scored| scored.0).collect();
                lns.sort_by(|a, b| b.total_cmp(a));
                lns
            };
            let found_lns = lns(&found[0].words);
            assert!((right.len()..=LIKELIEST).contains(&found_lns.len()));
            let rounding = |(a, b): (f32, f32)| (a - b).abs() < 1e-4;
            assert!(lns(&right).into_iter().zip(found_lns).all(rounding));
            let nearest = emission.steps.iter().min().unwrap();
            assert_eq!(found[0].nearest, *nearest);
        }
    }
}

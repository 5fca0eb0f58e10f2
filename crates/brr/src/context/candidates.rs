//! Which words are looked at for a position.
//!
//! The likeliest by P(w) Pr[O | w], and those that likely words beside it predict: the successors of
//! the words that are likeliest before it, given all that was observed up to there, with the largest
//! P(w | u) Pr[O | w], and the predecessors of the likeliest words after it in the same way. All of
//! it is a function of the observations and of public files.

use std::ops::Range;

use zeroize::Zeroizing;

use super::chain::Position;
use super::costs::{BLOCK, Costs};
use crate::language::{Heads, Language, State};
use crate::mechanism::{Emission, Observations};

/// Words by their own likelihood.
const LIKELIEST: usize = 32;
/// Words on either side of a position that predict some.
pub const PREDICTING: usize = 4;
/// Candidates of a position in the end.
const CANDIDATES: usize = 24;
/// A word this much less likely than the likeliest, in ln, is not looked at.
const BEAM: f32 = 9.0;

/// Not among those found.
const NOWHERE: u16 = u16::MAX;

/// A word and how likely it is, in ln, up to a constant.
pub type Scored = (f32, State);

/// One position before its neighbours are asked.
#[derive(Default)]
pub struct Seen {
    /// Which.
    at: usize,
    /// No ln Pr[O | w] is larger.
    largest: f32,
    /// The likeliest words with ln P(w) Pr[O | w]; of these the first [`PREDICTING`] in order.
    likeliest: Vec<Scored>,
}

/// Observations whose steps are found together.
const AHEAD: usize = 64;

/// What is known of some observations in a row.
#[derive(Default)]
struct Looked {
    which: Range<usize>,
    words: usize,
    /// The steps of every word from each.
    steps: Zeroizing<Vec<u16>>,
    /// The least step from each.
    nearest: Vec<u16>,
    /// The least cost of each block of words, for each.
    least: Vec<u16>,
}

impl Looked {
    fn row(&self, i: usize) -> &[u16] {
        &self.steps[(i - self.which.start) * self.words..][..self.words]
    }

    /// Makes sure that observation i is there, and with it the one before, if it was.
    fn reach(
        &mut self,
        emission: &dyn Emission,
        costs: &Costs,
        observations: &Observations,
        i: usize,
    ) {
        if self.which.contains(&i) {
            return;
        }
        let first = i - usize::from(self.which.end == i && i > 0);
        self.which = first..(first + AHEAD).min(observations.len());
        self.steps.resize(self.which.len() * self.words, 0);
        self.nearest.clear();
        self.nearest.resize(self.which.len(), u16::MAX);
        self.least.resize(self.which.len() * costs.blocks(), 0);
        let mut found = |row: usize, first: usize, steps: &[u16]| {
            let first = first / BLOCK;
            let least = &mut self.least[row * costs.blocks()..][first..costs.blocks()];
            let nearest = costs.least(first, steps, least);
            self.nearest[row] = self.nearest[row].min(nearest);
        };
        let which = self.which.clone();
        emission.steps_of_many(observations, which, &mut self.steps, &mut found);
    }
}

impl Seen {
    /// The likeliest words, in order.
    pub fn leading(&self) -> &[Scored] {
        &self.likeliest[..self.likeliest.len().min(PREDICTING)]
    }
}

/// Moves the [`PREDICTING`] best to the front, the best first, the lowest among equals.
pub fn lead(scored: &mut [Scored]) {
    for place in 0..scored.len().min(PREDICTING) {
        let mut best = place;
        for i in place + 1..scored.len() {
            let (a, b) = (scored[i], scored[best]);
            if a.0 > b.0 || (a.0 == b.0 && a.1 < b.1) {
                best = i;
            }
        }
        scored.swap(place, best);
    }
}

/// Leaves the best, this many at most, the lowest among equals.
fn keep_best(scored: &mut Vec<Scored>, count: usize) {
    if scored.len() > count {
        let better = |a: &Scored, b: &Scored| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
        scored.select_nth_unstable_by(count - 1, better);
        scored.truncate(count);
    }
}

/// Finds candidates.
pub struct Finder<'a> {
    language: &'a Language,
    emission: &'a dyn Emission,
    table: &'a [f32],
    offsets: &'a [f32],
    largest_offset: f32,
    costs: Costs,
    looked: Looked,
    /// Room to find the blocks with the least costs.
    ordered: Vec<u16>,
    /// Where each word stands among those found, while they are merged.
    slots: Vec<u16>,
    found: Vec<Scored>,
}

impl<'a> Finder<'a> {
    pub fn new(language: &'a Language, emission: &'a dyn Emission) -> Finder<'a> {
        let offsets = emission.offsets();
        let largest = offsets.iter().copied().reduce(f32::max);
        Finder {
            language,
            emission,
            table: emission.table(),
            offsets,
            largest_offset: largest.unwrap_or(0.0),
            costs: Costs::new(emission, &language.log_unigrams()[..language.words()]),
            looked: Looked {
                words: language.words(),
                ..Looked::default()
            },
            ordered: Vec::new(),
            slots: vec![NOWHERE; language.words()],
            found: Vec::new(),
        }
    }

    /// Looks at an observation by itself.
    pub fn look(&mut self, observations: &Observations, i: usize, seen: &mut Seen) {
        let looked = &mut self.looked;
        looked.reach(self.emission, &self.costs, observations, i);
        let nearest = looked.nearest[i - looked.which.start];
        seen.at = i;
        seen.largest = self.table[usize::from(nearest)] + self.largest_offset;
        self.likeliest(i, &mut seen.likeliest);
        lead(&mut seen.likeliest);
    }

    /// ln Pr[O | w].
    fn log_likelihood(&self, steps: &[u16], w: State) -> f32 {
        let offset = self.offsets.get(w as usize).copied().unwrap_or(0.0);
        self.table[usize::from(steps[w as usize])] + offset
    }

    /// The likeliest words, from the least costs of all blocks.
    fn likeliest(&mut self, i: usize, out: &mut Vec<Scored>) {
        let steps = self.looked.row(i);
        let blocks = self.costs.blocks();
        let least = &self.looked.least[(i - self.looked.which.start) * blocks..][..blocks];
        self.ordered.clear();
        self.ordered.extend_from_slice(least);
        // As many blocks have a word that costs no more.
        let most = match self.ordered.len() > LIKELIEST {
            true => *self.ordered.select_nth_unstable(LIKELIEST - 1).1,
            false => u16::MAX,
        };
        out.clear();
        let log_unigrams = &self.language.log_unigrams()[..self.language.words()];
        for (block, _) in least
            .iter()
            .enumerate()
            .filter(|(_, least)| **least <= most)
        {
            let (first, end) = (block * BLOCK, steps.len().min((block + 1) * BLOCK));
            for place in self.costs.at_most(most, block, &steps[first..end]) {
                let w = first + place;
                let ln = self.log_likelihood(steps, w as State) + log_unigrams[w];
                out.push((ln, w as State));
            }
        }
        keep_best(out, LIKELIEST);
    }

    /// The candidates of a position, from what was seen there and from likely words on either side.
    pub fn position(&mut self, before: &[Scored], at: &Seen, after: &[Scored]) -> Position {
        let mut found = std::mem::take(&mut self.found);
        found.clone_from(&at.likeliest);
        let (next, previous) = (self.language.likely_next(), self.language.likely_previous());
        self.predict(before, at, &mut found, next, |_| 0.0);
        let shares = self.language.log_unigrams();
        self.predict(after, at, &mut found, previous, |v| -shares[v as usize]);
        self.merge(&mut found);
        keep_best(&mut found, CANDIDATES);
        let unknown = self.emission.unknown();
        let steps = self.looked.row(at.at);
        let emission = |&(_, w): &Scored| self.log_likelihood(steps, w);
        let largest = found.iter().map(emission).fold(unknown, f32::max);
        let likelihood = |ln: f32| libm::expf(ln - largest);
        let position = Position {
            states: found
                .iter()
                .map(|&(_, w)| w)
                .chain([self.language.unknown()])
                .collect(),
            likelihoods: found
                .iter()
                .map(emission)
                .chain([unknown])
                .map(likelihood)
                .collect(),
        };
        self.found = found;
        position
    }

    /// Leaves each word once, with its largest number, and none far below the best.
    fn merge(&mut self, found: &mut Vec<Scored>) {
        let best = found.iter().fold(f32::NEG_INFINITY, |a, b| a.max(b.0));
        let mut kept = 0;
        for i in 0..found.len() {
            let (score, w) = found[i];
            let slot = self.slots[w as usize];
            if slot != NOWHERE {
                let kept = &mut found[usize::from(slot)].0;
                *kept = kept.max(score);
            } else if score > best - BEAM {
                self.slots[w as usize] = kept as u16;
                found[kept] = (score, w);
                kept += 1;
            }
        }
        found.truncate(kept);
        found
            .iter()
            .for_each(|&(_, w)| self.slots[w as usize] = NOWHERE);
    }

    /// Adds the words that likely words beside a position predict, with ln P(w | beside) Pr[O | w],
    /// less for a word beside that is less likely itself.
    fn predict(
        &self,
        beside: &[Scored],
        at: &Seen,
        found: &mut Vec<Scored>,
        heads: &Heads,
        share: impl Fn(State) -> f32,
    ) {
        let Some((best, _)) = at.likeliest.first() else {
            return;
        };
        let words = self.language.words() as State;
        let observed = self.looked.row(at.at);
        for &(score, state) in beside {
            let handicap = score - beside[0].0 + share(state);
            for &(score, w) in heads.row(state).iter().filter(|(_, w)| *w < words) {
                let prediction = handicap + score;
                // Rows fall, so nothing after it is likely enough either.
                if prediction + at.largest <= best - BEAM {
                    break;
                }
                let score = prediction + self.log_likelihood(observed, w);
                if score > best - BEAM {
                    found.push((score, w));
                }
            }
        }
    }
}

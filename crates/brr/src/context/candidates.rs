//! Which words are looked at for a position.
//!
//! The likeliest by P(w) Pr[O | w], and those that likely words beside it predict: the successors of
//! the words that are likeliest before it, given all that was observed up to there, with the largest
//! P(w | u) Pr[O | w], and the predecessors of the likeliest words after it in the same way. All of
//! it is a function of the observations and of public files.

use zeroize::Zeroizing;

use super::chain::Position;
use super::costs::{self, BLOCK, Costs};
use crate::language::{self, Language, Rows, State};
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
    /// The step of every word, in blocks.
    steps: Zeroizing<Vec<u16>>,
    /// No ln Pr[O | w] is larger.
    largest: f32,
    /// The likeliest words with ln P(w) Pr[O | w]; of these the first [`PREDICTING`] in order.
    likeliest: Vec<Scored>,
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
    /// The least cost of each block, and room to find the least of them.
    least: Vec<i16>,
    ordered: Vec<i16>,
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
            least: Vec::new(),
            ordered: Vec::new(),
            slots: vec![NOWHERE; language.words()],
            found: Vec::new(),
        }
    }

    /// Looks at an observation by itself.
    pub fn look(&mut self, observations: &Observations, i: usize, seen: &mut Seen) {
        let words = self.language.words();
        seen.steps.resize(self.costs.blocks() * BLOCK, 0);
        let (steps, rest) = seen.steps.split_at_mut(words);
        self.emission.steps(observations, i, steps);
        // What fills up the last block stands nowhere near.
        rest.fill(self.table.len() as u16 - 1);
        let nearest = costs::nearest(seen.steps.as_chunks().0);
        seen.largest = self.table[usize::from(nearest)] + self.largest_offset;
        self.likeliest(&seen.steps, &mut seen.likeliest);
        lead(&mut seen.likeliest);
    }

    /// ln Pr[O | w].
    fn log_likelihood(&self, steps: &[u16], w: State) -> f32 {
        let offset = self.offsets.get(w as usize).copied().unwrap_or(0.0);
        self.table[usize::from(steps[w as usize])] + offset
    }

    /// The likeliest words.
    fn likeliest(&mut self, steps: &[u16], out: &mut Vec<Scored>) {
        let blocks = steps.as_chunks().0;
        self.costs.least(blocks, &mut self.least);
        self.ordered.clone_from(&self.least);
        // As many blocks have a word that costs no more.
        let most = match self.ordered.len() > LIKELIEST {
            true => *self.ordered.select_nth_unstable(LIKELIEST - 1).1,
            false => i16::MAX,
        };
        out.clear();
        let log_unigrams = &self.language.log_unigrams()[..self.language.words()];
        let least = self.least.iter().enumerate();
        for (block, _) in least.filter(|(_, least)| **least <= most) {
            for place in self.costs.at_most(most, block, &blocks[block]) {
                let w = block * BLOCK + place;
                if let Some(share) = log_unigrams.get(w) {
                    out.push((self.log_likelihood(steps, w as State) + share, w as State));
                }
            }
        }
        keep_best(out, LIKELIEST);
    }

    /// The candidates of a position, from what was seen there and from likely words on either side.
    pub fn position(&mut self, before: &[Scored], at: &Seen, after: &[Scored]) -> Position {
        let mut found = std::mem::take(&mut self.found);
        found.clone_from(&at.likeliest);
        let next = self.language.likely_next();
        self.predict(before, at, &mut found, next, |_, _| 0.0);
        let (previous, shares) = (
            self.language.likely_previous(),
            self.language.log_unigrams(),
        );
        let share = |w: State, v: State| shares[w as usize] - shares[v as usize];
        self.predict(after, at, &mut found, previous, share);
        self.merge(&mut found);
        keep_best(&mut found, CANDIDATES);
        let unknown = self.emission.unknown();
        let emission = |&(_, w): &Scored| self.log_likelihood(&at.steps, w);
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
        rows: &Rows,
        share: impl Fn(State, State) -> f32,
    ) {
        let Some((best, _)) = at.likeliest.first() else {
            return;
        };
        let words = self.language.words() as State;
        for &(score, state) in beside {
            let handicap = score - beside[0].0;
            let (row, steps) = rows.row(state);
            for (&w, &steps) in row.iter().zip(steps).filter(|(w, _)| **w < words) {
                let prediction = handicap + share(w, state) + language::log_pair(steps);
                // Rows fall, so nothing after it is likely enough either.
                if prediction + at.largest <= best - BEAM {
                    break;
                }
                let score = prediction + self.log_likelihood(&at.steps, w);
                if score > best - BEAM {
                    found.push((score, w));
                }
            }
        }
    }
}

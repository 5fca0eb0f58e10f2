//! Which words are looked at for a position.
//!
//! The likeliest by P(w) Pr[O | w], and those that likely words beside it predict: the successors of
//! the words that are likeliest before it, given all that was observed up to there, with the largest
//! P(w | u) Pr[O | w], and the predecessors of the likeliest words after it in the same way. All of
//! it is a function of the observations and of public files.

use std::ops::Range;

use super::chain::{Others, Position};
use super::likeliest::{Likely, Scores};
use super::others::Sample;
use crate::language::{Heads, Language, State};
use crate::mechanism::{Emission, Observations};

/// Words on either side of a position that predict some.
pub const PREDICTING: usize = 6;
/// Candidates of a position.
pub const CANDIDATES: usize = 64;
/// Of these, words that are likely by themselves.
pub const LIKELIEST: usize = 48;
/// A word this much less likely than the likeliest, in ln, is not looked at.
pub const BEAM: f32 = 9.0;

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
    /// What is less likely than this will not be among the candidates.
    least: f32,
    /// The likeliest words with ln P(w) Pr[O | w]; of these the first [`PREDICTING`] in order.
    likeliest: Vec<Scored>,
}

/// Observations whose likeliest words are found together.
const AHEAD: usize = 256;

/// What is known of some observations in a row.
#[derive(Default)]
struct Looked {
    which: Range<usize>,
    likely: Vec<Likely>,
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
pub fn keep_best(scored: &mut Vec<Scored>, count: usize) {
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
    scores: Scores<'a>,
    sample: Sample<'a>,
    looked: Looked,
    /// Where each word stands among those found, while they are merged.
    slots: Vec<u16>,
    found: Vec<Scored>,
    predicted: Predicted,
}

/// Words that are predicted, and how strongly.
#[derive(Default)]
struct Predicted {
    words: Vec<State>,
    strengths: Vec<f32>,
}

impl<'a> Finder<'a> {
    pub fn new(language: &'a Language, emission: &'a dyn Emission) -> Finder<'a> {
        Finder {
            language,
            emission,
            table: emission.table(),
            offsets: emission.offsets(),
            scores: Scores::new(emission, &language.log_unigrams()[..language.words()]),
            sample: Sample::new(language, emission),
            looked: Looked::default(),
            slots: vec![NOWHERE; language.words()],
            found: Vec::new(),
            predicted: Predicted::default(),
        }
    }

    /// Looks at an observation by itself.
    pub fn look(&mut self, observations: &Observations, i: usize, seen: &mut Seen) {
        if !self.looked.which.contains(&i) {
            let which = i..(i + AHEAD).min(observations.len());
            let likely = self
                .scores
                .likeliest(self.emission, observations, which.clone());
            self.looked = Looked { which, likely };
        }
        let likely = &self.looked.likely[i - self.looked.which.start];
        seen.at = i;
        seen.largest = likely.largest(&self.scores);
        seen.least = likely.least;
        seen.likeliest.clone_from(&likely.words);
        lead(&mut seen.likeliest);
    }

    /// ln Pr[O | w] of some words.
    fn log_likelihoods(
        &self,
        observations: &Observations,
        i: usize,
        words: &[State],
    ) -> impl Iterator<Item = f32> {
        let steps = self.emission.steps_of(observations, i, words);
        let offset = |w: State| self.offsets.get(w as usize).copied().unwrap_or(0.0);
        let steps = steps.into_iter().zip(words);
        steps.map(move |(step, &w)| self.table[usize::from(step)] + offset(w))
    }

    /// The candidates of a position, from what was seen there and from likely words on either side.
    pub fn position(
        &mut self,
        observations: &Observations,
        before: &[Scored],
        at: &Seen,
        after: &[Scored],
    ) -> Position {
        let mut found = std::mem::take(&mut self.found);
        found.clone_from(&at.likeliest);
        self.predict(observations, before, at, after, &mut found);
        self.merge(&mut found);
        keep_best(&mut found, CANDIDATES);
        let unknown = self.emission.unknown();
        let mut states: Vec<State> = found.iter().map(|&(_, w)| w).collect();
        let lns = self.log_likelihoods(observations, at.at, &states);
        let mut likelihoods: Vec<f32> = lns.chain([unknown]).collect();
        states.push(self.language.unknown());
        let largest = likelihoods.iter().fold(unknown, |a, &b| a.max(b));
        likelihoods
            .iter_mut()
            .for_each(|ln| *ln = libm::expf(*ln - largest));
        self.found = found;
        let others = self.others(observations, at.at, &states, largest);
        Position {
            states,
            likelihoods,
            others,
        }
    }

    /// The words that are not candidates.
    fn others(
        &mut self,
        observations: &Observations,
        i: usize,
        candidates: &[State],
        unit: f32,
    ) -> Option<Others> {
        let words = candidates.iter().map(|&w| w as usize);
        let Finder { slots, sample, .. } = self;
        let count = slots.len();
        let words = words.filter(|&w| w < count);
        words.clone().for_each(|w| slots[w] = 0);
        let marked = |w: State| slots[w as usize] != NOWHERE;
        let others = sample.others(observations, i, candidates, marked, unit);
        words.for_each(|w| slots[w] = NOWHERE);
        others
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
        &mut self,
        observations: &Observations,
        before: &[Scored],
        at: &Seen,
        after: &[Scored],
        found: &mut Vec<Scored>,
    ) {
        let mut predicted = std::mem::take(&mut self.predicted);
        predicted.words.clear();
        predicted.strengths.clear();
        // What is predicted less strongly cannot be likely enough.
        let least = at.least - at.largest;
        let (next, previous) = (self.language.likely_next(), self.language.likely_previous());
        self.ask(before, next, least, |_| 0.0, &mut predicted);
        let shares = self.language.log_unigrams();
        self.ask(
            after,
            previous,
            least,
            |v| -shares[v as usize],
            &mut predicted,
        );
        let lns = self.log_likelihoods(observations, at.at, &predicted.words);
        let strengths = predicted.strengths.iter();
        for ((ln, &strength), &w) in lns.zip(strengths).zip(&predicted.words) {
            if strength + ln > at.least {
                found.push((strength + ln, w));
            }
        }
        self.predicted = predicted;
    }

    /// Adds the words that words beside a position predict more strongly than `least`.
    fn ask(
        &self,
        beside: &[Scored],
        heads: &Heads,
        least: f32,
        share: impl Fn(State) -> f32,
        out: &mut Predicted,
    ) {
        let shares = self.language.log_unigrams();
        for &(score, state) in beside {
            let handicap = score - beside[0].0 + share(state);
            // Rows fall, so nothing after the first that is too weak is stronger.
            let row = heads.row(state);
            let row = &row[..row.partition_point(|(score, _)| handicap + score > least)];
            let mut len = out.words.len();
            out.words.resize(len + row.len(), 0);
            out.strengths.resize(len + row.len(), 0.0);
            for &(score, w) in row {
                let strength = handicap + score;
                (out.words[len], out.strengths[len]) = (w, strength);
                // What is predicted no more strongly than by itself is likely enough by itself, or not.
                // (Not a branch: nobody could guess it.)
                let word = (w as usize) < self.language.words();
                len += usize::from(word & (strength > shares[w as usize]));
            }
            out.words.truncate(len);
            out.strengths.truncate(len);
        }
    }
}

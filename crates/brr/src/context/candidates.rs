//! Which words are looked at for a position.
//!
//! The likeliest by P(w) Pr[O | w], and those that the likeliest words beside it predict: the
//! successors u of a likely word before it with the largest P(w | u) Pr[O | w], and the
//! predecessors of a likely word after it in the same way. All of it is a function of the
//! observations and of public files.

use std::ops::Range;

use super::chain::{NOWHERE, Position, Slots};
use crate::language::{self, Language, Rows, State};
use crate::mechanism::{Emission, Observations};

/// Words by their own likelihood.
const LIKELIEST: usize = 48;
/// Words beside a position that predict some.
const PREDICTING: usize = 4;
/// Candidates of a position in the end.
const CANDIDATES: usize = 32;
/// A word this much less likely than the likeliest, in ln, is not looked at.
const BEAM: f32 = 9.0;
/// Words that are looked at together for the largest.
const BLOCK: usize = 64;

/// One position before its neighbours are asked.
#[derive(Default)]
struct Seen {
    /// ln Pr[O | w] of every word.
    emissions: Vec<f32>,
    unknown: f32,
    /// The likeliest words with ln P(w) Pr[O | w], the likeliest first.
    likeliest: Vec<(f32, State)>,
}

/// Finds candidates.
pub struct Finder<'a> {
    language: &'a Language,
    emission: &'a dyn Emission,
    log_unigrams: Vec<f32>,
    scores: Vec<f32>,
    /// The largest score of each block, and room to sort them.
    tops: Vec<f32>,
    sorted: Vec<f32>,
    slots: Vec<u16>,
    found: Vec<(f32, State)>,
}

impl<'a> Finder<'a> {
    pub fn new(language: &'a Language, emission: &'a dyn Emission) -> Finder<'a> {
        let words = &language.unigrams()[..language.words()];
        Finder {
            language,
            emission,
            log_unigrams: words.iter().map(|&p| libm::logf(p)).collect(),
            scores: vec![0.0; words.len()],
            tops: Vec::new(),
            sorted: Vec::new(),
            slots: vec![NOWHERE; language.states()],
            found: Vec::new(),
        }
    }

    /// Room for a place of every state, all nowhere.
    pub fn slots(&mut self) -> &mut Slots {
        &mut self.slots
    }

    /// The candidates of some tokens in a row.
    pub fn positions(
        &mut self,
        observations: &Observations,
        tokens: Range<usize>,
    ) -> Vec<Position> {
        let mut positions = Vec::with_capacity(tokens.len());
        let (mut before, mut at) = (Seen::default(), Seen::default());
        let mut after = Seen::default();
        let mut rest = tokens.clone();
        if let Some(first) = rest.next() {
            self.look(observations, first, &mut at);
        }
        for _ in tokens {
            match rest.next() {
                Some(i) => self.look(observations, i, &mut after),
                None => after.likeliest.clear(),
            }
            positions.push(self.position(&before, &at, &after));
            std::mem::swap(&mut before, &mut at);
            std::mem::swap(&mut at, &mut after);
        }
        positions
    }

    fn look(&mut self, observations: &Observations, i: usize, seen: &mut Seen) {
        seen.emissions.resize(self.scores.len(), 0.0);
        let emissions = &mut seen.emissions;
        seen.unknown = self.emission.log_likelihoods(observations, i, emissions);
        for (score, (e, p)) in self
            .scores
            .iter_mut()
            .zip(emissions.iter().zip(&self.log_unigrams))
        {
            *score = e + p;
        }
        self.largest(&mut seen.likeliest);
    }

    /// The largest scores and where they are, the largest first, the lowest place among equals.
    fn largest(&mut self, out: &mut Vec<(f32, State)>) {
        self.tops.clear();
        self.tops.extend(self.scores.chunks(BLOCK).map(top));
        self.sorted.clone_from(&self.tops);
        // As many blocks have one that is at least this large.
        let least = match self.tops.len() > LIKELIEST {
            true => {
                *self
                    .sorted
                    .select_nth_unstable_by(LIKELIEST - 1, |a, b| b.total_cmp(a))
                    .1
            }
            false => f32::NEG_INFINITY,
        };
        out.clear();
        for (b, _) in self
            .tops
            .iter()
            .enumerate()
            .filter(|(_, top)| **top >= least)
        {
            let first = b * BLOCK;
            let block = &self.scores[first..self.scores.len().min(first + BLOCK)];
            for (i, &score) in block.iter().enumerate().filter(|(_, s)| **s >= least) {
                out.push((score, (first + i) as State));
            }
        }
        out.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        out.truncate(LIKELIEST);
    }

    fn position(&mut self, before: &Seen, at: &Seen, after: &Seen) -> Position {
        let mut found = std::mem::take(&mut self.found);
        found.clone_from(&at.likeliest);
        self.predict(
            before,
            at,
            &mut found,
            self.language.likely_next(),
            |_, _| 0.0,
        );
        let unigrams = &self.log_unigrams;
        self.predict(
            after,
            at,
            &mut found,
            self.language.likely_previous(),
            |w, v| unigrams[w as usize] - unigrams[v as usize],
        );
        let best = found.iter().fold(f32::NEG_INFINITY, |a, b| a.max(b.0));
        found.retain(|(score, _)| *score > best - BEAM);
        found.sort_unstable_by(|a, b| a.1.cmp(&b.1).then(b.0.total_cmp(&a.0)));
        found.dedup_by_key(|(_, w)| *w);
        if found.len() > CANDIDATES {
            let by_score =
                |a: &(f32, State), b: &(f32, State)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
            found.select_nth_unstable_by(CANDIDATES - 1, by_score);
            found.truncate(CANDIDATES);
            found.sort_unstable_by_key(|(_, w)| *w);
        }
        let mut states: Vec<State> = found.iter().map(|&(_, w)| w).collect();
        self.found = found;
        let emissions = states.iter().map(|&w| at.emissions[w as usize]);
        let largest = emissions.clone().fold(at.unknown, f32::max);
        let likelihood = |ln: f32| libm::expf(ln - largest);
        let mut likelihoods: Vec<f32> = emissions.map(likelihood).collect();
        states.push(self.language.unknown());
        likelihoods.push(likelihood(at.unknown));
        Position {
            states,
            likelihoods,
        }
    }

    /// Adds the words that the likeliest words beside a position predict, with
    /// ln P(w | beside) Pr[O | w], less for a word beside that is less likely itself.
    fn predict(
        &self,
        beside: &Seen,
        at: &Seen,
        found: &mut Vec<(f32, State)>,
        rows: &Rows,
        share: impl Fn(State, State) -> f32,
    ) {
        for &(score, state) in beside.likeliest.iter().take(PREDICTING) {
            let handicap = score - beside.likeliest[0].0;
            let (row, steps) = rows.row(state);
            for (&w, &steps) in row.iter().zip(steps) {
                let Some(&emission) = at.emissions.get(w as usize) else {
                    continue;
                };
                let score = handicap + emission + share(w, state) + language::log_pair(steps);
                if score > at.likeliest[0].0 - BEAM {
                    found.push((score, w));
                }
            }
        }
    }
}

/// The largest of a block, in lanes that do not wait for each other.
fn top(block: &[f32]) -> f32 {
    let mut lanes = [f32::NEG_INFINITY; 8];
    let (whole, rest) = block.as_chunks::<8>();
    for chunk in whole {
        for (lane, &score) in lanes.iter_mut().zip(chunk) {
            *lane = if score > *lane { score } else { *lane };
        }
    }
    lanes
        .iter()
        .chain(rest)
        .fold(f32::NEG_INFINITY, |a, &b| if b > a { b } else { a })
}

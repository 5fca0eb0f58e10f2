//! Forward-backward over candidates.
//!
//! P(v | u) is b(u) P(v) but for the listed pairs, so a sum over all pairs of candidates is a product
//! of two sums and a sum over the listed ones alone:
//!
//! ```text
//! sum over u of a(u) P(v | u) = P(v) * sum over u of a(u) b(u)
//!                             + sum over listed (u, v) of a(u) (p(v | u) - b(u) P(v)).
//! ```

use crate::language::{Language, State};
use crate::vocabulary::WordId;

/// What may have been at a position.
#[derive(Debug, Default)]
pub struct Position {
    /// Words, and the unknown token; ascending.
    pub states: Vec<State>,
    /// The likelihood of the observation for each, up to a factor.
    pub likelihoods: Vec<f32>,
}

/// Where a state stands among the candidates of a position; [`NOWHERE`] if it does not.
pub type Slots = [u16];
/// Not a candidate.
pub const NOWHERE: u16 = u16::MAX;

/// A listed pair of candidates, by their places, and how far p(v | u) lies above b(u) P(v).
struct Link {
    from: u16,
    to: u16,
    excess: f32,
}

/// A row that is this many times longer than the list of candidates is searched for each of them.
const SEARCHED_FROM: usize = 2;
/// Candidates with less, the likeliest having 1, are followed by what is frequent.
const NEGLIGIBLE: f32 = 1e-5;

/// The hidden chain of a window.
pub struct Chain<'a> {
    pub language: &'a Language,
    /// Whether the window begins with a sentence.
    pub starts: bool,
    /// Whether a mark ends it.
    pub ends: bool,
}

impl Chain<'_> {
    /// The word with the largest posterior at each position. `slots` has all states nowhere, and has
    /// so again in the end.
    pub fn best(&self, positions: &[Position], slots: &mut Slots) -> Vec<WordId> {
        let mut links: Vec<Vec<Link>> = Vec::with_capacity(positions.len());
        let mut forward: Vec<Vec<f32>> = Vec::with_capacity(positions.len());
        for (t, position) in positions.iter().enumerate() {
            let mut at = match forward.last() {
                None => self.first(position),
                Some(before) => {
                    let from = &positions[t - 1];
                    let found = self.links(from, before, position, slots);
                    let at = self.step(from, position, &found, before);
                    links.push(found);
                    at
                }
            };
            at.iter_mut()
                .zip(&position.likelihoods)
                .for_each(|(a, l)| *a *= l);
            normalize(&mut at);
            forward.push(at);
        }
        let mut best = vec![0; positions.len()];
        let mut after: Vec<f32> = Vec::new();
        for (t, position) in positions.iter().enumerate().rev() {
            after = match positions.get(t + 1) {
                None => self.last(position),
                Some(next) => self.backward(position, next, &links[t], &after),
            };
            normalize(&mut after);
            best[t] = self.most_probable(position, &forward[t], &after);
        }
        best
    }

    /// The listed pairs between candidates of two positions, but for states that what was observed
    /// up to theirs makes all but impossible.
    fn links(
        &self,
        from: &Position,
        weights: &[f32],
        to: &Position,
        slots: &mut Slots,
    ) -> Vec<Link> {
        for (place, &v) in to.states.iter().enumerate() {
            slots[v as usize] = place as u16;
        }
        let mut links = Vec::with_capacity(2 * to.states.len());
        let likely = from.states.iter().zip(weights).enumerate();
        for (i, (&u, _)) in likely.filter(|(_, (_, weight))| **weight > NEGLIGIBLE) {
            let (row, steps) = self.language.next().row(u);
            let backoff = self.language.backoff(u);
            let mut link = |at: usize, place: u16| {
                links.push(Link {
                    from: i as u16,
                    to: place,
                    excess: self.language.pair(steps[at])
                        - backoff * self.language.unigram(row[at]),
                });
            };
            if row.len() > SEARCHED_FROM * to.states.len() {
                for (place, &v) in to.states.iter().enumerate() {
                    if !self.language.may_list(u, v) {
                        continue;
                    }
                    if let Ok(at) = row.binary_search(&v) {
                        link(at, place as u16);
                    }
                }
            } else {
                for (at, &v) in row.iter().enumerate() {
                    if slots[v as usize] != NOWHERE {
                        link(at, slots[v as usize]);
                    }
                }
            }
        }
        to.states.iter().for_each(|&v| slots[v as usize] = NOWHERE);
        links
    }

    /// The probability of each candidate before anything was observed.
    fn first(&self, position: &Position) -> Vec<f32> {
        let states = position.states.iter();
        match self.starts {
            true => {
                let start = self.language.boundary();
                states
                    .map(|&v| self.language.probability(start, v))
                    .collect()
            }
            false => states.map(|&v| self.language.unigram(v)).collect(),
        }
    }

    fn step(&self, from: &Position, to: &Position, links: &[Link], before: &[f32]) -> Vec<f32> {
        let states = from.states.iter().zip(before);
        let rest: f32 = states.map(|(&u, a)| a * self.language.backoff(u)).sum();
        let mut at: Vec<f32> = to
            .states
            .iter()
            .map(|&v| rest * self.language.unigram(v))
            .collect();
        for link in links {
            at[usize::from(link.to)] += before[usize::from(link.from)] * link.excess;
        }
        // An excess may be negative, and rounding leave less than nothing.
        at.iter_mut().for_each(|a| *a = a.max(0.0));
        at
    }

    fn backward(
        &self,
        position: &Position,
        next: &Position,
        links: &[Link],
        after: &[f32],
    ) -> Vec<f32> {
        let weights = next.likelihoods.iter().zip(after).map(|(l, b)| l * b);
        let weights: Vec<f32> = weights.collect();
        let states = next.states.iter().zip(&weights);
        let rest: f32 = states.map(|(&v, w)| w * self.language.unigram(v)).sum();
        let mut at: Vec<f32> = position
            .states
            .iter()
            .map(|&u| rest * self.language.backoff(u))
            .collect();
        for link in links {
            at[usize::from(link.from)] += weights[usize::from(link.to)] * link.excess;
        }
        at.iter_mut().for_each(|b| *b = b.max(0.0));
        at
    }

    /// The probability that the sentence ends after each candidate.
    fn last(&self, position: &Position) -> Vec<f32> {
        let end = self.language.boundary();
        let states = position.states.iter();
        match self.ends {
            true => states.map(|&u| self.language.probability(u, end)).collect(),
            false => vec![1.0; position.states.len()],
        }
    }

    /// The word with the largest product, the lowest among equals. The unknown token is not a word.
    fn most_probable(&self, position: &Position, forward: &[f32], after: &[f32]) -> WordId {
        let mut best = (0, -1.0);
        for ((&state, a), b) in position.states.iter().zip(forward).zip(after) {
            if state != self.language.unknown() && a * b > best.1 {
                best = (state, a * b);
            }
        }
        best.0
    }
}

/// Makes the largest 1: a chain of products would leave the range of numbers.
fn normalize(values: &mut [f32]) {
    let largest = values.iter().fold(0.0, |a: f32, &b| a.max(b));
    if largest > 0.0 {
        values.iter_mut().for_each(|value| *value /= largest);
    } else {
        values.fill(1.0);
    }
}

//! Forward-backward over candidates.
//!
//! P(v | u) is b(u) P(v) but for the listed pairs, so a sum over all pairs of candidates is a product
//! of two sums and a sum over the listed ones alone:
//!
//! ```text
//! sum over u of a(u) P(v | u) = P(v) * sum over u of a(u) b(u)
//!                             + sum over listed (u, v) of a(u) (p(v | u) - b(u) P(v)).
//! ```

use crate::language::{After, Language, State};
use crate::vocabulary::WordId;

/// What may have been at a position.
#[derive(Debug, Default)]
pub struct Position {
    /// Words, and the unknown token.
    pub states: Vec<State>,
    /// The likelihood of the observation for each, up to a factor.
    pub likelihoods: Vec<f32>,
}

/// A listed pair of candidates, by their places, and how far p(v | u) lies above b(u) P(v).
pub struct Link {
    from: u16,
    to: u16,
    excess: f32,
}

/// Candidates with less, the likeliest having 1, are followed by what is frequent.
const NEGLIGIBLE: f32 = 1e-3;

/// The hidden chain of a window.
pub struct Chain<'a> {
    pub language: &'a Language,
    /// Whether the window begins with a sentence.
    pub starts: bool,
    /// Whether a mark ends it.
    pub ends: bool,
}

impl Chain<'_> {
    /// The probability of each candidate of the first position, up to a factor.
    pub fn begin(&self, position: &Position) -> Vec<f32> {
        self.observe(self.first(position), position)
    }

    /// That of the candidates of the next position, and the links to them, which the way back
    /// needs.
    pub fn advance(
        &self,
        from: &Position,
        before: &[f32],
        position: &Position,
    ) -> (Vec<f32>, Vec<Link>) {
        let links = self.links(from, before, position);
        let at = self.step(from, position, &links, before);
        (self.observe(at, position), links)
    }

    fn observe(&self, mut at: Vec<f32>, position: &Position) -> Vec<f32> {
        let likelihoods = position.likelihoods.iter();
        at.iter_mut().zip(likelihoods).for_each(|(a, l)| *a *= l);
        normalize(&mut at);
        at
    }

    /// The word with the largest posterior at each position, from what `begin` and `advance` gave.
    pub fn best(
        &self,
        positions: &[Position],
        forward: &[Vec<f32>],
        links: &[Vec<Link>],
    ) -> Vec<WordId> {
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
    fn links(&self, from: &Position, weights: &[f32], to: &Position) -> Vec<Link> {
        // One pass for each table that is looked into: no look waits for another.
        let likely = from.states.iter().zip(weights).enumerate();
        let likely = likely.filter(|(_, (_, weight))| **weight > NEGLIGIBLE);
        let after: Vec<(u16, State, After<'_>)> = likely
            .map(|(i, (&u, _))| (i as u16, u, self.language.listed().after(u)))
            .collect();
        let mut asked = vec![(0, 0); after.len() * to.states.len()];
        let mut count = 0;
        for (i, (_, _, listed)) in after.iter().enumerate() {
            for (place, &v) in to.states.iter().enumerate() {
                asked[count] = (i as u16, place as u16);
                count += usize::from(listed.may_list(v));
            }
        }
        let asked = &asked[..count];
        let first = |&(i, place): &(u16, u16)| {
            let (_, _, listed) = after[usize::from(i)];
            listed.first(to.states[usize::from(place)])
        };
        let firsts: Vec<State> = asked.iter().map(first).collect();
        let mut links = Vec::with_capacity(count);
        for (&(i, place), first) in asked.iter().zip(firsts) {
            let (from, u, listed) = after[usize::from(i)];
            let v = to.states[usize::from(place)];
            if let Some(steps) = listed.get_from(first, v) {
                let rest = self.language.backoff(u) * self.language.unigram(v);
                links.push(Link {
                    from,
                    to: place,
                    excess: self.language.pair(steps) - rest,
                });
            }
        }
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
        let mut best = (State::MAX, -1.0);
        for ((&state, a), b) in position.states.iter().zip(forward).zip(after) {
            let better = a * b > best.1 || (a * b == best.1 && state < best.0);
            if better && state != self.language.unknown() {
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

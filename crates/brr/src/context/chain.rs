//! Forward-backward over candidates.
//!
//! P(v | u) is b(u) P(v) but for the listed pairs, so a sum over all pairs of candidates is a product
//! of two sums and a sum over the listed ones alone:
//!
//! ```text
//! sum over u of a(u) P(v | u) = P(v) * sum over u of a(u) b(u)
//!                             + sum over listed (u, v) of a(u) (p(v | u) - b(u) P(v)).
//! ```
//!
//! All words that are not candidates are one more state, the *others*. What does not go on to a candidate, and
//! does not end the sentence, goes on to them; and they are followed by a candidate v as often as it follows words,
//! less what follows the candidates beside it, by the [frequencies](crate::language::Shares) q of the language model:
//!
//! ```text
//! P(v | others) = (q(v) - sum over candidates u of q(u) P(v | u)) / q(others).
//! ```
//!
//! That is exact where the others are as frequent, one against the other, as in the language. Without them a text under
//! much noise would be decoded as if one of two or three dozen words had to stand at each position.

use crate::language::{After, Language, State};
use crate::vocabulary::WordId;

/// What may have been at a position.
#[derive(Debug, Default)]
pub struct Position {
    /// Words, and the unknown token.
    pub states: Vec<State>,
    /// The likelihood of the observation for each, up to a factor.
    pub likelihoods: Vec<f32>,
    /// All other words, if there are any.
    pub others: Option<Others>,
}

/// The words that are not candidates.
#[derive(Clone, Copy, Debug)]
pub struct Others {
    /// Their mean likelihood, up to the same factor.
    pub likelihood: f32,
    /// How frequent they are together.
    pub share: f32,
}

impl Position {
    /// The numbers of the candidates, and that of the others, or 0.
    fn parts<'a>(&self, numbers: &'a [f32]) -> (&'a [f32], f32) {
        let (words, others) = numbers.split_at(self.states.len());
        (words, others.first().copied().unwrap_or(0.0))
    }
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
    /// The probability of each candidate of the first position, and last of the others, up to a factor.
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
        let others = position.others.map(|others| others.likelihood);
        let likelihoods = position.likelihoods.iter().chain(&others);
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
        let shares = self.language.shares();
        let states = position.states.iter();
        if !self.starts {
            let at = states.map(|&v| shares.of[v as usize]);
            return at.chain(position.others.map(|o| o.share)).collect();
        }
        let start = self.language.boundary();
        let mut at: Vec<f32> = states
            .map(|&v| self.language.probability(start, v))
            .collect();
        if position.others.is_some() {
            let left = 1.0 - shares.ending[start as usize] - at.iter().sum::<f32>();
            at.push(left.max(0.0));
        }
        at
    }

    fn step(&self, from: &Position, to: &Position, links: &[Link], before: &[f32]) -> Vec<f32> {
        let (words, others) = from.parts(before);
        let states = from.states.iter().zip(words);
        let rest: f32 = states.map(|(&u, a)| a * self.language.backoff(u)).sum();
        let mut at: Vec<f32> = to
            .states
            .iter()
            .map(|&v| rest * self.language.unigram(v))
            .collect();
        for link in links {
            at[usize::from(link.to)] += words[usize::from(link.from)] * link.excess;
        }
        let ending = &self.language.shares().ending;
        let states = from.states.iter().zip(words);
        let going_on: f32 = states.map(|(&u, a)| a * (1.0 - ending[u as usize])).sum();
        let left = going_on - at.iter().sum::<f32>();
        let (following, apart) = self.after_others(from, to, links);
        at.iter_mut()
            .zip(&following)
            .for_each(|(a, p)| *a += others * p);
        if to.others.is_some() {
            at.push(left + others * apart);
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
        let (words, others) = next.parts(after);
        let others = others * next.others.map_or(0.0, |o| o.likelihood);
        let weights = next.likelihoods.iter().zip(words).map(|(l, b)| l * b);
        let weights: Vec<f32> = weights.collect();
        let states = next.states.iter().zip(&weights);
        let rest: f32 = states.map(|(&v, w)| w * self.language.unigram(v)).sum();
        let listed: f32 = next.states.iter().map(|&v| self.language.unigram(v)).sum();
        let ending = &self.language.shares().ending;
        // What is expected after each candidate, and how much goes on to others.
        let parts = position.states.iter().map(|&u| {
            let b = self.language.backoff(u);
            (b * rest, 1.0 - ending[u as usize] - b * listed)
        });
        let (mut at, mut left): (Vec<f32>, Vec<f32>) = parts.unzip();
        for link in links {
            let from = usize::from(link.from);
            at[from] += weights[usize::from(link.to)] * link.excess;
            left[from] -= link.excess;
        }
        for (b, left) in at.iter_mut().zip(left) {
            *b = b.max(0.0) + others * left.max(0.0);
        }
        if position.others.is_some() {
            let (following, apart) = self.after_others(position, next, links);
            let words = following.iter().zip(&weights).map(|(p, w)| p * w);
            at.push(words.sum::<f32>() + others * apart);
        }
        at
    }

    /// The probability of each candidate after the others of a position, and that of the others.
    fn after_others(&self, from: &Position, to: &Position, links: &[Link]) -> (Vec<f32>, f32) {
        let Some(others) = from.others else {
            return (Vec::new(), 0.0);
        };
        let shares = self.language.shares();
        let share = |u: State| shares.of[u as usize];
        let states = from.states.iter();
        let rest: f32 = states.map(|&u| share(u) * self.language.backoff(u)).sum();
        let following = |&v: &State| shares.within[v as usize] - rest * self.language.unigram(v);
        let mut following: Vec<f32> = to.states.iter().map(following).collect();
        for link in links {
            let from = from.states[usize::from(link.from)];
            following[usize::from(link.to)] -= share(from) * link.excess;
        }
        following
            .iter_mut()
            .for_each(|p| *p = (*p / others.share).max(0.0));
        let apart = 1.0 - self.ending(from, others) - following.iter().sum::<f32>();
        (following, apart.max(0.0))
    }

    /// How often a sentence ends after the others of a position.
    fn ending(&self, position: &Position, others: Others) -> f32 {
        let shares = self.language.shares();
        let states = position.states.iter().map(|&u| u as usize);
        let words: f32 = states.map(|u| shares.of[u] * shares.ending[u]).sum();
        let boundary = self.language.boundary() as usize;
        let all = shares.of[boundary] * (1.0 - shares.ending[boundary]);
        ((all - words) / others.share).clamp(0.0, 1.0)
    }

    /// The probability that the sentence ends after each candidate, and last after the others.
    fn last(&self, position: &Position) -> Vec<f32> {
        let others = position.others;
        if !self.ends {
            return vec![1.0; position.states.len() + usize::from(others.is_some())];
        }
        let ending = &self.language.shares().ending;
        let states = position.states.iter().map(|&u| ending[u as usize]);
        let others = others.map(|others| self.ending(position, others));
        states.chain(others).collect()
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

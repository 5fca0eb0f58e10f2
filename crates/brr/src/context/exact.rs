//! The decoder that looks at every word, in double precision: what the pruned one is compared with.

use super::{Decoder, Evidence, Sentence};
use crate::language::{Language, State};
use crate::mechanism::Observations;
use crate::vocabulary::WordId;

impl Decoder<'_> {
    /// The probability of every word, and last of the unknown token, at each position given all of
    /// its sentence: without candidates or windows, in some milliseconds a token.
    pub fn posteriors(&self, observations: &Observations, sentences: &[Sentence]) -> Vec<Vec<f64>> {
        let pairs = listed(self.language);
        let of = |sentence| self.posteriors_of(&pairs, observations, sentence);
        sentences.iter().flat_map(of).collect()
    }

    fn posteriors_of(
        &self,
        pairs: &[Pair],
        observations: &Observations,
        sentence: &Sentence,
    ) -> Vec<Vec<f64>> {
        let language = self.language;
        let likelihoods = sentence.tokens.clone();
        let likelihoods: Vec<_> = likelihoods
            .map(|token| match self.evidence(token) {
                Evidence::Known(word) => certain(self.language, word),
                Evidence::Observed(i) => self.likelihoods(observations, i),
            })
            .collect();
        let boundary = language.boundary();
        let starting = |v| f64::from(language.probability(boundary, v));
        let mut at: Vec<f64> = hidden(language).map(starting).collect();
        let mut posteriors: Vec<Vec<f64>> = Vec::new();
        for (t, likelihood) in likelihoods.iter().enumerate() {
            if t > 0 {
                at = forward(language, pairs, &at);
            }
            multiply(&mut at, likelihood);
            posteriors.push(at.clone());
        }
        let ending = |u| f64::from(language.probability(u, boundary));
        let mut after: Vec<f64> = hidden(language)
            .map(|u| if sentence.ends { ending(u) } else { 1.0 })
            .collect();
        for (t, likelihood) in likelihoods.iter().enumerate().rev() {
            multiply(&mut posteriors[t], &after);
            multiply(&mut after, likelihood);
            after = backward(language, pairs, &after);
        }
        posteriors
    }

    fn likelihoods(&self, observations: &Observations, i: usize) -> Vec<f64> {
        let (table, offsets) = (self.emission.table(), self.emission.offsets());
        let mut steps = vec![0; self.language.words()];
        self.emission.steps(observations, i, &mut steps);
        let ln = |(w, &step): (usize, &u16)| {
            table[usize::from(step)] + offsets.get(w).copied().unwrap_or(0.0)
        };
        let words = steps.iter().enumerate().map(ln);
        let ln: Vec<f32> = words.chain([self.emission.unknown()]).collect();
        let largest = ln.iter().fold(f32::NEG_INFINITY, |a, &b| a.max(b));
        ln.iter()
            .map(|l| libm::exp(f64::from(l - largest)))
            .collect()
    }
}

/// Nothing but this word.
fn certain(language: &Language, word: WordId) -> Vec<f64> {
    let is_it = |w: usize| f64::from(u8::from(w == word as usize));
    (0..=language.words()).map(is_it).collect()
}

/// All states but the boundary, in the order of a position's numbers.
fn hidden(language: &Language) -> impl Iterator<Item = State> {
    let boundary = language.boundary();
    (0..language.states() as State).filter(move |&state| state != boundary)
}

/// Multiplies number by number, and scales to a sum of 1.
fn multiply(values: &mut [f64], factors: &[f64]) {
    values.iter_mut().zip(factors).for_each(|(v, f)| *v *= f);
    let total: f64 = values.iter().sum();
    values.iter_mut().for_each(|v| *v /= total);
}

/// A listed pair of hidden states, by their places.
struct Pair {
    from: u32,
    to: u32,
    /// How far p lies above b(u) P(v).
    excess: f64,
}

fn listed(language: &Language) -> Vec<Pair> {
    let boundary = language.boundary();
    let place = |state: State| state - State::from(state > boundary);
    let after = |u: State| {
        let listed = language.listed().after(u);
        let hidden = listed.iter().filter(|(v, _)| *v != boundary);
        let pair = |(v, steps)| Pair {
            from: place(u),
            to: place(v),
            excess: f64::from(language.pair(steps))
                - f64::from(language.backoff(u)) * f64::from(language.unigram(v)),
        };
        hidden.map(pair).collect::<Vec<_>>()
    };
    hidden(language).flat_map(after).collect()
}

fn forward(language: &Language, pairs: &[Pair], before: &[f64]) -> Vec<f64> {
    let backoffs = hidden(language).map(|u| f64::from(language.backoff(u)));
    let rest: f64 = backoffs.zip(before).map(|(b, a)| a * b).sum();
    let unigrams = hidden(language).map(|v| f64::from(language.unigram(v)));
    let mut at: Vec<f64> = unigrams.map(|p| p * rest).collect();
    for pair in pairs {
        at[pair.to as usize] += before[pair.from as usize] * pair.excess;
    }
    at.iter().map(|a| a.max(0.0)).collect()
}

fn backward(language: &Language, pairs: &[Pair], after: &[f64]) -> Vec<f64> {
    let unigrams = hidden(language).map(|v| f64::from(language.unigram(v)));
    let rest: f64 = unigrams.zip(after).map(|(p, a)| p * a).sum();
    let backoffs = hidden(language).map(|u| f64::from(language.backoff(u)));
    let mut at: Vec<f64> = backoffs.map(|b| b * rest).collect();
    for pair in pairs {
        at[pair.from as usize] += after[pair.to as usize] * pair.excess;
    }
    at.iter().map(|a| a.max(0.0)).collect()
}

//! How likely what was observed is for the words that are not candidates.
//!
//! Their mean likelihood is that of a sample of the vocabulary: its frequent words, and some of the others in
//! proportion to how frequent they are. The sample depends on the language model alone, so the work is the same at every position. A
//! rare word with a large likelihood, which a sample would miss, is among the candidates.

use super::chain::Others;
use crate::language::{Language, State};
use crate::mechanism::{Emission, Observations};

/// Less than this of a language does not count.
const NOTHING: f32 = 1e-6;

/// Weighs words that are not candidates.
pub struct Sample<'a> {
    language: &'a Language,
    emission: &'a dyn Emission,
    words: Vec<State>,
    /// For each, its part of the language, times the word's part of Pr[O | w].
    weights: Vec<(f32, f64)>,
    /// The part of Pr[O | w] by step, step 0 having 1.
    by_step: Vec<f64>,
    first: f32,
    /// How frequent all words are.
    total: f32,
}

impl<'a> Sample<'a> {
    pub fn new(language: &'a Language, emission: &'a dyn Emission) -> Sample<'a> {
        let shares = language.shares();
        let offset = |w: State| emission.offsets().get(w as usize).copied().unwrap_or(0.0);
        let factor = |w: State| libm::exp(f64::from(offset(w)));
        let weight = |&(w, part): &(State, f32)| (part, f64::from(part) * factor(w));
        let table = emission.table();
        let by_step = |ln: &f32| libm::exp(f64::from(ln - table[0]));
        Sample {
            language,
            emission,
            words: shares.sample.iter().map(|&(w, _)| w).collect(),
            weights: shares.sample.iter().map(weight).collect(),
            by_step: table.iter().map(by_step).collect(),
            first: table[0],
            total: shares.of[..language.words()].iter().sum(),
        }
    }

    /// Of the words that are not among some candidates, which have this mark; the likelihood where `unit`, in ln,
    /// has 1.
    pub fn others(
        &self,
        observations: &Observations,
        i: usize,
        candidates: &[State],
        marked: impl Fn(State) -> bool,
        unit: f32,
    ) -> Option<Others> {
        let of = &self.language.shares().of;
        let words = candidates.iter().map(|&w| w as usize);
        let words = words.filter(|&w| w < self.language.words());
        let share = self.total - words.map(|w| of[w]).sum::<f32>();
        let steps = self.emission.steps_of(observations, i, &self.words);
        let (mut parts, mut sum) = (0.0, 0.0);
        for ((&w, &(part, weight)), step) in self.words.iter().zip(&self.weights).zip(steps) {
            if !marked(w) {
                parts += part;
                sum += weight * self.by_step[usize::from(step)];
            }
        }
        let mean = libm::log(sum / f64::from(parts)) + f64::from(self.first - unit);
        (share > NOTHING && parts > 0.0).then(|| Others {
            likelihood: libm::exp(mean) as f32,
            share,
        })
    }
}

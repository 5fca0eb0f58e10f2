//! Reconstruction: what an attacker recovers of the words from privatized text.
//!
//! Two attackers, both of whom know the mechanism. One takes every output for
//! the input. The other is Bayes': for each output the word that most often
//! causes it, given how often words are used. The word channel and the use of
//! words are learned from half of the texts (where the attacker simulates the
//! mechanism) and tried on the other half, so the result is what the attacker
//! really reaches, and a lower bound of what the best one could.
//!
//! Outputs seen a few times only teach little: until an input was seen with an
//! output often enough, the attacker says the output itself, or the most frequent
//! word. Which of them, and how often is enough, is chosen on a part of the texts
//! that the counts do not include.

use brr::parts::vocabulary::WordId;
use serde::{Deserialize, Serialize};

/// Words this frequent or more carry little meaning: `the`, `of`, `was`.
const COMMON: usize = 1000;

/// Sightings that may be enough.
const ENOUGH: [usize; 7] = [1, 2, 4, 8, 32, 128, 1 << 40];

/// Shares of known words that are recovered.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recovered {
    /// By taking the output for the input.
    pub as_is: f64,
    /// By Bayes' attacker.
    pub bayes: f64,
    /// By Bayes' attacker, of the words that are not among the 1,000 most frequent.
    pub bayes_rare: f64,
    /// By saying the most frequent word always: what needs no output at all.
    pub blind: f64,
    /// Share of tokens that the model does not know; they are not counted above.
    pub unknown: f64,
}

/// Attacks texts whose inputs and outputs are given.
pub fn recover<'t>(
    inputs: impl Iterator<Item = &'t [Option<WordId>]>,
    outputs: &[Vec<WordId>],
    words: usize,
) -> Recovered {
    // Counts, the choice of the rule, and the trial: a quarter, a quarter and a half.
    let mut parts = [Vec::new(), Vec::new(), Vec::new()];
    let (mut tokens, mut known) = (0usize, 0usize);
    for (i, (input, output)) in inputs.zip(outputs).enumerate() {
        let part = &mut parts[[0, 2, 1, 2][i % 4]];
        tokens += input.len();
        for (w, y) in input.iter().zip(output) {
            if let Some(w) = w {
                part.push((*y, *w));
                known += 1;
            }
        }
    }
    let [counted, choosing, tried] = parts;
    let mut use_of = vec![0usize; words];
    counted
        .iter()
        .chain(&choosing)
        .for_each(|(_, w)| use_of[*w as usize] += 1);
    let mut by_use: Vec<usize> = (0..words).collect();
    by_use.sort_by_key(|w| std::cmp::Reverse(use_of[*w]));
    let most = by_use.first().copied().unwrap_or(0) as WordId;
    let rules = [None, Some(most)]
        .into_iter()
        .flat_map(|e| ENOUGH.map(|n| (e, n)));
    let right = |guess: &[WordId]| {
        let hits = choosing.iter().filter(|(y, w)| guess[*y as usize] == *w);
        hits.count()
    };
    let rule = rules.max_by_key(|(e, n)| right(&likeliest(&counted, *e, *n, words)));
    let (otherwise, enough) = rule.unwrap_or((None, 1));
    let all: Vec<_> = counted.iter().chain(&choosing).copied().collect();
    let guess = likeliest(&all, otherwise, enough, words);
    let mut common = vec![false; words];
    by_use.iter().take(COMMON).for_each(|w| common[*w] = true);
    let share = |right: &dyn Fn(WordId, WordId) -> bool, of: &dyn Fn(WordId) -> bool| {
        let all = tried.iter().filter(|(_, w)| of(*w));
        let (all, hits) = all.fold((0usize, 0usize), |(n, k), (y, w)| {
            (n + 1, k + usize::from(right(*y, *w)))
        });
        hits as f64 / all.max(1) as f64
    };
    Recovered {
        as_is: share(&|y, w| y == w, &|_| true),
        bayes: share(&|y, w| guess[y as usize] == w, &|_| true),
        bayes_rare: share(&|y, w| guess[y as usize] == w, &|w| !common[w as usize]),
        blind: share(&|_, w| w == most, &|_| true),
        unknown: (tokens - known) as f64 / tokens.max(1) as f64,
    }
}

/// For each output the input that came with it most often, if `enough` times;
/// else `otherwise`, or the output itself.
fn likeliest(
    pairs: &[(WordId, WordId)],
    otherwise: Option<WordId>,
    enough: usize,
    words: usize,
) -> Vec<WordId> {
    let mut pairs = pairs.to_vec();
    pairs.sort_unstable();
    let unseen = |y| (enough - 1, otherwise.unwrap_or(y));
    let mut best: Vec<(usize, WordId)> = (0..words as WordId).map(unseen).collect();
    for run in pairs.chunk_by(|a, b| a == b) {
        let (y, w) = run[0];
        if run.len() > best[y as usize].0 {
            best[y as usize] = (run.len(), w);
        }
    }
    best.into_iter().map(|b| b.1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_permutation_hides_nothing_from_bayes() {
        let inputs: Vec<Vec<Option<WordId>>> = (0..40)
            .map(|i| vec![Some(i % 5), Some((i + 1) % 5), None])
            .collect();
        let shifted =
            |i: &[Option<WordId>]| i.iter().map(|w| w.map_or(0, |w| (w + 2) % 5)).collect();
        let outputs: Vec<Vec<WordId>> = inputs.iter().map(|i| shifted(i)).collect();
        let found = recover(inputs.iter().map(|i| &i[..]), &outputs, 5);
        assert_eq!((found.as_is, found.bayes), (0.0, 1.0));
        assert!((found.unknown - 1.0 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn outputs_that_say_nothing_leave_the_blind_guess() {
        let inputs: Vec<Vec<Option<WordId>>> = (0..200)
            .map(|i| vec![Some(if i % 10 < 7 { 3 } else { 1 })])
            .collect();
        let outputs = vec![vec![2]; 200];
        let found = recover(inputs.iter().map(|i| &i[..]), &outputs, 5);
        assert!(found.bayes == found.blind && found.bayes > 0.5);
    }
}

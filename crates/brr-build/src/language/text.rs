//! Counts of pairs in text.

use std::collections::HashMap;

use brr::parts::language::{State, sentences};
use brr::{Layout, Model};

use super::Pairs;

/// Calls `each` with every pair of neighbours in a text's sentences, boundaries included.
pub(super) fn for_pairs(
    model: &Model,
    boundary: State,
    text: &str,
    mut each: impl FnMut(State, State),
) {
    let tokens = model.tokens(text);
    let states: Vec<State> = tokens
        .iter()
        .map(|(w, _)| w.unwrap_or(boundary + 1))
        .collect();
    for sentence in sentences(&model.pieces(text), Layout::Keep) {
        let mut before = boundary;
        for &state in &states[sentence.tokens] {
            each(before, state);
            before = state;
        }
        if sentence.ends {
            each(before, boundary);
        }
    }
}

/// Counts the pairs of a model's words in public text.
pub struct TextCounter<'m> {
    model: &'m Model,
    counts: HashMap<(State, State), u32>,
    tokens: u64,
}

impl<'m> TextCounter<'m> {
    /// For the words of a model.
    pub fn new(model: &'m Model) -> TextCounter<'m> {
        TextCounter {
            model,
            counts: HashMap::new(),
            tokens: 0,
        }
    }

    /// Counts a document.
    pub fn add(&mut self, text: &str) {
        let boundary = self.model.vocabulary().len() as State;
        for_pairs(self.model, boundary, text, |u, v| {
            *self.counts.entry((u, v)).or_default() += 1;
            self.tokens += u64::from(v != boundary);
        });
    }

    /// Number of tokens counted.
    pub fn tokens(&self) -> u64 {
        self.tokens
    }

    /// Probabilities by absolute discounting, interpolated: a discount for counts of 1, 2 and more
    /// (Chen and Goodman 1999), and what it frees goes to every word by its frequency.
    ///
    /// By the number of different words before it (Kneser and Ney 1995) a text is predicted a little
    /// better, and decoded worse: where little is known, frequent words are what reads.
    pub fn pairs(&self) -> Pairs {
        let states = self.model.vocabulary().len() + 2;
        let discounts = self.discounts();
        let discount = |count: u32| discounts[count.min(3) as usize - 1];
        let [mut rows, mut taken, mut occurs] = [0; 3].map(|_| vec![0.0; states]);
        // Sums round by their order: always the same one.
        let mut counts: Vec<_> = self.counts.iter().map(|(&pair, &n)| (pair, n)).collect();
        counts.sort_unstable();
        for &((u, v), count) in &counts {
            rows[u as usize] += f64::from(count);
            taken[u as usize] += discount(count);
            occurs[v as usize] += f64::from(count);
        }
        let all: f64 = occurs.iter().sum();
        let probability = |&((u, v), count): &((State, State), u32)| {
            let own = (f64::from(count) - discount(count)) / rows[u as usize];
            let rest = taken[u as usize] / rows[u as usize] * occurs[v as usize] / all;
            (u, v, own + rest)
        };
        let pairs = counts.iter().map(probability).collect();
        Pairs::new(occurs, rows, pairs)
    }

    fn discounts(&self) -> [f64; 3] {
        let mut with = [0.0; 4];
        for &count in self.counts.values().filter(|&&count| count <= 4) {
            with[count as usize - 1] += 1.0;
        }
        let [n1, n2, n3, n4] = with;
        // Of little text: what is usual.
        if with.contains(&0.0) {
            return [0.5, 0.75, 0.9];
        }
        let y = n1 / (n1 + 2.0 * n2);
        let at = |count: f64, n: f64, next: f64| {
            (count - (count + 1.0) * y * next / n).clamp(0.1, count - 0.01)
        };
        [at(1.0, n1, n2), at(2.0, n2, n3), at(3.0, n3, n4)]
    }
}

//! Which word follows which, as a reader believes: a sparse matrix and a rank-one part.
//!
//! ```text
//! P(v | u) = b(u) P(v) + x(u, v),   x(u, v) = 0 unless the pair was seen,
//! ```
//!
//! so the product of the matrix with a vector takes one multiplication for each pair that was seen, and
//! one for each state. Nothing is left out and nothing is rounded to steps, as in a language model file.
//! States are those of [`brr::Language`]: the words, the boundary of a sentence, the unknown token.

use brr::parts::language::State;
use brr::{Language, Model};
use brr_build::language::TextCounter;

use super::lanes::{LANES, Lane};

/// Steps from any start after which how often a state occurs no longer changes.
const MIXED: usize = 40;

/// What x(u, v) has of each state of one side.
pub(super) struct Rows {
    starts: Vec<u32>,
    others: Vec<State>,
    excess: Vec<f32>,
}

impl Rows {
    /// From entries (state, other, x), ascending.
    fn new(states: usize, entries: impl Iterator<Item = (State, State, f32)>) -> Rows {
        let mut starts = vec![0; states + 1];
        let (mut others, mut excess) = (Vec::new(), Vec::new());
        for (state, other, x) in entries {
            starts[state as usize + 1] += 1;
            others.push(other);
            excess.push(x);
        }
        for i in 0..states {
            starts[i + 1] += starts[i];
        }
        Rows {
            starts,
            others,
            excess,
        }
    }

    pub(super) fn row(&self, state: State) -> impl Iterator<Item = (usize, f32)> + '_ {
        let [start, end] = [0, 1].map(|i| self.starts[state as usize + i] as usize);
        let others = self.others[start..end].iter().map(|&other| other as usize);
        others.zip(self.excess[start..end].iter().copied())
    }
}

/// A bigram model of everything that was seen.
pub struct Chain {
    /// P(v).
    unigrams: Vec<f32>,
    /// b(u).
    backoffs: Vec<f32>,
    /// x by u.
    next: Rows,
    /// x by v.
    previous: Rows,
    /// How often each state occurs in texts of the chain, the boundary aside.
    shares: Vec<f32>,
}

impl Chain {
    /// Learned from texts, with modified Kneser-Ney smoothing.
    pub fn from_texts<'t>(model: &Model, texts: impl Iterator<Item = &'t str>) -> Chain {
        let mut counter = TextCounter::new(model);
        texts.for_each(|text| counter.add(text));
        let pairs = counter.pairs();
        Chain::new(pairs.unigrams(), pairs.listed())
    }

    /// The chain of a language model.
    pub fn from_language(language: &Language) -> Chain {
        let states = language.words() as State + 2;
        let unigrams: Vec<f64> = (0..states)
            .map(|v| f64::from(language.unigram(v)))
            .collect();
        Chain::new(&unigrams, &language.listed_pairs())
    }

    /// From P(v) and the listed (u, v, p(v | u)), ascending. What a row leaves is shared by the other
    /// states in proportion to P.
    pub fn new(unigrams: &[f64], pairs: &[(State, State, f64)]) -> Chain {
        let states = unigrams.len();
        let (mut listed, mut covered) = (vec![0.0; states], vec![0.0; states]);
        for &(u, v, p) in pairs {
            listed[u as usize] += p;
            covered[u as usize] += unigrams[v as usize];
        }
        let backoff = |u: usize| match 1.0 - covered[u] {
            others if others > 1e-9 => ((1.0 - listed[u]) / others).max(0.0),
            _ => 0.0,
        };
        let backoffs: Vec<f64> = (0..states).map(backoff).collect();
        let entry = |&(u, v, p): &(State, State, f64)| {
            let excess = p - backoffs[u as usize] * unigrams[v as usize];
            (u, v, excess as f32)
        };
        let entries: Vec<_> = pairs.iter().map(entry).collect();
        let mut turned: Vec<_> = entries.iter().map(|&(u, v, x)| (v, u, x)).collect();
        turned.sort_unstable_by_key(|&(v, u, _)| (v, u));
        let single = |values: &[f64]| values.iter().map(|&x| x as f32).collect::<Vec<_>>();
        let mut chain = Chain {
            unigrams: single(unigrams),
            backoffs: single(&backoffs),
            next: Rows::new(states, entries.into_iter()),
            previous: Rows::new(states, turned.into_iter()),
            shares: Vec::new(),
        };
        chain.shares = chain.stationary();
        chain
    }

    /// Number of states.
    pub fn states(&self) -> usize {
        self.unigrams.len()
    }

    /// Number of words.
    pub fn words(&self) -> usize {
        self.states() - 2
    }

    /// Number of pairs that were seen.
    pub fn pairs(&self) -> usize {
        self.next.others.len()
    }

    /// The boundary of a sentence.
    pub fn boundary(&self) -> State {
        self.words() as State
    }

    /// How often each state occurs, the boundary aside: what is believed of a word alone.
    pub fn shares(&self) -> &[f32] {
        &self.shares
    }

    /// P(v | u) for every v.
    pub(super) fn after(&self, u: State) -> Vec<f32> {
        let backoff = self.backoffs[u as usize];
        let mut row: Vec<f32> = self.unigrams.iter().map(|p| p * backoff).collect();
        self.next.row(u).for_each(|(v, x)| row[v] += x);
        row
    }

    /// P(v | u) for every u.
    pub(super) fn before(&self, v: State) -> Vec<f32> {
        let share = self.unigrams[v as usize];
        let mut column: Vec<f32> = self.backoffs.iter().map(|b| b * share).collect();
        self.previous.row(v).for_each(|(u, x)| column[u] += x);
        column
    }

    /// The sums over u of `from[u] P(v | u)`, in every lane.
    pub(super) fn forward(&self, from: &[Lane], to: &mut [Lane]) {
        product(&self.previous, [&self.backoffs, &self.unigrams], from, to);
    }

    /// The sums over v of `P(v | u) from[v]`, in every lane.
    pub(super) fn backward(&self, from: &[Lane], to: &mut [Lane]) {
        product(&self.next, [&self.unigrams, &self.backoffs], from, to);
    }

    /// How often each state occurs: what stays the same from one step to the next.
    fn stationary(&self) -> Vec<f32> {
        let mut at = vec![[0.0; LANES]; self.states()];
        let mut to = at.clone();
        at[self.boundary() as usize] = [1.0; LANES];
        for _ in 0..MIXED {
            self.forward(&at, &mut to);
            // Halves of two steps in a row: sentences of one length would go round for ever.
            let sums = at.iter().zip(&to).map(|(a, t)| (a[0] + t[0]) / 2.0);
            let sums: Vec<f32> = sums.collect();
            at.iter_mut().zip(&sums).for_each(|(a, s)| *a = [*s; LANES]);
        }
        at[self.boundary() as usize] = [0.0; LANES];
        let total: f64 = at.iter().map(|a| f64::from(a[0])).sum();
        at.iter()
            .map(|a| (f64::from(a[0]) / total) as f32)
            .collect()
    }
}

/// The rank-one part, from the sum over `ranks[0]` to each of `ranks[1]`, and the sparse one.
fn product(rows: &Rows, ranks: [&[f32]; 2], from: &[Lane], to: &mut [Lane]) {
    let mut rest = [0.0; LANES];
    for (from, &rank) in from.iter().zip(ranks[0]) {
        for (rest, x) in rest.iter_mut().zip(from) {
            *rest += rank * x;
        }
    }
    for (i, (to, &rank)) in to.iter_mut().zip(ranks[1]).enumerate() {
        let mut sum = rest.map(|rest| rest * rank);
        let [start, end] = [0, 1].map(|next| rows.starts[i + next] as usize);
        for (&other, &x) in rows.others[start..end].iter().zip(&rows.excess[start..end]) {
            for (sum, from) in sum.iter_mut().zip(&from[other as usize]) {
                *sum += x * from;
            }
        }
        // A listed pair may be less likely than its rank-one part, which cancels up to rounding.
        *to = sum.map(|sum| sum.max(0.0));
    }
}

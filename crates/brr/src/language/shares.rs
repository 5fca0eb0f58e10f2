//! How frequent each state is in the texts that a language model would write.
//!
//! P(v) says how often v follows what it is *not* listed with: smoothing makes that another number than
//! v's own frequency, several times smaller for the most frequent words. The frequencies q are those that
//! stay when every state is followed by its successors,
//!
//! ```text
//! q(v) = sum over u of q(u) P(v | u),
//! ```
//!
//! and are found from P by some rounds of it. The decoder weighs with them the words that it does not look at
//! one by one.

use super::{Language, State};

/// Rounds. After six, no frequency of the built-in model changes by more than a hundredth of itself.
const ROUNDS: usize = 6;
/// Words of a sample that are the most frequent ones.
const FREQUENT: usize = 512;
/// How often other words are drawn for it.
const OTHERS: usize = 256;

/// Frequencies, and what follows from them.
pub(crate) struct Shares {
    /// q(v) of every state.
    pub of: Vec<f32>,
    /// P(boundary | u) of every state.
    pub ending: Vec<f32>,
    /// q(v) less what begins a sentence, of every state.
    pub within: Vec<f32>,
    /// Words that stand for all: the most frequent ones with their own frequency, and of the others one for each equal part
    /// of theirs, with that part.
    pub sample: Vec<(State, f32)>,
}

impl Shares {
    pub fn new(language: &Language) -> Shares {
        let mut of: Vec<f64> = language.unigrams.iter().map(|&p| f64::from(p)).collect();
        for _ in 0..ROUNDS {
            of = followed(language, &of);
        }
        let boundary = language.boundary();
        let ending = (0..language.states() as State).map(|u| language.probability(u, boundary));
        let sentences = of[boundary as usize];
        let beginning =
            |v: usize| sentences * f64::from(language.probability(boundary, v as State));
        let within = of.iter().enumerate();
        let within = within.map(|(v, q)| (q - beginning(v)).max(0.0) as f32);
        Shares {
            ending: ending.collect(),
            within: within.collect(),
            sample: sample(&of[..language.words()]),
            of: of.iter().map(|&q| q as f32).collect(),
        }
    }
}

/// How frequent each state is after states that are this frequent.
fn followed(language: &Language, before: &[f64]) -> Vec<f64> {
    let backoffs = language.backoffs.iter().map(|&b| f64::from(b));
    let rest: f64 = before.iter().zip(backoffs).map(|(q, b)| q * b).sum();
    let unigrams = language.unigrams.iter();
    let mut at: Vec<f64> = unigrams.map(|&p| rest * f64::from(p)).collect();
    let rows = language.heads[0].rows();
    for (u, (q, b)) in before.iter().zip(&language.backoffs).enumerate() {
        let (others, steps) = rows.row(u as State);
        for (&v, &steps) in others.iter().zip(steps) {
            let unlisted = b * language.unigrams[v as usize];
            at[v as usize] += q * f64::from(language.pair(steps) - unlisted);
        }
    }
    at
}

fn sample(shares: &[f64]) -> Vec<(State, f32)> {
    let mut order: Vec<State> = (0..shares.len() as State).collect();
    let share = |w: State| shares[w as usize];
    order.sort_unstable_by(|&a, &b| share(b).total_cmp(&share(a)).then(a.cmp(&b)));
    let (frequent, others) = order.split_at(FREQUENT.min(order.len()));
    let mut sample: Vec<(State, f32)> = frequent.iter().map(|&w| (w, share(w) as f32)).collect();
    let part = others.iter().map(|&w| share(w)).sum::<f64>() / OTHERS as f64;
    let (mut passed, mut next) = (0.0, part / 2.0);
    for &w in others {
        passed += share(w);
        if passed > next {
            let parts = ((passed - next) / part).ceil();
            sample.push((w, (parts * part) as f32));
            next += parts * part;
        }
    }
    sample
}

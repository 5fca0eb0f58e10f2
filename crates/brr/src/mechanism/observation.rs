//! What the noise leaves of words: all that is known of them from then on.

use std::ops::Range;

use zeroize::Zeroizing;

use crate::codes::CodeRows;
use crate::nearest::{Sieve, pass};
use crate::vocabulary::WordId;

/// What a mechanism's noise left of some tokens, in order: the *whole* output of the mechanism, of
/// which the words that it writes are a function.
///
/// Whatever is computed from this and from public knowledge is post-processing: it has the
/// mechanism's guarantee.
pub enum Observations {
    /// The words drawn.
    Words(Vec<WordId>),
    /// Noisy codes. They say more than the words nearest to them, and are not released.
    Codes(Zeroizing<CodeRows>),
}

impl Observations {
    /// Number of tokens.
    pub fn len(&self) -> usize {
        match self {
            Observations::Words(words) => words.len(),
            Observations::Codes(codes) => codes.len(),
        }
    }

    /// The words drawn, by a mechanism that draws words.
    pub(crate) fn drawn(&self) -> &[WordId] {
        match self {
            Observations::Words(words) => words,
            Observations::Codes(_) => unreachable!("noisy codes are BRR's alone"),
        }
    }

    /// All of several, in order. They must be of one kind.
    pub(crate) fn concat(parts: Vec<Observations>) -> Observations {
        let mut parts = parts.into_iter();
        let mut all = parts.next().unwrap_or(Observations::Words(Vec::new()));
        for part in parts {
            match (&mut all, part) {
                (Observations::Words(all), Observations::Words(part)) => all.extend(part),
                (Observations::Codes(all), Observations::Codes(part)) => {
                    part.iter().for_each(|row| all.push(row));
                }
                _ => unreachable!("one mechanism observes one kind"),
            }
        }
        all
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// How likely an observation is, for every word that may have been there.
///
/// Every mechanism here has one form: ln Pr[O | w] = `table[s] + offset(w)`, up to a constant that
/// all words share, with s the step at which w stands from the observation: a Hamming distance, a
/// level of a tree, or only "the same" and "another". Steps are small whole numbers, so all words
/// can be compared many at a time.
pub trait Emission: Send + Sync {
    /// ln Pr[O | w] by step, without the word's own part; never rising.
    fn table(&self) -> &[f32];

    /// The part of each word, in id order; none if all words have the same.
    fn offsets(&self) -> &[f32] {
        &[]
    }

    /// ln Pr[O | w] for a token without a code.
    fn unknown(&self) -> f32;

    /// The steps of some words from observation `i`, each within the table.
    fn steps_of(&self, observations: &Observations, i: usize, words: &[WordId]) -> Vec<u16>;

    /// Writes the step of every word from observation `i`.
    fn steps(&self, observations: &Observations, i: usize, out: &mut [u16]) {
        let words: Vec<WordId> = (0..out.len() as WordId).collect();
        out.copy_from_slice(&self.steps_of(observations, i, &words));
    }

    /// Passes the words on that a sieve asks for, with their steps from several observations, the
    /// first of which is its query 0.
    fn sift(&self, observations: &Observations, which: Range<usize>, sieve: &mut dyn Sieve) {
        let mut steps = Zeroizing::new(vec![0; sieve.words()]);
        for (query, i) in which.enumerate() {
            self.steps(observations, i, &mut steps);
            pass(query, 0, &steps, sieve);
        }
    }
}

//! What the noise leaves of words: all that is known of them from then on.

use std::ops::Range;

use zeroize::Zeroizing;

use crate::codes::CodeRows;
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

    /// Writes the step of every word from observation `i`, each within the table.
    fn steps(&self, observations: &Observations, i: usize, out: &mut [u16]);

    /// The same of several observations, one after the other, for mechanisms that find many together
    /// faster than one by one. Part by part `each` is told what was found: of which of these
    /// observations, from which word on, and the steps.
    fn steps_of_many(
        &self,
        observations: &Observations,
        which: Range<usize>,
        out: &mut [u16],
        each: &mut dyn FnMut(usize, usize, &[u16]),
    ) {
        let words = out.len() / which.len().max(1);
        for (row, i) in which.enumerate() {
            let out = &mut out[row * words..][..words];
            self.steps(observations, i, out);
            each(row, 0, out);
        }
    }
}

//! The probability of every word behind every released word, given the whole sentence.
//!
//! To whoever knows the mechanism, a released text is a hidden Markov chain: the original words are the hidden
//! states, a bigram model says which word follows which ([`Chain`]), and the mechanism's channel says what comes
//! out of a word ([`Seen`]). Forward-backward over *all* words ([`Batch`]) gives the posteriors. The attacker of
//! the evaluation and the decoder of released text ([`TextDecoder`](crate::TextDecoder)) both work with them.

mod chain;
mod channel;
mod lanes;

pub use chain::Chain;
pub use channel::{Draws, Estimation, STORED, Seen};
pub use lanes::{Batch, Evidence, LANES, Lane, Stretch, largest};

use std::sync::Arc;

use brr::parts::language::{Sentence, State};
use brr::parts::mechanism::Mechanism;
use brr::parts::vocabulary::WordId;
use brr::{Model, Privatizer};

/// A mechanism, and which words it draws.
#[derive(Clone)]
pub struct Target<'a> {
    /// The mechanism.
    pub mechanism: &'a dyn Mechanism,
    /// A model of the words that it draws.
    pub model: &'a Model,
    /// The whole model's ids of these words, in ascending order; none if all words are drawn. Words that
    /// are not among them are public.
    words: Option<Arc<[WordId]>>,
    /// Number of words of the whole model.
    all: usize,
}

impl<'a> Target<'a> {
    /// A mechanism that draws all words of a model.
    pub fn new(mechanism: &'a dyn Mechanism, model: &'a Model) -> Target<'a> {
        Target {
            mechanism,
            model,
            words: None,
            all: model.vocabulary().len(),
        }
    }

    /// The mechanism of a privatizer, under its policy. (What it decodes is not looked at: the draws
    /// say more.)
    pub fn of(privatizer: &'a Privatizer) -> Target<'a> {
        let private = privatizer.private_model();
        let words = 0..private.vocabulary().len() as WordId;
        let restricted = private.vocabulary().len() < privatizer.model().vocabulary().len();
        Target {
            mechanism: privatizer.mechanism(),
            model: private,
            words: restricted.then(|| words.map(|id| privatizer.whole_id(id)).collect()),
            all: privatizer.model().vocabulary().len(),
        }
    }

    /// Number of words of the whole model.
    pub fn all(&self) -> usize {
        self.all
    }

    /// The ids of the mechanism's words, if not all are.
    fn among(&self) -> Option<&[WordId]> {
        self.words.as_deref()
    }

    /// The mechanism's id of a word; none of public words.
    pub fn place(&self, word: WordId) -> Option<WordId> {
        match &self.words {
            None => Some(word),
            Some(words) => words.binary_search(&word).ok().map(|place| place as WordId),
        }
    }

    /// The whole model's id of a mechanism's word.
    pub fn whole(&self, place: WordId) -> WordId {
        self.words
            .as_ref()
            .map_or(place, |words| words[place as usize])
    }
}

/// The stretches of tokens between those whose state is known, numbered without these: a known state
/// divides a sentence in two that say nothing about each other.
pub fn stretches(
    sentences: &[Sentence],
    boundary: State,
    known: impl Fn(usize) -> Option<State>,
) -> Vec<Stretch> {
    let mut stretches = Vec::new();
    let mut next = 0;
    for sentence in sentences {
        let (mut before, mut start) = (boundary, next);
        let mut close = |end: usize, start: &mut usize, before, after| {
            if end > *start {
                let tokens = std::mem::replace(start, end)..end;
                stretches.push(Stretch {
                    tokens,
                    before,
                    after,
                });
            }
        };
        for token in sentence.tokens.clone() {
            match known(token) {
                None => next += 1,
                Some(state) => {
                    close(next, &mut start, before, Some(state));
                    before = state;
                }
            }
        }
        let after = sentence.ends.then_some(boundary);
        close(next, &mut start, before, after);
    }
    stretches
}

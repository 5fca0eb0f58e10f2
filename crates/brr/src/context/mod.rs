//! Decoding with context: the most probable words behind the noise of a whole text.
//!
//! # Why it costs nothing
//!
//! Let O be what the mechanism's noise leaves of a text's tokens ([`Observations`]), S the text's
//! public structure (with the public words, if a [policy](crate::Policy) makes some public), and L, M the language model and the model, both fixed before the text was seen.
//! The decoder computes f(O, S, L, M). If Pr[O | text] <= exp(l) Pr[O | text'] for neighbouring
//! texts, which have the same S, then summing over all O with f(O, S, L, M) = y gives
//! Pr[y | text] <= exp(l) Pr[y | text']: the loss is the mechanism's, to the digit. By its types the
//! [`Decoder`] sees nothing else: neither tokens nor words nor their pieces reach it, ties go to the
//! lowest id, and what is pruned is chosen by O, S, L and M. Its time depends on the same, and so
//! tells no more than O, for which the guarantee holds already. Nothing here draws noise.
//!
//! # What it computes
//!
//! A hidden Markov chain for each sentence: the hidden states are words (and the unknown token),
//! transitions are the [`Language`]'s P(v | u), and the emission of w is the mechanism's
//! Pr[O_t | w]. Forward-backward gives the posterior of each position given all of the sentence; the
//! word with the largest one is written. For BRR O_t is the noisy code itself, which says more than
//! the word nearest to it.
//!
//! [`Decoder::decode`] looks at some five dozen candidates a position (`candidates.rs`) and at all other words
//! together (`others.rs`); `exact.rs` looks at every word, and is what the tests compare it with. A sentence that is longer than a
//! window is decoded in windows that overlap, so memory does not grow with it.
//!
//! **A decoded text is a plausible text, not what was written.** It reads well where it is wrong.

mod candidates;
mod chain;
#[cfg(any(test, feature = "test-seam"))]
mod exact;
mod likeliest;
mod others;

use std::ops::Range;

use crate::language::Language;
use crate::mechanism::{Emission, Observations};
use crate::text::{Layout, Piece};
use crate::vocabulary::WordId;
use candidates::{Finder, Scored, Seen};
use chain::{Chain, Position};

/// Tokens that belong together, by public structure alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sentence {
    /// Which tokens.
    pub tokens: Range<usize>,
    /// Whether a mark says that it ends there.
    pub ends: bool,
}

/// What is known of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// Its word, which is public.
    Known(WordId),
    /// What the noise left of it: the observation of this number.
    Observed(usize),
}

/// Marks that end a sentence.
const ENDS: [char; 3] = ['.', '!', '?'];

/// The sentences of a text under a layout that makes this much of its structure public. Whether a
/// piece is a token is looked at, never which.
pub fn sentences(pieces: &[Piece<'_>], layout: Layout) -> Vec<Sentence> {
    let mut sentences = Vec::new();
    let (mut first, mut tokens) = (0, 0);
    let mut close = |first: &mut usize, tokens: usize, ends: bool| {
        if tokens > *first {
            let range = std::mem::replace(first, tokens)..tokens;
            sentences.push(Sentence {
                tokens: range,
                ends,
            });
        }
    };
    for piece in pieces {
        match piece {
            Piece::Token(_) => tokens += 1,
            _ if layout == Layout::Words => {}
            Piece::Break => close(&mut first, tokens, true),
            Piece::Mark(c) if ENDS.contains(c) => close(&mut first, tokens, true),
            Piece::Mark(_) | Piece::Space(_) => {}
        }
    }
    close(&mut first, tokens, false);
    sentences
}

/// Tokens that are decoded together at most.
const WINDOW: usize = 256;
/// Tokens on either side of a window that are looked at and not decided.
const MARGIN: usize = 16;

/// Decodes what noise left of texts.
#[derive(Clone, Copy)]
pub struct Decoder<'a> {
    language: &'a Language,
    emission: &'a dyn Emission,
    /// Of each token; of none if all were observed.
    evidence: &'a [Evidence],
}

impl<'a> Decoder<'a> {
    /// For observations of the mechanism that this emission is of, over the words of the language
    /// model.
    pub fn new(language: &'a Language, emission: &'a dyn Emission) -> Decoder<'a> {
        Decoder {
            language,
            emission,
            evidence: &[],
        }
    }

    /// For texts some of whose words are public: they stay as they are, and help to decode the others.
    pub fn with_evidence(self, evidence: &'a [Evidence]) -> Decoder<'a> {
        Decoder { evidence, ..self }
    }

    /// What is known of a token.
    fn evidence(&self, token: usize) -> Evidence {
        let known = self.evidence.get(token);
        known.copied().unwrap_or(Evidence::Observed(token))
    }

    /// A word for each token.
    pub fn decode(&self, observations: &Observations, sentences: &[Sentence]) -> Vec<WordId> {
        let tokens = sentences.iter().map(|sentence| sentence.tokens.len());
        let mut decoded = Vec::with_capacity(tokens.sum());
        let mut finder = Finder::new(self.language, self.emission);
        for sentence in sentences {
            for decided in windows(sentence.tokens.clone()) {
                let seen = with_margins(&decided, &sentence.tokens);
                let chain = Chain {
                    language: self.language,
                    starts: seen.start == sentence.tokens.start,
                    ends: sentence.ends && seen.end == sentence.tokens.end,
                };
                let evidence = |token| self.evidence(token);
                let best = decode_window(&chain, &mut finder, observations, evidence, seen.clone());
                decoded.extend(&best[decided.start - seen.start..decided.end - seen.start]);
            }
        }
        decoded
    }
}

/// A token before its neighbours are asked.
#[derive(Default)]
struct Token {
    /// Its word, if it is public: certain, so with ln 1.
    known: Option<[Scored; 1]>,
    /// What its observation says otherwise.
    seen: Seen,
}

impl Token {
    fn look(&mut self, finder: &mut Finder<'_>, observations: &Observations, evidence: Evidence) {
        self.known = match evidence {
            Evidence::Known(word) => Some([(0.0, word)]),
            Evidence::Observed(i) => {
                finder.look(observations, i, &mut self.seen);
                None
            }
        };
    }

    /// The likeliest words, in order.
    fn leading(&self) -> &[Scored] {
        match &self.known {
            Some(word) => word,
            None => self.seen.leading(),
        }
    }

    /// What may have been there, given likely words on either side.
    fn position(
        &self,
        finder: &mut Finder<'_>,
        observations: &Observations,
        before: &[Scored],
        after: &[Scored],
    ) -> Position {
        match self.known {
            Some([(_, word)]) => Position {
                states: vec![word],
                likelihoods: vec![1.0],
                others: None,
            },
            None => finder.position(observations, before, &self.seen, after),
        }
    }
}

/// A word for each token of a window. Candidates are found on the way forward, so that what was
/// observed before helps to choose them.
fn decode_window(
    chain: &Chain<'_>,
    finder: &mut Finder<'_>,
    observations: &Observations,
    evidence: impl Fn(usize) -> Evidence,
    tokens: Range<usize>,
) -> Vec<WordId> {
    let mut positions: Vec<Position> = Vec::with_capacity(tokens.len());
    let mut forward: Vec<Vec<f32>> = Vec::with_capacity(tokens.len());
    let mut links = Vec::with_capacity(tokens.len());
    let (mut at, mut after) = (Token::default(), Token::default());
    let mut before: Vec<Scored> = Vec::new();
    at.look(finder, observations, evidence(tokens.start));
    for i in tokens.clone() {
        let predicting = match i + 1 < tokens.end {
            true => {
                after.look(finder, observations, evidence(i + 1));
                after.leading()
            }
            false => &[],
        };
        let position = at.position(finder, observations, &before, predicting);
        let reached = match (positions.last(), forward.last()) {
            (Some(from), Some(weights)) => {
                let (reached, found) = chain.advance(from, weights, &position);
                links.push(found);
                reached
            }
            _ => chain.begin(&position),
        };
        before.clear();
        let scored = reached.iter().zip(&position.states);
        before.extend(scored.map(|(weight, &state)| (libm::logf(*weight), state)));
        candidates::lead(&mut before);
        before.truncate(candidates::PREDICTING);
        positions.push(position);
        forward.push(reached);
        std::mem::swap(&mut at, &mut after);
    }
    chain.best(&positions, &forward, &links)
}

/// A range in parts that are no longer than a window.
fn windows(tokens: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let starts = tokens.clone().step_by(WINDOW);
    starts.map(move |start| start..(start + WINDOW).min(tokens.end))
}

fn with_margins(window: &Range<usize>, all: &Range<usize>) -> Range<usize> {
    let start = window.start.saturating_sub(MARGIN).max(all.start);
    start..(window.end + MARGIN).min(all.end)
}

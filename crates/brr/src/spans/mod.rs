//! Marked parts of a text: only these are private.
//!
//! # Guarantee
//!
//! A *mark* is a span of a text and, if it names one, a list. Text and marks together are the input;
//! who set the marks, a person or a detector, is outside of what is proved here. Two inputs are
//! neighbours if
//!
//! - the text outside the spans is the same, byte for byte,
//! - as many spans are marked in the same order, each with the same list or without one, and
//! - each span, cut on its own, has the same structure: the same number of tokens in the same places
//!   between the same marks and white space (`text/cut.rs`; under the layout `words`, only the
//!   same number of tokens).
//!
//! [`crate::Adjacency`] says so. Every token in a span is private, whatever the policy says of its word.
//! A span *draws from* the words P of its list, or, without one, from the private words of the privatizer. A
//! token that is a word of P goes into the mechanism over P as that word; every other token goes in as
//! "unknown", for which the mechanism has a rule that sees nothing but that. So a known word outside the
//! list, a word that no model knows and an address are one and the same input.
//!
//! The output is a function of the text outside the spans, of the marks, of the structure and of the draws.
//! Neighbours share the first three. Each draw is made from one token alone and independently, so the
//! loss between neighbours is at most the sum over all tokens in spans of the largest loss between any two
//! inputs of the mechanism that the token goes through ([`Guarantee::worst_token`](crate::Guarantee::worst_token)
//! over P, "unknown" included). That sum is what [`PrivatizedSpans::loss`] states.
//!
//! **Numbers** in spans without a list have a mechanism of their own if the privatizer has
//! [`Numbers`](crate::Numbers) (`numbers/mod.rs`): then neighbours also have numbers of the same classes at the same
//! places, and what each costs is added in the same way.
//!
//! **Capital letters** are written by [`Case`](crate::Case), which sees the output and public text. A list of
//! which more than half of the words are proper nouns is one of proper nouns, and what is drawn from it has a
//! capital letter: that is a function of public lists.
//!
//! **Nothing is promised about texts that would have been marked otherwise.** If a detector marks "Boston" but
//! not "my town", an observer sees which it was. What was not marked is in clear.

mod draw;
mod marks;

use std::ops::Range;
use std::sync::Arc;

pub(crate) use draw::{Pool, Surrogate};
pub(crate) use marks::{Marks, Slot};

use crate::error::Result;
use crate::privatizer::Privatizer;
use crate::random::Noise;
use crate::text::Adjacency;

/// A part of a text that is private.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// Which bytes of the text.
    pub range: Range<usize>,
    /// The name of the [list](Privatizer::with_list) to draw from, if not from all private words.
    pub list: Option<Arc<str>>,
}

impl Span {
    /// A span that draws from all private words.
    pub fn new(range: Range<usize>) -> Span {
        Span { range, list: None }
    }

    /// A span that draws from a list.
    pub fn of(range: Range<usize>, list: &str) -> Span {
        let list = Some(list.into());
        Span { range, list }
    }
}

/// A text of which some spans were privatized.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct PrivatizedSpans {
    /// The text.
    pub text: String,
    /// Where in it each span is now, in the order in which they were given.
    pub spans: Vec<Range<usize>>,
    /// How many tokens each span had.
    pub tokens: Vec<u64>,
    /// The largest loss between [neighbours](Privatizer::spans_adjacency); in a session, what this text added to it.
    pub loss: f64,
}

impl Privatizer {
    /// Privatizes these parts of a text, and leaves the rest as it is: **what is not marked is in clear**.
    /// Spans come in any order and must not overlap.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # let model = Arc::new(brr::Model::open("../brr-english/src/english.brr")?);
    /// use brr::{Options, Privatizer, Span};
    ///
    /// let privatizer = Privatizer::new(model, Options::default())?;
    /// let private = privatizer.privatize_spans("I live in Boston.", &[Span::new(10..16)])?;
    /// assert!(private.text.starts_with("I live in "));
    /// println!("{}, loss at most {:.1}", &private.text[private.spans[0].clone()], private.loss);
    /// # Ok::<(), brr::Error>(())
    /// ```
    pub fn privatize_spans(&self, text: &str, spans: &[Span]) -> Result<PrivatizedSpans> {
        self.check_spans()?;
        let marks = Marks::new(self, text, spans)?;
        Ok(self.draw_spans(&marks, &mut Noise::from_os()?))
    }

    /// As [`privatize_spans`](Self::privatize_spans), with noise that may be seeded. Only for tests.
    #[cfg(feature = "test-seam")]
    pub fn privatize_spans_with(
        &self,
        text: &str,
        spans: &[Span],
        noise: &mut Noise,
    ) -> Result<PrivatizedSpans> {
        self.check_spans()?;
        Ok(self.draw_spans(&Marks::new(self, text, spans)?, noise))
    }

    /// Which texts with marked spans are neighbours.
    pub fn spans_adjacency(&self) -> Adjacency {
        self.adjacency().of_spans(self.numbers().is_some())
    }

    fn draw_spans(&self, marks: &Marks<'_>, noise: &mut Noise) -> PrivatizedSpans {
        let surrogates = self.surrogates(&marks.slots, noise);
        let pools = marks.slots.iter().filter_map(Slot::pool);
        let loss = self.loss_of(pools);
        marks.write(self, &surrogates, loss)
    }
}

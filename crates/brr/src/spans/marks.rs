//! A text with its marks: cut, and put together again.

use std::ops::Range;

use super::{Pool, PrivatizedSpans, Span, Surrogate};
use crate::error::{Error, Result};
use crate::numbers::{Class, classes};
use crate::privatizer::Privatizer;
use crate::text::{Capitals, Piece, Rendering, Tokens};
use crate::vocabulary::WordId;

/// A token in a marked part, and what becomes of it.
#[derive(Clone, Copy)]
pub struct Slot<'t> {
    /// As it stands in the text.
    pub text: &'t str,
    /// The word of the whole model that it is looked up as, if it has one.
    pub word: Option<WordId>,
    fate: Fate,
}

#[derive(Clone, Copy)]
enum Fate {
    /// A public word, which stays.
    Public(WordId),
    /// Drawn from a pool, for this word of it.
    Drawn(Pool, Option<WordId>),
}

impl Slot<'_> {
    /// What it is drawn from, if it is private.
    pub fn pool(&self) -> Option<Pool> {
        match self.fate {
            Fate::Public(_) => None,
            Fate::Drawn(pool, _) => Some(pool),
        }
    }

    /// The word of it that the mechanism gets.
    pub fn input(&self) -> Option<WordId> {
        match self.fate {
            Fate::Public(_) => None,
            Fate::Drawn(_, input) => input,
        }
    }

    /// The word that it is, if it is public.
    pub fn public(&self) -> Option<WordId> {
        match self.fate {
            Fate::Public(word) => Some(word),
            Fate::Drawn(..) => None,
        }
    }
}

/// A marked part: where it is, and where its pieces and tokens end among all.
struct Part {
    /// Its number among the spans as given.
    number: usize,
    range: Range<usize>,
    pool: Pool,
    pieces: usize,
    tokens: usize,
}

/// A text, with its marked parts cut.
pub struct Marks<'t> {
    text: &'t str,
    /// In the order of the text.
    parts: Vec<Part>,
    tokens: Tokens<'t>,
    /// What becomes of each token.
    pub slots: Vec<Slot<'t>>,
}

impl<'t> Marks<'t> {
    /// Only these parts, and everything in them.
    pub fn new(privatizer: &Privatizer, text: &'t str, spans: &[Span]) -> Result<Marks<'t>> {
        let mut parts = Vec::with_capacity(spans.len());
        for (number, span) in spans.iter().enumerate() {
            if text.get(span.range.clone()).is_none() {
                return Err(Error::SpanOutside { number: number + 1 });
            }
            let pool = privatizer.pool(span.list.as_deref())?;
            parts.push((number, span.range.clone(), pool));
        }
        parts.sort_by_key(|(_, range, _)| (range.start, range.end));
        let overlap = parts.windows(2).find(|two| two[1].1.start < two[0].1.end);
        if let Some(two) = overlap {
            return Err(Error::SpanOverlap {
                number: two[1].0 + 1,
            });
        }
        Ok(Marks::cut(privatizer, text, parts, false))
    }

    /// The whole text, under the privatizer's policy.
    pub fn whole(privatizer: &Privatizer, text: &'t str) -> Marks<'t> {
        let part = (0, 0..text.len(), Pool::Words);
        Marks::cut(privatizer, text, vec![part], true)
    }

    fn cut(
        privatizer: &Privatizer,
        text: &'t str,
        parts: Vec<(usize, Range<usize>, Pool)>,
        policy: bool,
    ) -> Marks<'t> {
        let model = privatizer.model();
        let mut lookup = model.lookup();
        let mut marks = Marks {
            text,
            parts: Vec::with_capacity(parts.len()),
            tokens: Tokens::default(),
            slots: Vec::new(),
        };
        for (number, range, pool) in parts {
            let pieces = marks.tokens.pieces.len();
            // A word and the space behind it take six bytes.
            marks.tokens.pieces.reserve(range.len() / 3);
            model.vocabulary().read_ahead_text(&text[range.clone()]);
            marks
                .tokens
                .push(&text[range.clone()], &mut lookup, u64::MAX);
            let texts = marks.tokens.pieces[pieces..]
                .iter()
                .filter_map(Piece::token);
            let words = marks.tokens.words[marks.slots.len()..].iter();
            marks.slots.reserve(words.len());
            let counts = pool == Pool::Words && privatizer.numbers().is_some();
            let numbers = counts.then(|| classes(&marks.tokens.pieces[pieces..]));
            let mut numbers = numbers.into_iter().flatten();
            for (text, &word) in texts.zip(words) {
                let number = numbers.next().flatten();
                let fate = match word.filter(|_| policy) {
                    _ if number == Some(Class::Integer) => Fate::Drawn(Pool::Integer, None),
                    _ if number == Some(Class::Identifier) => Fate::Drawn(Pool::Identifier, None),
                    Some(word) if privatizer.private_id(word).is_none() => Fate::Public(word),
                    _ => Fate::Drawn(pool, privatizer.input_of(pool, word)),
                };
                marks.slots.push(Slot { text, word, fate });
            }
            marks.parts.push(Part {
                number,
                range,
                pool,
                pieces: marks.tokens.pieces.len(),
                tokens: marks.slots.len(),
            });
        }
        marks
    }

    /// How many tokens the model does not know.
    pub fn unknown(&self) -> u64 {
        self.tokens.words.iter().filter(|w| w.is_none()).count() as u64
    }

    /// The text around the marked parts.
    pub fn around(&self) -> impl Iterator<Item = &'t str> {
        let starts = std::iter::once(0).chain(self.parts.iter().map(|part| part.range.end));
        let ends = self.parts.iter().map(|part| part.range.start);
        let ends = ends.chain(std::iter::once(self.text.len()));
        starts.zip(ends).map(|(start, end)| &self.text[start..end])
    }

    /// Puts the text together: a function of what is around the marked parts, of their structure and of the
    /// surrogates.
    pub fn write(
        &self,
        privatizer: &Privatizer,
        surrogates: &[Surrogate],
        loss: f64,
    ) -> PrivatizedSpans {
        let texts: Vec<_> = surrogates.iter().map(Surrogate::text).collect();
        let outputs: Vec<WordId> = surrogates.iter().map(Surrogate::word).collect();
        let mut out = PrivatizedSpans {
            text: String::with_capacity(self.text.len() + 16),
            spans: vec![0..0; self.parts.len()],
            tokens: vec![0; self.parts.len()],
            loss,
        };
        let mut capitals = Capitals::new(
            privatizer.model().orthography(),
            privatizer.options().case,
            &[],
        );
        let (mut piece, mut token) = (0, 0);
        for (part, around) in self.parts.iter().zip(self.around()) {
            out.text.push_str(around);
            capitals.pass(around);
            let pieces = &self.tokens.pieces[piece..part.pieces];
            // Words that touch would be one: as in a span, a space comes between.
            let touches =
                piece > 0 && around.is_empty() && out.text.ends_with(char::is_alphanumeric);
            if touches && matches!(pieces.first(), Some(Piece::Token(_))) {
                let written = surrogates[token].spelled(privatizer.model().vocabulary());
                let (last, first) = (out.text.chars().next_back(), written.chars().next());
                if privatizer.model().orthography().space_between(last, first) {
                    out.text.push(' ');
                }
            }
            capitals.set_proper(privatizer.proper_in(part.pool));
            let tokens = token..part.tokens;
            let words = &self.tokens.words[tokens.clone()];
            let rendering = Rendering {
                texts: &texts[tokens.clone()],
                // Every token of a span is private.
                public: &[],
                ..privatizer.rendering(words, &outputs[tokens.clone()])
            };
            let start = out.text.len();
            rendering.parts_after(&mut capitals, pieces, |part, _| out.text.push_str(part));
            out.spans[part.number] = start..out.text.len();
            out.tokens[part.number] = tokens.len() as u64;
            (piece, token) = (part.pieces, part.tokens);
        }
        let end = self.parts.last().map_or(0, |part| part.range.end);
        out.text.push_str(&self.text[end..]);
        out
    }
}

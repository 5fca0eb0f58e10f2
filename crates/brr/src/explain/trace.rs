//! A privatized text beside the words it was made from.

use crate::error::Result;
use crate::privatizer::Privatizer;
use crate::random::Noise;
use crate::text::Piece;

/// A part of a privatized text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// White space or punctuation, kept or added between words.
    Structure(String),
    /// An output word.
    Word {
        /// What is released.
        output: String,
        /// The word as it was drawn, where what is released was decoded from it with
        /// [context](crate::Options::context).
        drawn: Option<String>,
        /// The token as it stood in the text: **private**. A contraction is two tokens.
        original: String,
        /// Whether the model knows the token.
        known: bool,
        /// Whether it is a public word, which stays as it is.
        public: bool,
        /// Whether another word came out.
        changed: bool,
    },
}

/// A privatized text, part by part. Holds the original: not for release.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// The parts; their texts in a row are the privatized text.
    pub parts: Vec<Part>,
    /// How many tokens the text had.
    pub tokens: u64,
    /// How many of them had no code.
    pub unknown: u64,
    /// How many of them are public words.
    pub public: u64,
}

/// Privatizes a text as [`Privatizer::privatize`] does, and keeps what became
/// of what.
///
/// ```
/// # use std::sync::Arc;
/// # use brr::{Options, Privatizer};
/// # let model = Arc::new(brr::Model::open("../brr-english/src/english.brr")?);
/// # let privatizer = Privatizer::new(model, Options::default())?;
/// let trace = brr::explain::trace(&privatizer, "two words")?;
/// assert_eq!(trace.tokens, 2);
/// # Ok::<(), brr::Error>(())
/// ```
pub fn trace(privatizer: &Privatizer, text: &str) -> Result<Trace> {
    let texts = [text];
    let observed = privatizer.observe(&texts, |_| u64::MAX, &mut Noise::from_os()?);
    let (tokens, outputs) = (&observed.tokens, privatizer.outputs(&observed));
    let originals: Vec<&str> = tokens.pieces.iter().filter_map(Piece::token).collect();
    let words = &tokens.words;
    let context = privatizer.options().context.is_some();
    let drawn = context.then(|| privatizer.drawn(&observed));
    let mut drawn_texts = vec![None; words.len()];
    if let Some(drawn) = &drawn {
        let rendering = privatizer.rendering(words, drawn);
        rendering.parts(&tokens.pieces, |written, token| {
            if let Some(i) = token {
                drawn_texts[i] = Some(written.to_owned());
            }
        });
    }
    let mut parts = Vec::with_capacity(tokens.pieces.len());
    let rendering = privatizer.rendering(words, &outputs);
    rendering.parts(&tokens.pieces, |written, token| {
        parts.push(match token {
            None => Part::Structure(written.to_owned()),
            Some(i) => Part::Word {
                output: written.to_owned(),
                drawn: drawn_texts[i].take(),
                original: originals[i].to_owned(),
                known: words[i].is_some(),
                public: privatizer.public(&words[i..=i]) > 0,
                changed: words[i] != Some(outputs[i]),
            },
        });
    });
    Ok(Trace {
        parts,
        tokens: words.len() as u64,
        unknown: words.iter().filter(|w| w.is_none()).count() as u64,
        public: privatizer.public(words),
    })
}

//! A privatized text beside the words it was made from.

use crate::error::Result;
use crate::privatizer::{Options, Privatizer};
use crate::random;
use crate::text::{Piece, Tokenizer, render_parts};

/// A part of a privatized text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// White space or punctuation, kept or added between words.
    Structure(String),
    /// An output word.
    Word {
        /// What is released.
        output: String,
        /// The token as it stood in the text: **private**. A contraction that
        /// was taken apart stands at both of its words.
        original: String,
        /// Whether the model knows the token.
        known: bool,
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
}

/// Privatizes a text as [`Privatizer::privatize`] does, and keeps what became
/// of what.
pub fn trace(privatizer: &Privatizer, text: &str) -> Result<Trace> {
    let model = privatizer.model();
    let mut pieces = Vec::new();
    Tokenizer::new(model.vocabulary(), model.lowercase()).cut(text, &mut pieces);
    let tokens: Vec<_> = pieces
        .iter()
        .filter_map(|piece| match piece {
            Piece::Token(word, original) => Some((*word, *original)),
            _ => None,
        })
        .collect();
    let words: Vec<_> = tokens.iter().map(|(word, _)| *word).collect();
    let outputs = privatizer
        .mechanism()
        .privatize(&words, &mut random::from_os()?);

    let Options {
        layout, unknown, ..
    } = *privatizer.options();
    let mut parts = Vec::with_capacity(pieces.len());
    let write = |written: &str, token: Option<usize>| {
        parts.push(match token {
            None => Part::Structure(written.to_owned()),
            Some(i) => Part::Word {
                output: written.to_owned(),
                original: tokens[i].1.to_owned(),
                known: words[i].is_some(),
                changed: words[i] != Some(outputs[i]),
            },
        });
    };
    render_parts(
        &pieces,
        &outputs,
        model.vocabulary(),
        layout,
        unknown,
        write,
    );
    Ok(Trace {
        parts,
        tokens: words.len() as u64,
        unknown: words.iter().filter(|w| w.is_none()).count() as u64,
    })
}

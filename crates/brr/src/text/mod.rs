//! Text to tokens and back.
//!
//! A text is cut into *tokens*, which are privatized, and *structure*, which is
//! declared public: white space, line-break tags, and the short list
//! [`PUNCTUATION`]. Everything else is a token or part of one: words, numbers,
//! symbols, emoji, addresses. Where the cuts fall is decided by the characters
//! alone; only contractions are taken apart with a look at the (public)
//! vocabulary. How many tokens a text has is not hidden.

mod render;
mod segment;
mod token;

use crate::model::Model;
use crate::vocabulary::WordId;

pub use render::{Layout, Unknown};
pub(crate) use render::{render, render_parts};
pub(crate) use token::{Piece, Tokenizer};

/// Punctuation that layout [`Layout::Keep`] lets through.
pub const PUNCTUATION: &str = ".,;:!?'\"()-/…–—‘’“”«»¡¿،؛؟。，、！？：；";

/// A text's tokens in order: the word of each, if it has one, and how it stands
/// in the text. (The two halves of a contraction both stand as the whole.)
pub fn tokens<'t>(model: &Model, text: &'t str) -> Vec<(Option<WordId>, &'t str)> {
    let mut pieces = Vec::new();
    Tokenizer::new(model.vocabulary(), model.lowercase()).cut(text, &mut pieces);
    let token = |piece| match piece {
        Piece::Token(word, original) => Some((word, original)),
        _ => None,
    };
    pieces.into_iter().filter_map(token).collect()
}

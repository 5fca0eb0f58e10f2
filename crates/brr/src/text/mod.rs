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

pub use render::{Layout, Unknown};
pub(crate) use render::{render, render_parts};
pub(crate) use token::{Piece, Tokenizer};

/// Punctuation that layout [`Layout::Keep`] lets through.
pub const PUNCTUATION: &str = ".,;:!?'\"()-/…–—‘’“”«»¡¿،؛؟。，、！？：；";

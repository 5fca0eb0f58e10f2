//! Tokens back to text.

use super::token::Piece;
use crate::vocabulary::{Vocabulary, WordId};

/// What of a text's structure reaches the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layout {
    /// White space, line-break tags and listed punctuation.
    #[default]
    Keep,
    /// Nothing: words with single spaces between them.
    Words,
}

/// What becomes of a token that has no code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unknown {
    /// A uniformly random word: the output does not tell that it was unknown.
    #[default]
    Random,
    /// [`Unknown::MASK`]. Tells which tokens are unknown.
    Mask,
    /// Nothing. Tells how many tokens are unknown, and mostly where.
    Drop,
    /// Itself: **not private**.
    Keep,
}

impl Unknown {
    /// Written in place of a masked token.
    pub const MASK: &'static str = "<unk>";
}

/// Writes a text's pieces, tokens replaced by `outputs`, one for each in order.
/// Tokens that touch each other (`$100`, `日本`) come out with a space between.
pub fn render(
    pieces: &[Piece<'_>],
    outputs: &[WordId],
    vocabulary: &Vocabulary,
    layout: Layout,
    unknown: Unknown,
) -> String {
    let mut text = String::with_capacity(pieces.len() * 6);
    let mut outputs = outputs.iter();
    let mut after_word = false;
    for piece in pieces {
        match piece {
            Piece::Token(word, original) => {
                let output = outputs.next().expect("an output for each token");
                let written = match (word, unknown) {
                    (Some(_), _) | (None, Unknown::Random) => vocabulary.word(*output),
                    (None, Unknown::Mask) => Unknown::MASK,
                    (None, Unknown::Drop) => continue,
                    (None, Unknown::Keep) => original,
                };
                if after_word {
                    text.push(' ');
                }
                text.push_str(written);
                after_word = true;
                continue;
            }
            _ if layout == Layout::Words => continue,
            Piece::Space(c) | Piece::Punctuation(c) => text.push(*c),
            Piece::Break => text.push_str("<br />"),
        }
        after_word = false;
    }
    text
}

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
    render_parts(pieces, outputs, vocabulary, layout, unknown, |part, _| {
        text.push_str(part);
    });
    text
}

/// As [`render`], part by part: `write` gets what is written and, if it stands
/// for a token, the number of that token.
pub fn render_parts(
    pieces: &[Piece<'_>],
    outputs: &[WordId],
    vocabulary: &Vocabulary,
    layout: Layout,
    unknown: Unknown,
    mut write: impl FnMut(&str, Option<usize>),
) {
    let mut token = 0;
    let mut after_word = false;
    for piece in pieces {
        match piece {
            Piece::Token(word, original) => {
                let (number, output) = (token, outputs[token]);
                token += 1;
                let written = match (word, unknown) {
                    (Some(_), _) | (None, Unknown::Random) => vocabulary.word(output),
                    (None, Unknown::Mask) => Unknown::MASK,
                    (None, Unknown::Drop) => continue,
                    (None, Unknown::Keep) => original,
                };
                if after_word {
                    write(" ", None);
                }
                write(written, Some(number));
                after_word = true;
                continue;
            }
            _ if layout == Layout::Words => continue,
            Piece::Space(c) | Piece::Punctuation(c) => write(c.encode_utf8(&mut [0; 4]), None),
            Piece::Break => write("<br />", None),
        }
        after_word = false;
    }
}

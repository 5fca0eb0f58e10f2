//! Text to tokens and back.
//!
//! A text is cut (`cut.rs`) into *tokens*, which are privatized, and *structure*, which is declared
//! public: white space, HTML line breaks, and single marks of the short list [`PUNCTUATION`].
//! Everything else is a token or part of one: words, numbers, symbols, emoji, emoticons,
//! addresses. Where the cuts fall is a function of the characters and of the language's table alone; the vocabulary
//! comes after (`lookup.rs`), but for scripts without spaces (`lattice.rs`). [`adjacency`] says what that means for two texts. How many tokens a text has
//! is not hidden.

mod adjacency;
mod case;
mod chars;
mod cut;
mod lattice;
mod lookup;
mod marks;
pub(crate) mod orthography;
mod render;

use zeroize::Zeroizing;

use crate::vocabulary::WordId;
use cut::Segment;
pub use orthography::Orthography;

pub use adjacency::Adjacency;
pub(crate) use adjacency::PublicWords;
pub(crate) use case::Capitals;
pub use case::Case;
pub use chars::{PUNCTUATION, is_spaceless};
pub(crate) use chars::{is_apostrophe, is_ignorable};
pub(crate) use cut::Cutter;
pub(crate) use lookup::Lookup;
pub(crate) use render::Rendering;
pub use render::{Layout, Unknown};

/// A text's public structure, and where its tokens stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'t> {
    /// A token, as it stands in the text: **private**. (The parts of a contraction are tokens
    /// of their own.)
    Token(&'t str),
    /// White space: space, tab, line feed or return.
    Space(char),
    /// A mark of [`PUNCTUATION`].
    Mark(char),
    /// An HTML line break.
    Break,
}

impl<'t> Piece<'t> {
    /// The token, if it is one.
    pub(crate) fn token(&self) -> Option<&'t str> {
        match self {
            Piece::Token(text) => Some(text),
            _ => None,
        }
    }
}

/// A text's pieces in order, as models without a table of a language have them: a function of its
/// characters alone.
pub fn pieces(text: &str) -> Vec<Piece<'_>> {
    Orthography::english().pieces(text)
}

/// Whether a text is one token and nothing else for such models: whether it can be a word of one.
pub fn is_one_token(text: &str) -> bool {
    Orthography::english().is_one_token(text)
}

impl<'t> From<Segment<'t>> for Piece<'t> {
    fn from(segment: Segment<'t>) -> Piece<'t> {
        match segment {
            Segment::Token(token) => Piece::Token(token.text),
            Segment::Space(c) => Piece::Space(c),
            Segment::Mark(c) => Piece::Mark(c),
            Segment::Break => Piece::Break,
        }
    }
}

/// Texts that are cut and looked up. The words are erased when it is dropped.
#[derive(Default)]
pub(crate) struct Tokens<'t> {
    pub pieces: Vec<Piece<'t>>,
    /// The word of each token, if it has one.
    pub words: Zeroizing<Vec<Option<WordId>>>,
}

impl<'t> Tokens<'t> {
    /// Cuts a text, then looks its tokens up. Of more than `most` tokens the first are kept, with
    /// what stands before and between them; how many are not.
    ///
    /// The text is cut once, as a whole: a part of it might be cut in another way, and the
    /// structure that is left would then depend on more than the structure of the whole.
    pub fn push(&mut self, text: &'t str, lookup: &mut Lookup<'_>, most: u64) -> u64 {
        let (mut seen, mut end) = (0, self.pieces.len());
        lookup.cutter().cut(text, |segment| {
            if let Segment::Token(token) = segment {
                seen += 1;
                if seen <= most {
                    self.push_word(lookup.id(token));
                }
            }
            if seen <= most {
                self.pieces.push(segment.into());
            }
            if matches!(segment, Segment::Token(_)) && seen <= most {
                end = self.pieces.len();
            }
        });
        if seen > most {
            self.pieces.truncate(end);
        }
        seen.saturating_sub(most)
    }

    /// As [`push`](Self::push), for text that was released: a mask in the place of an unknown token is one token, where
    /// in a text that somebody wrote it is a word between two signs.
    pub fn push_released(&mut self, text: &'t str, lookup: &mut Lookup<'_>) {
        const STAND_IN: &str = "xunkx";
        const { assert!(STAND_IN.len() == Unknown::MASK.len()) }
        if !text.contains(Unknown::MASK) {
            self.push(text, lookup, u64::MAX);
            return;
        }
        // Letters of the same length, so that places stay the same.
        let marked = Zeroizing::new(text.replace(Unknown::MASK, STAND_IN));
        lookup.cutter().cut(&marked, |segment| {
            let Segment::Token(token) = segment else {
                return self.pieces.push(match segment {
                    Segment::Space(c) => Piece::Space(c),
                    Segment::Mark(c) => Piece::Mark(c),
                    Segment::Break | Segment::Token(_) => Piece::Break,
                });
            };
            let from = token.text.as_ptr().addr() - marked.as_ptr().addr();
            let own = &text[from..from + token.text.len()];
            self.push_word(match own.contains(Unknown::MASK) {
                true => None,
                false => lookup.id(token),
            });
            self.pieces.push(Piece::Token(own));
        });
    }

    /// Appends a word. A buffer that grows is moved by hand, so that the old one is erased.
    fn push_word(&mut self, word: Option<WordId>) {
        if self.words.len() == self.words.capacity() {
            let mut larger = Vec::with_capacity((self.words.len() * 2).max(64));
            larger.extend_from_slice(&self.words);
            self.words = Zeroizing::new(larger);
        }
        self.words.push(word);
    }
}

//! Tokens back to text.

use super::Piece;
use super::case::{Capitals, Case};
use crate::vocabulary::{Vocabulary, WordId};

/// What of a text's structure reaches the output.
///
/// ```
/// # use std::sync::Arc;
/// # let model = Arc::new(brr::Model::open("../brr-english/src/english.brr")?);
/// use brr::{Layout, Options, Privatizer};
///
/// let kept = Privatizer::new(model.clone(), Options::default())?;
/// assert!(kept.privatize("Really?")?.text.ends_with('?'));
/// let words = Privatizer::new(model, Options::default().with_layout(Layout::Words))?;
/// assert!(!words.privatize("Really?")?.text.ends_with('?'));
/// # Ok::<(), brr::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layout {
    /// White space, line-break tags and listed punctuation marks.
    #[default]
    Keep,
    /// Nothing: words with single spaces between them.
    Words,
}

/// What becomes of a token that has no code.
///
/// ```
/// # use std::sync::Arc;
/// # let model = Arc::new(brr::Model::open("../brr-english/src/english.brr")?);
/// use brr::{Options, Privatizer, Unknown};
///
/// let masked = Privatizer::new(model, Options::default().with_unknown(Unknown::Mask))?;
/// assert_eq!(masked.privatize("qwxzv")?.text, "<unk>");
/// // Which tokens are unknown is shown: no finite loss can be promised.
/// assert!(masked.total_loss(1).is_infinite());
/// # Ok::<(), brr::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unknown {
    /// A random word: the output does not tell that it was unknown.
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

/// What a text's tokens are replaced by, and how it is written.
#[derive(Clone, Copy)]
pub struct Rendering<'a> {
    /// The words that were drawn, one for each token in order.
    pub outputs: &'a [WordId],
    /// What is written for tokens that are no words, in place of the output; none if it is empty.
    pub texts: &'a [Option<Box<str>>],
    /// Whether each token is known: looked at only if `unknown` is not `Random`.
    pub words: &'a [Option<WordId>],
    pub vocabulary: &'a Vocabulary,
    pub layout: Layout,
    pub unknown: Unknown,
    pub case: Case,
    /// Words that have a capital letter in any place, if capital letters are written; in ascending order.
    pub proper: &'a [WordId],
    /// Whether unknown tokens that stay and touch each other go on to do so.
    pub joined: bool,
}

impl Rendering<'_> {
    /// The text.
    pub fn text(&self, pieces: &[Piece<'_>]) -> String {
        let mut text = String::with_capacity(pieces.len() * 6);
        self.parts(pieces, |part, _| text.push_str(part));
        text
    }

    /// The text part by part: `write` gets what is written and, if it stands for a token, the
    /// number of that token. Tokens that touch each other (`don't`, `C++`) come out with a space
    /// between.
    pub fn parts(&self, pieces: &[Piece<'_>], write: impl FnMut(&str, Option<usize>)) {
        self.parts_after(&mut Capitals::new(self.case, self.proper), pieces, write);
    }

    /// The same, of a part of a text: capital letters go on where they were.
    pub fn parts_after(
        &self,
        capitals: &mut Capitals<'_>,
        pieces: &[Piece<'_>],
        mut write: impl FnMut(&str, Option<usize>),
    ) {
        let mut token = 0;
        let (mut after_word, mut after_kept) = (false, false);
        for piece in pieces {
            match piece {
                Piece::Token(original) => {
                    let number = token;
                    token += 1;
                    let drawn = self.unknown == Unknown::Random || self.words[number].is_some();
                    if !drawn && self.unknown == Unknown::Drop {
                        continue;
                    }
                    let kept = !drawn && self.unknown == Unknown::Keep;
                    if after_word && !(self.joined && kept && after_kept) {
                        write(" ", None);
                    }
                    if let Some(Some(text)) = self.texts.get(number) {
                        capitals.other();
                        write(text, Some(number));
                    } else if drawn {
                        let output = self.outputs[number];
                        let spelled = self.vocabulary.word(output);
                        write(capitals.word(output, spelled), Some(number));
                    } else {
                        capitals.other();
                        write(if kept { original } else { Unknown::MASK }, Some(number));
                    }
                    (after_word, after_kept) = (true, kept);
                    continue;
                }
                _ if self.layout == Layout::Words => continue,
                Piece::Space(c) => {
                    capitals.space();
                    write(c.encode_utf8(&mut [0; 4]), None);
                }
                Piece::Mark(c) => {
                    capitals.mark(*c);
                    write(c.encode_utf8(&mut [0; 4]), None);
                }
                Piece::Break => {
                    capitals.line_break();
                    write("<br />", None);
                }
            }
            after_word = false;
        }
    }
}

//! Tokens back to text.
//!
//! A public token is written as the model spells its word, but for the parts of contractions, which are
//! written as they stand: `'s` stays `'s`, where the word that it is looked up as is "is". Which tokens those are is told
//! by the characters of public tokens and by the cut (`Rendering::contracted`), and is public in turn
//! ([`super::adjacency`]): nothing is asked of the characters of a private token, and its output plays no part.

use super::case::{Capitals, Case, is_initial};
use super::lookup::trimmed;
use super::orthography::Orthography;
use super::{Piece, is_apostrophe};
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
    /// The word of each token, if it is known: looked at only where `unknown` is not `Random`, and for
    /// what is public.
    pub words: &'a [Option<WordId>],
    /// Whether each word of the vocabulary is public; empty if none is.
    pub public: &'a [bool],
    pub vocabulary: &'a Vocabulary,
    /// The language, which decides what stands between words that touch.
    pub table: &'a Orthography,
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
    /// between, but for words of scripts without spaces and for elisions: that goes by what is written
    /// ([`Orthography::space_between`]).
    pub fn parts(&self, pieces: &[Piece<'_>], write: impl FnMut(&str, Option<usize>)) {
        self.parts_after(
            &mut Capitals::new(self.table, self.case, self.proper),
            pieces,
            write,
        );
    }

    /// The same, of a part of a text: capital letters go on where they were.
    pub fn parts_after(
        &self,
        capitals: &mut Capitals<'_>,
        pieces: &[Piece<'_>],
        mut write: impl FnMut(&str, Option<usize>),
    ) {
        let mut token = 0;
        // The last character of what was written for a token, if nothing came after that.
        let (mut before, mut after_kept) = (None, false);
        for (at, piece) in pieces.iter().enumerate() {
            match piece {
                Piece::Token(original) => {
                    let number = token;
                    token += 1;
                    let drawn = self.unknown == Unknown::Random || self.words[number].is_some();
                    if !drawn && self.unknown == Unknown::Drop {
                        continue;
                    }
                    let kept = !drawn && self.unknown == Unknown::Keep;
                    let contracted = self.contracted(pieces, at, number);
                    let written = match (self.texts.get(number), &contracted) {
                        (Some(Some(text)), _) => {
                            capitals.other();
                            text
                        }
                        (_, Some(part)) => capitals.word(self.outputs[number], &part.text),
                        _ if drawn && self.is_initial(pieces, at, number) => {
                            capitals.initial(self.vocabulary.word(self.outputs[number]))
                        }
                        _ if drawn => {
                            let output = self.outputs[number];
                            capitals.word(output, self.vocabulary.word(output))
                        }
                        _ => {
                            capitals.other();
                            if kept { original } else { Unknown::MASK }
                        }
                    };
                    let ending = contracted.as_ref().is_some_and(|part| part.is_ending);
                    let joined = ending || (self.joined && kept && after_kept);
                    let space = |last| {
                        self.layout == Layout::Words
                            || self.table.space_between(last, written.chars().next())
                    };
                    if before.is_some_and(|last| !joined && space(last)) {
                        write(" ", None);
                    }
                    write(written, Some(number));
                    (before, after_kept) = (Some(written.chars().next_back()), kept);
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
            before = None;
        }
    }

    /// By what is written and by the full stops that are.
    fn is_initial(&self, pieces: &[Piece<'_>], at: usize, number: usize) -> bool {
        let spelled = |number: usize| {
            let drawn = self.unknown == Unknown::Random || self.words[number].is_some();
            let is_word = drawn && !matches!(self.texts.get(number), Some(Some(_)));
            is_word.then(|| self.vocabulary.word(self.outputs[number]))
        };
        let shown = self.layout == Layout::Keep && self.case == Case::Sentence;
        shown && is_initial(pieces, at, number, spelled)
    }

    fn is_public(&self, number: usize) -> bool {
        !self.public.is_empty() && self.words[number].is_some_and(|word| self.public[word as usize])
    }

    /// The token at this place, which is the one of this number, if it is written as it stands: a public ending that
    /// begins with an apostrophe (`'s`), and both parts of a contraction whose ending does not (`ca`, `n't`) if both are
    /// public. Without structure nothing tells that they touch.
    fn contracted(&self, pieces: &[Piece<'_>], at: usize, number: usize) -> Option<Contracted> {
        if self.layout == Layout::Words || !self.is_public(number) {
            return None;
        }
        // The characters of public tokens alone.
        let public = |at: usize, number: usize| {
            let token = pieces.get(at)?.token();
            token.filter(|_| self.is_public(number))
        };
        let ending = |text: &&str| self.table.is_ending(text);
        let with_letter = |text: &&str| ending(text) && !text.starts_with(is_apostrophe);
        let text = public(at, number)?;
        let before = || public(at.checked_sub(1)?, number.checked_sub(1)?);
        let is_ending = ending(&text) && (!with_letter(&text) || before().is_some());
        let is_stem = || public(at + 1, number + 1).filter(with_letter).is_some();
        (is_ending || is_stem()).then(|| Contracted {
            text: trimmed(&self.table.form(text, true)).to_owned(),
            is_ending,
        })
    }
}

/// A part of a contraction, as it is written.
struct Contracted {
    text: String,
    /// Nothing comes between an ending and what it touches.
    is_ending: bool,
}

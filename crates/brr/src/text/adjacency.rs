//! Which texts are neighbours.
//!
//! A guarantee is about pairs of neighbouring texts: it limits how well an observer of the output
//! can tell which of the two went in. Two texts are *neighbours* if they have equal public structure.
//! What that is depends on three choices:
//!
//! | | public |
//! |---|---|
//! | layout `keep` | white space, HTML line breaks and listed punctuation marks, and how many tokens stand where between them |
//! | layout `words` | the number of tokens |
//! | unknown `random` | nothing more |
//! | unknown `mask`, `drop` | which tokens the model does not know: texts that differ in that are told apart for certain |
//! | unknown `keep` | the tokens themselves that the model does not know |
//! | a policy that makes some words public | which tokens are public words, and which words they are; under layout `keep` also which of them are parts of contractions (`'s` for "is") |
//! | marked spans | all text outside of them, which spans were marked and with which lists, and their structure |
//! | numbers that become numbers | which tokens are integers and which are identifiers, and of identifiers how many digits they have and the marks between |
//! | a session | which private positions, of one text or several, hold equal words |
//! | a model that cuts scripts without spaces by its own words | how many tokens a stretch of their letters has, which depends on which words the model knows |
//!
//! # Guarantee
//!
//! Let t and t' be neighbours under unknown `random`. Both are cut into the same structure
//! (`cut.rs`; `lattice.rs` for scripts without spaces) with k tokens each; the mechanism draws k words, each independently from its
//! token alone; what is written is a function of the structure and the draws. So for any output
//! the ratio of its probabilities is at most the product of the ratios of the k draws, and the
//! loss at most the sum of the losses of the tokens. A word that occurs k times is drawn k
//! times and costs k times.
//!
//! Under a policy ([`crate::Policy`]) the public words at their places, contracted or not, are part of the
//! public structure, and k counts the private tokens alone.
//!
//! For marked spans and sessions the relation is another one, and so is what adds up: `spans/mod.rs` and
//! `session/mod.rs` have the proofs.
//!
//! Under the other rules for unknown tokens, neighbours that differ in which tokens are unknown
//! have outputs in common with probability 0: the loss between them is infinite, and no finite
//! total is stated.

use std::fmt;

use super::orthography::Words;
use super::render::{Layout, Unknown};

/// The relation between texts that a privatizer's guarantee is about.
///
/// ```
/// # use std::sync::Arc;
/// # use brr::{Options, Privatizer};
/// # let model = Arc::new(brr::Model::open("../brr-english/src/english.brr")?);
/// # let privatizer = Privatizer::new(model, Options::default())?;
/// let adjacency = privatizer.adjacency();
/// println!("{adjacency}");
/// assert!(adjacency.is_covered());
/// # Ok::<(), brr::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Adjacency {
    layout: Layout,
    unknown: Unknown,
    public: PublicWords,
    marks: Marks,
    /// Whether numbers become numbers.
    numbers: bool,
    words: Words,
}

/// What is private: whole texts, or marked parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Marks {
    /// Whole texts.
    Whole,
    /// Spans of a text.
    Spans,
    /// Both, in a session.
    Session,
}

/// Which words are public, by the name of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PublicWords {
    /// None.
    None,
    /// Those of this public list.
    Of(String),
    /// Those outside this private list.
    Outside(String),
}

impl Adjacency {
    /// What the choices make public.
    pub(crate) fn new(
        layout: Layout,
        unknown: Unknown,
        public: PublicWords,
        words: Words,
    ) -> Adjacency {
        Adjacency {
            layout,
            unknown,
            public,
            marks: Marks::Whole,
            numbers: false,
            words,
        }
    }

    /// The same for texts with marked spans.
    pub(crate) fn of_spans(self, numbers: bool) -> Adjacency {
        let marks = Marks::Spans;
        Adjacency {
            marks,
            numbers,
            ..self
        }
    }

    /// The same for a session.
    pub(crate) fn in_session(self) -> Adjacency {
        let marks = Marks::Session;
        Adjacency { marks, ..self }
    }

    /// What the marks make public.
    fn write_marks(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.marks {
            Marks::Whole => return Ok(()),
            Marks::Spans => " They",
            Marks::Session => " Where spans are marked, they",
        })?;
        f.write_str(
            " have the same text outside the marked spans, with the same spans marked in the same order, \
             each with the same list or none, and the structure above is that inside each span; every \
             token in a span is private. The guarantee is conditional on the marks: it says nothing of \
             texts that would have been marked otherwise.",
        )?;
        if self.numbers {
            f.write_str(
                " Outside spans with a list, it is public by their shape which tokens are integers and which \
                 are identifiers, and of an identifier the number of its digits and the marks between them: \
                 neighbours have the same ones at the same places.",
            )?;
        }
        if self.marks == Marks::Session {
            f.write_str(
                " In a session, the partition of all private positions into equal words (by folded form \
                 and list, unknown words included) is public: neighbours have equal words in the same \
                 positions, and each distinct word costs once for each list.",
            )?;
        }
        Ok(())
    }

    /// Whether any two neighbours have a finite loss.
    pub fn is_covered(&self) -> bool {
        self.unknown == Unknown::Random
    }
}

impl fmt::Display for Adjacency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Two texts are neighbours if they have equal public structure: ")?;
        f.write_str(match self.layout {
            Layout::Keep => {
                "the same white space, HTML line breaks and listed punctuation marks, with the \
                 same number of tokens in the same places between them."
            }
            Layout::Words => "the same number of tokens.",
        })?;
        if self.words == Words::Lattice {
            f.write_str(
                " A stretch of letters of a script without spaces is cut by the model's own words: into how many \
                 tokens is part of that structure, and depends on which words the model knows. Texts with one \
                 word changed for another are neighbours only if the stretch still has as many tokens. \
                 As many characters as possible are covered by words of the model; others in a row are one token, \
                 whatever their number.",
            )?;
        }
        // Without structure, words are written as the model spells them.
        let alike = match self.layout {
            Layout::Keep => ", and contracted where the other has them contracted",
            Layout::Words => "",
        };
        match &self.public {
            _ if self.marks == Marks::Spans => {}
            PublicWords::None => {}
            PublicWords::Of(list) => write!(
                f,
                " Words of the public list {list} are public: neighbours have the same ones at the \
                 same places{alike}."
            )?,
            PublicWords::Outside(list) => write!(
                f,
                " Known words outside the private list {list} are public: neighbours have the \
                 same ones at the same places{alike}."
            )?,
        }
        self.write_marks(f)?;
        f.write_str(match self.unknown {
            Unknown::Random => "",
            Unknown::Mask | Unknown::Drop => {
                " Which tokens the model does not know is shown: neighbours that differ in it \
                 are told apart, with infinite loss."
            }
            Unknown::Keep => {
                " Tokens that the model does not know are shown as they are: neighbours that \
                 differ in them are told apart, with infinite loss."
            }
        })
    }
}

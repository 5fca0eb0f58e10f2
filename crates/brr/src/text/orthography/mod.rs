//! How a language is written: a small public table in the model.
//!
//! The table says where words begin and end (by spaces, or not), what contractions and elisions are taken
//! apart, how a word is folded before it is looked up, which marks the language has beyond the common ones, and
//! which of its words are function words. A model without a table is an English one.
//!
//! # Guarantee
//!
//! The table is fixed before any text is seen, and public, as the vocabulary is. All that it decides about a cut is
//! decided by the characters of the text and by the table: `d'un` is cut behind the apostrophe because it begins
//! with `d'`, whatever follows, and whether the model knows `un` plays no part. The one exception, scripts that
//! put no spaces between words, is `text/lattice.rs`.
//!
//! # The section LANG
//!
//! Lines of text, in this order, each of one key and its values with single spaces between:
//!
//! ```text
//! orthography 1
//! language fr French          code and name
//! script Latn                 of ISO 15924
//! words spaces                or `lattice`: by the model's own words (`text/lattice.rs`)
//! fold plain                  or `dotless` (I is the capital of ı), `final-sigma`
//! form canonical              NFC, or `compatible`: NFKC, in which full-width letters are letters
//! marks „‚                    further marks that are structure, of those in `MARKS`
//! elision l' le               a beginning, and the word that it stands for
//! ending n't not              the ending of a contraction, likewise
//! stem ca can                 what stands before an ending that begins with a letter, likewise
//! function-words le la les    words that may be made public, by the list `function-words`
//! ```
//!
//! Lines from `marks` on may be missing, and those from `elision` on there several times. A file for `brr build
//! --language` has the same lines, and may have empty ones and comments (`#`).

mod contraction;
mod fold;
mod lines;

use std::sync::OnceLock;

pub use lines::LineError;

use crate::error::{Error, Result};
use crate::text::{Cutter, Piece, is_apostrophe, is_spaceless};

/// How a language is written.
///
/// ```
/// use brr::Orthography;
///
/// let french = "orthography 1\nlanguage fr French\nscript Latn\nwords spaces\nfold plain\n\
///               form canonical\nelision l' le\nfunction-words le la les\n";
/// let table = Orthography::parse(french).expect("a table");
/// assert_eq!((table.code(), table.name()), ("fr", "French"));
/// assert_eq!(table.function_words(), ["le", "la", "les"]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Orthography {
    code: String,
    name: String,
    script: String,
    words: Words,
    fold: Fold,
    form: Form,
    marks: String,
    elisions: Vec<(String, String)>,
    endings: Vec<(String, String)>,
    /// In characters of any normal form.
    longest_ending: usize,
    stems: Vec<(String, String)>,
    function_words: Vec<String>,
}

/// How words of a language are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Words {
    /// By spaces; a stretch of letters of a script without spaces is one token.
    Spaces,
    /// Stretches of letters of scripts without spaces are cut by the model's own words.
    Lattice,
}

/// How upper case becomes lower case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fold {
    /// As Unicode has it for no language in particular.
    Plain,
    /// As in Turkish and Azerbaijani: `I` becomes `ı`, `İ` becomes `i`.
    Dotless,
    /// As in Greek: a sigma is `ς` at the end of a word and `σ` elsewhere, however it was written.
    FinalSigma,
}

/// The normal form in which words are looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// NFC.
    Canonical,
    /// NFKC.
    Compatible,
}

/// Marks that a table may add to those which are structure in every language.
pub const MARKS: &str = "「」『』（）〈〉《》【】・｢｣､｡･．„‚‹›।॥";

impl Words {
    const NAMES: [(&str, Words); 2] = [("spaces", Words::Spaces), ("lattice", Words::Lattice)];
}

impl Fold {
    const NAMES: [(&str, Fold); 3] = [
        ("plain", Fold::Plain),
        ("dotless", Fold::Dotless),
        ("final-sigma", Fold::FinalSigma),
    ];
}

impl Form {
    const NAMES: [(&str, Form); 2] = [
        ("canonical", Form::Canonical),
        ("compatible", Form::Compatible),
    ];
}

impl Orthography {
    /// That of models without a table.
    pub fn english() -> &'static Orthography {
        static ENGLISH: OnceLock<Orthography> = OnceLock::new();
        ENGLISH.get_or_init(|| Orthography::parse(ENGLISH_LINES).expect("a table"))
    }

    /// Reads the lines of a table.
    pub fn parse(text: &str) -> Result<Orthography, LineError> {
        lines::parse(text)
    }

    /// Reads the section of a model file: the lines as [`to_lines`](Self::to_lines) writes them, and nothing else.
    pub(crate) fn read(bytes: &[u8]) -> Result<Orthography> {
        let invalid = |reason| Error::ModelInvalid {
            section: "language",
            reason,
        };
        if bytes.len() > lines::MOST_BYTES {
            return Err(invalid("too long"));
        }
        let text = std::str::from_utf8(bytes).map_err(|_| invalid("not UTF-8"))?;
        let table = lines::parse(text).map_err(|error| invalid(error.reason))?;
        match table.to_lines() == text {
            true => Ok(table),
            false => Err(invalid("its lines are not in their order and form")),
        }
    }

    /// The code of the language, such as `fr`.
    pub fn code(&self) -> &str {
        &self.code
    }

    /// Its name in English.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its script, as ISO 15924 calls it.
    pub fn script(&self) -> &str {
        &self.script
    }

    /// How its words are told apart.
    pub fn words(&self) -> Words {
        self.words
    }

    /// How `words` is called in a table.
    pub fn words_name(&self) -> &'static str {
        lines::name_of(&Words::NAMES, self.words)
    }

    /// Words that may be made public, as articles, pronouns and prepositions are.
    pub fn function_words(&self) -> &[String] {
        &self.function_words
    }

    /// How many contractions and elisions it takes apart.
    pub fn contractions(&self) -> usize {
        self.elisions.len() + self.endings.len()
    }

    /// A text's pieces in order, where stretches of letters without spaces are one token each.
    pub fn pieces<'t>(&self, text: &'t str) -> Vec<Piece<'t>> {
        Cutter::new(self, None).pieces(text)
    }

    /// Whether a text is one token and nothing else: whether it can be a word of a model.
    pub fn is_one_token(&self, text: &str) -> bool {
        matches!(self.pieces(text)[..], [Piece::Token(token)] if token == text)
    }

    /// Whether this mark is structure in this language beyond those that always are.
    pub(crate) fn has_mark(&self, c: char) -> bool {
        !self.marks.is_empty() && self.marks.contains(c)
    }

    /// Whether `“` closes what `„` opens.
    pub(crate) fn quotes_low(&self) -> bool {
        self.has_mark('„')
    }

    /// Whether there is a space between two words that are written where tokens touch, of which one ends and the
    /// other begins with these characters. It is decided by what is written alone.
    pub(crate) fn space_between(&self, last: Option<char>, first: Option<char>) -> bool {
        let (Some(last), Some(first)) = (last, first) else {
            return true;
        };
        let lattice = self.words == Words::Lattice;
        let elided = !self.elisions.is_empty() && is_apostrophe(last);
        let ending = self.is_foreign() && is_apostrophe(first);
        !((lattice && is_spaceless(last) && is_spaceless(first)) || elided || ending)
    }

    /// Whether it is not that of models without a table.
    pub(crate) fn is_foreign(&self) -> bool {
        self.code != "en"
    }
}

const ENGLISH_LINES: &str = "\
orthography 1
language en English
script Latn
words spaces
fold plain
form canonical
ending n't not
ending 'll will
ending 're are
ending 've have
ending 'm am
ending 'd would
ending 's is
stem ca can
stem wo will
stem sha shall
stem ai is
";

#[cfg(test)]
mod tests;

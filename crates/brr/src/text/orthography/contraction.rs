//! Contractions and elisions, taken apart by the table's beginnings and endings, whatever the rest of the word.
//!
//! Whether the vocabulary has the rest plays no part: `John'll` and a name that no model knows followed by `'ll` are
//! both a stem and an ending, and `d'Ormesson` is a beginning and a stem.

use unicode_normalization::UnicodeNormalization;

use super::{Fold, Orthography};
use crate::text::{is_apostrophe, is_ignorable};

/// The longest beginning or ending, in characters of any normal form.
pub const LONGEST: usize = 32;

impl Orthography {
    /// Whether `text` is one of these parts (which are in NFC and lower case) but for case, normal form and the form
    /// of an apostrophe.
    fn is_one(&self, text: &str, parts: &[(String, String)]) -> bool {
        if text.is_ascii() && self.fold != Fold::Dotless {
            return parts
                .iter()
                .any(|(part, _)| text.eq_ignore_ascii_case(part));
        }
        // Cheap to see in most texts, and needed by all parts.
        if !text.contains(is_apostrophe) {
            return false;
        }
        let straight = |c| if is_apostrophe(c) { '\'' } else { c };
        let lower = || text.nfc().flat_map(|c| self.lower_char(c)).map(straight);
        parts.iter().any(|(part, _)| lower().eq(part.chars()))
    }

    /// Where the last ending of `word` begins, if it has one and a stem stands before it.
    pub(crate) fn ending_at(&self, word: &str) -> Option<usize> {
        if self.endings.is_empty() {
            return None;
        }
        let starts = word.char_indices().rev().map(|(at, _)| at);
        let mut starts = starts.take(self.longest_ending);
        starts.find(|&at| self.is_ending(&word[at..]) && is_stem(&word[..at]))
    }

    /// In characters; composed ones may be written as two or three.
    pub(super) fn longest_of(endings: &[(String, String)]) -> usize {
        let lengths = endings.iter().map(|(ending, _)| match ending.is_ascii() {
            true => ending.len(),
            false => 3 * ending.chars().count(),
        });
        lengths.max().unwrap_or(0)
    }

    /// Whether `text` is just an ending.
    pub(crate) fn is_ending(&self, text: &str) -> bool {
        self.is_one(text, &self.endings)
    }

    /// Where the first elision of `word` ends, if it has one and a stem follows.
    pub(crate) fn elision_end(&self, word: &str) -> Option<usize> {
        if self.elisions.is_empty() {
            return None;
        }
        let (at, mark) = word.char_indices().find(|(_, c)| is_apostrophe(*c))?;
        let end = at + mark.len_utf8();
        let (elision, rest) = word.split_at(end);
        let follows = rest.contains(char::is_alphanumeric) && !rest.starts_with(is_apostrophe);
        (follows && self.is_elision(elision)).then_some(end)
    }

    /// Whether `text` is just an elision, the apostrophe included.
    pub(crate) fn is_elision(&self, text: &str) -> bool {
        !self.elisions.is_empty() && self.is_one(text, &self.elisions)
    }

    /// The word that an elision, in the vocabulary's form, stands for.
    pub(crate) fn full_elision(&self, elision: &str) -> Option<&str> {
        full(&self.elisions, elision)
    }

    /// The word that an ending, in the vocabulary's form, stands for.
    pub(crate) fn full_ending(&self, ending: &str) -> Option<&str> {
        full(&self.endings, ending)
    }

    /// The full word for a stem, in the vocabulary's form, that stood before an ending which begins with a letter.
    pub(crate) fn full_stem<'s>(&'s self, stem: &'s str) -> &'s str {
        full(&self.stems, stem).unwrap_or(stem)
    }
}

fn full<'t>(table: &'t [(String, String)], part: &str) -> Option<&'t str> {
    let found = table.iter().find(|(known, _)| known == part);
    found.map(|(_, full)| full.as_str())
}

/// Whether `text` would be one word if it stood alone.
fn is_stem(text: &str) -> bool {
    let last = text.chars().rfind(|&c| !is_ignorable(c));
    text.contains(char::is_alphabetic) && !last.is_some_and(is_apostrophe)
}

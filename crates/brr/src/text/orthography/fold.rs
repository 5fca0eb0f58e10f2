//! The form in which a word is looked up.

use std::char::{ToLowercase, ToUppercase};

use unicode_normalization::UnicodeNormalization;
use zeroize::Zeroizing;

use super::{Fold, Form, Orthography};
use crate::text::{is_apostrophe, is_ignorable};

impl Orthography {
    /// Appends a word in the form in which it is looked up: normalized, with plain apostrophes, nothing invisible, and
    /// in lower case if `lowercase`.
    pub(crate) fn push_form(&self, word: &str, lowercase: bool, form: &mut String) {
        if word.is_ascii() && self.fold != Fold::Dotless {
            let start = form.len();
            form.push_str(word);
            if lowercase {
                form[start..].make_ascii_lowercase();
            }
            return;
        }
        let start = form.len();
        // An accent belongs to the letter before it, whatever stands between that does not show.
        let mut shown = Zeroizing::new(String::with_capacity(word.len()));
        shown.extend(word.chars().filter(|&c| is_spelled(c)));
        let word = shown.as_str();
        match lowercase {
            false => self.push_normal(word, form),
            true if self.form == Form::Compatible => {
                // Compatibility forms come first: what they stand for may have an upper case.
                let mut plain = Zeroizing::new(String::with_capacity(3 * word.len()));
                plain.extend(word.nfkc());
                self.push_normal(&self.lower(&plain), form);
            }
            true => self.push_normal(&self.lower(word), form),
        }
        if lowercase && self.fold == Fold::FinalSigma {
            let sigmas = Zeroizing::new(form[start..].replace('ς', "σ"));
            form.truncate(start);
            match sigmas.strip_suffix('σ').filter(|stem| !stem.is_empty()) {
                Some(stem) => form.extend([stem, "ς"]),
                None => form.push_str(&sigmas),
            }
        }
    }

    fn push_normal(&self, word: &str, form: &mut String) {
        let straight = |c| if is_apostrophe(c) { '\'' } else { c };
        match self.form {
            Form::Canonical => form.extend(word.nfc().map(straight)),
            Form::Compatible => form.extend(word.nfkc().map(straight)),
        }
    }

    fn lower(&self, word: &str) -> Zeroizing<String> {
        if self.fold != Fold::Dotless {
            return Zeroizing::new(word.to_lowercase());
        }
        // A dot may stand on its own: `I` with one above is `İ`.
        let mut lower = Zeroizing::new(String::with_capacity(2 * word.len()));
        lower.extend(word.nfc().flat_map(|c| self.lower_char(c)));
        lower
    }

    /// The lower case of a composed character, without a look at what is around.
    pub(super) fn lower_char(&self, c: char) -> ToLowercase {
        match (self.fold, c) {
            (Fold::Dotless, 'I') => 'ı'.to_lowercase(),
            (Fold::Dotless, 'İ') => 'i'.to_lowercase(),
            _ => c.to_lowercase(),
        }
    }

    /// The capital letter for a letter.
    pub(crate) fn capital(&self, c: char) -> ToUppercase {
        match (self.fold, c) {
            (Fold::Dotless, 'i') => 'İ'.to_uppercase(),
            _ => c.to_uppercase(),
        }
    }

    /// The form of a whole word.
    pub fn form(&self, word: &str, lowercase: bool) -> String {
        let mut form = String::new();
        self.push_form(word, lowercase, &mut form);
        form
    }
}

/// Whether a character is part of how a word is spelled, as the joiners of Persian and the Indic scripts are.
fn is_spelled(c: char) -> bool {
    !is_ignorable(c) || matches!(c, '\u{200c}' | '\u{200d}')
}

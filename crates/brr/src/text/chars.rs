//! What a character is to the cutter. Nothing but the character decides, and the marks that a language has.

use unicode_normalization::char::is_combining_mark;

use super::orthography::Orthography;

/// Punctuation that layout [`Layout::Keep`](super::Layout::Keep) lets through, one mark at a time.
pub const PUNCTUATION: &str = ".,;:!?'\"()-/…–—‘’“”«»¡¿،؛؟。，、！？：；";

/// The classes of characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// A letter of a script that puts spaces between words, or an underscore.
    Letter,
    /// A letter of a script that does not.
    Spaceless,
    /// A digit or another numeric character.
    Digit,
    /// Of [`PUNCTUATION`].
    Mark,
    /// An accent or vowel sign, which belongs to the character before it.
    Combining,
    /// Without a shape: a byte-order mark, a soft hyphen, a direction. Passed over.
    Ignorable,
    /// Anything else: symbols, emoji, control characters.
    Symbol,
}

impl Orthography {
    /// The class of a character that is not white space, in this language.
    pub fn class(&self, c: char) -> Class {
        match !c.is_ascii() && self.has_mark(c) {
            true => Class::Mark,
            false => class(c),
        }
    }

    /// Whether it is a punctuation mark in this language.
    pub fn is_mark(&self, c: char) -> bool {
        is_mark(c) || self.has_mark(c)
    }
}

/// The class of a character that is not white space, whatever the language.
fn class(c: char) -> Class {
    if c.is_ascii_alphabetic() || c == '_' {
        Class::Letter
    } else if c.is_ascii_digit() {
        Class::Digit
    } else if is_mark(c) {
        Class::Mark
    } else if c.is_ascii() {
        Class::Symbol
    } else if is_ignorable(c) {
        Class::Ignorable
    } else if is_combining_mark(c) {
        // Thai and its neighbours write vowels as combining marks: they are no break.
        Class::Combining
    } else if c.is_alphabetic() {
        if is_spaceless(c) {
            Class::Spaceless
        } else {
            Class::Letter
        }
    } else if c.is_numeric() {
        Class::Digit
    } else {
        Class::Symbol
    }
}

pub fn is_mark(c: char) -> bool {
    PUNCTUATION.contains(c)
}

/// Apostrophes inside words, in all their forms.
pub fn is_apostrophe(c: char) -> bool {
    matches!(c, '\'' | '’' | 'ʼ')
}

/// What joins the letters on its two sides into one word: apostrophes, the Catalan middle dot,
/// the Hebrew geresh and gershayim.
pub fn joins_letters(c: char) -> bool {
    is_apostrophe(c) || matches!(c, '\u{b7}' | '\u{5f3}' | '\u{5f4}')
}

/// Characters that neither show nor separate.
pub fn is_ignorable(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e007f}')
}

/// Letters of Thai, Lao, Tibetan, Myanmar, Khmer, the Tai scripts, Hiragana, Katakana, Bopomofo
/// and Han, whose words follow each other without spaces.
pub fn is_spaceless(c: char) -> bool {
    matches!(c,
        '\u{e00}'..='\u{fff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
        | '\u{1950}'..='\u{19ff}' | '\u{1a20}'..='\u{1aaf}' | '\u{a9e0}'..='\u{a9ff}'
        | '\u{aa60}'..='\u{aadf}' | '\u{3005}'..='\u{3007}' | '\u{3021}'..='\u{312f}'
        | '\u{31a0}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{ff66}'..='\u{ff9f}' | '\u{1aff0}'..='\u{1b16f}'
        | '\u{20000}'..='\u{3ffff}')
}

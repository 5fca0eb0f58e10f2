//! Which tokens of a vector file may enter a model.
//!
//! A vector file is not a vocabulary. It holds URLs, punctuation, numbers, fragments of markup:
//! whatever its makers' tokenizer left over. Two things go wrong if they enter a model:
//!
//! - A word that brr's own tokenizer never produces can never be an input, yet it can be an
//!   *output* of the mechanism. It only blurs the others.
//! - Clusters of near-equal codes far from everything else spoil the certified epsilon of the
//!   whole model. Numbers are such a cluster: `219`, `231` and `253` have nearly the same vector.
//!
//! So a token enters only if the tokenizer ([`brr::parts::text`], NFC, lower case), by the
//! [table](brr::Orthography) of the model's language, can produce it and it is a word. [`VocabularyRule::admit`] checks, in this order:
//!
//! | out | because | for example |
//! |---|---|---|
//! | [`Empty`](Rejection::Empty) | there is no word | |
//! | [`WhiteSpace`](Rejection::WhiteSpace) | the tokenizer splits there, no-break spaces included | `at name@domain.com` |
//! | [`Invisible`](Rejection::Invisible) | control, bidi and private-use characters look like another word | soft hyphen inside |
//! | [`TooLong`](Rejection::TooLong) | more than [`MAX_BYTES`] bytes is noise, not a word | `aaaaaaa...` |
//! | [`Number`](Rejection::Number) | a digit or other numeric character is inside, see above | `2012`, `mp3`, `½` |
//! | [`NoLetter`](Rejection::NoLetter) | punctuation and symbols are structure, not words | `...`, `&` |
//! | [`Address`](Rejection::Address) | addresses never pass through a privatizer | `a@b.org`, `mylot.com` |
//! | [`NotOneWord`](Rejection::NotOneWord) | the tokenizer splits it | `well-known`, `don't` |
//! | [`Symbol`](Rejection::Symbol) | the tokenizer keeps it, yet nobody writes it as a word | `new_york` |
//! | [`Compatibility`](Rejection::Compatibility) | NFKC changes it: a typographic form of another word | `ﬁ`, `ª`, `ℝ` |
//!
//! The checks see the token as the tokenizer would: normalized to NFC and in lower case. Two
//! tokens that become one are *variants*; the first stays, which in the usual files is the most
//! frequent one.
//!
//! Words on a list of somebody's choice stay out too: [`Excluded`](Rejection::Excluded), see
//! [`exclusion`](crate::exclusion).
//!
//! A word that has no vector of its own but that of another word stays out too, unless it is asked for:
//! [`SharedVector`](Rejection::SharedVector), see [`LoadOptions::shared_vectors`](crate::vectors::LoadOptions::shared_vectors).
//!
//! One rule needs the whole vocabulary ([`VocabularyRule::stray_letters`]). A lone letter is a
//! word in one language (`в` in Russian, `ə` in Azerbaijani, `日` in Chinese) and a phonetic
//! symbol or a stray in another. It stays if it is at home: if at least one in a thousand of the
//! longer words contain it. `a` to `z` are always at home, and so are the function words of the language (`à`). Letters of scripts without spaces
//! (Chinese, Hiragana) are judged together, by how many of them the vocabulary has.
//!
//! What follows from the tokenizer: hyphenated words and contractions enter as their parts only.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use brr::Orthography;
use brr::parts::text::is_spaceless;
use unicode_normalization::char::is_combining_mark;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

/// The longest admissible word, in bytes of UTF-8 after normalization.
pub const MAX_BYTES: usize = 128;

/// A lone letter stays if one in this many longer words contains it.
const AT_HOME_ONE_IN: usize = 1000;

/// What to do with tokens that contain a digit or another numeric character.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Numbers {
    /// Leave them out: their codes nearly coincide and spoil the certified epsilon.
    #[default]
    Drop,
    /// Let them in as words.
    Keep,
}

/// What to do with upper case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Case {
    /// Fold to lower case, as the tokenizer does; the first of the variants stays.
    #[default]
    Fold,
    /// Keep the spelling of the file.
    Keep,
}

/// The rule that decides which tokens enter a model. The default is the one for release.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VocabularyRule {
    /// Tokens with digits.
    pub numbers: Numbers,
    /// Upper-case letters.
    pub case: Case,
    /// How the language is written, if it is not as in English.
    pub orthography: Option<Arc<Orthography>>,
}

/// Why a token stays out of the vocabulary. See the [module](self) for examples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum Rejection {
    /// The token is empty.
    #[error("empty")]
    Empty,
    /// White space inside, no-break spaces included.
    #[error("white space inside")]
    WhiteSpace,
    /// A control, bidirectional, zero-width, private-use or replacement character inside.
    #[error("control or invisible character inside")]
    Invisible,
    /// Longer than [`MAX_BYTES`].
    #[error("too long")]
    TooLong,
    /// Contains a digit or another numeric character.
    #[error("contains a digit")]
    Number,
    /// Not one letter: punctuation and symbols.
    #[error("no letter")]
    NoLetter,
    /// A URL, a domain or an e-mail address.
    #[error("URL or e-mail address")]
    Address,
    /// Not a single token.
    #[error("not a single token")]
    NotOneWord,
    /// One token, but with a symbol such as an underscore.
    #[error("symbol inside")]
    Symbol,
    /// A compatibility form (ligature, superscript, full width) of other characters.
    #[error("compatibility form (NFKC changes it)")]
    Compatibility,
    /// On a list of words that are to stay out.
    #[error("on a list of words to leave out")]
    Excluded,
    /// A lone letter that is not at home in this vocabulary.
    #[error("lone letter from elsewhere")]
    LoneLetter,
    /// Equal to an earlier token after normalization and case folding.
    #[error("variant of an earlier word")]
    Variant,
    /// Has the vector of a more frequent word and none of its own.
    #[error("has the vector of another word")]
    SharedVector,
}

impl VocabularyRule {
    /// The word as it enters the vocabulary, or why it does not.
    ///
    /// ```
    /// use brr_build::vocabulary_rule::{Rejection, VocabularyRule};
    ///
    /// let rule = VocabularyRule::default();
    /// assert_eq!(rule.admit("O'Clock").unwrap(), "o'clock");
    /// assert_eq!(rule.admit("2012"), Err(Rejection::Number));
    /// ```
    pub fn admit<'t>(&self, token: &'t str) -> Result<Cow<'t, str>, Rejection> {
        if token.len() <= MAX_BYTES && is_plain(token) {
            return Ok(Cow::Borrowed(token));
        }
        let word = self.normalize(token);
        match self.reason_against(&word) {
            Some(reason) => Err(reason),
            None => Ok(word),
        }
    }

    /// The token as the tokenizer would see it: NFC and, if folded, lower case.
    pub(crate) fn normalize<'t>(&self, token: &'t str) -> Cow<'t, str> {
        if let Some(table) = &self.orthography {
            // What is invisible is no reason to pass over it here, but one to leave the token out.
            return match token.contains(is_invisible) {
                true => Cow::Borrowed(token),
                false => Cow::Owned(table.form(token, self.case == Case::Fold)),
            };
        }
        let composed = nfc(straight(token));
        match self.case {
            Case::Keep => composed,
            Case::Fold if !composed.chars().any(|c| c.to_lowercase().ne([c])) => composed,
            Case::Fold => nfc(Cow::Owned(composed.to_lowercase())),
        }
    }

    fn reason_against(&self, word: &str) -> Option<Rejection> {
        let has = |test: fn(char) -> bool| word.chars().any(test);
        let keep_numbers = self.numbers == Numbers::Keep;
        let numeric = has(char::is_numeric);
        let reasons = [
            (Rejection::Empty, word.is_empty()),
            (Rejection::WhiteSpace, has(char::is_whitespace)),
            (Rejection::Invisible, has(is_invisible)),
            (Rejection::TooLong, word.len() > MAX_BYTES),
            (Rejection::Number, numeric && !keep_numbers),
            (Rejection::NoLetter, !numeric && !has(char::is_alphabetic)),
            (Rejection::Address, is_address(word)),
        ];
        if let Some((reason, _)) = reasons.into_iter().find(|(_, applies)| *applies) {
            return Some(reason);
        }
        // The costlier tests, on what is left.
        let english = Orthography::english();
        let table = self.orthography.as_deref().unwrap_or(english);
        if !table.is_one_token(word) {
            Some(Rejection::NotOneWord)
        } else if has(|c| !is_word_character(c)) {
            Some(Rejection::Symbol)
        } else if word.nfkc().ne(word.chars()) {
            Some(Rejection::Compatibility)
        } else {
            None
        }
    }

    /// Whether the table of the language calls it one.
    fn is_function_word(&self, word: &str) -> bool {
        let table = self.orthography.as_deref();
        table.is_some_and(|table| table.function_words().iter().any(|known| known == word))
    }

    /// The indices of the lone letters that are not at home among `words`, in order.
    pub fn stray_letters(&self, words: &[String]) -> Vec<usize> {
        let lone: Vec<(usize, char)> = (words.iter().enumerate())
            .filter_map(|(i, word)| Some((i, lone_letter(word)?)))
            .filter(|(i, letter)| {
                !letter.is_ascii_alphabetic() && !self.is_function_word(&words[*i])
            })
            .collect();
        if lone.is_empty() {
            return Vec::new();
        }
        let mut uses: HashMap<char, usize> = lone.iter().map(|&(_, c)| (c, 0)).collect();
        let mut longer = 0;
        let mut letters: Vec<char> = Vec::new();
        for word in words.iter().filter(|word| lone_letter(word).is_none()) {
            longer += 1;
            letters.clear();
            letters.extend(word.chars());
            letters.sort_unstable();
            letters.dedup();
            for letter in &letters {
                if let Some(count) = uses.get_mut(letter) {
                    *count += 1;
                }
            }
        }
        let apart = lone.iter().filter(|&&(_, c)| is_spaceless(c)).count();
        let at_home = |letter: char| match is_spaceless(letter) {
            true => apart * AT_HOME_ONE_IN >= words.len(),
            false => uses[&letter] >= (longer / AT_HOME_ONE_IN).max(1),
        };
        lone.into_iter()
            .filter(|&(_, letter)| !at_home(letter))
            .map(|(i, _)| i)
            .collect()
    }
}

/// The quick way in: lower-case ASCII letters need no look at Unicode.
fn is_plain(token: &str) -> bool {
    !token.is_empty() && token.bytes().all(|b| b.is_ascii_lowercase())
}

/// With plain apostrophes, as words are looked up.
fn straight(token: &str) -> Cow<'_, str> {
    match token.contains(['’', 'ʼ']) {
        true => Cow::Owned(token.replace(['’', 'ʼ'], "'")),
        false => Cow::Borrowed(token),
    }
}

fn nfc(text: Cow<'_, str>) -> Cow<'_, str> {
    match is_nfc_quick(text.chars()) {
        IsNormalized::Yes => text,
        _ => Cow::Owned(text.nfc().collect()),
    }
}

/// Characters without a shape of their own. The joiners U+200C and U+200D are not among them:
/// Persian and the Indic scripts spell words with them.
fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
            | '\u{fff9}'..='\u{fffd}' | '\u{e000}'..='\u{f8ff}' | '\u{e0000}'..)
}

/// An e-mail address, a URL, or a domain: a dot before a last part of two letters or more.
fn is_address(word: &str) -> bool {
    let last_label = word.rsplit_once('.').map_or("", |(_, label)| label);
    word.contains('@')
        || word.contains("://")
        || word.starts_with("www.")
        || (last_label.chars().count() >= 2 && last_label.chars().all(char::is_alphabetic))
}

/// Letters, marks, digits, and what may stand between them inside a word: apostrophes, what
/// separates the parts of numbers, the Catalan middle dot, Hebrew geresh, joiners.
fn is_word_character(c: char) -> bool {
    c.is_alphanumeric()
        || is_combining_mark(c)
        || matches!(
            c,
            '\'' | '.'
                | ','
                | '/'
                | '-'
                | ':'
                | '\u{b7}'
                | '\u{5f3}'
                | '\u{5f4}'
                | '\u{200c}'
                | '\u{200d}'
        )
}

/// The letter of a word that has only one, whatever marks it carries.
fn lone_letter(word: &str) -> Option<char> {
    let mut bases = word.chars().filter(|&c| !is_combining_mark(c));
    match (bases.next(), bases.next()) {
        (Some(letter), None) if letter.is_alphabetic() => Some(letter),
        _ => None,
    }
}

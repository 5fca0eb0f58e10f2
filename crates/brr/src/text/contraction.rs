//! English contractions, taken apart by a fixed table of endings, whatever the stem.
//!
//! Whether the vocabulary has the stem plays no part: `John'll` and a name that no model
//! knows followed by `'ll` are both a stem and an ending.

use super::chars::{is_apostrophe, is_ignorable};

/// An ending, with a plain apostrophe, and the word it stands for where a vocabulary does not
/// have the ending itself.
pub const ENDINGS: [(&str, &str); 7] = [
    ("n't", "not"),
    ("'ll", "will"),
    ("'re", "are"),
    ("'ve", "have"),
    ("'m", "am"),
    ("'d", "would"),
    ("'s", "is"),
];

/// Stems that change before `n't`.
const STEMS: [(&str, &str); 4] = [
    ("ca", "can"),
    ("wo", "will"),
    ("sha", "shall"),
    ("ai", "is"),
];

/// Whether two characters are the same but for case and the form of an apostrophe.
fn same(a: char, b: char) -> bool {
    a.eq_ignore_ascii_case(&b) || (is_apostrophe(a) && is_apostrophe(b))
}

/// Where the last ending of `word` begins, if it has one and a stem stands before it.
pub fn ending_at(word: &str) -> Option<usize> {
    // No ending is longer than three characters.
    let mut starts = word.char_indices().rev().map(|(at, _)| at).take(3);
    starts.find(|&at| is_ending(&word[at..]) && is_stem(&word[..at]))
}

/// Whether `text` would be one word if it stood alone.
fn is_stem(text: &str) -> bool {
    let last = text.chars().rfind(|&c| !is_ignorable(c));
    text.contains(char::is_alphabetic) && !last.is_some_and(is_apostrophe)
}

/// Whether `text` is just an ending.
pub fn is_ending(text: &str) -> bool {
    let equals = |ending: &str| {
        let mut letters = text.chars();
        ending
            .chars()
            .all(|e| letters.next().is_some_and(|c| same(c, e)))
            && letters.next().is_none()
    };
    ENDINGS.iter().any(|(ending, _)| equals(ending))
}

/// The word that `ending`, in the vocabulary's form, stands for.
pub fn full_ending(ending: &str) -> Option<&'static str> {
    let found = ENDINGS.iter().find(|(e, _)| *e == ending);
    found.map(|(_, full)| *full)
}

/// The full word for a stem, in the vocabulary's form, that stood before `n't`.
pub fn full_stem(stem: &str) -> &str {
    let found = STEMS.iter().find(|(s, _)| *s == stem);
    found.map_or(stem, |(_, full)| *full)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_are_found_whatever_stands_before_them() {
        for (word, stem) in [
            ("don't", Some("do")),
            ("DON’T", Some("DO")),
            ("zzyzx'll", Some("zzyzx")),
            ("Ünal's", Some("Ünal")),
            ("shouldn't've", Some("shouldn't")),
            ("n't", None),
            ("'s", None),
            ("o'clock", None),
            ("cant", None),
            ("t", None),
            ("", None),
        ] {
            assert_eq!(ending_at(word).map(|at| &word[..at]), stem, "{word}");
        }
        assert!(is_ending("’LL") && is_ending("N't") && !is_ending("ll") && !is_ending("x'll"));
    }
}

//! Tokens to word ids.
//!
//! A token is brought into the vocabulary's form (NFC, and lower case if the
//! model's words are) and looked up whole. A contraction that is not there
//! whole is taken apart, first the way the usual vector files are tokenized
//! (`do` + `n't`, `he` + `'s`), then by what the ending stands for (`do` +
//! `not`), then at the apostrophe. What is still not found is unknown.

use unicode_normalization::UnicodeNormalization;

use super::segment::{Segment, segments};
use crate::vocabulary::{Vocabulary, WordId};

/// A text's parts in the order of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece<'t> {
    /// A token: its word, if it has one, and how it stands in the text.
    Token(Option<WordId>, &'t str),
    /// White space.
    Space(char),
    /// Listed punctuation.
    Punctuation(char),
    /// A line-break tag.
    Break,
}

/// Endings of English contractions and the words they stand for.
const ENDINGS: [(&str, &str); 6] = [
    ("n't", "not"),
    ("'ll", "will"),
    ("'re", "are"),
    ("'ve", "have"),
    ("'m", "am"),
    ("'d", "would"),
];

/// Stems that change before `n't`.
const STEMS: [(&str, &str); 3] = [("ca", "can"), ("wo", "will"), ("sha", "shall")];

/// Cuts texts and looks up the tokens.
pub struct Tokenizer<'v> {
    vocabulary: &'v Vocabulary,
    lowercase: bool,
    form: String,
}

impl<'v> Tokenizer<'v> {
    /// A tokenizer for a vocabulary; `lowercase` if its words are.
    pub fn new(vocabulary: &'v Vocabulary, lowercase: bool) -> Self {
        Tokenizer {
            vocabulary,
            lowercase,
            form: String::new(),
        }
    }

    /// Appends the pieces of `text`.
    pub fn cut<'t>(&mut self, text: &'t str, pieces: &mut Vec<Piece<'t>>) {
        segments(text, |segment| match segment {
            Segment::Token(token) => self.resolve(token, pieces),
            Segment::Space(c) => pieces.push(Piece::Space(c)),
            Segment::Punctuation(c) => pieces.push(Piece::Punctuation(c)),
            Segment::Break => pieces.push(Piece::Break),
        });
    }

    /// The id of a single word, as the tokenizer would look it up.
    pub fn id(&mut self, token: &str) -> Option<WordId> {
        self.bring_into_form(token);
        self.vocabulary.id(&self.form)
    }

    fn resolve<'t>(&mut self, token: &'t str, pieces: &mut Vec<Piece<'t>>) {
        let id = self.id(token);
        if id.is_some() || !self.form.contains('\'') {
            return pieces.push(Piece::Token(id, token));
        }
        if let Some((stem, ending)) = self.contraction() {
            pieces.push(Piece::Token(Some(stem), token));
            return pieces.push(Piece::Token(Some(ending), token));
        }
        let mut parts = token.split(['\'', '’', 'ʼ']);
        let first = parts.next().unwrap_or(token);
        self.push_part(first, pieces);
        for part in parts {
            pieces.push(Piece::Punctuation('\''));
            self.push_part(part, pieces);
        }
    }

    fn push_part<'t>(&mut self, part: &'t str, pieces: &mut Vec<Piece<'t>>) {
        if !part.is_empty() {
            pieces.push(Piece::Token(self.id(part), part));
        }
    }

    /// Stem and ending of the contraction in `form`, if both are words.
    fn contraction(&self) -> Option<(WordId, WordId)> {
        let id = |word: &str| self.vocabulary.id(word);
        let endings = ENDINGS.iter().map(|(ending, word)| (*ending, Some(*word)));
        for (ending, word) in endings.chain([("'s", None)]) {
            let Some(stem) = self.form.strip_suffix(ending) else {
                continue;
            };
            if let Some(both) = id(stem).zip(id(ending)) {
                return Some(both);
            }
            let changed = STEMS.iter().find(|(s, _)| ending == "n't" && *s == stem);
            let stem = changed.map_or(stem, |(_, full)| full);
            return id(stem).zip(id(word?));
        }
        None
    }

    fn bring_into_form(&mut self, token: &str) {
        self.form.clear();
        if token.is_ascii() {
            self.form.push_str(token);
            if self.lowercase {
                self.form.make_ascii_lowercase();
            }
            return;
        }
        let straight = |c| if matches!(c, '’' | 'ʼ') { '\'' } else { c };
        if self.lowercase {
            let lower = token.to_lowercase();
            self.form.extend(lower.nfc().map(straight));
        } else {
            self.form.extend(token.nfc().map(straight));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(words: &[&str], lowercase: bool, text: &str) -> String {
        let v = Vocabulary::unpack(&Vocabulary::pack(words).unwrap(), words.len()).unwrap();
        let mut pieces = Vec::new();
        Tokenizer::new(&v, lowercase).cut(text, &mut pieces);
        let show = |piece: &Piece<'_>| match piece {
            Piece::Token(Some(id), _) => format!("[{}]", v.word(*id)),
            Piece::Token(None, _) => "[?]".into(),
            Piece::Space(c) | Piece::Punctuation(c) => c.to_string(),
            Piece::Break => "<br />".into(),
        };
        pieces.iter().map(show).collect()
    }

    #[test]
    fn words_are_looked_up_in_the_models_form() {
        let words = ["the", "café", "The"];
        assert_eq!(
            show(&words, true, "THE Cafe\u{301} cAFÉ tea"),
            "[the] [café] [café] [?]"
        );
        assert_eq!(show(&words, false, "The the THE"), "[The] [the] [?]");
    }

    #[test]
    fn contractions_are_taken_apart_when_they_are_no_word() {
        assert_eq!(show(&["don't"], true, "Don’t"), "[don't]");
        assert_eq!(
            show(&["do", "n't", "he", "'s"], true, "don't he's"),
            "[do][n't] [he]['s]"
        );
        let words = [
            "do", "not", "can", "will", "we", "are", "he", "s", "l", "homme",
        ];
        let text = "don't can't won't we're he's l'homme rock'n'roll";
        let expected =
            "[do][not] [can][not] [will][not] [we][are] [he]'[s] [l]'[homme] [?]'[?]'[?]";
        assert_eq!(show(&words, true, text), expected);
    }
}

//! Tokens to word ids.
//!
//! A token is brought into the vocabulary's form (normalized, with plain apostrophes, nothing invisible, and in
//! lower case if the model's words are) and looked up whole; the ending of a contraction as it
//! is (`n't`), then as the word it stands for (`not`), and the beginning of an elision likewise. What is not found
//! is unknown. The look-up comes after the cut and changes nothing of it.

use zeroize::Zeroizing;

use super::cut::{Cutter, Role, Segment, Token};
use super::lattice::Lattice;
use super::orthography::{Orthography, Words};
use crate::vocabulary::{Vocabulary, WordId};

/// Looks tokens up.
pub struct Lookup<'v> {
    vocabulary: &'v Vocabulary,
    table: &'v Orthography,
    lowercase: bool,
    form: Zeroizing<String>,
}

impl<'v> Lookup<'v> {
    /// For a vocabulary of a language; `lowercase` if its words are.
    pub fn new(vocabulary: &'v Vocabulary, table: &'v Orthography, lowercase: bool) -> Self {
        Lookup {
            vocabulary,
            table,
            lowercase,
            form: Zeroizing::new(String::with_capacity(64)),
        }
    }

    /// What cuts texts into the tokens that are looked up.
    pub fn cutter(&self) -> Cutter<'v> {
        let lattice = || Lattice::new(self.vocabulary, self.table, self.lowercase);
        let lattice = (self.table.words() == Words::Lattice).then(lattice);
        Cutter::new(self.table, lattice)
    }

    /// The word of a token, if it has one.
    pub fn id(&mut self, token: Token<'_>) -> Option<WordId> {
        let (vocabulary, table) = (self.vocabulary, self.table);
        let form = self.bring_into_form(token.text);
        let id = |word: &str| vocabulary.id(word);
        match token.role {
            Role::Whole => id(form),
            Role::ChangedStem => id(table.full_stem(form)),
            Role::Beginning => id(form).or_else(|| table.full_elision(form).and_then(id)),
            Role::Ending => id(form).or_else(|| table.full_ending(form).and_then(id)),
        }
    }

    /// The form in which a token is looked up: two tokens are one word if it is the same.
    pub fn form(&mut self, token: &str) -> &str {
        self.bring_into_form(token)
    }

    /// The word that a single word is looked up as.
    pub fn word(&mut self, word: &str) -> Option<WordId> {
        self.id(Token {
            text: word,
            role: Role::Whole,
        })
    }

    /// All tokens of a text, each with its word.
    pub fn tokens<'t>(&mut self, text: &'t str) -> Vec<(Option<WordId>, &'t str)> {
        let mut tokens = Vec::new();
        self.cutter().cut(text, |segment| {
            if let Segment::Token(token) = segment {
                tokens.push((self.id(token), token.text));
            }
        });
        tokens
    }

    fn bring_into_form(&mut self, token: &str) -> &str {
        let form = &mut *self.form;
        form.clear();
        self.table.push_form(token, self.lowercase, form);
        trimmed(form)
    }
}

/// A form without what joins letters at its ends.
pub(super) fn trimmed(form: &str) -> &str {
    // As nearly all forms are.
    let plain = |b: Option<&u8>| b.is_some_and(u8::is_ascii_alphanumeric);
    if plain(form.as_bytes().first()) && plain(form.as_bytes().last()) {
        return form;
    }
    form.trim_matches(['_', '\u{200c}', '\u{200d}'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(words: &[&str], lowercase: bool, text: &str) -> String {
        let v = Vocabulary::unpack(&Vocabulary::pack(words).unwrap(), words.len()).unwrap();
        let mut lookup = Lookup::new(&v, Orthography::english(), lowercase);
        let mut out = String::new();
        lookup.cutter().cut(text, |segment| match segment {
            Segment::Token(token) => {
                let word = lookup.id(token).map_or("?", |id| v.word(id));
                out.push_str(&format!("[{word}]"));
            }
            Segment::Space(c) | Segment::Mark(c) => out.push(c),
            Segment::Break => out.push_str("<br />"),
        });
        out
    }

    #[test]
    fn words_are_looked_up_in_the_models_form() {
        let words = ["the", "café", "The", "o'clock", "film"];
        assert_eq!(
            show(
                &words,
                true,
                "THE Cafe\u{301} cAFÉ tea O’Clock _film_ fi\u{ad}lm"
            ),
            "[the] [café] [café] [?] [o'clock] [film] [film]"
        );
        assert_eq!(show(&words, false, "The the THE"), "[The] [the] [?]");
    }

    #[test]
    fn parts_of_contractions_are_looked_up_on_their_own() {
        assert_eq!(
            show(&["do", "n't", "he", "'s"], true, "don't he’s he 's"),
            "[do][n't] [he]['s] [he] ['s]"
        );
        let words = ["do", "not", "can", "will", "we", "are", "he", "is", "don't"];
        let text = "don't can't WON'T we're he's Zaphod'll Zaphod's";
        let expected = "[do][not] [can][not] [will][not] [we][are] [he][is] [?][will] [?][is]";
        assert_eq!(show(&words, true, text), expected);
    }
}

//! Asking the program, and what it answered.

use std::collections::BTreeMap;
use std::fmt;

use brr::parts::vocabulary::WordId;

use super::{Check, Claim};

/// The program under audit: privatizes each text, in order. An error is a
/// message without the text.
pub type Program<'a> = dyn FnMut(&[String]) -> Result<Vec<String>, String> + 'a;

/// Why an audit could not be made.
#[derive(Debug)]
#[non_exhaustive]
pub enum AuditError {
    /// The program failed.
    Program(String),
    /// The program gave another number of texts than it was given.
    Texts {
        /// Texts given.
        expected: usize,
        /// Texts received.
        got: usize,
    },
    /// There are too few words to test anything.
    Words {
        /// Words to choose from.
        words: usize,
        /// Those that are one token.
        usable: usize,
        /// Pairs of them that can be compared.
        pairs: usize,
        /// Pairs that are needed.
        needed: usize,
    },
    /// The reference draws could not be made.
    Core(brr::Error),
}

impl fmt::Display for AuditError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AuditError::Program(message) => write!(f, "the program under audit failed: {message}"),
            AuditError::Texts { expected, got } => write!(
                f,
                "the program under audit gave {got} lines for {expected}: it must give one for each, and nothing else"
            ),
            AuditError::Words {
                words,
                usable,
                pairs,
                needed,
            } => write!(
                f,
                "too few words to audit: of {words} words {usable} are single tokens, which make {pairs} pairs, and {needed} are \
                 needed; use word vectors with more words, or ask for fewer pairs"
            ),
            AuditError::Core(e) => e.fmt(f),
        }
    }
}

impl std::error::Error for AuditError {}

impl From<brr::Error> for AuditError {
    fn from(e: brr::Error) -> AuditError {
        AuditError::Core(e)
    }
}

/// Runs the program.
pub fn run(program: &mut Program<'_>, texts: &[String]) -> Result<Vec<String>, AuditError> {
    let out = program(texts).map_err(AuditError::Program)?;
    if out.len() != texts.len() {
        return Err(AuditError::Texts {
            expected: texts.len(),
            got: out.len(),
        });
    }
    Ok(out)
}

/// A token that the program is asked about: a word, or one without a code.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Token {
    /// Its id, if it has a code.
    pub word: Option<WordId>,
    /// How it is written.
    pub text: String,
}

/// Outputs by token.
#[derive(Default)]
pub struct Asked {
    outputs: BTreeMap<Option<WordId>, Vec<WordId>>,
    tokens: u64,
    /// Texts with another number of tokens than they had.
    miscounted: u64,
    /// Tokens that are no word of the model.
    foreign: u64,
}

impl Asked {
    /// Asks about a token `trials` times.
    pub fn ask(
        &mut self,
        claim: &Claim<'_>,
        program: &mut Program<'_>,
        token: &Token,
        trials: usize,
    ) -> Result<(), AuditError> {
        let each = claim.words_per_text();
        let line = vec![token.text.as_str(); each].join(" ");
        let texts = vec![line; trials.div_ceil(each)];
        let outputs = self.outputs.entry(token.word).or_default();
        for text in run(program, &texts)? {
            let words: Vec<&str> = text.split_whitespace().collect();
            self.tokens += words.len() as u64;
            self.miscounted += u64::from(words.len() != each);
            let ids: Vec<_> = words
                .iter()
                .filter_map(|w| claim.model.vocabulary().id(w))
                .collect();
            self.foreign += (words.len() - ids.len()) as u64;
            outputs.extend(ids);
        }
        Ok(())
    }

    /// Outputs of a token.
    pub fn outputs(&self, word: Option<WordId>) -> &[WordId] {
        self.outputs.get(&word).map_or(&[], |o| o)
    }

    /// Every token with its outputs.
    pub fn iter(&self) -> impl Iterator<Item = (Option<WordId>, &[WordId])> {
        self.outputs.iter().map(|(w, o)| (*w, o.as_slice()))
    }

    /// Whether all that came out are words of the model, one for each token.
    pub fn check(&self) -> Check {
        let finding = format!(
            "{} tokens came out; {} texts changed their number of tokens, {} tokens are no words of the model",
            self.tokens, self.miscounted, self.foreign
        );
        Check::new("form", self.miscounted + self.foreign > 0, finding)
    }
}

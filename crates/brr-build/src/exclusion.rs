//! Lists of words that stay out of a model, offensive ones above all.
//!
//! A mechanism may replace any word by any other, so every word of a vocabulary will
//! some day be shown to somebody who typed something harmless. Which words must not is
//! the choice of the person who builds the model: a list, one word per line.
//!
//! A listed word stays out whatever its case, in models that keep case apart too. It is
//! compared as the [vocabulary rule](crate::vocabulary_rule) would write it: composed
//! (NFC) and in lower case.

use std::collections::HashSet;
use std::path::Path;

use crate::error::{Error, Result};
use crate::vocabulary_rule::{Case, VocabularyRule};

/// How words are written to compare them.
const FOLDED: VocabularyRule = VocabularyRule {
    numbers: crate::vocabulary_rule::Numbers::Keep,
    case: Case::Fold,
    orthography: None,
};

/// Words that stay out, under the name of their list.
#[derive(Clone, Debug, Default)]
pub struct ExclusionList {
    name: String,
    words: HashSet<String>,
}

impl ExclusionList {
    /// Reads a file: one word per line; what follows a `#`, and blank lines, do not
    /// count. The list has the file's name, without its folder.
    pub fn read(path: &Path) -> Result<ExclusionList> {
        let read = |source| Error::Read {
            path: path.to_owned(),
            offset: 0,
            source,
        };
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let text = std::fs::read_to_string(path).map_err(read)?;
        Ok(ExclusionList::parse(&name, &text))
    }

    /// The list of that name with these lines.
    pub fn parse(name: &str, text: &str) -> ExclusionList {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let words = text.lines().map(|line| {
            let word = line.split('#').next().unwrap_or_default();
            FOLDED.normalize(word.trim()).into_owned()
        });
        ExclusionList {
            name: name.to_owned(),
            words: words.filter(|word| !word.is_empty()).collect(),
        }
    }

    /// The file's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Number of words on the list.
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// Whether the list has no word.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Whether the word is on the list, in whatever case.
    pub fn contains(&self, word: &str) -> bool {
        self.words.contains(&*FOLDED.normalize(word))
    }
}

/// What a list took out of a vocabulary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excluded {
    /// The list's name.
    pub list: String,
    /// Different words of the vectors that it took out. A word on several lists counts
    /// for the first of them.
    pub words: u64,
}

impl Excluded {
    /// What a model's record says of all lists, if there were any.
    pub fn meta(lists: &[Excluded]) -> Option<(String, String)> {
        let one = |e: &Excluded| format!("{} by {}", e.words, e.list);
        let all: Vec<String> = lists.iter().map(one).collect();
        (!all.is_empty()).then(|| ("excluded-words".to_owned(), all.join(", ")))
    }
}

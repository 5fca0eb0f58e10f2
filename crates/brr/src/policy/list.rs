//! Lists of words, by which a policy tells what is private.

use sha2::{Digest, Sha256};

use crate::error::{Error, Result};
use crate::identity::{CodesIdentity, ListIdentity};
use crate::model::Model;
use crate::vocabulary::WordId;

/// Some words of a model, fixed before any text is seen.
#[derive(Clone, Debug, PartialEq)]
pub struct WordList {
    name: String,
    identity: ListIdentity,
    /// The model it is for.
    model: CodesIdentity,
    /// In ascending order, each once.
    words: Vec<WordId>,
}

impl WordList {
    /// A list from text: a word on each line, in any case. Empty lines, and lines that begin
    /// with `#`, are passed over. Fails if a line is not a word of the model.
    ///
    /// ```
    /// # let model = brr::Model::open("../brr-english/src/english.brr")?;
    /// let list = brr::WordList::new("cities", "# two\nParis\nlondon\n", &model)?;
    /// assert_eq!(list.len(), 2);
    /// let wrong = brr::WordList::new("cities", "paris\nqwxzv\n", &model);
    /// assert!(wrong.unwrap_err().to_string().contains("line 2"));
    /// # Ok::<(), brr::Error>(())
    /// ```
    pub fn new(name: &str, text: &str, model: &Model) -> Result<WordList> {
        let found = lines(text).map(|(line, word)| match model.find(word) {
            Some(id) => Ok(id),
            None => Err(Error::ListWord { line }),
        });
        WordList::of(name, found.collect::<Result<_>>()?, model)
    }

    /// As [`new`](Self::new), without the lines that are not words of the model: for a list that
    /// was made for another one. Fails if no line is.
    pub fn known(name: &str, text: &str, model: &Model) -> Result<WordList> {
        let found = lines(text).filter_map(|(_, word)| model.find(word));
        WordList::of(name, found.collect(), model)
    }

    fn of(name: &str, mut words: Vec<WordId>, model: &Model) -> Result<WordList> {
        if !model.lowercase() {
            return Err(Error::ListNeedsFolding);
        }
        words.sort_unstable();
        words.dedup();
        if words.is_empty() {
            return Err(Error::ListEmpty);
        }
        let vocabulary = model.vocabulary();
        let mut spelled: Vec<&str> = words.iter().map(|&id| vocabulary.word(id)).collect();
        spelled.sort_unstable();
        let mut hash = Sha256::new();
        for word in spelled {
            hash.update(word);
            hash.update(b"\n");
        }
        Ok(WordList {
            name: name.to_owned(),
            identity: ListIdentity(hash.finalize().into()),
            model: model.identity(),
            words,
        })
    }

    /// Both lists in one, which is named after both.
    pub fn and(&self, other: &WordList, model: &Model) -> Result<WordList> {
        self.check_model(model)?;
        other.check_model(model)?;
        let words = [&self.words[..], &other.words].concat();
        WordList::of(&format!("{}+{}", self.name, other.name), words, model)
    }

    /// The same list by another name.
    pub fn with_name(self, name: &str) -> WordList {
        let name = name.to_owned();
        WordList { name, ..self }
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Which words these are: the SHA-256 of their lines in byte order, as the model spells them.
    pub fn identity(&self) -> ListIdentity {
        self.identity
    }

    /// Number of words.
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// Whether there is none, which is never so.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Its words, in ascending order.
    pub fn words(&self) -> &[WordId] {
        &self.words
    }

    /// Whether it has this word.
    pub fn contains(&self, word: WordId) -> bool {
        self.words.binary_search(&word).is_ok()
    }

    /// Whether it is for this model.
    pub(crate) fn check_model(&self, model: &Model) -> Result<()> {
        match self.model == model.identity() {
            true => Ok(()),
            false => Err(Error::ListMismatch),
        }
    }
}

/// The words of a list with the numbers of their lines, from 1.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines = (1..).zip(text.lines().map(str::trim));
    lines.filter(|(_, word)| !word.is_empty() && !word.starts_with('#'))
}

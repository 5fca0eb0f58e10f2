//! The texts of an experiment, cut once for all trials.

use std::sync::Arc;

use brr::parts::language::{Sentence, sentences};
use brr::parts::parallel;
use brr::parts::vocabulary::WordId;
use brr::{Layout, Model};

use crate::classifier::is_plain;
use crate::dataset::{Dataset, Document};

/// A text, cut into tokens.
pub struct Text {
    /// The word of every token, if it has one.
    pub words: Vec<Option<WordId>>,
    /// Its sentences.
    pub sentences: Vec<Sentence>,
    /// The text as a classifier without privacy would get it: its tokens in the
    /// vocabulary's form, unknown ones in lower case.
    pub plain: String,
    /// Its label's number.
    pub label: usize,
}

/// All texts, part by part ([`crate::dataset`]).
pub struct Texts {
    /// Texts to be learned.
    pub train: Vec<Text>,
    /// Texts like those.
    pub validation: Vec<Text>,
    /// Texts for accuracy.
    pub test: Vec<Text>,
    /// The attacker's texts.
    pub shadow: Vec<Text>,
    /// How many labels there are.
    pub labels: usize,
    /// Whose words they are.
    pub vocabulary: Arc<Model>,
}

impl Texts {
    /// Cuts all texts of a data set.
    pub fn new(set: &Dataset, vocabulary: &Arc<Model>, threads: usize) -> Texts {
        let part = |documents: &[Document]| {
            parallel::map(threads, documents.len(), |i| cut(&documents[i], vocabulary))
        };
        Texts {
            train: part(&set.train),
            validation: part(&set.validation),
            test: part(&set.test),
            shadow: part(&set.shadow),
            labels: set.labels.len(),
            vocabulary: vocabulary.clone(),
        }
    }

    /// Words from ids, with spaces between.
    pub fn join(&self, ids: &[WordId]) -> String {
        let mut text = String::with_capacity(ids.len() * 6);
        for (i, id) in ids.iter().enumerate() {
            if i > 0 {
                text.push(' ');
            }
            text.push_str(self.vocabulary.vocabulary().word(*id));
        }
        text
    }
}

fn cut(document: &Document, vocabulary: &Model) -> Text {
    let tokens = vocabulary.tokens(&document.text);
    let mut plain = String::with_capacity(document.text.len());
    for (word, original) in &tokens {
        let lower;
        let word = match word {
            Some(id) => vocabulary.vocabulary().word(*id),
            None => {
                lower = original.to_lowercase();
                &lower
            }
        };
        if is_plain(word) {
            plain.push_str(if plain.is_empty() { "" } else { " " });
            plain.push_str(word);
        }
    }
    Text {
        words: tokens.iter().map(|t| t.0).collect(),
        sentences: sentences(&vocabulary.pieces(&document.text), Layout::Keep),
        plain,
        label: document.label,
    }
}

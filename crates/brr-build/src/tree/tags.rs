//! Tags of words, such as parts of speech, from a file.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use crate::error::{Error, Result};
use crate::matrix::Matrix;

/// The most different tags.
const MOST: usize = 64;

/// The tags of words: what a file of lines `word<TAB>tag`, with as many lines for a word as it has tags, says.
#[derive(Clone, Debug, PartialEq)]
pub struct Tags {
    names: Vec<String>,
    of: HashMap<String, Vec<usize>>,
}

impl Tags {
    /// Reads a file.
    pub fn read(path: &Path) -> Result<Tags> {
        let text = std::fs::read_to_string(path).map_err(|source| Error::Read {
            path: path.to_owned(),
            offset: 0,
            source,
        })?;
        Tags::parse(&text).map_err(|reason| Error::Tags {
            path: path.to_owned(),
            reason,
        })
    }

    /// The tags that a text lists.
    pub fn parse(text: &str) -> std::result::Result<Tags, &'static str> {
        let lines = text.lines().filter(|line| !line.is_empty());
        let pairs = lines.map(|line| line.split_once('\t').ok_or("a line has no tab"));
        let pairs: Vec<(&str, &str)> = pairs.collect::<std::result::Result<_, _>>()?;
        let names: BTreeSet<&str> = pairs.iter().map(|(_, tag)| *tag).collect();
        if names.len() > MOST {
            return Err("there are more than 64 different tags");
        }
        let mut of: HashMap<String, Vec<usize>> = HashMap::new();
        for (word, tag) in pairs {
            let tag = names.range(..tag).count();
            let tags = of.entry(word.to_owned()).or_default();
            if !tags.contains(&tag) {
                tags.push(tag);
            }
        }
        Ok(Tags {
            names: names.into_iter().map(str::to_owned).collect(),
            of,
        })
    }

    /// How many of these words have tags.
    pub fn known(&self, words: &[String]) -> usize {
        words
            .iter()
            .filter(|word| self.of.contains_key(*word))
            .count()
    }

    /// Whether two words have a tag in common, if both have tags.
    pub(super) fn agree(&self, a: &str, b: &str) -> Option<bool> {
        let (a, b) = (self.of.get(a)?, self.of.get(b)?);
        Some(a.iter().any(|tag| b.contains(tag)))
    }

    /// A row for each word: the share of each of its tags, scaled to length 1, and nothing for a word without any.
    pub(super) fn rows(&self, words: &[String]) -> Matrix {
        let mut rows = Matrix::zeros(words.len(), self.names.len());
        for (i, word) in words.iter().enumerate() {
            let tags = self.of.get(word).map_or(&[][..], |tags| tags);
            let each = 1.0 / (tags.len().max(1) as f64).sqrt();
            tags.iter().for_each(|&tag| rows.row_mut(i)[tag] = each);
        }
        rows
    }
}

//! ARPA files: how speech recognizers exchange language models.
//!
//! Unigrams and bigrams are read, longer ones are passed over. A word there may be several tokens
//! here ("don't"): its tokens follow each other as often as it occurs.

use std::collections::HashMap;
use std::io::BufRead;
use std::path::Path;

use brr::Model;
use brr::parts::language::State;

use super::Pairs;
use crate::error::{Error, Result};

/// Reads unigrams and bigrams. `path` is for messages.
pub fn read_arpa(model: &Model, path: &Path, input: impl BufRead) -> Result<Pairs> {
    let mut masses = Masses::new(model);
    let (mut order, mut line_number) = (0, 0);
    for line in input.lines() {
        line_number += 1;
        let line = line.map_err(|source| Error::Read {
            path: path.to_owned(),
            offset: 0,
            source,
        })?;
        let bad = || Error::BadArpa {
            path: path.to_owned(),
            line: line_number,
        };
        match line.trim() {
            "" | "\\data\\" => {}
            "\\end\\" => break,
            "\\1-grams:" => order = 1,
            "\\2-grams:" => order = 2,
            section if section.starts_with('\\') => order = 3,
            entry if order == 1 => masses.add_word(entry).ok_or_else(bad)?,
            entry if order == 2 => masses.add_pair(entry).ok_or_else(bad)?,
            _ => {}
        }
    }
    match masses.words.is_empty() {
        true => Err(Error::BadArpa {
            path: path.to_owned(),
            line: line_number,
        }),
        false => Ok(masses.pairs()),
    }
}

/// A word of the file.
struct Word {
    first: State,
    last: State,
    probability: f64,
}

struct Masses<'m> {
    model: &'m Model,
    words: HashMap<String, Word>,
    unigrams: Vec<f64>,
    pairs: HashMap<(State, State), f64>,
}

impl Masses<'_> {
    fn new(model: &Model) -> Masses<'_> {
        Masses {
            model,
            words: HashMap::new(),
            unigrams: vec![0.0; model.vocabulary().len() + 2],
            pairs: HashMap::new(),
        }
    }

    fn states(&self, word: &str) -> Vec<State> {
        let boundary = self.model.vocabulary().len() as State;
        match word {
            "<s>" | "</s>" => vec![boundary],
            _ => {
                let tokens = self.model.tokens(word).into_iter();
                tokens.map(|(w, _)| w.unwrap_or(boundary + 1)).collect()
            }
        }
    }

    /// `log10(P) word [backoff]`. Nothing if it is not that.
    fn add_word(&mut self, entry: &str) -> Option<()> {
        let mut fields = entry.split_ascii_whitespace();
        let (ln, name) = (fields.next()?, fields.next()?);
        let probability = 10f64.powf(ln.parse().ok()?);
        let states = self.states(name);
        let (&first, &last) = (states.first()?, states.last()?);
        for &state in &states {
            self.unigrams[state as usize] += probability;
        }
        for pair in states.windows(2) {
            *self.pairs.entry((pair[0], pair[1])).or_default() += probability;
        }
        let word = Word {
            first,
            last,
            probability,
        };
        self.words.insert(name.to_owned(), word);
        Some(())
    }

    /// `log10(P) word word [backoff]`.
    fn add_pair(&mut self, entry: &str) -> Option<()> {
        let mut fields = entry.split_ascii_whitespace();
        let (ln, before, after) = (fields.next()?, fields.next()?, fields.next()?);
        // A sentence starts as often as one ends.
        let counted = if before == "<s>" { "</s>" } else { before };
        let mass = self.words.get(counted)?.probability * 10f64.powf(ln.parse().ok()?);
        let pair = (self.words.get(before)?.last, self.words.get(after)?.first);
        *self.pairs.entry(pair).or_default() += mass;
        Some(())
    }

    fn pairs(self) -> Pairs {
        let rows = self.unigrams.clone();
        let share = |((u, v), mass)| (u, v, mass / rows[u as usize]);
        let mut pairs: Vec<_> = self.pairs.into_iter().map(share).collect();
        pairs.sort_unstable_by_key(|&(u, v, _)| (u, v));
        Pairs::new(self.unigrams, rows, pairs)
    }
}

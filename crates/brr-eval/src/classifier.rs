//! The fastText supervised classifier, as in the paper: crate `fasttext`.
//!
//! One thread, so that a seed decides every weight.

use std::io::Write;

use fasttext::FastText;
use fasttext::args::Args;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// What fastText takes for a label.
const PREFIX: &str = "__label__";

/// How a classifier is trained.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// Length of the word vectors it learns.
    pub dim: u16,
    /// Passes over the texts.
    pub epochs: u16,
    /// Learning rate.
    pub rate: f64,
    /// Longest run of words that is a feature.
    pub ngrams: u8,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            dim: 10,
            epochs: 5,
            rate: 0.5,
            ngrams: 1,
        }
    }
}

/// A trained classifier.
pub struct Classifier {
    model: FastText,
    labels: usize,
}

impl Classifier {
    /// Learns texts ([plain](is_plain) words with spaces between) with their labels' numbers, in
    /// this order. The texts go through a temporary file, which the crate reads.
    pub fn train<'t>(
        texts: impl Iterator<Item = (&'t str, usize)>,
        labels: usize,
        settings: &Settings,
        seed: i32,
    ) -> Result<Classifier> {
        let temporary = std::env::temp_dir();
        let failed = |e| Error::file("write in", &temporary)(e);
        let mut file = tempfile::NamedTempFile::new().map_err(failed)?;
        let mut out = std::io::BufWriter::new(&mut file);
        for (text, label) in texts {
            writeln!(out, "{PREFIX}{label} {text}").map_err(failed)?;
        }
        out.flush().map_err(failed)?;
        drop(out);
        let mut args = Args {
            word_ngrams: settings.ngrams.into(),
            bucket: 200_000,
            ..Args::default()
        };
        args.apply_supervised_defaults();
        args.input = file.path().to_owned();
        args.dim = settings.dim.into();
        args.epoch = settings.epochs.into();
        args.lr = settings.rate;
        args.thread = 1;
        args.verbose = 0;
        args.seed = seed;
        let model = FastText::train(args).map_err(|e| Error::Classifier(e.to_string()))?;
        Ok(Classifier { model, labels })
    }

    /// The probability of every label.
    pub fn probabilities(&self, text: &str) -> Vec<f64> {
        let mut all = vec![0.0; self.labels];
        for found in self.model.predict(text, self.labels, 0.0) {
            let label = found
                .label
                .strip_prefix(PREFIX)
                .and_then(|l| l.parse::<usize>().ok());
            if let Some(p) = label.and_then(|l| all.get_mut(l)) {
                *p = f64::from(found.prob).clamp(0.0, 1.0);
            }
        }
        all
    }
}

/// Whether a word means to fastText no more than itself.
pub fn is_plain(word: &str) -> bool {
    !word.starts_with(PREFIX) && !word.contains(char::is_whitespace) && !word.contains('\0')
}

/// Share of texts whose likeliest label is theirs.
pub fn accuracy(probabilities: &[Vec<f64>], labels: impl Iterator<Item = usize>) -> f64 {
    let best = |p: &[f64]| (0..p.len()).max_by(|a, b| p[*a].total_cmp(&p[*b]));
    let right = probabilities
        .iter()
        .zip(labels)
        .filter(|(p, l)| best(p) == Some(*l));
    right.count() as f64 / probabilities.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts() -> Vec<(String, usize)> {
        let text = |i: usize| {
            let word = ["good", "bad", "odd"][i % 3];
            (format!("film {word} number{}", i % 7), i % 3)
        };
        (0..300).map(text).collect()
    }

    #[test]
    fn learns_and_a_seed_decides_everything() {
        let texts = texts();
        let train = |seed| {
            let all = texts.iter().map(|(t, l)| (t.as_str(), *l));
            Classifier::train(all, 3, &Settings::default(), seed).unwrap()
        };
        let ask = |c: &Classifier| {
            texts
                .iter()
                .map(|(t, _)| c.probabilities(t))
                .collect::<Vec<_>>()
        };
        let (first, second, other) = (ask(&train(1)), ask(&train(1)), ask(&train(2)));
        assert_eq!(first, second);
        assert_ne!(first, other);
        assert_eq!(accuracy(&first, texts.iter().map(|t| t.1)), 1.0);
        assert!(
            first
                .iter()
                .all(|p| (p.iter().sum::<f64>() - 1.0).abs() < 1e-3)
        );
    }
}

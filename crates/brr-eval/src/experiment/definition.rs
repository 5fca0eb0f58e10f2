//! What an experiment is: a TOML file.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::NamedFamilies;
use crate::classifier;
use crate::dataset::{Dataset, DatasetSource};
use crate::error::{Error, Result};

/// An experiment, as it is written down.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Definition {
    /// What it is called.
    pub name: String,
    /// Seed of the split, of all noise and of every classifier.
    #[serde(default = "one")]
    pub seed: u64,
    /// Trials for each condition.
    #[serde(default = "three")]
    pub trials: usize,
    /// Most texts in each part; all if not given.
    #[serde(default)]
    pub documents: Option<usize>,
    /// Privacy-loss bounds for mechanisms that name no budgets of their own.
    #[serde(default)]
    pub bounds: Vec<f64>,
    /// The same as epsilons of Madlib, as in the paper: each becomes the bound
    /// epsilon * P_avg. Needs vectors.
    #[serde(default)]
    pub madlib_epsilons: Vec<f64>,
    /// How else budgets are chosen.
    #[serde(default)]
    pub budgets: Option<Budgets>,
    /// Whether to measure accuracy on privatized test texts too.
    #[serde(default)]
    pub privatize_test: bool,
    /// The texts.
    pub data: DatasetSource,
    /// The words.
    #[serde(default)]
    pub words: Words,
    /// The classifier.
    #[serde(default)]
    pub classifier: classifier::Settings,
    /// The membership attack.
    #[serde(default)]
    pub membership: Membership,
    /// The attacker who reads context.
    #[serde(default)]
    pub attack: Attack,
    /// The mechanisms.
    #[serde(default)]
    pub mechanism: Vec<Entry>,
}

/// Budgets that are not written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Budgets {
    /// Spread over the bounds at which the mechanism keeps some words and changes others.
    Auto,
}

/// Which words there are.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Words {
    /// Word vectors: all models are built from them, and Madlib uses them.
    pub vectors: Option<PathBuf>,
    /// Take this many words of them.
    pub limit: Option<usize>,
    /// A model file, where there are no vectors; the built-in one if neither.
    pub model: Option<PathBuf>,
    /// The language model of mechanisms with `context`; the built-in one if none.
    pub language: Option<PathBuf>,
}

/// How membership is attacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Membership {
    /// Trials of each condition that are attacked, the first ones; 0 for none.
    pub trials: usize,
    /// Whether to show that the attack works, on a classifier made to overfit.
    pub control: bool,
}

impl Default for Membership {
    fn default() -> Membership {
        Membership {
            trials: usize::MAX,
            control: true,
        }
    }
}

/// How the attacker who reads context is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Attack {
    /// Words of the training part that he is given, privatized, in whole sentences.
    pub words: usize,
    /// Trials of each condition in which he is, the first ones; 0 for none.
    pub trials: usize,
}

impl Default for Attack {
    fn default() -> Attack {
        Attack {
            words: 5000,
            trials: 1,
        }
    }
}

/// A mechanism and its budgets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// `brr`, `exponential`, `tree`, `madlib` or `k-ary`.
    pub name: String,
    /// Code length, where a model is built from vectors.
    #[serde(default = "paper_bits")]
    pub bits: usize,
    /// Binarizer, where a model is built from vectors; the default one if none.
    #[serde(default)]
    pub binarizer: Option<String>,
    /// What it is called in the report.
    #[serde(default)]
    pub label: Option<String>,
    /// Its budgets as bounds.
    #[serde(default)]
    pub bounds: Vec<f64>,
    /// Its budgets as Madlib's epsilons.
    #[serde(default)]
    pub madlib_epsilons: Vec<f64>,
    /// Its budgets as its own epsilons.
    #[serde(default)]
    pub epsilons: Vec<f64>,
    /// How else its budgets are chosen.
    #[serde(default)]
    pub budgets: Option<Budgets>,
    /// Whether its draws are decoded with context.
    #[serde(default)]
    pub context: bool,
    /// Trials, if not as many as the experiment's.
    #[serde(default)]
    pub trials: Option<usize>,
    /// Trials that are attacked, if not as many as the experiment's.
    #[serde(default)]
    pub attacked: Option<usize>,
    /// Use this many training texts only: for what is slow. A baseline on as many
    /// is added.
    #[serde(default)]
    pub documents: Option<usize>,
}

fn one() -> u64 {
    1
}

fn three() -> usize {
    3
}

fn paper_bits() -> usize {
    256
}

/// Mechanisms by name.
pub(super) const NAMES: [&str; 5] = ["brr", "exponential", "tree", "madlib", "k-ary"];

impl Definition {
    /// Reads and checks a definition. Paths in it are relative to its folder.
    pub fn read(path: &Path) -> Result<Definition> {
        let text = std::fs::read_to_string(path).map_err(Error::file("read", path))?;
        Definition::parse(&text, path)
    }

    /// Of a text that comes from this path, in whose folder relative paths begin.
    pub fn parse(text: &str, path: &Path) -> Result<Definition> {
        let mut definition: Definition = toml::from_str(text).map_err(|e| {
            let line = e
                .span()
                .map(|s| text[..s.start.min(text.len())].lines().count().max(1));
            let place = line.map_or(String::new(), |l| format!(" (line {l})"));
            Error::data(path, format!("{}{place}", e.message().replace('\n', " ")))
        })?;
        let folder = path.parent().unwrap_or(Path::new("."));
        let data = &mut definition.data;
        data.path = folder.join(&data.path);
        data.test_path = data.test_path.as_ref().map(|p| folder.join(p));
        let words = &mut definition.words;
        words.vectors = words.vectors.as_ref().map(|p| folder.join(p));
        words.model = words.model.as_ref().map(|p| folder.join(p));
        words.language = words.language.as_ref().map(|p| folder.join(p));
        definition.check().map_err(|e| match e {
            Error::Settings(problem) => Error::data(path, problem),
            other => other,
        })?;
        Ok(definition)
    }

    fn check(&self) -> Result<()> {
        let wrong = |why: String| Err(Error::Settings(why));
        if self.mechanism.is_empty() {
            return wrong("there is no [[mechanism]]: name at least one".into());
        }
        if self.trials == 0 || self.mechanism.iter().any(|e| e.trials == Some(0)) {
            return wrong("trials must be at least 1".into());
        }
        if self.words.vectors.is_some() && self.words.model.is_some() {
            return wrong("[words] names vectors and a model: give one of them".into());
        }
        for entry in &self.mechanism {
            if !NAMES.contains(&entry.name.as_str()) {
                return wrong(format!(
                    "{:?} is not a mechanism: use one of {}",
                    entry.name,
                    NAMES.join(", ")
                ));
            }
            if self.budgets(entry).is_empty() && !self.is_auto(entry) {
                return wrong(format!(
                    "mechanism {:?} has no budgets: give bounds, epsilons, madlib_epsilons or budgets = \"auto\", to it or to the experiment",
                    entry.name
                ));
            }
            if entry.context && entry.name == "madlib" {
                return wrong(
                    "mechanism \"madlib\" has no context: how likely its draws are is not known"
                        .into(),
                );
            }
            let needs_vectors = entry.name == "madlib"
                || self
                    .budgets(entry)
                    .iter()
                    .any(|b| matches!(b, Wanted::MadlibEpsilon(_)));
            if needs_vectors && self.words.vectors.is_none() {
                return wrong(format!(
                    "mechanism {:?} needs word vectors: set vectors under [words]",
                    entry.name
                ));
            }
        }
        let all = self.mechanism.iter().flat_map(|e| self.budgets(e));
        if let Some(bad) = all.map(Wanted::value).find(|v| !v.is_finite() || *v <= 0.0) {
            return wrong(format!(
                "{bad} is not a budget: bounds and epsilons are positive numbers"
            ));
        }
        Ok(())
    }

    /// The budgets of a mechanism: its own, or else the experiment's.
    pub(super) fn budgets(&self, entry: &Entry) -> Vec<Wanted> {
        let list = |bounds: &[f64], madlib: &[f64], own: &[f64]| -> Vec<Wanted> {
            let bounds = bounds.iter().map(|b| Wanted::Bound(*b));
            let madlib = madlib.iter().map(|e| Wanted::MadlibEpsilon(*e));
            bounds
                .chain(madlib)
                .chain(own.iter().map(|e| Wanted::Epsilon(*e)))
                .collect()
        };
        let own = list(&entry.bounds, &entry.madlib_epsilons, &entry.epsilons);
        if own.is_empty() {
            list(&self.bounds, &self.madlib_epsilons, &[])
        } else {
            own
        }
    }

    /// Whether budgets are spread over a mechanism's useful range, besides those that are written
    /// down for it.
    pub(super) fn is_auto(&self, entry: &Entry) -> bool {
        let own = [&entry.bounds, &entry.madlib_epsilons, &entry.epsilons];
        let none = own.iter().all(|list| list.is_empty());
        entry.budgets.is_some() || none && self.budgets.is_some()
    }

    /// Tells experiments apart whose trials must not be mixed. Mechanisms,
    /// budgets and numbers of trials may change: their trials have keys.
    pub(super) fn fingerprint(&self, set: &Dataset, families: &NamedFamilies) -> String {
        let mut hash = Sha256::new();
        for part in [
            &set.fingerprint,
            &families.words_fingerprint(),
            &format!(
                "{} {:?} {:?} {:?}",
                self.seed, self.documents, self.privatize_test, self.classifier
            ),
        ] {
            hash.update(part.as_bytes());
            hash.update([0]);
        }
        hash.finalize()[..8]
            .iter()
            .map(|b| format!("{b:02x}"))
            .collect()
    }
}

/// A budget as it was asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Wanted {
    Bound(f64),
    MadlibEpsilon(f64),
    Epsilon(f64),
}

impl Wanted {
    fn value(self) -> f64 {
        match self {
            Wanted::Bound(x) | Wanted::MadlibEpsilon(x) | Wanted::Epsilon(x) => x,
        }
    }
}

//! What an experiment found, condition by condition.

use std::collections::HashMap;

use serde::Serialize;

use super::attackers::Attacked;
use super::conditions::{Condition, Treatment};
use super::{Definition, NamedFamilies, Texts, Trial};
use crate::classifier;
use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::interval::{Binomial, Estimate};
use crate::membership::Leak;
use crate::reconstruction::Recovered;

/// The share of accuracy above chance that a recommended budget keeps.
const ENOUGH: f64 = 0.95;

/// Where and with what it was run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Machine {
    /// The processor.
    pub cpu: String,
    /// Its cores, as far as this program may use them.
    pub cores: usize,
    /// The operating system.
    pub system: String,
    /// Version of brr.
    pub brr: String,
    /// The source's commit, if known.
    pub commit: String,
}

/// A condition and what its trials found.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    /// The mechanism's name in the report.
    pub label: String,
    /// Training texts.
    pub documents: usize,
    /// Trials made.
    pub trials: usize,
    /// Epsilon in the mechanism's own metric.
    pub epsilon: Option<f64>,
    /// That metric.
    pub metric: Option<String>,
    /// Loss at the average pair of words.
    pub bound: Option<f64>,
    /// Mean loss between a word and its nearest neighbour.
    pub nearest: Option<f64>,
    /// Loss at the worst pair.
    pub worst: Option<f64>,
    /// Epsilon of Madlib with the same bound.
    pub madlib_epsilon: Option<f64>,
    /// Accuracy on test texts.
    pub accuracy: Estimate,
    /// Accuracy on test texts privatized alike.
    pub accuracy_privatized: Option<Estimate>,
    /// The membership attacker's area under the curve.
    pub auc: Option<Estimate>,
    /// The same for the attack by confidence alone.
    pub auc_of_confidence: Option<Estimate>,
    /// What an attacker recovers who sees one word at a time, mean over trials.
    pub recovered: Option<Recovered>,
    /// What an attacker names who reads context, mean over the trials in which he was tried.
    pub context: Option<Attacked>,
    /// Words privatized for training, in each trial.
    pub words: usize,
    /// Mean time to privatize a word with one thread, in microseconds.
    pub microseconds_per_word: Option<f64>,
}

impl Outcome {
    /// The share of words that the strongest attacker names who was tried: the one who reads context, or else
    /// Bayes' who sees one word at a time.
    pub fn named(&self) -> Option<f64> {
        let context = self.context.as_ref().and_then(|c| c.on("all"));
        let bayes = self.recovered.map(|r| r.bayes);
        context.map(|s| s.context).or(bayes)
    }
}

/// An accuracy, and the bound at which each mechanism reaches it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Level {
    /// The accuracy.
    pub accuracy: f64,
    /// Mechanism and bound, between its conditions; none if it never does.
    pub bounds: Vec<(String, Option<f64>)>,
}

/// All of it.
#[derive(Clone, Debug, Serialize)]
pub struct Results {
    /// The experiment's name.
    pub name: String,
    /// Its seed.
    pub seed: u64,
    /// Whether the texts were halved by the seed, for want of official halves.
    pub halved: bool,
    /// How many texts each part has.
    pub parts: Vec<(String, usize)>,
    /// The labels.
    pub labels: Vec<String>,
    /// Words of the training part.
    pub words: usize,
    /// Words in the vocabulary.
    pub vocabulary: usize,
    /// The classifier.
    pub classifier: classifier::Settings,
    /// Madlib's average distance of two words, if there are vectors.
    pub madlib_average: Option<f64>,
    /// Where it was run.
    pub machine: Machine,
    /// Condition by condition.
    pub outcomes: Vec<Outcome>,
}

impl Results {
    pub(super) fn new(
        definition: &Definition,
        set: &Dataset,
        texts: &Texts,
        families: &NamedFamilies,
        conditions: &[Condition],
        trials: &HashMap<(String, usize), Trial>,
    ) -> Results {
        let average = families.space().map(|s| s.pair_distances().average);
        let mut outcomes: Vec<Outcome> = conditions
            .iter()
            .filter_map(|condition| {
                let done: Vec<&Trial> = (0..condition.trials)
                    .filter_map(|t| trials.get(&(condition.key.clone(), t)))
                    .collect();
                (!done.is_empty()).then(|| outcome(condition, &done, texts.test.len(), average))
            })
            .collect();
        let place = |label: &str| {
            families
                .iter()
                .position(|s| s.label == label)
                .map_or(0, |p| p + 1)
        };
        outcomes.sort_by(|a, b| {
            let key = |o: &Outcome| (std::cmp::Reverse(o.documents), place(&o.label));
            key(a)
                .cmp(&key(b))
                .then(a.bound.unwrap_or(0.0).total_cmp(&b.bound.unwrap_or(0.0)))
        });
        Results {
            name: definition.name.clone(),
            seed: definition.seed,
            halved: set.halved,
            parts: set
                .parts()
                .map(|(name, part)| (name.to_owned(), part.len()))
                .to_vec(),
            labels: set.labels.clone(),
            words: texts.train.iter().map(|t| t.words.len()).sum(),
            vocabulary: texts.vocabulary.vocabulary().len(),
            classifier: definition.classifier,
            madlib_average: average,
            machine: Machine::default(),
            outcomes,
        }
    }

    /// Sizes of training parts that were used by a mechanism, largest first.
    pub fn sizes(&self) -> Vec<usize> {
        let mut sizes: Vec<usize> = self
            .outcomes
            .iter()
            .filter(|o| o.bound.is_some())
            .map(|o| o.documents)
            .collect();
        sizes.sort_unstable_by(|a, b| b.cmp(a));
        sizes.dedup();
        sizes
    }

    /// The mechanisms with `documents` training texts, in the report's order.
    pub fn labels_of(&self, documents: usize) -> Vec<&str> {
        let mut labels: Vec<&str> = Vec::new();
        for o in self.of(documents).filter(|o| o.bound.is_some()) {
            if !labels.contains(&o.label.as_str()) {
                labels.push(&o.label);
            }
        }
        labels
    }

    /// The conditions with `documents` training texts.
    pub fn of(&self, documents: usize) -> impl Iterator<Item = &Outcome> {
        self.outcomes
            .iter()
            .filter(move |o| o.documents == documents)
    }

    /// The baseline with `documents` training texts.
    pub fn baseline(&self, documents: usize) -> Option<&Outcome> {
        self.of(documents).find(|o| o.label == "original text")
    }

    /// The bound at which `label` first reaches an accuracy, drawn straight
    /// between its conditions over the logarithm of the bound.
    pub fn bound_at(&self, documents: usize, label: &str, accuracy: f64) -> Option<f64> {
        let line: Vec<(f64, f64)> = self
            .of(documents)
            .filter(|o| o.label == label)
            .filter_map(|o| Some((o.bound?, o.accuracy.value)))
            .collect();
        let at = line.iter().position(|p| p.1 >= accuracy)?;
        let Some(before) = at.checked_sub(1).map(|i| line[i]) else {
            return Some(line[0].0);
        };
        let share = (accuracy - before.1) / (line[at].1 - before.1);
        Some((before.0.ln() + share * (line[at].0 / before.0).ln()).exp())
    }

    /// The bounds at which mechanisms reach some accuracies below the baseline's.
    pub fn levels(&self, documents: usize) -> Vec<Level> {
        let Some(baseline) = self.baseline(documents) else {
            return Vec::new();
        };
        let chance = 1.0 / self.labels.len() as f64;
        [0.98, 0.95, 0.9, 0.8, 0.6]
            .map(|share| chance + share * (baseline.accuracy.value - chance))
            .into_iter()
            .map(|accuracy| {
                let bounds = self
                    .labels_of(documents)
                    .into_iter()
                    .map(|l| (l.to_owned(), self.bound_at(documents, l, accuracy)));
                Level {
                    accuracy,
                    bounds: bounds.collect(),
                }
            })
            .collect()
    }

    /// The condition to start from: of those that keep `ENOUGH` of the accuracy that the original
    /// text has above chance, the one at which an attacker names the fewest words.
    pub fn recommended(&self, documents: usize) -> Option<&Outcome> {
        let baseline = self.baseline(documents)?.accuracy.value;
        let chance = 1.0 / self.labels.len() as f64;
        let enough = chance + ENOUGH * (baseline - chance);
        let good = self.of(documents).filter(|o| o.accuracy.value >= enough);
        let good: Vec<_> = good.filter(|o| o.named().is_some()).collect();
        // Where one was attacked with context, those that were not cannot be compared with it.
        let read = |o: &&&Outcome| o.context.is_some();
        let compared = good.iter().filter(read).count();
        let good = good.iter().filter(|o| compared == 0 || read(o));
        let named = |o: &Outcome| o.named().unwrap_or(1.0);
        good.min_by(|a, b| named(a).total_cmp(&named(b))).copied()
    }

    /// The same in sentences, or that there is none.
    pub fn recommendation(&self, documents: usize) -> String {
        let percent = |share: f64| format!("{:.1} %", 100.0 * share);
        let kept = format!("{:.0} % of the accuracy above chance", 100.0 * ENOUGH);
        let (Some(o), Some(baseline)) = (self.recommended(documents), self.baseline(documents))
        else {
            return format!(
                "No budget tried keeps {kept}: try larger ones (budgets = \"auto\"), or more texts."
            );
        };
        format!(
            "To start with: {} at epsilon {} (bound {}). Of the conditions that keep {kept}, it is the one at \
             which {} names the fewest words: {}. The classifier is \
             right in {} of test texts, {} without privacy.",
            o.label,
            told(o.epsilon.unwrap_or_default(), 4),
            told(o.bound.unwrap_or_default(), 2),
            match o.context {
                Some(_) => "an attacker who reads context",
                None => "an attacker who sees one output word at a time",
            },
            percent(o.named().unwrap_or_default()),
            percent(o.accuracy.value),
            percent(baseline.accuracy.value)
        )
    }

    /// A row for every condition, as comma-separated values.
    pub fn csv(&self) -> Result<String> {
        let mut out = csv::Writer::from_writer(Vec::new());
        let failed = |e: csv::Error| Error::Settings(format!("writing CSV: {e}"));
        out.write_record(CSV_HEAD).map_err(failed)?;
        for o in &self.outcomes {
            out.write_record(csv_row(o)).map_err(failed)?;
        }
        let bytes = out
            .into_inner()
            .map_err(|e| Error::Settings(format!("writing CSV: {e}")))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

const CSV_HEAD: [&str; 31] = [
    "mechanism",
    "documents",
    "trials",
    "epsilon",
    "metric",
    "bound",
    "nearest",
    "worst",
    "madlib_epsilon",
    "accuracy",
    "accuracy_low",
    "accuracy_high",
    "accuracy_privatized",
    "auc",
    "auc_low",
    "auc_high",
    "auc_of_confidence",
    "recovered_as_is",
    "recovered_bayes",
    "recovered_bayes_rare",
    "recovered_blind",
    "unknown",
    "attacked_words",
    "context",
    "context_content",
    "context_names",
    "context_rare",
    "context_weak",
    "alone",
    "words",
    "microseconds_per_word",
];

fn csv_row(o: &Outcome) -> Vec<String> {
    let some = |x: Option<f64>| x.map_or(String::new(), |x| format!("{x:.6}"));
    let recovered = |pick: fn(&Recovered) -> f64| some(o.recovered.as_ref().map(pick));
    let on = |class: &str| o.context.as_ref().and_then(|c| c.on(class));
    let context = |class: &str| some(on(class).map(|s| s.context));
    let weak = o.context.as_ref().and_then(|c| c.weak_on("all"));
    vec![
        o.label.clone(),
        o.documents.to_string(),
        o.trials.to_string(),
        some(o.epsilon),
        o.metric.clone().unwrap_or_default(),
        some(o.bound),
        some(o.nearest),
        some(o.worst),
        some(o.madlib_epsilon),
        some(Some(o.accuracy.value)),
        some(Some(o.accuracy.low)),
        some(Some(o.accuracy.high)),
        some(o.accuracy_privatized.map(|e| e.value)),
        some(o.auc.map(|e| e.value)),
        some(o.auc.map(|e| e.low)),
        some(o.auc.map(|e| e.high)),
        some(o.auc_of_confidence.map(|e| e.value)),
        recovered(|r| r.as_is),
        recovered(|r| r.bayes),
        recovered(|r| r.bayes_rare),
        recovered(|r| r.blind),
        recovered(|r| r.unknown),
        on("all").map_or(String::new(), |s| s.words.to_string()),
        context("all"),
        context("content"),
        context("names"),
        context("rare"),
        some(weak.map(|s| s.context)),
        some(on("all").map(|s| s.alone)),
        o.words.to_string(),
        some(o.microseconds_per_word),
    ]
}

fn outcome(
    condition: &Condition,
    trials: &[&Trial],
    tests: usize,
    average: Option<f64>,
) -> Outcome {
    let g = condition.guarantee();
    let g = g.as_ref();
    let privatized = matches!(condition.treatment, Treatment::Privatized(..));
    let over = |pick: &dyn Fn(&Trial) -> Option<f64>| -> Vec<f64> {
        trials.iter().filter_map(|t| pick(t)).collect()
    };
    let mean = |pick: &dyn Fn(&Trial) -> Option<f64>| {
        let values = over(pick);
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    };
    // The accuracy of one trial has the test texts' own uncertainty, no other is known.
    let share = |values: &[f64]| {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let texts = Binomial::new((mean * tests as f64).round() as u64, tests as u64).estimate();
        match values {
            [_] => texts,
            _ => Estimate::of_trials_on_texts(values, (texts.high - texts.low) / 2.0).clamped(),
        }
    };
    let leaks: Vec<Leak> = trials.iter().filter_map(|t| t.membership).collect();
    let recovered = |pick: fn(&Recovered) -> f64| mean(&|t| t.recovered.as_ref().map(pick));
    let accuracy_privatized = over(&|t| t.accuracy_privatized);
    Outcome {
        label: condition.label.clone(),
        documents: condition.documents,
        trials: trials.len(),
        epsilon: g.map(|g| g.epsilon),
        metric: g.map(|g| g.metric.to_string()),
        bound: g.map(|g| g.bound()),
        nearest: g.map(|g| g.nearest()),
        worst: g.map(|g| g.worst()),
        madlib_epsilon: g.zip(average).map(|(g, average)| g.bound() / average),
        accuracy: share(&over(&|t| Some(t.accuracy))),
        accuracy_privatized: (!accuracy_privatized.is_empty()).then(|| share(&accuracy_privatized)),
        auc: match &leaks[..] {
            [] => None,
            [one] => Some(one.estimate()),
            many => {
                let aucs: Vec<f64> = many.iter().map(|l| l.auc).collect();
                let half = many.iter().map(|l| l.half).sum::<f64>() / many.len() as f64;
                Some(Estimate::of_trials_on_texts(&aucs, half).clamped())
            }
        },
        auc_of_confidence: (!leaks.is_empty()).then(|| {
            Estimate::of_trials(
                &leaks
                    .iter()
                    .map(|l| l.auc_of_confidence)
                    .collect::<Vec<_>>(),
            )
            .clamped()
        }),
        recovered: recovered(|r| r.as_is).map(|as_is| Recovered {
            as_is,
            bayes: recovered(|r| r.bayes).unwrap_or(0.0),
            bayes_rare: recovered(|r| r.bayes_rare).unwrap_or(0.0),
            blind: recovered(|r| r.blind).unwrap_or(0.0),
            unknown: recovered(|r| r.unknown).unwrap_or(0.0),
        }),
        context: {
            let read: Vec<_> = trials.iter().filter_map(|t| t.context.as_ref()).collect();
            Attacked::mean(&read)
        },
        words: trials[0].words,
        microseconds_per_word: if privatized {
            mean(&|t| Some(1e6 * t.seconds / t.words.max(1) as f64))
        } else {
            None
        },
    }
}

/// With so many digits after the point, or with as many as tell it from 0.
fn told(value: f64, digits: usize) -> String {
    match value {
        small if small < 0.005 => format!("{small:.3e}"),
        _ => format!("{value:.digits$}"),
    }
}

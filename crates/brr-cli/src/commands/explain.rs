//! `brr explain`: what becomes of a word.

use std::path::PathBuf;

use brr::{Budget, Choice, Error, MechanismKind};
use brr_eval::explain::{ExplainOptions, Explanation, explain};
use serde_json::json;

use crate::failure::{Failure, Result};
use crate::families::{FamilyArg, subject};
use crate::losses;
use crate::model_source;
use crate::progress::Stages;
use crate::usage::{positive, share, whole};

/// Show what a word may become, how likely, and from which words it is hardest to tell
#[derive(clap::Args)]
#[command(after_help = "Examples:
  brr explain doctor diabetes
  brr explain doctor --keep 0.3
  brr explain doctor --mechanism k-ary --epsilon 10.4

One of --epsilon, --bound and --keep says how much privacy; without them it is --keep 0.5, as
for `brr privatize`.")]
pub struct Args {
    /// Words of the model
    #[arg(value_name = "WORD", required = true)]
    words: Vec<String>,
    /// Model file [default: built-in English]
    #[arg(short, long, value_name = "FILE")]
    model: Option<PathBuf>,
    /// Mechanism to explain
    #[arg(long, value_enum, default_value = MechanismKind::default().name())]
    mechanism: FamilyArg,
    /// Privacy loss per unit of the mechanism's distance: a bit of the code for brr and
    /// exponential, a level of the tree for tree, the length of vectors for madlib, 1 between any
    /// two words for k-ary
    #[arg(long, value_name = "E", group = "budget", value_parser = positive)]
    epsilon: Option<f64>,
    /// Privacy loss at the average pair of words: epsilon times their average distance
    #[arg(long, value_name = "C", group = "budget", value_parser = positive)]
    bound: Option<f64>,
    /// Largest expected share of words that stay as they are, between 0 and 1 [default: 0.5, if
    /// no budget is given]
    #[arg(long, value_name = "P", group = "budget", value_parser = share)]
    keep: Option<f64>,
    /// Vectors that the model was built from, for madlib
    #[arg(long, value_name = "FILE")]
    vectors: Option<PathBuf>,
    /// Number of outputs to list
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = whole::<usize, 1, 1_000_000_000>)]
    count: usize,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

impl Args {
    /// The budget asked for, or the default.
    fn budget(&self) -> Budget {
        let epsilon = self.epsilon.map(Budget::Epsilon);
        let bound = self.bound.map(Budget::Bound);
        let asked = epsilon.or(bound).or(self.keep.map(Budget::Keep));
        asked.unwrap_or(Budget::DEFAULT)
    }
}

pub fn run(args: Args) -> Result {
    let model = model_source::open_checked(args.model.as_deref())?;
    let stages = Stages::new();
    let subject = subject(args.mechanism, &model, args.vectors.as_deref(), &stages)?;
    let mechanism = subject.family.for_budget(args.budget());
    let mechanism = mechanism.map_err(|error| match error {
        Error::NoCalibration { mechanism } => Failure::Usage(format!(
            "--keep is not known for {mechanism} on this model: give --epsilon or --bound"
        )),
        error => error.into(),
    })?;
    let options = ExplainOptions {
        outputs: args.count,
        ..ExplainOptions::default()
    };
    let mut explanations = Vec::new();
    for (i, word) in args.words.iter().enumerate() {
        let id = model
            .find(word)
            .ok_or_else(|| unknown(i, args.words.len()))?;
        stages.show("explaining", i as f64 / args.words.len() as f64);
        explanations.push(explain(
            &*mechanism,
            &model,
            id,
            &subject.similarity,
            &options,
        ));
    }
    stages.finish();
    let guarantee = mechanism.guarantee();
    if args.json {
        let facts = json!({
            "mechanism": mechanism.name(),
            "epsilon": guarantee.epsilon,
            "metric": guarantee.metric.to_string(),
            "bound": guarantee.bound(),
            "losses": guarantee.losses,
            "words": explanations,
        });
        println!("{facts:#}");
        return Ok(());
    }
    println!(
        "{} with epsilon {} on {}: bound {:.1} at the average pair of words",
        mechanism.name(),
        losses::epsilon(guarantee.epsilon),
        guarantee.metric,
        guarantee.bound()
    );
    if !guarantee.losses.is_empty() {
        println!("{}", by_level(&guarantee.losses));
    }
    explanations.iter().for_each(print);
    Ok(())
}

/// A word that is not in the model may be private: it is told by its place.
fn unknown(index: usize, of: usize) -> Failure {
    let which = match of {
        1 => "the WORD".to_owned(),
        _ => format!("WORD {} of {of}", index + 1),
    };
    Failure::Usage(format!(
        "{which} is not in the model, so it would become a uniformly random word; try another"
    ))
}

fn print(e: &Explanation) {
    println!("\n{}", e.sentences().join(" "));
    println!("  becomes");
    for o in &e.outputs {
        let p = o.probability;
        let interval = if p.is_exact() {
            String::new()
        } else {
            format!("  ({:.4} to {:.4})", p.low, p.high)
        };
        let bar = "#".repeat((p.value * 40.0).round() as usize);
        println!("    {:<20} {:.4}{interval}  {bar}", o.word, p.value);
    }
    println!("    {:<20} {:.4}", "any other word", e.others);
    println!(
        "  hardest to tell from (how often an attacker tells the two apart; 0.5 is a coin toss)"
    );
    for c in &e.confusable {
        println!(
            "    {:<20} {:.3}  (at most {:.3} by the guarantee; distance {:.0})",
            c.word, c.attacker.value, c.attacker_at_most, c.distance
        );
    }
}

/// The loss at each level of a tree, rounded up.
fn by_level(losses: &[f64]) -> String {
    let level =
        |(level, loss): (usize, &f64)| format!("{level}: {:.2}", (loss * 100.0).ceil() / 100.0);
    let all: Vec<String> = losses.iter().enumerate().map(level).collect();
    format!(
        "loss at most, by the level of two words in the tree: {}",
        all.join(", ")
    )
}

//! `brr explain`: what becomes of a word.

use std::path::PathBuf;

use brr::{Budget, Choice, MechanismKind};
use brr_eval::explain::{ExplainOptions, Explanation, explain};
use serde_json::json;

use crate::failure::{Failure, Result};
use crate::families::{FamilyArg, subject};
use crate::model_source;
use crate::progress::Stages;
use crate::usage::{positive, share};

/// Show what a word may become, how likely, and from which words it is hardest to tell
#[derive(clap::Args)]
#[command(after_help = "Examples:
  brr explain doctor diabetes
  brr explain doctor --mechanism k-ary --epsilon 10.4")]
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
    /// exponential, the length of vectors for madlib, 1 between any two words for k-ary
    #[arg(long, value_name = "E", group = "budget", allow_negative_numbers = true, value_parser = positive)]
    epsilon: Option<f64>,
    /// Privacy loss at the average pair of words: epsilon times their average distance
    #[arg(long, value_name = "C", group = "budget", allow_negative_numbers = true, value_parser = positive)]
    bound: Option<f64>,
    /// Largest expected share of words that stay as they are, between 0 and 1 [default: 0.5, if
    /// no budget is given]
    #[arg(long, value_name = "P", group = "budget", allow_negative_numbers = true, value_parser = share)]
    keep: Option<f64>,
    /// Vectors that the model was built from, for madlib
    #[arg(long, value_name = "FILE")]
    vectors: Option<PathBuf>,
    /// Number of outputs to list
    #[arg(long, value_name = "N", default_value_t = 10)]
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
    stages.finish();
    let mechanism = subject.family.for_budget(args.budget())?;
    let options = ExplainOptions {
        outputs: args.count,
        ..ExplainOptions::default()
    };
    let mut explanations = Vec::new();
    for word in &args.words {
        let id = model.find(word).ok_or_else(|| {
            Failure::Usage(
                "a WORD is not in the model, so it would become a random word; try another".into(),
            )
        })?;
        explanations.push(explain(
            &*mechanism,
            &model,
            id,
            &subject.similarity,
            &options,
        ));
    }
    let guarantee = mechanism.guarantee();
    if args.json {
        let facts = json!({
            "mechanism": mechanism.name(),
            "epsilon": guarantee.epsilon,
            "metric": guarantee.metric.to_string(),
            "bound": guarantee.bound(),
            "words": explanations,
        });
        println!("{facts:#}");
        return Ok(());
    }
    println!(
        "{} with epsilon {:.4} on {}: bound {:.1} at the average pair of words",
        mechanism.name(),
        guarantee.epsilon,
        guarantee.metric,
        guarantee.bound()
    );
    explanations.iter().for_each(print);
    Ok(())
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

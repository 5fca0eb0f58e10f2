//! `brr explain`: what becomes of a word.

use std::path::PathBuf;
use std::sync::Arc;

use brr::explain::{Chance, InText, in_text};
use brr::{Budget, Choice, Error, MechanismKind, Model, Options, Privatizer};
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
  brr explain doctor --context \"the doctor told me to rest\"

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
    /// Explain the words as they leave this text if it is decoded with context, by the built-in
    /// language model: what leaves then depends on the words around
    #[arg(long, value_name = "TEXT", conflicts_with = "vectors")]
    context: Option<String>,
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
    if let Some(text) = &args.context {
        return run_in_context(&args, model, text);
    }
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
    println!(
        "\nThis is what is drawn. If a text is decoded with context, what leaves depends on the words around: see --context."
    );
    Ok(())
}

/// Texts that are drawn to explain one.
const TEXTS: usize = 1000;

/// What leaves for words of a text that is decoded.
fn run_in_context(args: &Args, model: Arc<Model>, text: &str) -> Result {
    let kind = args.mechanism.shipped().ok_or_else(|| {
        Failure::Usage("--context: madlib has no form that is decoded with context".into())
    })?;
    let mut wanted = Vec::new();
    for (i, word) in args.words.iter().enumerate() {
        let id = model.find(word);
        wanted.push(id.ok_or_else(|| unknown(i, args.words.len()))?);
    }
    let language = model_source::open_language(None, &model)?;
    let options = Options::default()
        .with_mechanism(kind)
        .with_budget(args.budget())
        .with_context(Some(Arc::new(language)));
    let privatizer = Privatizer::new(model, options)?;
    let found = in_text(&privatizer, text, args.count, TEXTS)?;
    let found: Vec<&InText> = found.iter().filter(|f| wanted.contains(&f.word)).collect();
    if let Some(i) = wanted
        .iter()
        .position(|&w| found.iter().all(|f| f.word != w))
    {
        return Err(Failure::Usage(format!(
            "WORD {} of {} does not stand in the text of --context",
            i + 1,
            wanted.len()
        )));
    }
    if args.json {
        let words: Vec<_> = found.iter().map(|f| in_json(&privatizer, f)).collect();
        let facts = json!({
            "mechanism": kind.name(),
            "epsilon": privatizer.guarantee().epsilon,
            "language": privatizer.options().context.as_ref().map(|l| l.file_identity().to_string()),
            "texts": TEXTS,
            "words": words,
        });
        println!("{facts:#}");
        return Ok(());
    }
    losses::statement(&privatizer)
        .iter()
        .for_each(|line| println!("{line}"));
    println!(
        "Decoded with context after the noise: a plausible text, not what was written; the loss is the same."
    );
    found.iter().for_each(|f| print_in_text(&privatizer, f));
    Ok(())
}

fn in_json(privatizer: &Privatizer, found: &InText) -> serde_json::Value {
    let vocabulary = privatizer.model().vocabulary();
    let chance = |c: &Chance| json!({"value": c.probability, "low": c.low, "high": c.high});
    let likely = found.likely.iter();
    let outputs =
        likely.map(|l| json!({"word": vocabulary.word(l.word), "probability": chance(&l.chance)}));
    json!({
        "word": vocabulary.word(found.word),
        "drawn_as_it_was": chance(&found.drawn),
        "stays": chance(&found.stays),
        "outputs": outputs.collect::<Vec<_>>(),
    })
}

fn print_in_text(privatizer: &Privatizer, found: &InText) {
    let vocabulary = privatizer.model().vocabulary();
    let percent = |c: &Chance| {
        let [p, low, high] = [c.probability, c.low, c.high].map(|p| 100.0 * p);
        format!("{p:.0} % ({low:.0} to {high:.0})")
    };
    println!(
        "\n\"{}\" in this text is drawn as it was in {} and leaves as it was in {} of {TEXTS} texts.",
        vocabulary.word(found.word),
        percent(&found.drawn),
        percent(&found.stays)
    );
    println!("  leaves as");
    for l in &found.likely {
        let bar = "#".repeat((l.chance.probability * 40.0).round() as usize);
        println!(
            "    {:<20} {:.3}  ({:.3} to {:.3})  {bar}",
            vocabulary.word(l.word),
            l.chance.probability,
            l.chance.low,
            l.chance.high
        );
    }
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
    if e.others_alike {
        return;
    }
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

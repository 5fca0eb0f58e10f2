//! `brr ratio`: epsilons of two metrics made comparable (Sec. 5, App. A).

use std::path::{Path, PathBuf};

use brr::Metric;
use brr::parts::distances::PairDistances;
use brr::parts::epsilon::Epsilon;
use brr_eval::ratio::{Comparison, Equivalent, Side, compare};

use crate::failure::{Failure, Result};
use crate::families::{self, Words};
use crate::input;
use crate::losses;
use crate::output::is_standard;
use crate::progress::Stages;
use crate::usage::positive;

/// Convert an epsilon from one model or vector file to another, by equal privacy loss
///
/// A and B are models (Hamming distance) or vector files (Euclidean distance). The tree mechanism's
/// epsilon is per level of the model's tree, and k-ary response's is of any two words: say so
/// with `--metric-a` and `--metric-b`. Prints P_avg and P_max of both, exactly, over all pairs of words.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  Which epsilon of 256-bit BRR equals Madlib's 8?
    brr ratio glove.txt english.brr --epsilon 8
  Which epsilon per bit equals 0.85 per level of the tree?
    brr ratio english.brr english.brr --epsilon 0.85 --metric-a tree")]
pub struct Args {
    /// Model or vector file whose epsilon is given
    #[arg(value_name = "A")]
    a: PathBuf,
    /// Model or vector file whose epsilon is sought
    #[arg(value_name = "B")]
    b: PathBuf,
    /// Epsilon for A
    #[arg(long, value_name = "E", value_parser = positive)]
    epsilon: f64,
    /// Metric that A's epsilon is of
    #[arg(long, value_name = "METRIC", default_value = "own")]
    metric_a: Of,
    /// Metric that B's epsilon is of
    #[arg(long, value_name = "METRIC", default_value = "own")]
    metric_b: Of,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

/// Which metric over a file's words is meant.
#[derive(Clone, Copy, clap::ValueEnum)]
enum Of {
    /// Hamming distance of a model's codes, Euclidean distance of vectors
    Own,
    /// Level of two words in a model's tree
    Tree,
    /// 1 between any two words
    Discrete,
}

pub fn run(args: Args) -> Result {
    let stages = Stages::new();
    let a = side(&args.a, args.metric_a, &stages)?;
    let b = side(&args.b, args.metric_b, &stages)?;
    stages.finish();
    let comparison = compare(a, b, Epsilon::new(args.epsilon)?);
    if args.json {
        println!("{:#}", serde_json::json!(comparison));
    } else {
        print(&comparison);
    }
    Ok(())
}

fn side(path: &Path, of: Of, stages: &Stages) -> Result<Side> {
    let name = match is_standard(path) {
        true => input::STANDARD.to_owned(),
        false => path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned(),
    };
    let words = families::open(path, stages)?;
    let (own, distances, count) = match &words {
        Words::Model(m) => (m.metric(), m.pair_distances(), m.vocabulary().len()),
        Words::Vectors(s) => {
            let dim = s.vectors().dim;
            (Metric::Euclidean { dim }, s.pair_distances(), s.len())
        }
    };
    let (metric, distances) = match (of, &words) {
        (Of::Own, _) => (own, distances),
        (Of::Discrete, _) => (Metric::Discrete, PairDistances::discrete(count)),
        (Of::Tree, words) => {
            let tree = match words {
                Words::Model(model) => model.tree(),
                Words::Vectors(_) => None,
            };
            let none = "a file whose metric shall be `tree` has no tree; `brr build` makes one";
            let tree = tree.ok_or_else(|| Failure::Usage(none.into()))?;
            let levels = tree.levels();
            (Metric::Tree { levels }, tree.pair_distances())
        }
    };
    Ok(Side::new(&name, metric, count, &distances))
}

fn print(c: &Comparison) {
    let names = [&c.a.name, &c.b.name];
    let width = names
        .map(|n| n.chars().count())
        .into_iter()
        .max()
        .unwrap_or(0);
    println!(
        "{:<width$} {:>14} {:>8} {:>12} {:>12} {:>12}",
        "", "metric", "words", "P_avg", "P_max", "nearest"
    );
    for side in [&c.a, &c.b] {
        println!(
            "{:<width$} {:>14} {:>8} {:>12.4} {:>12.4} {:>12.4}",
            side.name, side.metric, side.words, side.average, side.maximum, side.nearest
        );
    }
    println!();
    println!(
        "epsilon {} of {} equals, for {}:",
        c.epsilon, c.a.name, c.b.name
    );
    let line = |what: &str, e: Option<Equivalent>| match e {
        Some(e) => println!(
            "  epsilon {:<10} by {what} (ratio {}, loss {})",
            losses::epsilon(e.epsilon),
            losses::epsilon(e.ratio),
            losses::bound(e.loss)
        ),
        None => println!("  nothing by {what}: one side's is 0"),
    };
    line("the average pair, P_avg", c.by_average);
    line("the farthest pair, P_max", c.by_maximum);
    line("the nearest neighbour (not in the paper)", c.by_nearest);
}

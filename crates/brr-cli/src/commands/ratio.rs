//! `brr ratio`: epsilons of two metrics made comparable (Sec. 5, App. A).

use std::path::{Path, PathBuf};

use brr::Metric;
use brr::parts::epsilon::Epsilon;
use brr_eval::ratio::{Comparison, Equivalent, Side, compare};

use crate::failure::Result;
use crate::families::{self, Words};
use crate::progress::Stages;
use crate::usage::positive;

/// Convert an epsilon from one model or vector file to another, by equal privacy loss
///
/// A and B are models (Hamming distance) or vector files (Euclidean distance).
/// Prints P_avg and P_max of both, exactly, over all pairs of words.
#[derive(clap::Args)]
#[command(after_help = "Example: which epsilon of 256-bit BRR equals Madlib's 8?
  brr ratio glove.txt english.brr --epsilon 8")]
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
    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

pub fn run(args: Args) -> Result {
    let stages = Stages::new();
    let (a, b) = (side(&args.a, &stages)?, side(&args.b, &stages)?);
    stages.finish();
    let comparison = compare(a, b, Epsilon::new(args.epsilon)?);
    if args.json {
        println!("{:#}", serde_json::json!(comparison));
    } else {
        print(&comparison);
    }
    Ok(())
}

fn side(path: &PathBuf, stages: &Stages) -> Result<Side> {
    let name = Path::file_name(path).map_or(String::new(), |n| n.to_string_lossy().into_owned());
    Ok(match families::open(path, stages)? {
        Words::Model(m) => Side::new(&name, m.metric(), m.vocabulary().len(), &m.pair_distances()),
        Words::Vectors(s) => {
            let metric = Metric::Euclidean {
                dim: s.vectors().dim,
            };
            Side::new(&name, metric, s.len(), &s.pair_distances())
        }
    })
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
            "  epsilon {:<10.6} by {what} (ratio {:.6}, loss {:.3})",
            e.epsilon, e.ratio, e.loss
        ),
        None => println!("  nothing by {what}: one side's is 0"),
    };
    line("the average pair, P_avg", c.by_average);
    line("the farthest pair, P_max", c.by_maximum);
    line("the nearest neighbour (not in the paper)", c.by_nearest);
}

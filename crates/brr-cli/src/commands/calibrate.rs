//! `brr calibrate`: what an epsilon does to words, and which epsilon to choose.

use std::path::PathBuf;

use brr::{Choice, MechanismKind};
use brr_eval::calibrate::{self, BOUNDS, Solution, Step, Table, Target};
use brr_eval::channel::Sampling;
use brr_eval::interval::Estimate;
use brr_eval::report;
use serde_json::json;

use crate::failure::{Failure, Result};
use crate::families::{FamilyArg, subject};
use crate::model_source;
use crate::output::write_whole;
use crate::progress::Stages;
use crate::usage::{positive, share, whole};

/// Show what a mechanism does to words over a range of bounds, and solve for epsilon
///
/// Prints for each privacy-loss bound: epsilon, the share of words that stay (N_w),
/// the number of words that hold 95 % of the output (S_w), the similarity of changed
/// words to the original, and how often the best attacker without context names a
/// word from its output alone.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  brr calibrate
  brr calibrate --mechanism brr exponential k-ary --keep 0.75
  brr calibrate --max-guess 0.3 --html choose.html")]
pub struct Args {
    /// Model file [default: built-in English]
    #[arg(value_name = "MODEL")]
    model: Option<PathBuf>,
    /// Mechanism to look at; several are allowed, for comparison
    #[arg(long, value_enum, num_args = 1.., default_value = MechanismKind::default().name())]
    mechanism: Vec<FamilyArg>,
    /// Vectors that the model was built from, for the cosine column and for madlib
    #[arg(long, value_name = "FILE")]
    vectors: Option<PathBuf>,
    /// Privacy-loss bounds to look at [default: 1 to 90]
    #[arg(long, value_name = "C", num_args = 1.., value_parser = positive)]
    bounds: Vec<f64>,
    /// Find the largest epsilon that keeps at most this share of words, counted by use
    #[arg(long, value_name = "P", allow_negative_numbers = true, value_parser = share)]
    keep: Option<f64>,
    /// Find the largest epsilon at which the attacker names at most this share of words
    #[arg(long, value_name = "P", allow_negative_numbers = true, value_parser = share)]
    max_guess: Option<f64>,
    /// Number of words to simulate
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = whole::<u32, 2, 1_000_000_000>)]
    words: u32,
    /// Number of draws for each simulated word
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = whole::<u32, 2, 1_000_000_000>)]
    draws: u32,
    /// Seed of the simulation
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Write a page with charts to this file
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

pub fn run(args: Args) -> Result {
    let model = model_source::open_checked(args.model.as_deref())?;
    let stages = Stages::new();
    let plan = Sampling {
        words: args.words as usize,
        draws: args.draws as usize,
        seed: args.seed,
        ..Sampling::default()
    };
    let bounds = if args.bounds.is_empty() {
        &BOUNDS[..]
    } else {
        &args.bounds
    };
    let targets = [
        args.keep.map(Target::Keep),
        args.max_guess.map(Target::MaxGuess),
    ];
    let (mut tables, mut solutions) = (Vec::new(), Vec::new());
    for &mechanism in &args.mechanism {
        let s = subject(mechanism, &model, args.vectors.as_deref(), &stages)?;
        let name = format!("ladder of {}", s.family.name());
        let progress = |done| stages.show(&name, done);
        tables.push(calibrate::table(
            &*s.family,
            bounds,
            &s.similarity,
            &plan,
            &progress,
        )?);
        for &target in targets.iter().flatten() {
            let name = format!("solving for {}", s.family.name());
            let progress = |done| stages.show(&name, done);
            let solution = calibrate::solve(&*s.family, target, &s.similarity, &plan, &progress)?;
            solutions.push((
                s.family.name(),
                solution.ok_or_else(|| out_of_reach(target))?,
            ));
        }
    }
    stages.finish();
    if let Some(path) = &args.html {
        let found: Vec<Solution> = solutions.iter().map(|(_, s)| s.clone()).collect();
        write_whole(path, report::calibration(&tables, &found).as_bytes(), true)?;
    }
    if args.json {
        let solutions: Vec<_> = solutions
            .iter()
            .map(|(m, s)| json!({"mechanism": m, "solution": s}))
            .collect();
        println!("{:#}", json!({"tables": tables, "solutions": solutions}));
    } else {
        tables.iter().for_each(print_table);
        for (mechanism, solution) in &solutions {
            println!("{mechanism}: {}", report::solution_text(solution));
        }
    }
    Ok(())
}

fn out_of_reach(target: Target) -> Failure {
    let flag = match target {
        Target::Keep(_) => "--keep",
        Target::MaxGuess(_) => "--max-guess",
    };
    Failure::Usage(format!(
        "{flag}: no bound from 0.05 to 500 reaches that; ask for another share"
    ))
}

fn shown(e: Estimate) -> String {
    if e.is_exact() {
        format!("{:.3}", e.value)
    } else {
        format!("{:.3} ±{:.3}", e.value, (e.high - e.low) / 2.0)
    }
}

fn print_table(table: &Table) {
    let first = table.steps.first();
    let how = match first.map(|s| s.summary.exact) {
        Some(true) => "computed exactly".to_owned(),
        _ => format!(
            "simulated: {} words, {} draws each, seed {}; ± is half a 95 % interval",
            table.plan.words, table.plan.draws, table.plan.seed
        ),
    };
    println!(
        "{} ({}, {} words), {how}",
        table.mechanism, table.metric, table.words
    );
    println!(
        "{:>7} {:>9} {:>8}  {:>14} {:>14}  {:>17} {:>8}  {:>8} {:>8}  {:>14}",
        "bound",
        "epsilon",
        "nearest",
        "stay (by use)",
        "stay (each)",
        "quartiles",
        "S_w",
        "bits",
        "cosine",
        "attacker"
    );
    table.steps.iter().for_each(print_step);
    println!();
}

fn print_step(s: &Step) {
    let some = |e: Option<Estimate>, digits: usize| {
        e.map_or("-".into(), |e| format!("{:.digits$}", e.value))
    };
    let (m, spread) = (&s.summary, &s.summary.keep_spread);
    println!(
        "{:>7.2} {:>9.5} {:>8.2}  {:>14} {:>14}  {:.3} {:.3} {:.3} {:>8}  {:>8} {:>8}  {:>14}",
        s.bound,
        s.epsilon,
        s.nearest,
        shown(m.keep_by_use),
        shown(m.keep),
        spread.lower_quartile,
        spread.median,
        spread.upper_quartile,
        format!(
            "{}{:.0}",
            if m.outputs.at_least { ">" } else { "" },
            m.outputs.mean
        ),
        some(m.changed_hamming, 1),
        some(m.changed_cosine, 3),
        m.guess_by_use.map_or("-".into(), |g| shown(g.success)),
    );
}

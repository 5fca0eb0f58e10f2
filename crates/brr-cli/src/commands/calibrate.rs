//! `brr calibrate`: what an epsilon does to words, and which epsilon to choose.

use std::path::PathBuf;
use std::sync::Arc;

use brr::parts::parallel::cores;
use brr::{Budget, Choice, MechanismKind, Model, Options, Privatizer};
use brr_eval::attack::Sample;
use brr_eval::calibrate::{self, Solution, Step, Table, Target, useful_bounds};
use brr_eval::channel::{OutputSets, Sampling, Spread};
use brr_eval::interval::Estimate;
use brr_eval::report;
use serde_json::json;

use crate::failure::{Failure, Result};
use crate::families::{FamilyArg, Subject, subject};
use crate::losses;
use crate::model_source;
use crate::output::WholeFile;
use crate::progress::Stages;
use crate::usage::{positive, share, whole};

/// Show what a mechanism does to words over a range of bounds, and solve for epsilon
///
/// With --keep or --max-guess, finds the epsilon that meets it and says what it does. Otherwise,
/// and with --ladder, shows a range of privacy-loss bounds: epsilon, the share of words that stay
/// (N_w), the number of words that hold 95 % of the output (S_w), the similarity of changed words
/// to the original, and how many words of a public sample an attacker names who reads whole
/// sentences with a public language model, and how many the best one who sees one output word.
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
    /// Privacy-loss bounds of the ladder [default: those at which 5 to 97 % of words stay]
    #[arg(long, value_name = "C", num_args = 1.., value_parser = positive)]
    bounds: Vec<f64>,
    /// Show the ladder beside the answer to --keep or --max-guess; --bounds and --html imply it
    #[arg(long)]
    ladder: bool,
    /// Find the largest epsilon that keeps at most this share of words, counted by use
    #[arg(long, value_name = "P", value_parser = share)]
    keep: Option<f64>,
    /// Find the largest epsilon at which an attacker who reads whole sentences, with a public
    /// language model, names at most this share of the words of a public sample. For a model with
    /// other words than the built-in language model's: one who sees one output word
    #[arg(long, value_name = "P", value_parser = share)]
    max_guess: Option<f64>,
    /// Number of words to simulate
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = whole::<u32, 2, 1_000_000_000>)]
    words: u32,
    /// Number of draws for each simulated word
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = whole::<u32, 2, 1_000_000_000>)]
    draws: u32,
    /// Seed of the simulation
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = whole::<u64, 0, { u64::MAX }>)]
    seed: u64,
    /// Write a page with charts to this file
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Replace the page if it exists
    #[arg(long)]
    force: bool,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

pub fn run(args: Args) -> Result {
    let page = args.html.as_deref();
    let page = page.map(|path| WholeFile::create(path, args.force));
    let page = page.transpose()?;
    let page_alone = page.as_ref().is_some_and(WholeFile::is_stdout);
    if page_alone && args.json {
        return Err(Failure::Usage(
            "--html: `-` is standard output, which has the JSON object: name a file".into(),
        ));
    }
    let model = model_source::open_checked(args.model.as_deref())?;
    let stages = Stages::new();
    let plan = Sampling {
        words: args.words as usize,
        draws: args.draws as usize,
        seed: args.seed,
        ..Sampling::default()
    };
    let targets = [
        args.keep.map(Target::Keep),
        args.max_guess.map(Target::MaxGuess),
    ];
    let targets: Vec<Target> = targets.into_iter().flatten().collect();
    let ladder = targets.is_empty() || args.ladder || !args.bounds.is_empty();
    let mut subjects = Vec::new();
    for &mechanism in &args.mechanism {
        let vectors = args.vectors.as_deref();
        subjects.push(subject(mechanism, &model, vectors, &stages)?);
    }
    let sample = sample(&model);
    let mut solutions = Vec::new();
    for s in &subjects {
        for &target in &targets {
            let solution = solve(s, target, &plan, sample.as_ref(), &stages)?;
            if !args.json && !page_alone {
                let text = report::solution_text(&solution);
                stages.print(&format!("{}: {text}", s.family.name()));
                if let Some(decoded) = decoded(&model, s.family.name(), target) {
                    stages.print(&decoded);
                }
            }
            solutions.push((s.family.name(), solution));
        }
    }
    let mut tables = Vec::new();
    if ladder || page.is_some() {
        for s in &subjects {
            tables.push(table(s, &args.bounds, &plan, sample.as_ref(), &stages)?);
        }
    }
    stages.finish();
    if let Some(page) = page {
        let found: Vec<Solution> = solutions.iter().map(|(_, s)| s.clone()).collect();
        page.finish_with(report::calibration(&tables, &found).as_bytes())?;
    }
    if page_alone {
        // Standard output has the page.
    } else if args.json {
        let solutions: Vec<_> = solutions
            .iter()
            .map(|(m, s)| json!({"mechanism": m, "solution": s}))
            .collect();
        println!("{:#}", json!({"tables": tables, "solutions": solutions}));
    } else if ladder {
        print_tables(&tables);
    }
    Ok(())
}

/// The built-in sample, if the built-in language model is for the model's words.
fn sample(model: &Arc<Model>) -> Option<Sample> {
    let language = brr_english::language().ok()?;
    Sample::new(model.clone(), &language, brr_english::SAMPLE).ok()
}

/// What the same share costs where text is decoded with context, if that is known of the mechanism: the shares
/// above are of words as they are drawn.
fn decoded(model: &Arc<Model>, mechanism: &str, target: Target) -> Option<String> {
    let Target::Keep(keep) = target else {
        return None;
    };
    let mechanism = MechanismKind::parse(mechanism).ok()?;
    let options = Options::default()
        .with_mechanism(mechanism)
        .with_budget(Budget::Keep(keep))
        .with_context(Some(Arc::new(brr_english::language().ok()?)));
    let privatizer = Privatizer::new(model.clone(), options).ok()?;
    let guarantee = privatizer.guarantee();
    Some(format!(
        "That is of words as they are drawn. Text that is decoded with context, as typed text is by default, has that share at epsilon {} already: loss at most {:.1} per word.",
        losses::epsilon(guarantee.epsilon),
        guarantee.worst_token()
    ))
}

fn solve(
    s: &Subject,
    target: Target,
    plan: &Sampling,
    sample: Option<&Sample>,
    stages: &Stages,
) -> Result<Solution> {
    let name = format!("solving for {}", s.family.name());
    let progress = |done| stages.show(&name, done);
    let solution = calibrate::solve(&*s.family, target, &s.similarity, plan, sample, &progress)?;
    solution.ok_or_else(|| out_of_reach(target))
}

fn table(
    s: &Subject,
    bounds: &[f64],
    plan: &Sampling,
    sample: Option<&Sample>,
    stages: &Stages,
) -> Result<Table> {
    let name = format!("ladder of {}", s.family.name());
    stages.show(&name, 0.0);
    let useful = match bounds {
        [] => useful_bounds(&*s.family, cores())?,
        _ => bounds.to_vec(),
    };
    let progress = |done| stages.show(&name, done);
    let table = calibrate::table(&*s.family, &useful, &s.similarity, plan, sample, &progress)?;
    Ok(table)
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

fn print_tables(tables: &[Table]) {
    tables.iter().for_each(print_table);
    println!("{LEGEND}");
    for text in tables.iter().filter_map(report::recommendation) {
        println!("\n{text}");
    }
}

const LEGEND: &str = "\
bound     largest loss at the average pair of words: epsilon times their average distance
nearest   largest loss between a word and its nearest neighbour, mean over words
stay      share of words that stay as they are: by use, frequent words count more; each, every
          word counts once; quartiles, over words
S_w       number of words that hold 95 % of a word's output
bits      bits in which the code of a changed word differs from the original's
cosine    cosine of a changed word's vector with the original's, if there are --vectors
attacker  share of words of a public sample (46 messages) named by an attacker who reads whole
          sentences, with a public language model; ± is half a 95 % interval. One with texts like
          those under attack names more
one word  share of words named by an attacker who sees one output word and knows how often words
          are used: the best one where computed exactly, a simulated one otherwise";

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
    let line = |cell: &dyn Fn(&Column) -> String| {
        let cells = COLUMNS.iter().map(|c| format!("{:>1$}", cell(c), c.1));
        println!("{}", cells.collect::<String>());
    };
    line(&|column| column.0.to_owned());
    for step in &table.steps {
        line(&|column| column.2(step));
    }
    println!();
}

/// Heading, width and cell of a step.
type Column = (&'static str, usize, fn(&Step) -> String);

const COLUMNS: [Column; 11] = [
    ("bound", 9, |s| losses::bound(s.bound)),
    ("epsilon", 10, |s| losses::epsilon(s.epsilon)),
    ("nearest", 9, |s| losses::bound(s.nearest)),
    ("stay (by use)", 16, |s| shown(s.summary.keep_by_use)),
    ("stay (each)", 15, |s| shown(s.summary.keep)),
    ("quartiles", 19, |s| quartiles(&s.summary.keep_spread)),
    ("S_w", 9, |s| size(&s.summary.outputs)),
    ("bits", 10, |s| mean(s.summary.changed_hamming, 1)),
    ("cosine", 9, |s| mean(s.summary.changed_cosine, 3)),
    ("attacker", 15, |s| s.context.map_or("-".into(), shown)),
    ("one word", 16, |s| {
        let guess = s.summary.guess_by_use;
        guess.map_or("-".into(), |g| shown(g.success))
    }),
];

fn quartiles(k: &Spread) -> String {
    format!(
        "{:.3} {:.3} {:.3}",
        k.lower_quartile, k.median, k.upper_quartile
    )
}

fn size(sets: &OutputSets) -> String {
    let more = if sets.at_least { ">" } else { "" };
    format!("{more}{:.0}", sets.mean)
}

fn mean(e: Option<Estimate>, digits: usize) -> String {
    e.map_or("-".into(), |e| format!("{:.digits$}", e.value))
}

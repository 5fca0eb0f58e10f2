//! `brr evaluate`: what privacy costs on labelled texts.

use std::path::{Path, PathBuf};
use std::process::Command;

use brr::parts::parallel::cores;
use brr_eval::experiment::{self, Definition, ExperimentStage, Machine, Results};
use brr_eval::report;

use crate::failure::{Failure, Result};
use crate::input;
use crate::output::{self, is_standard, write_whole};
use crate::progress::Stages;
use crate::usage::whole;

/// Measure what privacy costs: accuracy and attacks on labelled texts, as a report
///
/// Runs every mechanism of an experiment at every budget, several times:
/// privatizes the training texts, trains a classifier on them, measures its
/// accuracy, and attacks both the classifier and the texts. Finished trials are
/// kept, so that the same command continues an interrupted run, or runs only what
/// was added to the experiment.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  brr evaluate experiments/small/experiment.toml
  brr evaluate experiments/imdb/experiment.toml --output imdb-results

An experiment is a TOML file; docs/evaluation.md explains it. The folder gets
report.html, results.json, results.csv, accuracy.svg and trials.jsonl.")]
pub struct Args {
    /// Experiment to run
    #[arg(value_name = "EXPERIMENT.toml")]
    definition: PathBuf,
    /// Folder for the results [default: `results` beside the experiment]
    #[arg(short, long, value_name = "FOLDER")]
    output: Option<PathBuf>,
    /// Number of threads [default: all cores]; results do not depend on it
    #[arg(long, value_name = "N", value_parser = whole::<u16, 1, 65_535>)]
    threads: Option<u16>,
}

/// Trials from which on Student's factor is no longer far from that of many: 12.7 with 2, 4.3 with 3, 2.8
/// with 5, 1.96 with many.
const ENOUGH_TRIALS: usize = 5;

pub fn run(args: Args) -> Result {
    output::want_folder("--output", args.output.as_deref())?;
    let definition = definition(&args.definition)?;
    let beside = match args.definition.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    };
    let folder = args.output.unwrap_or_else(|| beside.join("results"));
    let threads = args.threads.map_or_else(cores, usize::from);
    let stages = Stages::new();
    let progress = |stage: ExperimentStage<'_>| match stage {
        ExperimentStage::Preparing(what, share) => stages.show(what, share),
        ExperimentStage::Trials(done, all) => {
            stages.show(
                &format!("trials ({done} of {all})"),
                done as f64 / all.max(1) as f64,
            );
        }
        ExperimentStage::Note(text) => stages.say(text),
        _ => {}
    };
    let built_in = experiment::BuiltIn {
        model: brr_english::model,
        language: brr_english::language,
        lists: |model| {
            let function = brr_english::list("function-words", model);
            [function.ok(), brr_english::proper_nouns(model).ok()]
        },
    };
    let mut results = experiment::run(&definition, &folder, built_in, threads, &progress)?;
    stages.finish();
    results.machine = machine(&beside);
    write(&results, &folder)?;
    print(&results, &folder);
    Ok(())
}

/// Paths in an experiment that comes from standard input begin at the folder that brr was called in.
fn definition(path: &Path) -> Result<Definition> {
    if !is_standard(path) {
        return Ok(Definition::read(path)?);
    }
    let text = String::from_utf8(input::bytes(path)?);
    let text = text.map_err(|_| Failure::Failed(format!("{} is not UTF-8", input::STANDARD)))?;
    Ok(Definition::parse(&text, Path::new(input::STANDARD))?)
}

fn write(results: &Results, folder: &Path) -> Result {
    let json = serde_json::to_string_pretty(results)
        .map_err(|e| Failure::Failed(format!("results: {e}")))?;
    let whole = |name: &str, text: &str| write_whole(&folder.join(name), text.as_bytes(), true);
    whole("results.json", &(json + "\n"))?;
    whole("results.csv", &results.csv()?)?;
    if let Some(picture) = report::evaluation_picture(results) {
        whole("accuracy.svg", &picture)?;
    }
    whole("report.html", &report::evaluation(results))
}

fn print(results: &Results, folder: &Path) {
    let some = |x: Option<f64>, digits: usize| x.map_or("-".into(), |x| format!("{x:.digits$}"));
    let outcomes = &results.outcomes;
    // Only where it was asked for.
    let privatized_test = outcomes.iter().any(|o| o.accuracy_privatized.is_some());
    let private = |cell: &str| match privatized_test {
        true => format!(" {cell:>12}"),
        false => String::new(),
    };
    println!(
        "{:<24} {:>8} {:>8} {:>9} {:>7} {:>9} {:>15}{} {:>7} {:>7} {:>8}",
        "mechanism",
        "texts",
        "bound",
        "epsilon",
        "nearest",
        "accuracy",
        "95 % interval",
        private("private test"),
        "AUC",
        "Bayes",
        "attacker"
    );
    for o in outcomes {
        println!(
            "{:<24} {:>8} {:>8} {:>9} {:>7} {:>9.4} {:>15}{} {:>7} {:>7} {:>8}",
            o.label,
            o.documents,
            some(o.bound, 2),
            some(o.epsilon, 4),
            some(o.nearest, 2),
            o.accuracy.value,
            format!("{:.3} to {:.3}", o.accuracy.low, o.accuracy.high),
            private(&some(o.accuracy_privatized.map(|e| e.value), 4)),
            some(o.auc.map(|e| e.value), 3),
            some(o.recovered.map(|r| r.bayes), 3),
            some(
                o.context
                    .as_ref()
                    .and_then(|c| c.on("all"))
                    .map(|s| s.context),
                3
            ),
        );
    }
    for documents in results.sizes() {
        println!(
            "\n{documents} training texts. {}",
            results.recommendation(documents)
        );
    }
    if outcomes
        .iter()
        .any(|o| o.bound.is_some() && o.trials < ENOUGH_TRIALS)
    {
        tell!(
            "brr: some conditions have fewer than {ENOUGH_TRIALS} trials: where trials differ, their intervals are several times wider than those of {ENOUGH_TRIALS}"
        );
    }
    tell!("report: {}", folder.join("report.html").display());
}

/// What the results were made with.
fn machine(beside: &Path) -> Machine {
    let cpu = std::fs::read_to_string("/proc/cpuinfo")
        .ok()
        .and_then(|text| {
            let line = text.lines().find(|l| l.starts_with("model name"))?;
            Some(line.split_once(':')?.1.trim().to_owned())
        });
    let folder = if beside.as_os_str().is_empty() {
        Path::new(".")
    } else {
        beside
    };
    let git = Command::new("git")
        .args(["describe", "--always", "--dirty", "--abbrev=12"])
        .current_dir(folder)
        .output();
    let commit = git
        .ok()
        .filter(|o| o.status.success())
        .map(|o| String::from_utf8_lossy(&o.stdout).trim().to_owned());
    Machine {
        cpu: cpu.unwrap_or_else(|| std::env::consts::ARCH.to_owned()),
        cores: cores(),
        system: std::env::consts::OS.to_owned(),
        brr: env!("CARGO_PKG_VERSION").to_owned(),
        commit: commit.unwrap_or_else(|| "unknown".into()),
    }
}

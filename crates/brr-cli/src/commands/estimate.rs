//! `brr estimate`: what words were in privatized texts, on the server's side.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufRead, BufReader, IsTerminal, Write};
use std::path::{Path, PathBuf};

use brr::{Budget, Choice, MechanismKind, Model, Options, Privatizer};
use brr_corpus::manifest::SCHEMA;
use brr_eval::estimate::{
    Count, Documents, Effort, EstimateOptions, Estimates, Prior, WordChannel, estimate,
};
use serde_json::{Value, json};

use crate::failure::{Failure, Result};
use crate::model_source;
use crate::privacy::PrivacyArgs;
use crate::progress::Stages;
use crate::usage::{Refused, share};

/// Estimate word frequencies of the original texts from their privatized form
///
/// The mechanism is public, so its noise can be removed from the counts over many texts
/// (not from any one text). Give model, mechanism and budget as they were given to
/// `brr privatize`, or the manifest of that run. Prints one line per word: the estimated
/// number of occurrences, a 95 % interval (experiments/estimate measures how often it
/// holds), and how often the word was received.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  brr estimate --keep 0.4 --input private.txt --top 100
  brr estimate --manifest run.json < private.txt > words.tsv
  brr estimate --mechanism brr --bound 60 --prior public-counts.tsv --input private.txt")]
pub struct Args {
    /// Read privatized documents from this file, one per line [default: standard input]
    #[arg(short, long, value_name = "FILE")]
    input: Option<PathBuf>,
    #[command(flatten)]
    privacy: PrivacyArgs,
    /// Take mechanism, epsilon and share of unknown words from this record of the run
    #[arg(long, value_name = "FILE", conflicts_with_all = ["mechanism", "budget"])]
    manifest: Option<PathBuf>,
    /// Prior distribution of words: `rank` (by the model's order of words), `uniform`, or a
    /// file of public counts, one `word<TAB>count` per line
    #[arg(long, value_name = "rank|uniform|FILE", default_value = "rank")]
    prior: String,
    /// Share of words that the model did not know and that became random words [default:
    /// as in the manifest; otherwise intervals hold for every share that is possible]
    #[arg(long, value_name = "P", value_parser = share_or_none)]
    unknown_share: Option<f64>,
    /// Number of words to print [default: all that are estimated to occur]
    #[arg(long, value_name = "N")]
    top: Option<usize>,
    /// Number of resamplings behind the intervals; fewer than 2 give no intervals
    #[arg(long, value_name = "N", default_value_t = EstimateOptions::default().resamplings)]
    resamplings: usize,
    /// Seed of the simulation and of the resampling
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

/// A share of which 0 is one.
fn share_or_none(text: &str) -> std::result::Result<f64, Refused> {
    match text {
        "0" => Ok(0.0),
        _ => share(text),
    }
}

/// What is known about the run that privatized the texts.
struct Run {
    privatizer: Privatizer,
    /// Number of tokens that the model did not know and that became random words.
    unknown: Option<u64>,
}

pub fn run(args: Args) -> Result {
    let model = model_source::open_checked(args.privacy.model.as_deref())?;
    let run = match &args.manifest {
        Some(path) => from_manifest(path, model.clone())?,
        None => Run {
            privatizer: privatizer(model.clone(), args.privacy.mechanism, args.privacy.budget())?,
            unknown: None,
        },
    };
    let prior = prior(&args.prior, &model)?;
    let documents = read_documents(args.input.as_deref(), &model)?;
    let by_share = |share: f64| (share * documents.total() as f64).round() as u64;
    let unknown = args.unknown_share.map(by_share).or(run.unknown);
    let guarantee = run.privatizer.guarantee();
    eprintln!(
        "brr: taking out the noise of {} with epsilon {:.4} on {}",
        run.privatizer.mechanism().name(),
        guarantee.epsilon,
        guarantee.metric
    );
    let found = estimated(&args, &run.privatizer, &documents, &prior, unknown);
    if !found.solved {
        eprintln!(
            "warning: some words of this model can hardly be told apart; their intervals may be too short"
        );
    }
    if unknown.is_none() {
        eprintln!(
            "brr: intervals hold for up to {:.0} words that the model did not know; give --manifest or --unknown-share for narrower ones",
            found.unknown.1
        );
    }
    print(&args, &model, &documents, &found)
}

fn privatizer(
    model: std::sync::Arc<Model>,
    mechanism: MechanismKind,
    budget: Budget,
) -> Result<Privatizer> {
    let options = Options::default()
        .with_mechanism(mechanism)
        .with_budget(budget);
    Ok(Privatizer::new(model, options)?)
}

/// Sets the mechanism up as a manifest says.
fn from_manifest(path: &Path, model: std::sync::Arc<Model>) -> Result<Run> {
    let failed = |what: &str| {
        Failure::Failed(format!(
            "{}: {what}; give the file that `brr privatize --manifest` wrote",
            path.display()
        ))
    };
    let bytes = std::fs::read(path).map_err(|e| Failure::file("read", path, &e))?;
    let manifest: Value = serde_json::from_slice(&bytes).map_err(|_| failed("not JSON"))?;
    // Manifests before schema 2 named the codes as the model's identity.
    let model_record = &manifest["model"];
    let identity = model_record["codes"].as_str();
    let identity = identity.or(model_record["identity"].as_str());
    if manifest["schema"]
        .as_u64()
        .is_some_and(|found| found > SCHEMA)
    {
        return Err(Failure::Failed(format!(
            "{}: a manifest of a newer brr, and this one reads schema 1 to {SCHEMA}; use that brr",
            path.display()
        )));
    }
    if identity != Some(&model.identity().to_string()) {
        return Err(Failure::Failed(format!(
            "{}: the texts were privatized with another model; give it with --model",
            path.display()
        )));
    }
    let mechanism = manifest["mechanism"].as_str().map(MechanismKind::parse);
    let Some(Ok(mechanism)) = mechanism else {
        return Err(failed("no mechanism that this program knows"));
    };
    let epsilon = manifest["epsilon"].as_f64();
    let epsilon = epsilon.ok_or_else(|| failed("no epsilon"))?;
    // A number may lose its last digit on the way through a file; the mechanism must not
    // fall to the next certificate below for that.
    let privatizer = privatizer(model, mechanism, Budget::Epsilon(epsilon * (1.0 + 1e-12)))?;
    // Textbook weights for an epsilon that textbook weights gave may lie a rounding below it.
    if (privatizer.guarantee().epsilon / epsilon - 1.0).abs() > 1e-4 {
        return Err(failed("no mechanism of this model has its epsilon"));
    }
    let unknown = match manifest["unknown"].as_str() {
        Some("random") => manifest["unknown_words"].as_u64().unwrap_or(0),
        _ => 0,
    };
    Ok(Run {
        privatizer,
        unknown: Some(unknown),
    })
}

fn prior(name: &str, model: &Model) -> Result<Prior> {
    let words = model.vocabulary().len();
    match name {
        "rank" => return Ok(Prior::by_rank(words)),
        "uniform" => return Ok(Prior::uniform(words)),
        _ => {}
    }
    let path = Path::new(name);
    let text = std::fs::read_to_string(path).map_err(|e| Failure::file("read", path, &e))?;
    let mut counts = vec![0.0; words];
    for (number, line) in text.lines().enumerate() {
        let count = line.rsplit_once(['\t', ' ']).and_then(|(word, count)| {
            let count: f64 = count.parse().ok()?;
            (count.is_finite() && count >= 0.0).then_some((word.trim_end(), count))
        });
        let (word, count) = count.ok_or_else(|| {
            Failure::Failed(format!(
                "{}: line {} is not a word, a tab and a count",
                path.display(),
                number + 1
            ))
        })?;
        if let Some(id) = model.find(word) {
            counts[id as usize] += count;
        }
    }
    Prior::from_counts(&counts).ok_or_else(|| {
        Failure::Failed(format!(
            "{}: none of its words with a count is in the model; use --prior rank",
            path.display()
        ))
    })
}

fn read_documents(path: Option<&Path>, model: &Model) -> Result<Documents> {
    let failed = |e: &io::Error| match path {
        Some(path) => Failure::file("read", path, e),
        None => Failure::stream("standard input", e),
    };
    let mut source: Box<dyn BufRead> = match path {
        Some(path) => Box::new(BufReader::new(File::open(path).map_err(|e| failed(&e))?)),
        None => {
            if io::stdin().is_terminal() {
                eprintln!("brr: reading from the keyboard, a document per line; end with Ctrl-D");
            }
            Box::new(io::stdin().lock())
        }
    };
    let mut documents = Documents::new(model.vocabulary().len());
    let (mut line, mut strange) = (Vec::new(), 0);
    while source
        .read_until(b'\n', &mut line)
        .map_err(|e| failed(&e))?
        > 0
    {
        let text = String::from_utf8_lossy(&line);
        let words = model.tokens(&text);
        strange += words.iter().filter(|w| w.0.is_none()).count();
        documents.push(words.into_iter().filter_map(|w| w.0));
        line.clear();
    }
    if documents.total() == 0 {
        return Err(Failure::Failed(
            "the input has no words of this model: give privatized text, a document per line"
                .into(),
        ));
    }
    if strange as u64 > documents.total() {
        return Err(Failure::Failed(
            "most words of the input are not in the model: give the --model that the text was privatized with"
                .into(),
        ));
    }
    Ok(documents)
}

/// Solves for the counts, with progress: there are about as many passes over the channel each
/// time.
fn estimated(
    args: &Args,
    privatizer: &Privatizer,
    documents: &Documents,
    prior: &Prior,
    unknown: Option<u64>,
) -> Estimates {
    let effort = Effort {
        seed: args.seed,
        ..Effort::default()
    };
    let options = EstimateOptions {
        unknown,
        resamplings: args.resamplings,
        seed: args.seed,
        ..EstimateOptions::default()
    };
    let (stages, passes) = (Stages::new(), Cell::new(0));
    let words = privatizer.model().vocabulary().len();
    stages.show("channel", 0.0);
    let channel = WordChannel::of(privatizer.mechanism(), words, &effort);
    let mut channel = channel.over(privatizer.model());
    let found = estimate(&mut channel, documents, prior, &options, &|| {
        passes.set(passes.get() + 1);
        stages.show(
            "estimate",
            f64::from(passes.get()) / (f64::from(passes.get()) + 10.0),
        );
    });
    stages.finish();
    found
}

fn print(args: &Args, model: &Model, documents: &Documents, found: &Estimates) -> Result {
    let mut order: Vec<usize> = (0..found.words.len()).collect();
    order.sort_by(|a, b| {
        let by_estimate = found.words[*b]
            .estimate
            .total_cmp(&found.words[*a].estimate);
        by_estimate.then(a.cmp(b))
    });
    match args.top {
        Some(top) => order.truncate(top),
        None => order.retain(|w| found.words[*w].estimate >= 0.5),
    }
    let word = |w: usize| model.vocabulary().word(w as u32);
    let out = if args.json {
        let count = |c: &Count| json!({"estimate": c.estimate, "low": c.low, "high": c.high});
        let row = |&w: &usize| {
            let mut row = json!({"word": word(w)});
            row["count"] = count(&found.words[w]);
            row["unbiased_count"] = found.words[w].unbiased.into();
            row["raw_count"] = found.words[w].raw.into();
            row
        };
        let facts = json!({
            "documents": documents.len(),
            "words_received": documents.total(),
            "unknown_words": {"low": found.unknown.0, "high": found.unknown.1},
            "solved": found.solved,
            "words": order.iter().map(row).collect::<Vec<_>>(),
        });
        format!("{facts:#}\n")
    } else {
        let mut out = String::from("word\testimate\tlow\thigh\traw_count\n");
        for w in order {
            let c = &found.words[w];
            out.push_str(&format!(
                "{}\t{:.1}\t{:.1}\t{:.1}\t{}\n",
                word(w),
                c.estimate,
                c.low,
                c.high,
                c.raw
            ));
        }
        out
    };
    let mut stdout = io::stdout().lock();
    let written = stdout
        .write_all(out.as_bytes())
        .and_then(|()| stdout.flush());
    written.map_err(|e| Failure::stream("standard output", &e))
}

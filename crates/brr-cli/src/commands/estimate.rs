//! `brr estimate`: what words were in privatized texts, on the server's side.

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
use crate::usage::{Refused, share};

/// Estimate word frequencies of the original texts from their privatized form
///
/// The mechanism is public, so its noise can be removed from the counts over many texts
/// (not from any one text). Give model, mechanism and budget as they were given to
/// `brr privatize`, or the manifest of that run. Prints one line per word: the estimated
/// number of occurrences, a nominal 95 % interval (experiments/estimate measures its
/// coverage), and how often the word was received.
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
    /// as in the manifest, otherwise 0.03]
    #[arg(long, value_name = "P", value_parser = share_or_none)]
    unknown_share: Option<f64>,
    /// Number of words to print [default: all that are estimated to occur]
    #[arg(long, value_name = "N")]
    top: Option<usize>,
    /// Number of resamplings behind the intervals; fewer than 2 give no intervals
    #[arg(long, value_name = "N", default_value_t = 40)]
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
    unknown: Option<f64>,
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
    let start = prior(&args.prior, &model)?;
    let start = match args.unknown_share.or(run.unknown) {
        Some(share) => start.with_unknown(share),
        None => start,
    };
    let documents = read_documents(args.input.as_deref(), &model)?;
    let guarantee = run.privatizer.guarantee();
    eprintln!(
        "brr: taking out the noise of {} with epsilon {:.4} on {}",
        run.privatizer.mechanism().name(),
        guarantee.epsilon,
        guarantee.metric
    );
    let channel = channel(&run.privatizer, args.seed);
    let plan = EstimateOptions {
        resamplings: args.resamplings,
        seed: args.seed,
        ..EstimateOptions::default()
    };
    let found = estimate(&channel, &documents, &start, &plan);
    if found.iterations == 0 || documents.few() {
        eprintln!(
            "brr: {} documents tell little: estimates and intervals lean on the prior (--prior)",
            documents.len()
        );
    }
    print(&args, &model, &documents, start.unknown, &found)
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
    let number = |key: &str| manifest[key].as_f64().unwrap_or(0.0);
    let unknown = match manifest["unknown"].as_str() {
        Some("random") => number("unknown_words") / number("words").max(1.0),
        _ => 0.0,
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
    if strange > documents.total() {
        return Err(Failure::Failed(
            "most words of the input are not in the model: give the --model that the text was privatized with"
                .into(),
        ));
    }
    Ok(documents)
}

/// What the mechanism does to each word: computed where it can be, else simulated.
fn channel(privatizer: &Privatizer, seed: u64) -> WordChannel {
    let (model, mechanism) = (privatizer.model(), privatizer.mechanism());
    let words = model.vocabulary().len();
    let effort = Effort {
        seed,
        ..Effort::default()
    };
    WordChannel::of(mechanism, words, &effort)
}

fn print(
    args: &Args,
    model: &Model,
    documents: &Documents,
    unknown: f64,
    found: &Estimates,
) -> Result {
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
            row["raw_count"] = found.words[w].raw.into();
            row
        };
        let facts = json!({
            "documents": documents.len(),
            "words_received": documents.total(),
            "iterations": found.iterations,
            "unknown_share": unknown,
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

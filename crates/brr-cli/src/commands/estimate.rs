//! `brr estimate`: what words were in privatized texts, on the server's side.

use std::cell::Cell;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use brr::{Model, Options, Privatizer};
use brr_corpus::{Format, Progress, RECORD, RecordProblem, Run, Written};
use brr_estimate::{Count, Documents, EstimateOptions, Estimates, Prior, estimate_texts};
use brr_eval::estimate::seeded;
use serde_json::{Value, json};

use crate::failure::{Failure, Result};
use crate::input;
use crate::losses;
use crate::messages::of_released;
use crate::model_source;
use crate::output::is_standard;
use crate::privacy::PrivacyArgs;
use crate::progress::{self, Stages};
use crate::released::Released;
use crate::usage::{Refused, choice, share, whole};

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
  brr estimate --manifest run.json --input private.csv.zst --top 100
  brr estimate --manifest out/brr-manifest.json --input out/
  brr estimate --mechanism brr --bound 60 --prior public-counts.tsv --input private.txt")]
pub struct Args {
    /// Read what `brr privatize` wrote from this file, or folder [default: standard input]
    #[arg(short, long, value_name = "PATH")]
    input: Option<PathBuf>,
    /// Format of the input [default: as in the manifest; otherwise by the extension, or text,
    /// one document per line]
    #[arg(long, value_name = "FORMAT", value_parser = choice::<Format>())]
    format: Option<Format>,
    /// Column that was privatized; may be given several times [default: as in the manifest]
    #[arg(short, long, value_name = "COLUMN")]
    column: Vec<String>,
    #[command(flatten)]
    privacy: PrivacyArgs,
    /// Take mechanism, epsilon, number of unknown words, format and columns from this record of
    /// the run
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
    #[arg(long, value_name = "N", value_parser = whole::<usize, 1, 1_000_000_000>)]
    top: Option<usize>,
    /// Number of solutions for random signs behind the intervals; fewer than 2 give no intervals
    #[arg(long, value_name = "N", default_value_t = EstimateOptions::default().resamplings, value_parser = whole::<usize, 0, 100_000>)]
    resamplings: usize,
    /// Seed of the simulation and of the signs
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = whole::<u64, 0, { u64::MAX }>)]
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

/// How the texts were privatized.
enum Source {
    Recorded(Written),
    Stated(Privatizer),
}

impl Source {
    fn of(args: &Args, model: Arc<Model>) -> Result<Source> {
        if let Some(path) = &args.manifest {
            return Ok(Source::Recorded(written(path, model)?));
        }
        if let Some(folder) = args.input.as_deref().filter(|path| path.is_dir()) {
            return Err(Failure::Usage(format!(
                "{}: a folder is read by its record: give it with --manifest ({RECORD} in the folder)",
                folder.display()
            )));
        }
        let options = Options::default()
            .with_mechanism(args.privacy.mechanism)
            .with_budget(args.privacy.budget());
        Ok(Source::Stated(Privatizer::new(model, options)?))
    }

    fn privatizer(&self) -> &Privatizer {
        match self {
            Source::Recorded(written) => &written.privatizer,
            Source::Stated(privatizer) => privatizer,
        }
    }
}

pub fn run(mut args: Args) -> Result {
    args.input.take_if(|path| is_standard(path));
    let model = model_source::open_checked(args.privacy.model.as_deref())?;
    let source = Source::of(&args, model.clone())?;
    let prior = prior(&args.prior, &model)?;
    let documents = read_documents(&args, &source)?;
    let unknown = match (args.unknown_share, &source) {
        (Some(share), _) => Some((share * documents.total() as f64).round() as u64),
        (None, Source::Recorded(written)) => {
            let unknown = written.unknown_words(args.input.as_deref());
            Some(unknown.map_err(|problem| unfit(&args, problem))?)
        }
        (None, Source::Stated(_)) => None,
    };
    let privatizer = source.privatizer();
    let guarantee = privatizer.guarantee();
    tell!(
        "brr: taking out the noise of {} with epsilon {} on {}",
        privatizer.mechanism().name(),
        losses::epsilon(guarantee.epsilon),
        guarantee.metric
    );
    let found = estimated(&args, privatizer, &documents, &prior, unknown)?;
    if !found.solved {
        tell!(
            "warning: some words of this model can hardly be told apart; their intervals may be too short"
        );
    }
    if unknown.is_none() {
        tell!(
            "brr: intervals hold for up to {:.0} words that the model did not know; give --manifest or --unknown-share for narrower ones",
            found.unknown.1
        );
    }
    print(&args, &model, &documents, &found)
}

/// What a run wrote, by its manifest.
fn written(path: &Path, model: Arc<Model>) -> Result<Written> {
    let written = read_record(path)?.and_then(|record| Written::of(record, model));
    written.map_err(|problem| told(path, problem))
}

/// The record of a run, if the file is one.
pub fn read_record(path: &Path) -> Result<std::result::Result<Value, RecordProblem>> {
    let bytes = input::bytes(path)?;
    Ok(serde_json::from_slice(&bytes).map_err(|_| RecordProblem::NoRecord))
}

/// A manifest that does not fit, with the way out.
fn told(path: &Path, problem: RecordProblem) -> Failure {
    let way_out = match problem {
        RecordProblem::OtherModel => "; give it with --model",
        RecordProblem::OtherFile => ": give one of them, or their folder, with --input",
        RecordProblem::Newer | RecordProblem::Decoded => "",
        _ => "; give the file that `brr privatize --manifest` wrote",
    };
    Failure::Failed(format!("{} {problem}{way_out}", input::called(path)))
}

fn unfit(args: &Args, problem: RecordProblem) -> Failure {
    told(args.manifest.as_deref().unwrap_or(Path::new("-")), problem)
}

fn prior(name: &str, model: &Model) -> Result<Prior> {
    let words = model.vocabulary().len();
    match name {
        "rank" => return Ok(Prior::by_rank(words)),
        "uniform" => return Ok(Prior::uniform(words)),
        _ => {}
    }
    let path = Path::new(name);
    let text = String::from_utf8(input::bytes(path)?);
    let text =
        text.map_err(|_| Failure::Failed(format!("{} is not UTF-8", input::called(path))))?;
    let mut counts = vec![0.0; words];
    for (number, line) in text.lines().enumerate() {
        let count = line.rsplit_once(['\t', ' ']).and_then(|(word, count)| {
            let count: f64 = count.parse().ok()?;
            (count.is_finite() && count >= 0.0).then_some((word.trim_end(), count))
        });
        let (word, count) = count.ok_or_else(|| {
            Failure::Failed(format!(
                "{}: line {} is not a word, a tab and a count",
                input::called(path),
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
            input::called(path)
        ))
    })
}

/// Counts the words of the texts, which are where the manifest or the options say.
fn read_documents(args: &Args, source: &Source) -> Result<Documents> {
    let model = source.privatizer().model();
    let mut documents = Documents::new(model.vocabulary().len());
    let files = match (source, &args.input) {
        (Source::Recorded(written), Some(place)) => {
            let files = written
                .files(place)
                .map_err(|problem| unfit(args, problem))?;
            files.into_iter().map(Some).collect()
        }
        (_, input) => vec![input.clone()],
    };
    for file in &files {
        read_file(args, source, file.as_deref(), &mut |text| {
            documents.read(model, text);
        })?;
    }
    let checked = documents.check().map_err(|e| Failure::Failed(e.into()));
    checked.map(|()| documents)
}

/// Hands the private texts of a file to `visit`, with progress.
fn read_file(
    args: &Args,
    source: &Source,
    file: Option<&Path>,
    visit: &mut dyn FnMut(&str),
) -> Result {
    let bar = progress::bytes(file.and_then(|p| p.metadata().ok()).map(|m| m.len()));
    let tell = |progress| {
        if let Progress::Bytes(bytes) = progress {
            bar.set_position(bytes);
        }
    };
    let reader = match source {
        Source::Recorded(written) => written.reader(file).map_err(|e| unfit(args, e))?,
        Source::Stated(privatizer) => Run {
            optional_columns: true,
            ..Run::new(privatizer)
        },
    };
    let columns = match args.column.is_empty() {
        true => reader.columns.clone(),
        false => args.column.clone(),
    };
    let reader = Run {
        format: args.format.or(reader.format),
        columns,
        progress: Some(&tell),
        ..reader
    };
    match (source, &args.manifest) {
        (Source::Recorded(written), Some(manifest)) => {
            let released = Released::open(written, input::open(file)?, file, manifest);
            let (input, released) = released.map_err(|e| unfit(args, e))?;
            released.tell_if_other(false)?;
            let read = reader.read(input, visit);
            read.map_err(|e| of_released(e, true))?;
            released.tell_if_other(true)?;
        }
        _ => {
            let read = reader.read(input::open(file)?, visit);
            read.map_err(|e| of_released(e, false))?;
        }
    }
    bar.finish_and_clear();
    Ok(())
}

/// Solves for the counts, with progress: passes over the channel, until another changes nothing.
fn estimated(
    args: &Args,
    privatizer: &Privatizer,
    documents: &Documents,
    prior: &Prior,
    unknown: Option<u64>,
) -> Result<Estimates> {
    let options = EstimateOptions {
        unknown,
        resamplings: args.resamplings,
        seed: args.seed,
        ..EstimateOptions::default()
    };
    let (stages, passes) = (Stages::new(), Cell::new(0));
    let on_pass = || {
        passes.set(passes.get() + 1);
        stages.show_pass("estimate", passes.get());
    };
    stages.show("channel", 0.0);
    let found = estimate_texts(
        privatizer,
        documents,
        prior,
        &options,
        &seeded(args.seed),
        &on_pass,
    );
    stages.finish();
    Ok(found?)
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

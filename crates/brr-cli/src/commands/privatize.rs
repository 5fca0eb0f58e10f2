//! `brr privatize`: text in, privatized text out.

use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::path::{Path, PathBuf};

use brr::mechanism::Search;
use brr::{Budget, Layout, MechanismKind, Options, Privatized, Privatizer, Unknown};
use clap::ValueEnum;
use serde_json::json;

use crate::failure::{Failure, Result};
use crate::output::{Sink, write_whole};
use crate::{model_source, pipeline, progress};

/// Privatize text: from arguments, a file, or standard input (a document per line)
///
/// Every word is replaced by a word drawn from a distribution that depends on
/// it a little; how little is the privacy option. White space and a short list
/// of punctuation are kept, and so is the number of words; nothing else is.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  brr privatize \"the film was a terrible waste of an evening\"
  brr privatize --keep 0.7 < reviews.txt > private.txt
  brr privatize --epsilon 0.6 --input reviews.txt --output private.txt --manifest run.json
  brr privatize --mechanism exponential --bound 16 --json < reviews.txt

With no privacy option, --keep 0.5 applies: about every second word stays.")]
pub struct Args {
    /// The text; several arguments are joined by spaces
    #[arg(value_name = "TEXT", conflicts_with = "input")]
    text: Vec<String>,
    /// Read documents from this file, one per line
    #[arg(short, long, value_name = "FILE")]
    input: Option<PathBuf>,
    /// Write to this file; it appears when it is complete
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace the output file if it is there already
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    privacy: PrivacyArgs,
    /// What of the text's structure is kept
    #[arg(long, value_enum, default_value = "keep")]
    layout: LayoutArg,
    /// What becomes of words that the model does not know
    #[arg(long, value_enum, default_value = "random")]
    unknown: UnknownArg,
    /// How brr finds the nearest word
    #[arg(long, value_enum, default_value = "scan")]
    search: SearchArg,
    /// Threads to use [default: all cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Write a JSON object per document: text, words, epsilon, metric, bound, total_loss
    #[arg(long)]
    json: bool,
    /// Write a record of the run (model, guarantee, counts; never text) to this file
    #[arg(long, value_name = "FILE")]
    manifest: Option<PathBuf>,
    /// Do not say on standard error which guarantee was given
    #[arg(short, long)]
    quiet: bool,
}

/// Model, mechanism and budget: shared by every verb that privatizes.
#[derive(clap::Args)]
pub struct PrivacyArgs {
    /// Model file [default: built-in English]
    #[arg(short, long, value_name = "FILE")]
    pub model: Option<PathBuf>,
    /// How words are drawn
    #[arg(long, value_enum, default_value = "brr")]
    pub mechanism: MechanismArg,
    /// Privacy loss per unit of the mechanism's distance (per bit of the code)
    #[arg(long, value_name = "E", group = "budget", allow_negative_numbers = true, value_parser = positive)]
    pub epsilon: Option<f64>,
    /// Privacy-loss bound: epsilon times the average distance of two words
    #[arg(long, value_name = "C", group = "budget", allow_negative_numbers = true, value_parser = positive)]
    pub bound: Option<f64>,
    /// Expected share of words that stay as they are, between 0 and 1
    #[arg(long, value_name = "P", group = "budget", allow_negative_numbers = true, value_parser = share)]
    pub keep: Option<f64>,
}

/// A positive finite number.
pub fn positive(text: &str) -> std::result::Result<f64, String> {
    match text.parse::<f64>() {
        Ok(x) if x.is_finite() && x > 0.0 => Ok(x),
        _ => Err("must be a positive number, such as 0.5".into()),
    }
}

/// A number between 0 and 1.
pub fn share(text: &str) -> std::result::Result<f64, String> {
    match text.parse::<f64>() {
        Ok(x) if x > 0.0 && x < 1.0 => Ok(x),
        _ => Err("must lie between 0 and 1, such as 0.5".into()),
    }
}

impl PrivacyArgs {
    /// The budget asked for, or the default.
    pub fn budget(&self) -> Budget {
        match (self.epsilon, self.bound, self.keep) {
            (Some(x), _, _) => Budget::Epsilon(x),
            (_, Some(x), _) => Budget::Bound(x),
            (_, _, Some(x)) => Budget::Keep(x),
            _ => Budget::DEFAULT,
        }
    }

    fn is_default(&self) -> bool {
        self.epsilon.or(self.bound).or(self.keep).is_none()
    }
}

#[derive(Clone, Copy, ValueEnum)]
pub enum MechanismArg {
    /// Binary randomized response (the paper's)
    Brr,
    /// The exponential mechanism over the same codes
    Exponential,
}

impl From<MechanismArg> for MechanismKind {
    fn from(arg: MechanismArg) -> MechanismKind {
        match arg {
            MechanismArg::Brr => MechanismKind::Brr,
            MechanismArg::Exponential => MechanismKind::Exponential,
        }
    }
}

#[derive(Clone, Copy, ValueEnum)]
enum LayoutArg {
    /// White space and a short list of punctuation
    Keep,
    /// Nothing: words with single spaces between them
    Words,
}

impl From<LayoutArg> for Layout {
    fn from(arg: LayoutArg) -> Layout {
        match arg {
            LayoutArg::Keep => Layout::Keep,
            LayoutArg::Words => Layout::Words,
        }
    }
}

#[derive(Clone, Copy, ValueEnum)]
enum UnknownArg {
    /// A uniformly random word
    Random,
    /// `<unk>`; tells which words are unknown
    Mask,
    /// Nothing; tells how many words are unknown
    Drop,
    /// The word itself: not private
    Keep,
}

impl From<UnknownArg> for Unknown {
    fn from(arg: UnknownArg) -> Unknown {
        match arg {
            UnknownArg::Random => Unknown::Random,
            UnknownArg::Mask => Unknown::Mask,
            UnknownArg::Drop => Unknown::Drop,
            UnknownArg::Keep => Unknown::Keep,
        }
    }
}

#[derive(Clone, Copy, ValueEnum)]
enum SearchArg {
    /// Look at every code: the time tells nothing about the word
    Scan,
    /// Hash tables: faster at large epsilon, but the time depends on the noisy code
    MultiIndex,
}

impl From<SearchArg> for Search {
    fn from(arg: SearchArg) -> Search {
        match arg {
            SearchArg::Scan => Search::Scan,
            SearchArg::MultiIndex => Search::MultiIndex,
        }
    }
}

/// What was done so far.
#[derive(Default)]
struct Counts {
    documents: u64,
    words: u64,
    unknown: u64,
}

pub fn run(args: Args) -> Result {
    let options = Options {
        mechanism: args.privacy.mechanism.into(),
        budget: args.privacy.budget(),
        layout: args.layout.into(),
        unknown: args.unknown.into(),
        search: args.search.into(),
    };
    let model = model_source::open(args.privacy.model.as_deref())?;
    let privatizer = Privatizer::new(model, options)?;
    let input = Input::open(&args)?;
    let mut sink = Sink::open(args.output.as_deref(), args.force)?;
    if !args.quiet {
        announce(&privatizer, args.privacy.is_default());
    }
    let counts = stream(&args, &privatizer, input, &mut sink)?;
    sink.finish()?;
    if let Some(path) = &args.manifest {
        let text = format!("{:#}\n", manifest(&privatizer, &counts));
        write_whole(path, text.as_bytes(), true)?;
    }
    Ok(())
}

/// Says on standard error what is promised.
fn announce(privatizer: &Privatizer, by_default: bool) {
    let g = privatizer.guarantee();
    let keep = privatizer.expected_keep();
    let keep = keep.map_or(String::new(), |k| {
        format!(", about {:.0} % of words stay", 100.0 * k.weighted)
    });
    eprintln!(
        "brr: {} with epsilon {:.4} on {} (loss at most {:.1} at the average pair of words, {:.1} at any){keep}{}",
        privatizer.mechanism().name(),
        g.epsilon,
        g.metric,
        g.bound(),
        g.worst(),
        if by_default {
            "; the default, as no privacy option was given"
        } else {
            ""
        },
    );
    match privatizer.options().unknown {
        Unknown::Random => {}
        Unknown::Keep => eprintln!(
            "warning: --unknown keep writes unknown words as they are: they are NOT private"
        ),
        _ => eprintln!(
            "warning: this --unknown rule tells which words are unknown; the guarantee does not cover that"
        ),
    }
}

/// Where documents come from.
enum Input {
    Text(String),
    Lines(Lines),
}

impl Input {
    fn open(args: &Args) -> Result<Input> {
        if let Some(path) = &args.input {
            let file = File::open(path).map_err(|e| Failure::file("read", path, &e))?;
            let size = file
                .metadata()
                .ok()
                .filter(|m| m.is_file())
                .map(|m| m.len());
            return Ok(Input::Lines(Lines::new(Box::new(file), Some(path), size)));
        }
        if !args.text.is_empty() {
            return Ok(Input::Text(args.text.join(" ")));
        }
        let stdin = io::stdin();
        if stdin.is_terminal() {
            eprintln!("brr: reading from the keyboard, a document per line; end with Ctrl-D");
        }
        Ok(Input::Lines(Lines::new(Box::new(stdin), None, None)))
    }
}

/// Cuts a stream into chunks of whole lines.
struct Lines {
    source: Box<dyn Read + Send>,
    path: Option<PathBuf>,
    size: Option<u64>,
    /// The start of a line whose end is not yet there.
    rest: Vec<u8>,
    ended: bool,
}

impl Lines {
    /// Small enough for threads to share a small file, large enough to batch.
    const CHUNK: usize = 32 << 10;

    fn new(source: Box<dyn Read + Send>, path: Option<&Path>, size: Option<u64>) -> Lines {
        Lines {
            source,
            path: path.map(Path::to_owned),
            size,
            rest: Vec::new(),
            ended: false,
        }
    }

    /// The lines that one read brings, or more if that does not end one:
    /// whoever types gets an answer to every line.
    fn next(&mut self) -> Result<Option<Vec<u8>>> {
        while !self.ended {
            let start = self.rest.len();
            self.rest.resize(start + Self::CHUNK, 0);
            let read = self.source.read(&mut self.rest[start..]);
            self.rest.truncate(start + *read.as_ref().unwrap_or(&0));
            match read {
                Ok(0) => self.ended = true,
                Ok(_) => {
                    let fresh = &self.rest[start..];
                    if let Some(end) = fresh.iter().rposition(|&b| b == b'\n') {
                        let rest = self.rest.split_off(start + end + 1);
                        return Ok(Some(std::mem::replace(&mut self.rest, rest)));
                    }
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => {
                    return Err(match &self.path {
                        Some(path) => Failure::file("read", path, &e),
                        None => Failure::stream("standard input", &e),
                    });
                }
            }
        }
        Ok((!self.rest.is_empty()).then(|| std::mem::take(&mut self.rest)))
    }
}

/// Privatizes all of the input into the sink.
fn stream(args: &Args, privatizer: &Privatizer, input: Input, sink: &mut Sink) -> Result<Counts> {
    let mut counts = Counts::default();
    let mut lines = match input {
        Input::Text(text) => {
            let privatized = privatizer.privatize(&text)?;
            sink.put(&format(
                &[privatized],
                true,
                args.json,
                privatizer,
                &mut counts,
            ))?;
            return Ok(counts);
        }
        Input::Lines(lines) => lines,
    };
    let threads = args.threads.map_or_else(all_cores, usize::from);
    let bar = progress::bytes(lines.size);
    let work = |chunk: Vec<u8>| {
        let ended = chunk.last() == Some(&b'\n');
        let text = String::from_utf8_lossy(&chunk);
        // Not `str::lines`: a carriage return is part of the layout.
        let body = text.strip_suffix('\n').unwrap_or(&text);
        let documents: Vec<&str> = body.split('\n').collect();
        let privatized = privatizer.privatize_batch(&documents)?;
        Ok((privatized, ended, chunk.len()))
    };
    let write = |(privatized, ended, bytes): (Vec<Privatized>, bool, usize)| {
        sink.put(&format(
            &privatized,
            ended,
            args.json,
            privatizer,
            &mut counts,
        ))?;
        bar.inc(bytes as u64);
        Ok(())
    };
    pipeline::run(threads, || lines.next(), work, write)?;
    bar.finish_and_clear();
    Ok(counts)
}

fn all_cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The bytes to write for some documents, and their counts added.
fn format(
    texts: &[Privatized],
    ended: bool,
    json: bool,
    privatizer: &Privatizer,
    counts: &mut Counts,
) -> Vec<u8> {
    let mut out = String::new();
    let guarantee = privatizer.guarantee();
    for (i, p) in texts.iter().enumerate() {
        counts.documents += 1;
        counts.words += p.tokens;
        counts.unknown += p.unknown;
        if json {
            // No count of unknown words here: it is not private, and this line may travel.
            let line = json!({
                "text": p.text,
                "words": p.tokens,
                "mechanism": privatizer.mechanism().name(),
                "epsilon": guarantee.epsilon,
                "metric": guarantee.metric.to_string(),
                "bound": guarantee.bound(),
                "total_loss": privatizer.total_loss(p.tokens),
            });
            out.push_str(&line.to_string());
        } else {
            out.push_str(&p.text);
        }
        if json || ended || i + 1 < texts.len() {
            out.push('\n');
        }
    }
    out.into_bytes()
}

/// A record of the run. Never text.
fn manifest(privatizer: &Privatizer, counts: &Counts) -> serde_json::Value {
    let (model, g, options) = (
        privatizer.model(),
        privatizer.guarantee(),
        privatizer.options(),
    );
    json!({
        "brr": env!("CARGO_PKG_VERSION"),
        "model": {
            "name": model_source::name(model),
            "identity": model_source::hex(&model.identity()),
            "words": model.vocabulary().len(),
            "bits": model.bits().get(),
        },
        "mechanism": privatizer.mechanism().name(),
        "epsilon": g.epsilon,
        "metric": g.metric.to_string(),
        "bound": g.bound(),
        "loss_nearest": g.nearest(),
        "loss_worst": g.worst(),
        "loss_unknown": if options.unknown == Unknown::Random { g.unknown_loss } else { f64::INFINITY },
        "expected_keep": privatizer.expected_keep().map(|k| k.weighted),
        "layout": format!("{:?}", options.layout).to_lowercase(),
        "unknown": format!("{:?}", options.unknown).to_lowercase(),
        "documents": counts.documents,
        "words": counts.words,
        "unknown_words": counts.unknown,
        "total_loss": privatizer.total_loss(counts.words),
    })
}

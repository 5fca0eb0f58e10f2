//! `brr audit`: tries to falsify the guarantee of a built program.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use brr::parts::epsilon::Epsilon;
use brr::parts::random::Noise;
use brr::parts::response::FlipThreshold;
use brr::{Choice, MechanismKind, Options, Privatizer};
use brr_build::vectors::{self, LoadOptions, Vectors};
use brr_build::vocabulary_rule::{Case, Numbers, VocabularyRule};
use brr_eval::audit::{
    self, AuditError, AuditReport, Claim, Lexicon, Verdict, WordClaim, WordMetric, bit_flips,
};

use crate::child::Peer;
use crate::failure::{Failure, Result};
use crate::input;
use crate::losses;
use crate::model_source;
use crate::output::{WholeFile, is_standard};
use crate::privacy::PrivacyArgs;
use crate::progress::Stages;
use crate::usage::{Refused, positive, whole};

/// Codes whose bits are flipped and counted.
const FLIPPED_CODES: usize = 20_000;

/// Seconds that an audit may take.
const SECONDS: u32 = 3600;
/// The same if there is a claim alone: the program may be slow, and fewer draws will do.
const SECONDS_WITH_CLAIM: u32 = 600;

/// Try to falsify the guarantee of the built program, or of any other, from outside
///
/// Without `--claim`, runs `brr privatize` (or any program that turns lines of text into
/// lines of privatized text with brr's mechanism and model) many times on words chosen to be
/// hard. Looks for outputs that tell more than the guarantee allows, for words that pass
/// through, for structure that depends on the words, for randomness that is used twice, and
/// for running times that depend on the word.
///
/// With `--claim`, audits a program whose mechanism is not known: it gets words, one per line,
/// and must print one line for each and end with its input. Gives a lower bound of its true
/// epsilon, and names what it saw.
///
/// The lower bound is the largest that pairs of words, unknown words and capital letters prove, of
/// what the claim covers. An audit with too few words or draws to refute anything is an error.
///
/// A pass proves nothing; a failure, at the stated false-alarm rate, is a broken promise.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  brr audit
  brr audit --epsilon 0.02 --trials 100000
  brr audit --mechanism brr --epsilon 0.5
  brr audit --mechanism brr --epsilon 0.5 --context
  brr audit --mechanism brr --epsilon 0.5 -- ./my-own-implementation --epsilon 0.5
  brr audit --command 'python3 peer.py' --claim epsilon=1
  brr audit --command 'python3 peer.py' --claim epsilon=1,metric=euclidean --vectors glove.txt
  brr audit --command 'python3 peer.py' --claim epsilon=1,metric=euclidean,covers=all --vectors glove.txt")]
pub struct Args {
    #[command(flatten)]
    privacy: PrivacyArgs,
    /// Audit text that is decoded with context, by the built-in language model
    #[arg(long)]
    context: bool,
    /// What is claimed: epsilon=E, or epsilon=E,metric=M. The metric is discrete (epsilon
    /// between any two words, the default) or euclidean (per unit of distance in --vectors). A
    /// euclidean claim is about words with vectors; what becomes of others is then reported as
    /// outside the claim. With covers=all, nothing may tell two words without vectors apart
    #[arg(long, value_name = "CLAIM", value_parser = claimed, requires = "audited", conflicts_with_all = ["budget", "context"])]
    claim: Option<Claimed>,
    /// Word vectors: for the distances of a euclidean claim, and for the choice of near and far
    /// words [default: the codes of the model]
    #[arg(long, value_name = "FILE", requires = "claim")]
    vectors: Option<PathBuf>,
    /// Number of draws for each word; with --claim fewer if there is no time for so many
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = whole::<u32, 100, 1_000_000_000>)]
    trials: u32,
    /// Number of pairs of words of each kind
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = whole::<u32, 1, 1_000_000_000>)]
    pairs: u32,
    /// Number of timed runs per text. 0 skips the timing check; below 20 the result is
    /// reported but cannot fail the audit
    #[arg(long, value_name = "N", default_value_t = 40, value_parser = whole::<u32, 0, 1_000_000_000>)]
    timings: u32,
    /// Number of seconds for all runs of the program together [default: 600 with --claim, 3600
    /// without]
    #[arg(long, value_name = "N", value_parser = whole::<u32, 1, 1_000_000>)]
    seconds: Option<u32>,
    /// Seed for the choice of words; the audited program draws its own randomness
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = whole::<u64, 0, { u64::MAX }>)]
    seed: u64,
    /// Print the report as JSON
    #[arg(long)]
    json: bool,
    /// Write the report as JSON to this file
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Replace the report file if it exists
    #[arg(long)]
    force: bool,
    /// Another program to audit, as a line for the shell
    #[arg(long, value_name = "LINE", group = "audited")]
    command: Option<String>,
    /// Another program to audit, with its arguments
    #[arg(last = true, value_name = "PROGRAM", group = "audited")]
    program: Vec<String>,
}

/// A claim as it is written.
#[derive(Clone, Copy)]
struct Claimed {
    epsilon: f64,
    metric: WordMetric,
    covers_all: bool,
}

/// Reads a claim.
fn claimed(text: &str) -> std::result::Result<Claimed, Refused> {
    let (mut epsilon, mut metric, mut covers_all) = (None, WordMetric::Discrete, false);
    for part in text.split(',') {
        match part.split_once('=') {
            Some(("epsilon", value)) if epsilon.is_none() => {
                let value = positive(value);
                epsilon = Some(value.map_err(|e| Refused::new(format!("its epsilon {e}")))?);
            }
            Some(("metric", "discrete")) => metric = WordMetric::Discrete,
            Some(("metric", "euclidean")) => metric = WordMetric::Euclidean,
            Some(("metric", _)) => return Err(Refused::new("its metric is discrete or euclidean")),
            Some(("covers", "all")) => covers_all = true,
            _ => return Err(Refused::new(CLAIM)),
        }
    }
    let epsilon = epsilon.ok_or_else(|| Refused::new(CLAIM))?;
    Ok(Claimed {
        epsilon,
        metric,
        covers_all,
    })
}

/// How a claim is written.
const CLAIM: &str = "must be of the form epsilon=1, epsilon=1,metric=euclidean or epsilon=1,metric=euclidean,covers=all";

pub fn run(args: Args) -> Result {
    let file = args.report.as_deref();
    let file = file.map(|path| WholeFile::create(path, args.force));
    let file = file.transpose()?;
    let report = match args.claim {
        Some(claim) => audit_claimed(&args, claim)?,
        None => audit_ours(&args)?,
    };
    publish(args.json, file, &report)?;
    // Without a claim, draws are also compared with the mechanism's own.
    if args.claim.is_some() && report.has(Verdict::NotTestable) {
        return Err(Failure::Failed(
            "the audit could test no pair of words: so few draws cannot refute the claim; give more --trials and --seconds, \
             or audit at a smaller epsilon"
                .into(),
        ));
    }
    Ok(())
}

/// Audits a program that says it has one of our mechanisms.
fn audit_ours(args: &Args) -> Result<AuditReport> {
    let model = args.privacy.open_model()?;
    let language = args
        .context
        .then(|| model_source::open_language(None, &model));
    let options = Options::default()
        .with_mechanism(args.privacy.mechanism)
        .with_budget(args.privacy.budget())
        .with_context(language.transpose()?.map(Arc::new));
    let privatizer = Privatizer::new(model.clone(), options)?;
    let peer = match peer(args, SECONDS) {
        Some(peer) => peer,
        None => Peer::new(this(args, &privatizer)?, args.seconds.unwrap_or(SECONDS)),
    };
    let claim = Claim {
        model: &model,
        mechanism: privatizer.mechanism(),
        language: privatizer.options().context.as_deref(),
    };
    let mut program = |texts: &[String]| peer.ask(texts);
    let mut report =
        in_view(|progress| audit::audit(&claim, &mut program, &options_of(args), progress))?;
    let own = args.program.is_empty() && args.command.is_none();
    if args.privacy.mechanism == MechanismKind::Brr && own {
        report.checks.push(flips(&privatizer)?);
    }
    Ok(report)
}

/// Audits a program of which only a number is known.
fn audit_claimed(args: &Args, claim: Claimed) -> Result<AuditReport> {
    let lexicon = match &args.vectors {
        Some(path) => Lexicon::of_vectors(vectors_of(path)?),
        None if claim.metric == WordMetric::Euclidean => {
            return Err(Failure::Usage(
                "--claim: the Euclidean metric needs word vectors; give --vectors FILE".into(),
            ));
        }
        None => Lexicon::of_model(model_source::open(args.privacy.model.as_deref())?),
    };
    let claim = WordClaim {
        epsilon: claim.epsilon,
        metric: claim.metric,
        covers_all: claim.covers_all,
        lexicon: &lexicon,
    };
    let Some(peer) = peer(args, SECONDS_WITH_CLAIM) else {
        return Err(Failure::Usage(
            "--claim needs --command or a program after --".into(),
        ));
    };
    let mut program = |texts: &[String]| peer.ask(texts);
    in_view(|progress| {
        let options = options_of(args);
        audit::audit_claim(&claim, &mut program, &options, peer.deadline, progress)
    })
}

/// Word vectors as the file writes the words: a capital letter or a digit may make another word.
fn vectors_of(path: &Path) -> Result<Vectors> {
    let filter = VocabularyRule {
        numbers: Numbers::Keep,
        case: Case::Keep,
        orthography: None,
    };
    let options = LoadOptions {
        filter,
        ..LoadOptions::default()
    };
    let path = input::on_disk(path)?;
    Ok(vectors::load(&path, &options)?.vectors)
}

fn options_of(args: &Args) -> audit::AuditOptions {
    audit::AuditOptions {
        trials: args.trials as usize,
        pairs: args.pairs as usize,
        timings: args.timings as usize,
        seed: args.seed,
    }
}

/// Shows how far the audit has come.
fn in_view(
    audit: impl FnOnce(&dyn Fn(f64)) -> std::result::Result<AuditReport, AuditError>,
) -> Result<AuditReport> {
    let stages = Stages::new();
    let report = audit(&|share| stages.show("auditing", share));
    stages.finish();
    report.map_err(|e| Failure::Failed(e.to_string()))
}

/// The built program's own noise, bit by bit.
fn flips(privatizer: &Privatizer) -> Result<audit::Check> {
    let epsilon = privatizer.guarantee().epsilon;
    let threshold = FlipThreshold::new(Epsilon::new(epsilon)?);
    let mut noise = Noise::from_os()?;
    let mut flip = |code: &mut [u64]| threshold.apply(code, &mut noise);
    Ok(bit_flips(
        &mut flip,
        privatizer.model().bits(),
        epsilon,
        FLIPPED_CODES,
    ))
}

/// The program that was named, if one was.
fn peer(args: &Args, seconds: u32) -> Option<Peer> {
    let seconds = args.seconds.unwrap_or(seconds);
    match &args.command {
        Some(line) => Some(Peer::in_shell(line, seconds)),
        None if args.program.is_empty() => None,
        None => Some(Peer::new(args.program.clone(), seconds)),
    }
}

/// How this very program is run.
fn this(args: &Args, privatizer: &Privatizer) -> Result<Vec<String>> {
    let this = std::env::current_exe()
        .map_err(|e| Failure::Failed(format!("cannot find this program: {e}")))?;
    let mut command = vec![this.to_string_lossy().into_owned()];
    command.extend(["privatize", "--quiet", "--epsilon"].map(String::from));
    command.push(privatizer.guarantee().epsilon.to_string());
    command.extend(["--mechanism".into(), args.privacy.mechanism.name().into()]);
    if args.context {
        command.push("--context".into());
    }
    if let Some(model) = &args.privacy.model {
        if is_standard(model) {
            return Err(Failure::Usage(
                "--model: the audited program opens the model too, so it cannot be standard input: name a file".into(),
            ));
        }
        command.extend(["--model".into(), model.to_string_lossy().into_owned()]);
    }
    Ok(command)
}

/// Prints the report; a failed audit is a failure.
fn publish(as_json: bool, file: Option<WholeFile>, report: &AuditReport) -> Result {
    let json = format!("{:#}\n", serde_json::json!(report));
    let on_stdout = file.as_ref().is_some_and(WholeFile::is_stdout);
    if let Some(file) = file {
        file.finish_with(json.as_bytes())?;
    }
    if on_stdout {
        // It is there already.
    } else if as_json {
        print!("{json}");
    } else {
        print(report);
    }
    if report.failed() {
        return Err(Failure::Failed("the audit found a broken promise".into()));
    }
    Ok(())
}

fn print(report: &AuditReport) {
    println!(
        "Audit of {} with epsilon {} in the {} metric, by {} draws of each word",
        report.mechanism,
        losses::epsilon(report.epsilon),
        report.metric,
        report.draws
    );
    for check in &report.checks {
        let verdict = match check.verdict {
            Verdict::Fail => "FAIL",
            Verdict::Pass => "pass",
            Verdict::Note => "note",
            Verdict::OutsideClaim => "OUTSIDE THE CLAIM",
            Verdict::InfiniteLossObserved => "INFINITE LOSS OBSERVED",
            Verdict::NotTestable => "not testable",
        };
        println!("  {verdict}  {:<13} {}", check.name, check.finding);
    }
    let outside = |c: &&audit::Check| c.verdict == Verdict::OutsideClaim;
    for check in report.checks.iter().filter(outside) {
        println!(
            "\nOutside the claim: {} pass in clear. The claim says nothing of them; with covers=all it would be broken.",
            check.name
        );
    }
    if report.has(Verdict::InfiniteLossObserved) {
        println!(
            "\nAn infinite loss was observed: words share no output. If none of their draws ever does, no epsilon holds."
        );
    }
    match report.epsilon_at_least {
        f64::INFINITY => println!(
            "\nNo epsilon holds: there is a loss where none is promised, by {}.",
            report.shown_by
        ),
        epsilon => println!(
            "\nThe true epsilon is at least {epsilon:.3}, by {}.",
            report.shown_by
        ),
    }
    println!(
        "{} A sound program fails with probability at most {:e}.",
        report.disclaimer, report.false_alarm_rate
    );
}

//! `brr audit`: tries to falsify the guarantee of a built program.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;

use brr::parts::epsilon::Epsilon;
use brr::parts::random::Noise;
use brr::parts::response::FlipThreshold;
use brr::{Choice, MechanismKind, Options, Privatizer};
use brr_eval::audit::{self, AuditReport, Claim, Verdict, bit_flips};

use crate::failure::{Failure, Result};
use crate::losses;
use crate::model_source;
use crate::output::WholeFile;
use crate::privacy::PrivacyArgs;
use crate::progress::Stages;
use crate::usage::whole;

/// Codes whose bits are flipped and counted.
const FLIPPED_CODES: usize = 20_000;

/// Try to falsify the guarantee of the built program, from outside
///
/// Runs `brr privatize` (or any PROGRAM that turns lines of text into lines of
/// privatized text) many times on words chosen to be hard. Looks for outputs that
/// tell more than the guarantee allows, for words that pass through, for structure
/// that depends on the words, for randomness that is used twice, and for running
/// times that depend on the word. A pass proves nothing; a failure, at the stated
/// false-alarm rate, is a bug.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  brr audit
  brr audit --epsilon 0.02 --trials 100000
  brr audit --mechanism brr --epsilon 0.5
  brr audit --mechanism brr --epsilon 0.5 --context
  brr audit --mechanism brr --epsilon 0.5 -- ./my-own-implementation --epsilon 0.5")]
pub struct Args {
    #[command(flatten)]
    privacy: PrivacyArgs,
    /// Audit text that is decoded with context, by the built-in language model
    #[arg(long)]
    context: bool,
    /// Number of draws for each word
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = whole::<u32, 100, 1_000_000_000>)]
    trials: u32,
    /// Number of pairs of words of each kind
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = whole::<u32, 1, 1_000_000_000>)]
    pairs: u32,
    /// Number of timed runs per text. 0 skips the timing check; below 20 the result is
    /// reported but cannot fail the audit
    #[arg(long, value_name = "N", default_value_t = 40, value_parser = whole::<u32, 0, 1_000_000_000>)]
    timings: u32,
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
    /// Another program to audit: lines of text in, lines of text out
    #[arg(last = true, value_name = "PROGRAM")]
    program: Vec<String>,
}

pub fn run(args: Args) -> Result {
    let file = args.report.as_deref();
    let file = file.map(|path| WholeFile::create(path, args.force));
    let file = file.transpose()?;
    let model = args.privacy.open_model()?;
    let language = args
        .context
        .then(|| model_source::open_language(None, &model));
    let options = Options::default()
        .with_mechanism(args.privacy.mechanism)
        .with_budget(args.privacy.budget())
        .with_context(language.transpose()?.map(Arc::new));
    let privatizer = Privatizer::new(model.clone(), options)?;
    let command = command(&args, &privatizer)?;
    let stages = Stages::new();
    let claim = Claim {
        model: &model,
        mechanism: privatizer.mechanism(),
        language: privatizer.options().context.as_deref(),
    };
    let options = audit::AuditOptions {
        trials: args.trials as usize,
        pairs: args.pairs as usize,
        timings: args.timings as usize,
        seed: args.seed,
    };
    let mut program = |texts: &[String]| ask(&command, texts);
    let report = audit::audit(&claim, &mut program, &options, &|share| {
        stages.show("auditing", share)
    });
    stages.finish();
    let mut report = report.map_err(|e| Failure::Failed(e.to_string()))?;
    if args.privacy.mechanism == MechanismKind::Brr && args.program.is_empty() {
        report.checks.push(flips(&privatizer)?);
    }
    publish(args.json, file, &report)
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

/// The program to run: this very one, unless another is named.
fn command(args: &Args, privatizer: &Privatizer) -> Result<Vec<String>> {
    if !args.program.is_empty() {
        return Ok(args.program.clone());
    }
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
        command.extend(["--model".into(), model.to_string_lossy().into_owned()]);
    }
    Ok(command)
}

/// One run of the program: a line in for each text, a line out.
fn ask(command: &[String], texts: &[String]) -> std::result::Result<Vec<String>, String> {
    let mut child = Command::new(&command[0])
        .args(&command[1..])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| format!("cannot run it: {e}"))?;
    let mut stdin = child.stdin.take().ok_or("no standard input")?;
    let input = texts.join("\n") + "\n";
    let feed = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().map_err(|e| e.to_string())?;
    let fed = feed.join().map_err(|_| "the feeding thread died")?;
    if !output.status.success() {
        let told = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{}: {}", output.status, told.trim()));
    }
    fed.map_err(|e| format!("it stopped reading: {e}"))?;
    let text = String::from_utf8(output.stdout).map_err(|_| "its output is not UTF-8")?;
    Ok(text.lines().map(str::to_owned).collect())
}

/// Prints the report; a failed audit is a failure.
fn publish(as_json: bool, file: Option<WholeFile>, report: &AuditReport) -> Result {
    let json = format!("{:#}\n", serde_json::json!(report));
    if let Some(file) = file {
        file.finish_with(json.as_bytes())?;
    }
    if as_json {
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
        "Audit of {} with epsilon {}",
        report.mechanism,
        losses::epsilon(report.epsilon)
    );
    for check in &report.checks {
        let verdict = match check.verdict {
            Verdict::Fail => "FAIL",
            Verdict::Pass => "pass",
            Verdict::Note => "note",
            Verdict::NotTestable => "not testable",
        };
        println!("  {verdict}  {:<12} {}", check.name, check.finding);
    }
    println!(
        "\n{} A sound program fails with probability at most {:e}.",
        report.disclaimer, report.false_alarm_rate
    );
}

//! `brr certify`: proves what the exponential mechanism guarantees on a model.

use std::path::PathBuf;

use brr::Model;
use brr::parts::certify::Certificate;
use brr::parts::epsilon::Epsilon;
use serde_json::{Value, json};

use crate::failure::{Failure, Result};
use crate::losses;
use crate::model_source;
use crate::output::{WholeFile, is_standard};
use crate::progress::Stages;
use crate::usage::{positive, whole};

/// Certify the exponential mechanism on a model, over all pairs of its words
///
/// Finds the steepest weights whose exact epsilon is at most the one asked for, and
/// stores them in the model, where `brr privatize` finds them. With --verify, checks
/// everything that a model file claims instead: its distances, its certificates and
/// the table behind --keep.
#[derive(clap::Args)]
pub struct Args {
    /// Model file, in which the certificate is stored [default: built-in English]
    #[arg(value_name = "MODEL")]
    model: Option<PathBuf>,
    /// Epsilon to certify for; several are allowed
    #[arg(long, value_name = "E", num_args = 1.., value_parser = positive, required_unless_present = "verify")]
    epsilon: Vec<f64>,
    /// Distance beyond which the weights stay level (the truncated mechanism)
    #[arg(long, value_name = "D", value_parser = whole::<usize, 1, 1024>)]
    radius: Option<usize>,
    /// Write the model with its certificates to this file instead of MODEL
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace the output file if it exists
    #[arg(long)]
    force: bool,
    /// Check what the model claims, over all pairs of words
    #[arg(long, conflicts_with_all = ["epsilon", "output"])]
    verify: bool,
    /// Print the certificates as JSON: epsilon, weights by distance, worst pair
    #[arg(long)]
    json: bool,
    /// Number of threads [default: all cores]
    #[arg(long, value_name = "N", value_parser = whole::<u16, 1, 65_535>)]
    threads: Option<u16>,
}

pub fn run(args: Args) -> Result {
    let model = model_source::open(args.model.as_deref())?;
    if args.model.is_none() && !args.verify && args.output.is_none() && !args.json {
        return Err(Failure::Usage(
            "the built-in model cannot be changed: give --output FILE for a copy with the certificate, or --json to see it".into(),
        ));
    }
    if args
        .radius
        .is_some_and(|r| r == 0 || r > model.bits().get())
    {
        return Err(Failure::Usage(format!(
            "--radius must lie between 1 and {}",
            model.bits()
        )));
    }
    let threads = args
        .threads
        .map_or_else(brr::parts::parallel::cores, usize::from);
    let to = args.output.as_ref().or(args.model.as_ref());
    if args.json && !args.verify && to.is_some_and(|path| is_standard(path)) {
        return Err(Failure::Usage(
            "--json: standard output gets the model: name a file with --output".into(),
        ));
    }
    let stages = Stages::new();
    if args.verify {
        return verify(&args, &model, threads, &stages);
    }
    // A path that cannot be written is told before the work.
    let output = args.output.as_ref().or(args.model.as_ref());
    let replace = args.force || args.output.is_none();
    let output = output.map(|path| WholeFile::create(path, replace));
    let output = output.transpose()?;
    if model.claimed_certificates() > 0 {
        // Certificates that go into a new file with those made here must hold.
        model.check(threads, &|share| stages.show("checking the model", share))?;
    }
    let certifier = model.certifier(threads, &|share| stages.show("looking at all pairs", share));
    stages.finish();
    let mut made = Vec::new();
    for &epsilon in &args.epsilon {
        made.push(certifier.certify(Epsilon::new(epsilon)?, args.radius));
    }
    let on_stdout = output.as_ref().is_some_and(WholeFile::is_stdout);
    if let Some(output) = output {
        store(output, &model, &made)?;
    }
    if on_stdout {
        // The model is there.
        made.iter().for_each(|c| tell!("brr: {}", told(&model, c)));
        return Ok(());
    }
    print(&args, &model, &made);
    Ok(())
}

fn verify(args: &Args, model: &Model, threads: usize, stages: &Stages) -> Result {
    model.check_again(threads, &|share| stages.show("checking the model", share))?;
    stages.finish();
    if model.certificates().is_empty() {
        return Err(Failure::Failed(
            "the model's distances hold, but it has no certificate to verify: make one with `brr certify MODEL --epsilon E`"
                .into(),
        ));
    }
    tell!(
        "verified distances, {} certificates over all pairs, and the table behind --keep",
        model.certificates().len()
    );
    if args.json {
        print(args, model, model.certificates());
    }
    Ok(())
}

/// Adds certificates to the model's own; one for the same epsilon is replaced.
fn store(output: WholeFile, model: &Model, made: &[Certificate]) -> Result {
    let old = model.certificates().iter();
    let kept = old.filter(|old| made.iter().all(|new| new.asked() != old.asked()));
    let all: Vec<Certificate> = kept.chain(made).cloned().collect();
    let with = model.with_certificates(&all)?;
    output.finish_with(with.bytes())
}

fn print(args: &Args, model: &Model, certificates: &[Certificate]) {
    if args.json {
        let list: Vec<Value> = certificates.iter().map(|c| to_json(model, c)).collect();
        match &list[..] {
            [one] => println!("{one:#}"),
            _ => println!("{:#}", Value::from(list)),
        }
        return;
    }
    for c in certificates {
        println!("{}", told(model, c));
    }
}

/// A certificate in a line.
fn told(model: &Model, c: &Certificate) -> String {
    let word = |id| model.vocabulary().word(id);
    let (a, b) = c.worst_pair().words;
    format!(
        "epsilon {} (asked {}) at scale {}: bound {}, keeps {:.1} % of words; set by {}/{} at distance {}",
        losses::epsilon(c.epsilon()),
        c.asked(),
        losses::epsilon(c.scale()),
        losses::bound(c.epsilon() * model.pair_distances().average),
        100.0 * c.keep().weighted,
        word(a),
        word(b),
        c.worst_pair().distance
    )
}

fn to_json(model: &Model, c: &Certificate) -> Value {
    let word = |id| model.vocabulary().word(id);
    let (a, b) = c.worst_pair().words;
    let (keep, z) = (c.keep(), c.normalizers());
    json!({
        "epsilon": c.epsilon(),
        "asked": c.asked(),
        "scale": c.scale(),
        "bound": c.epsilon() * model.pair_distances().average,
        "keep": {"weighted": keep.weighted, "plain": keep.plain},
        "model": c.identity().to_string(),
        "worst_pair": {"words": [word(a), word(b)], "ids": [a, b], "distance": c.worst_pair().distance},
        "normalizers": [z.start().to_string(), z.end().to_string()],
        "weights": c.weights().iter().map(u64::to_string).collect::<Vec<_>>(),
    })
}

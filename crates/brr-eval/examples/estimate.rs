//! How much closer to the truth an estimate of word frequencies is than raw counts.
//!
//!     cargo run --release -p brr-eval --example estimate -- TEXT DOCUMENTS MODEL
//!
//! TEXT has a document per line. It is privatized by each mechanism at several bounds
//! (seeded: this is an evaluation), estimated back, and compared with what it was.
//! `experiments/estimate/run` makes the table.

use std::sync::Arc;

use brr::parts::epsilon::Epsilon;
use brr::parts::mechanism::Mechanism;
use brr::parts::random::Noise;
use brr::{Budget, Choice, MechanismKind, Model, Options, Privatizer};
use brr_build::quality::spearman;
use brr_eval::estimate::{
    Documents, Effort, EstimateOptions, Estimates, Prior, Stop, WordChannel, estimate,
};
use brr_eval::mechanisms::Kary;
use serde_json::{Value, json};

const SEED: u64 = 1;

/// Mechanisms and the bounds at which each is looked at.
const RUNS: [(&str, [f64; 3]); 3] = [
    ("brr", [40.0, 60.0, 80.0]),
    ("exponential", [8.0, 10.0, 13.0]),
    ("k-ary", [6.0, 8.0, 10.0]),
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let (Some(path), Some(limit), Some(model)) = (args.next(), args.next(), args.next()) else {
        return Err("usage: estimate TEXT DOCUMENTS MODEL".into());
    };
    let model = Arc::new(Model::open(model)?);
    let text = std::fs::read_to_string(path)?;
    let lines = text.lines().take(limit.parse()?);
    let texts: Vec<Vec<Option<u32>>> = lines.map(|line| words_of(&model, line)).collect();
    let truth = Truth::of(&texts, model.vocabulary().len());
    let mut rows = Vec::new();
    for (name, bounds) in RUNS {
        for bound in bounds {
            let row = measure(name, bound, &model, &texts, &truth)?;
            eprintln!("{row}");
            rows.push(row);
        }
    }
    let facts = json!({
        "documents": texts.len(), "tokens": truth.tokens, "unknown": truth.unknown,
        "words": model.vocabulary().len(), "seed": SEED, "rows": rows,
    });
    println!("{facts:#}");
    Ok(())
}

struct Truth {
    counts: Vec<f64>,
    tokens: usize,
    unknown: usize,
}

impl Truth {
    fn of(texts: &[Vec<Option<u32>>], words: usize) -> Truth {
        let mut truth = Truth {
            counts: vec![0.0; words],
            tokens: 0,
            unknown: 0,
        };
        for word in texts.iter().flatten() {
            truth.tokens += 1;
            match word {
                Some(id) => truth.counts[*id as usize] += 1.0,
                None => truth.unknown += 1,
            }
        }
        truth
    }

    /// Words in descending order of frequency.
    fn top(&self, n: usize) -> Vec<usize> {
        top(&self.counts, n)
    }

    /// How far other counts are off: total variation, the share of the 100 most frequent
    /// words that are found, and rank correlation over the 1,000 most frequent ones.
    fn compare(&self, counts: &[f64]) -> Value {
        let sum = |c: &[f64]| c.iter().sum::<f64>();
        let (a, b) = (sum(counts), sum(&self.counts));
        let pairs = counts.iter().zip(&self.counts);
        let variation = pairs.map(|(x, y)| (x / a - y / b).abs()).sum::<f64>() / 2.0;
        let (found, hundred) = (top(counts, 100), self.top(100));
        let recall = found.iter().filter(|w| hundred.contains(w)).count() as f64 / 100.0;
        let thousand = self.top(1000);
        let of = |c: &[f64]| thousand.iter().map(|w| c[*w]).collect::<Vec<_>>();
        let spearman = spearman(&of(counts), &of(&self.counts));
        json!({"variation": variation, "top100": recall, "spearman1000": spearman})
    }
}

fn top(counts: &[f64], n: usize) -> Vec<usize> {
    let mut ids: Vec<usize> = (0..counts.len()).collect();
    ids.sort_by(|a, b| counts[*b].total_cmp(&counts[*a]).then(a.cmp(b)));
    ids.truncate(n);
    ids
}

fn words_of(model: &Model, text: &str) -> Vec<Option<u32>> {
    model.tokens(text).into_iter().map(|t| t.0).collect()
}

/// The mechanism as `brr privatize` sets it up, or the yardstick.
fn subject(name: &str, bound: f64, model: &Arc<Model>) -> brr::Result<Box<dyn Mechanism>> {
    let options = Options::default()
        .with_mechanism(match MechanismKind::parse(name) {
            Ok(kind) => kind,
            Err(_) => {
                let kary = Kary::new(model.vocabulary().len(), Epsilon::new(bound)?);
                return Ok(Box::new(kary));
            }
        })
        .with_budget(Budget::Bound(bound));
    Ok(Privatizer::new(model.clone(), options)?.into_mechanism())
}

fn measure(
    name: &str,
    bound: f64,
    model: &Arc<Model>,
    texts: &[Vec<Option<u32>>],
    truth: &Truth,
) -> brr::Result<Value> {
    let words = model.vocabulary().len();
    let mechanism = subject(name, bound, model)?;
    let mut noise = Noise::numbered(SEED);
    let mut documents = Documents::new(words);
    let mut kept = 0;
    for text in texts {
        let outputs = mechanism.privatize(text, &mut noise);
        kept += text
            .iter()
            .zip(&outputs)
            .filter(|(a, b)| **a == Some(**b))
            .count();
        documents.push(outputs);
    }
    let begun = std::time::Instant::now();
    // The seed of the simulated channel is not that of the texts.
    let effort = Effort {
        seed: SEED + 1,
        ..Effort::default()
    };
    let channel = WordChannel::of(&*mechanism, words, &effort);
    let channel_seconds = begun.elapsed().as_secs_f64();
    // As the manifest of a run tells it.
    let unknown = truth.unknown as f64 / truth.tokens as f64;
    let by_rank = Prior::by_rank(words).with_unknown(unknown);
    let even = Prior::uniform(words).with_unknown(unknown);
    let begun = std::time::Instant::now();
    let found = estimate(&channel, &documents, &by_rank, &EstimateOptions::default());
    let seconds = begun.elapsed().as_secs_f64();
    let quick = EstimateOptions {
        resamplings: 0,
        ..EstimateOptions::default()
    };
    let uniform = estimate(&channel, &documents, &even, &quick);
    let endless = EstimateOptions {
        stop: Stop::After(300),
        ..quick
    };
    let endless = estimate(&channel, &documents, &by_rank, &endless);
    let of = |e: &Estimates| truth.compare(&e.words.iter().map(|c| c.estimate).collect::<Vec<_>>());
    Ok(json!({
        "mechanism": name,
        "bound": mechanism.guarantee().bound(),
        "epsilon": mechanism.guarantee().epsilon,
        "kept": kept as f64 / truth.tokens as f64,
        "raw": truth.compare(&documents.counts()),
        "prior": truth.compare(&Prior::by_rank(words).words),
        "estimate": of(&found),
        "estimate_uniform": of(&uniform),
        "estimate_300_iterations": of(&endless),
        "iterations": found.iterations,
        "iterations_uniform": uniform.iterations,
        "coverage": coverage(&found, truth),
        "entries": channel.entries(),
        "channel_seconds": channel_seconds,
        "estimate_seconds": seconds,
    }))
}

/// Share of words whose true count lies in its interval, and how wide the middle one is,
/// by rank of the true count.
fn coverage(found: &Estimates, truth: &Truth) -> Value {
    let order = truth.top(truth.counts.len());
    let of = |range: std::ops::Range<usize>| {
        let ids = &order[range.start..range.end.min(order.len())];
        let holds = |w: &&usize| {
            let c = found.words[**w];
            c.low <= truth.counts[**w] && truth.counts[**w] <= c.high
        };
        let inside = ids.iter().filter(holds).count() as f64 / ids.len() as f64;
        let width =
            |w: &usize| (found.words[*w].high - found.words[*w].low) / truth.counts[*w].max(1.0);
        let mut widths: Vec<f64> = ids.iter().map(width).collect();
        widths.sort_by(f64::total_cmp);
        json!({"inside": inside, "width": widths[widths.len() / 2]})
    };
    json!({"top100": of(0..100), "top1000": of(0..1000), "all": of(0..order.len())})
}

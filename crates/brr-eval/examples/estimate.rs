//! How often the intervals of word counts hold, and how much closer to the truth estimates are
//! than raw counts.
//!
//!     cargo run --release -p brr-eval --example estimate -- MODEL RUNS SETTINGS [NAME=FILE=DOCUMENTS]...
//!
//! SETTINGS are mechanisms and bounds, such as `exponential=11.8,brr=60`.
//! FILE has a document per line, of which the first DOCUMENTS are taken; without a file, texts are
//! generated. They are privatized RUNS times by each mechanism (seeded: this is an evaluation),
//! estimated back, and compared with what they were. `experiments/estimate/run` makes the table.

use std::sync::Arc;

use brr::parts::mechanism::Mechanism;
use brr::parts::parallel;
use brr::parts::random::Noise;
use brr::{Budget, Choice, MechanismKind, Model, Options, Privatizer};
use brr_build::quality::spearman;
use brr_estimate::{
    Count, Documents, EstimateOptions, Estimates, Prior, WordChannel, estimate_each,
};
use brr_eval::estimate::seeded;
use serde_json::{Value, json};

/// Runs that share a channel and the variances.
const GROUP: usize = 50;
/// Words that are drawn in one call.
const AT_ONCE: usize = 4096;
/// Ranks up to which coverage is counted.
const RANKS: [usize; 3] = [15, 100, 1000];

type Texts = Vec<Vec<Option<u32>>>;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let (Some(model), Some(runs), Some(settings)) = (args.next(), args.next(), args.next()) else {
        return Err("usage: estimate MODEL RUNS SETTINGS [NAME=FILE=DOCUMENTS]...".into());
    };
    let (model, runs) = (Arc::new(Model::open(model)?), runs.parse()?);
    let mut corpora = Vec::new();
    for arg in args {
        let parts: Vec<&str> = arg.split('=').collect();
        let [name, file, documents] = parts[..] else {
            return Err("a text is given as NAME=FILE=DOCUMENTS".into());
        };
        let text = std::fs::read_to_string(file)?;
        let lines = text.lines().take(documents.parse()?);
        let words = |line: &str| model.tokens(line).into_iter().map(|t| t.0).collect();
        corpora.push((name.to_owned(), lines.map(words).collect::<Texts>()));
    }
    if corpora.is_empty() {
        corpora.push(("generated".to_owned(), generated(model.vocabulary().len())));
    }
    let mut rows = Vec::new();
    for setting in settings.split(',') {
        let wrong = "a setting is a mechanism and a bound, such as brr=60";
        let (mechanism, bound) = setting.split_once('=').ok_or(wrong)?;
        let (mechanism, bound) = (MechanismKind::parse(mechanism)?, bound.parse()?);
        for (name, texts) in &corpora {
            let truth = Truth::of(texts, model.vocabulary().len());
            let mut row = measure(mechanism, bound, &model, texts, &truth, runs)?;
            row["text"] = json!(name);
            eprintln!("{row}");
            rows.push(row);
        }
    }
    println!(
        "{:#}",
        json!({"words": model.vocabulary().len(), "runs": runs, "rows": rows})
    );
    Ok(())
}

/// 5,000 documents of 20 tokens: Zipf's law over words in an order far from the model's, and
/// every 25th token unknown.
fn generated(words: usize) -> Texts {
    let (ranks, mut noise) = (
        brr::parts::frequency::Sampler::new(words),
        Noise::numbered(99),
    );
    let mut token = |i: usize| {
        let u = noise.uniform_below(1 << 53) as f64 / (1u64 << 53) as f64;
        let word = (u64::from(ranks.word(u)) * 7919 + 17) % words as u64;
        (!i.is_multiple_of(25)).then_some(word as u32)
    };
    (0..5000)
        .map(|_| (0..20).map(&mut token).collect())
        .collect()
}

struct Truth {
    counts: Vec<f64>,
    order: Vec<usize>,
    documents: usize,
    tokens: usize,
    unknown: u64,
}

impl Truth {
    fn of(texts: &Texts, words: usize) -> Truth {
        let mut counts = vec![0.0; words];
        texts
            .iter()
            .flatten()
            .flatten()
            .for_each(|w| counts[*w as usize] += 1.0);
        Truth {
            order: order(&counts),
            counts,
            documents: texts.len(),
            tokens: texts.iter().map(Vec::len).sum(),
            unknown: texts.iter().flatten().filter(|w| w.is_none()).count() as u64,
        }
    }

    /// Total variation distance, number of the 100 most frequent words that are found, and
    /// rank correlation over the 1,000 most frequent ones.
    fn compare(&self, counts: &[f64]) -> [f64; 3] {
        let (a, b) = (counts.iter().sum::<f64>(), self.counts.iter().sum::<f64>());
        let pairs = counts.iter().zip(&self.counts);
        let variation = pairs.map(|(x, y)| (x / a - y / b).abs()).sum::<f64>() / 2.0;
        let top = first(&order(counts), 100)
            .iter()
            .filter(|w| first(&self.order, 100).contains(w))
            .count();
        let ranked = first(&self.order, 1000);
        let of = |c: &[f64]| ranked.iter().map(|w| c[*w]).collect::<Vec<_>>();
        [
            variation,
            top as f64,
            spearman(&of(counts), &of(&self.counts)).unwrap_or(0.0),
        ]
    }

    /// Shares of the most frequent words whose counts lie in their intervals, and the width of
    /// the middle interval relative to the count.
    fn coverage(&self, found: &Estimates) -> [(f64, f64); 3] {
        RANKS.map(|rank| {
            let ids = first(&self.order, rank);
            let holds = |w: &&usize| {
                let c = found.words[**w];
                c.low <= self.counts[**w] && self.counts[**w] <= c.high
            };
            let width =
                |w: &usize| (found.words[*w].high - found.words[*w].low) / self.counts[*w].max(1.0);
            let mut widths: Vec<f64> = ids.iter().map(width).collect();
            widths.sort_by(f64::total_cmp);
            (
                ids.iter().filter(holds).count() as f64 / ids.len() as f64,
                widths[ids.len() / 2],
            )
        })
    }
}

/// The first so many, or all of them if there are fewer.
fn first(ids: &[usize], many: usize) -> &[usize] {
    &ids[..many.min(ids.len())]
}

/// Ids from the largest to the smallest count.
fn order(counts: &[f64]) -> Vec<usize> {
    let mut ids: Vec<usize> = (0..counts.len()).collect();
    ids.sort_by(|a, b| counts[*b].total_cmp(&counts[*a]).then(a.cmp(b)));
    ids
}

/// One privatized form of the texts, and the share of words that stayed. Words are drawn
/// independently of each other, so it does not matter that many texts are drawn at once.
fn privatized(
    mechanism: &dyn Mechanism,
    tokens: &[Option<u32>],
    words: usize,
    seed: u64,
) -> (Documents, f64) {
    let (mut documents, mut kept) = (Documents::new(words), 0);
    let mut noise = Noise::numbered(seed);
    for tokens in tokens.chunks(AT_ONCE) {
        let outputs = mechanism.privatize(tokens, &mut noise);
        let pairs = tokens.iter().zip(&outputs);
        kept += pairs.filter(|(a, b)| **a == Some(**b)).count();
        documents.push(outputs);
    }
    (documents, kept as f64 / tokens.len() as f64)
}

/// What is added up over runs.
#[derive(Default)]
struct Sums {
    runs: f64,
    inside: [[f64; 3]; 2],
    inside_runs: [f64; 2],
    width: [f64; 3],
    raw: [f64; 3],
    estimate: [f64; 3],
    unbiased: [f64; 3],
    kept: f64,
    worse: [f64; 2],
}

impl Sums {
    fn add(&mut self, truth: &Truth, found: &Estimates, given: bool, kept: f64) {
        let of =
            |f: fn(&Count) -> f64| truth.compare(&found.words.iter().map(f).collect::<Vec<_>>());
        let (raw, estimate) = (of(|c| c.raw as f64), of(|c| c.estimate));
        let unbiased = of(|c| c.unbiased);
        let kind = usize::from(!given);
        self.inside_runs[kind] += 1.0;
        for (i, (inside, width)) in truth.coverage(found).into_iter().enumerate() {
            self.inside[kind][i] += inside;
            self.width[i] += width;
            self.raw[i] += raw[i];
            self.estimate[i] += estimate[i];
            self.unbiased[i] += unbiased[i];
        }
        self.worse[0] += f64::from(estimate[0] > raw[0]);
        self.worse[1] += f64::from(estimate[1] < raw[1]);
        self.kept += kept;
        self.runs += 1.0;
    }
}

fn measure(
    kind: MechanismKind,
    bound: f64,
    model: &Arc<Model>,
    texts: &Texts,
    truth: &Truth,
    runs: usize,
) -> brr::Result<Value> {
    let words = model.vocabulary().len();
    let options = Options::default()
        .with_mechanism(kind)
        .with_budget(Budget::Bound(bound));
    let mechanism = Privatizer::new(model.clone(), options)?.into_mechanism();
    let tokens = texts.concat();
    let prior = Prior::by_rank(words);
    let (mut sums, mut seconds) = (Sums::default(), 0.0);
    for (group, first) in (0..runs).step_by(GROUP).enumerate() {
        let size = GROUP.min(runs - first);
        let forms = parallel::map(parallel::cores(), size, |i| {
            privatized(&*mechanism, &tokens, words, 1000 + (first + i) as u64)
        });
        // The number of unknown tokens is given to every second group, as a manifest does.
        let given = group % 2 == 0;
        let seed = 1 + group as u64;
        let options = EstimateOptions {
            unknown: given.then_some(truth.unknown),
            seed,
            ..EstimateOptions::default()
        };
        let begun = std::time::Instant::now();
        let mut channel = WordChannel::of(&*mechanism, words, &seeded(seed))?.over(model);
        let documents: Vec<&Documents> = forms.iter().map(|f| &f.0).collect();
        let found = estimate_each(&mut channel, &documents, &prior, &options, &|| ())?;
        seconds += begun.elapsed().as_secs_f64();
        for (found, form) in found.iter().zip(&forms) {
            sums.add(truth, found, given, form.1);
        }
    }
    let mean = |sums: [f64; 3], n: f64| sums.map(|s| if n > 0.0 { s / n } else { f64::NAN });
    let names = |[variation, top100, spearman]: [f64; 3]| json!({"variation": variation, "top100": top100, "spearman1000": spearman});
    let all = [0, 1, 2].map(|i| sums.inside[0][i] + sums.inside[1][i]);
    Ok(json!({
        "documents": truth.documents, "tokens": truth.tokens, "unknown": truth.unknown,
        "mechanism": kind.name(),
        "bound": mechanism.guarantee().bound(),
        "epsilon": mechanism.guarantee().epsilon,
        "kept": sums.kept / sums.runs,
        "inside": mean(all, sums.runs),
        "inside_unknown_given": mean(sums.inside[0], sums.inside_runs[0]),
        "inside_unknown_not_given": mean(sums.inside[1], sums.inside_runs[1]),
        "width": mean(sums.width, sums.runs),
        "raw": names(mean(sums.raw, sums.runs)),
        "estimate": names(mean(sums.estimate, sums.runs)),
        "unbiased": names(mean(sums.unbiased, sums.runs)),
        "prior": names(truth.compare(&prior.words)),
        "runs_with_larger_variation_than_raw": sums.worse[0],
        "runs_with_fewer_of_top100_than_raw": sums.worse[1],
        "seconds_per_group": seconds / (runs as f64 / GROUP as f64).ceil(),
    }))
}

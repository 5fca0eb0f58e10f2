//! A record of a run. Never text. Its fields are documented in docs/corpora.md.

use brr::{Choice, Privatizer, Unknown};
use brr_corpus::Report;
use serde_json::{Value, json};

use super::corpus::{Corpus, CorpusArgs};
use crate::losses::{in_json, per_word};
use crate::model_source;

/// Number of the record's form. Records without a number are of form 1, in which an infinite
/// loss is `null`.
pub const SCHEMA: u64 = 2;

/// What was promised and what was done.
pub fn record(privatizer: &Privatizer, report: &Report, corpus: Option<&Corpus>) -> Value {
    let (model, g, options) = (
        privatizer.model(),
        privatizer.guarantee(),
        privatizer.options(),
    );
    let counts = &report.counts;
    let unknown_loss = match options.unknown {
        Unknown::Random => g.unknown_loss,
        _ => f64::INFINITY,
    };
    let mut record = json!({
        "schema": SCHEMA,
        "brr": env!("CARGO_PKG_VERSION"),
        "model": {
            "name": model_source::name(model),
            "identity": model.file_identity().to_string(),
            "codes": model.identity().to_string(),
            "standing": model.standing().name(),
            "words": model.vocabulary().len(),
            "bits": model.bits().get(),
        },
        "mechanism": privatizer.mechanism().name(),
        "epsilon": g.epsilon,
        "metric": g.metric.to_string(),
        "bound": in_json(g.bound()),
        "loss_nearest": in_json(g.nearest()),
        "loss_worst": in_json(g.worst()),
        "loss_unknown": in_json(unknown_loss),
        "loss_per_word": in_json(per_word(privatizer)),
        "expected_keep": privatizer.expected_keep().map(|k| k.weighted),
        "adjacency": privatizer.adjacency().to_string(),
        "layout": options.layout.name(),
        "unknown": options.unknown.name(),
        "documents": counts.documents,
        "words": counts.words,
        "unknown_words": counts.unknown,
        "total_loss": in_json(privatizer.total_loss(counts.words)),
    });
    if let Some(corpus) = corpus {
        record["format"] = json!(corpus.format.name());
        record["columns"] = json!(corpus.columns);
        record["rows"] = json!(counts.rows);
        record["bad_rows"] = json!({
            "skipped": counts.skipped,
            "emptied": counts.emptied,
        });
        // After each of these, rows were drawn that had been drawn before; what had been
        // written of them was cut off and is in no output.
        record["restarts"] = json!(restarts(report));
    }
    record
}

/// How many private words stand behind one unit, and what they cost together. Of the units
/// themselves nothing is told.
pub fn unit(privatizer: &Privatizer, report: &Report, args: &CorpusArgs) -> Value {
    let units = &report.units;
    let loss = |words| in_json(privatizer.total_loss(words));
    json!({
        "column": args.unit,
        "units": units.units,
        "max_words": args.max_words,
        "words_cut": report.counts.cut,
        "words": {
            "largest": units.largest,
            "percentile_99": units.percentile_99,
            "median": units.median,
        },
        "total_loss": {
            "largest": loss(units.largest),
            "percentile_99": loss(units.percentile_99),
            "median": loss(units.median),
        },
    })
}

fn restarts(report: &Report) -> Vec<Value> {
    let restarts = report.restarts.iter();
    let value = |r: &brr_corpus::Restart| {
        json!({
            "after_rows": r.after_rows,
            "discarded_bytes": r.discarded_bytes,
        })
    };
    restarts.map(value).collect()
}

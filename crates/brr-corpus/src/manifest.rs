//! The record of a run: what was promised and what was done. Never text. Its fields are
//! documented in docs/corpora.md.
//!
//! It is for the person who ran brr and not for release, so only its owner may read it
//! ([`files`]).

use std::path::Path;

use brr::{Choice, Guarantee, Privatizer, Unknown};
use serde_json::{Value, json};

use crate::checkpoint::{Counts, Restart};
use crate::error::{Error, FileProblem, Result};
use crate::files::{self, Place};
use crate::fingerprint::Fingerprint;
use crate::run::Run;
use crate::units::Statistics;

/// Number of the record's form. Records without a number are of form 1, in which an infinite
/// loss is `null`.
pub const SCHEMA: u64 = 2;

/// A loss in JSON, which has no number for an infinite one.
pub fn loss(loss: f64) -> Value {
    if loss.is_finite() {
        json!(loss)
    } else {
        json!("infinite")
    }
}

/// The largest loss between any two tokens, unknown words included; infinite if the rule for
/// unknown words tells them apart.
pub fn loss_per_word(privatizer: &Privatizer) -> f64 {
    match privatizer.options().unknown {
        Unknown::Random => privatizer.guarantee().worst_token(),
        _ => f64::INFINITY,
    }
}

/// Of texts that are in no file, each a unit of its own that keeps at most `max_words`.
pub fn of_texts(privatizer: &Privatizer, counts: &Counts, max_words: Option<u64>) -> Value {
    let mut record = record(privatizer, counts);
    let units = counts.lengths.statistics();
    record["unit"] = unit(privatizer, counts, &units, None, max_words);
    record
}

/// Of a run that is done.
pub(crate) fn of_run(
    task: &Run<'_>,
    counts: &Counts,
    units: &Statistics,
    restarts: &[Restart],
    output: &Fingerprint,
) -> Value {
    let mut record = record(task.privatizer, counts);
    record["format"] = json!(task.kind().name());
    record["columns"] = json!(task.columns);
    record["settings"] = json!(task.settings());
    record["rows"] = json!(counts.rows);
    record["bad_rows"] = json!({
        "skipped": counts.skipped,
        "emptied": counts.emptied,
    });
    // After each of these, rows were drawn that had been drawn before; what had been written of
    // them was cut off and is in no output.
    record["restarts"] = json!(restarts);
    record["output"] = json!(output);
    let column = task.unit.as_deref();
    record["unit"] = unit(task.privatizer, counts, units, column, task.max_words);
    record
}

/// Refuses a place where no record can be written, or, unless it may be replaced, where something
/// is already: known before the work rather than after it, when the budget is spent.
pub fn prepare(path: &Path, replace: bool) -> Result {
    if path.is_dir() {
        return Err(FileProblem::OutputIsFolder.of(path));
    }
    let special = matches!(files::place(path), Ok(Place::Special(_)));
    if !replace && !special && files::is_there(path) {
        return Err(FileProblem::ManifestExists.of(path));
    }
    files::try_beside(path).map_err(|e| Error::write(path, e))
}

/// Refuses a record that would take the output's place, or the output the record's.
pub fn check_apart(path: &Path, output: &Path) -> Result {
    let plain = |path: &Path| match files::place(path) {
        Ok(Place::Plain(path)) => {
            let folder = path
                .parent()
                .filter(|folder| !folder.as_os_str().is_empty());
            let folder = folder.unwrap_or(Path::new(".")).canonicalize().ok()?;
            Some(folder.join(path.file_name()?))
        }
        _ => None,
    };
    match (plain(path), plain(output)) {
        (Some(record), Some(output)) if record == output => {
            Err(FileProblem::ManifestIsOutput.of(path))
        }
        _ => Ok(()),
    }
}

/// Writes a record, in the place of one that is there.
pub fn write(path: &Path, record: &Value) -> Result {
    let text = format!("{record:#}\n");
    files::replace(path, text.as_bytes()).map_err(|e| Error::write(path, e))
}

fn record(privatizer: &Privatizer, counts: &Counts) -> Value {
    let (model, g, options) = (
        privatizer.model(),
        privatizer.guarantee(),
        privatizer.options(),
    );
    let unknown_loss = match options.unknown {
        Unknown::Random => g.unknown_loss,
        _ => f64::INFINITY,
    };
    json!({
        "schema": SCHEMA,
        "brr": env!("CARGO_PKG_VERSION"),
        "model": {
            "name": model.meta_value("name").unwrap_or("unnamed model"),
            "identity": model.file_identity().to_string(),
            "codes": model.identity().to_string(),
            "standing": model.standing().name(),
            "words": model.vocabulary().len(),
            "bits": model.bits().get(),
        },
        "mechanism": privatizer.mechanism().name(),
        "epsilon": g.epsilon,
        "metric": g.metric.to_string(),
        "bound": loss(g.bound()),
        "loss_nearest": loss(g.nearest()),
        "loss_worst": loss(g.worst()),
        "loss_by_level": loss_by_level(&g),
        "loss_unknown": loss(unknown_loss),
        "loss_per_word": loss(loss_per_word(privatizer)),
        "expected_keep": privatizer.expected_keep(),
        "kept_words": privatizer.kept_words().to_string(),
        "adjacency": privatizer.adjacency().to_string(),
        "context": context(privatizer),
        "policy": policy(privatizer, counts),
        "case": options.case.name(),
        "layout": options.layout.name(),
        "unknown": options.unknown.name(),
        "documents": counts.documents,
        "words": counts.words,
        "unknown_words": counts.unknown,
        "total_loss": loss(privatizer.total_loss(counts.words - counts.public)),
    })
}

/// The loss at each whole distance from 0 on, if the mechanism states it so.
pub fn loss_by_level(guarantee: &Guarantee) -> Option<&[f64]> {
    (!guarantee.losses.is_empty()).then_some(&guarantee.losses)
}

/// Which words were public, if some were: the list by name and identity, and how much it made public.
pub fn policy(privatizer: &Privatizer, counts: &Counts) -> Value {
    let policy = &privatizer.options().policy;
    let Some(list) = policy.list() else {
        return Value::Null;
    };
    json!({
        "private": policy.name(),
        "list": list.name(),
        "identity": list.identity().to_string(),
        "listed_words": list.len(),
        "private_words": privatizer.private_model().vocabulary().len(),
        "public_tokens": counts.public,
        "public_share": counts.public_share(),
    })
}

/// What is recorded of text that is decoded with context: the language model, and what the text is.
pub fn context(privatizer: &Privatizer) -> Option<Value> {
    let language = privatizer.options().context.as_ref()?;
    Some(json!({
        "language": language.file_identity().to_string(),
        "text": "decoded: a plausible text, not what was written",
    }))
}

/// How many private words stand behind one unit, and what they cost together. Of the units
/// themselves nothing is recorded.
fn unit(
    privatizer: &Privatizer,
    counts: &Counts,
    units: &Statistics,
    column: Option<&str>,
    max_words: Option<u64>,
) -> Value {
    let loss = |words| loss(privatizer.total_loss(words));
    json!({
        "column": column,
        "units": units.units,
        "max_words": max_words,
        "words_cut": counts.cut,
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

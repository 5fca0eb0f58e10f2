//! What a run wrote, read again: the private texts and nothing else.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use brr::parts::all_pairs::OnShare;
use brr::parts::parallel::cores;
use brr::{Budget, Choice, MechanismKind, Model, Options, Privatizer, Unknown};
use serde_json::Value;

use crate::chunks::Chunks;
use crate::edits::{Edits, OnBadRow};
use crate::error::{Error, RecordProblem, Result, RowProblem};
use crate::fingerprint::Fingerprint;
use crate::format::{Compression, Format};
use crate::input::Input;
use crate::manifest::SCHEMA;
use crate::rows;
use crate::run::{Progress, Run};
use crate::text::Document;

/// What a run wrote, by its record: the one file, or those of a folder.
pub struct Written {
    /// Draws as that run did.
    pub privatizer: Privatizer,
    record: Value,
}

impl Written {
    /// By the record of a run with this model, all of whose words were private.
    pub fn of(record: Value, model: Arc<Model>) -> Result<Written, RecordProblem> {
        released(&record, &model)?;
        if !record["policy"].is_null() {
            return Err(RecordProblem::Policy);
        }
        Written::under(record, model, Options::default(), &|_| {})
    }

    /// By the record of a run with this model, under the policy of these options; mechanism and budget are the
    /// record's. Where some words were public, their list must be the very one. `progress` gets the share of the
    /// work done, which is some if the exponential mechanism has to be certified on the private words.
    pub fn under(
        record: Value,
        model: Arc<Model>,
        options: Options,
        progress: OnShare<'_>,
    ) -> Result<Written, RecordProblem> {
        released(&record, &model)?;
        let policy = &record["policy"];
        let recorded = (policy["private"].as_str(), policy["identity"].as_str());
        let identity = options
            .policy
            .list()
            .map(|list| list.identity().to_string());
        let given = identity.as_ref().map(|_| options.policy.name());
        if recorded != (given, identity.as_deref()) {
            return Err(RecordProblem::OtherList);
        }
        let Some(epsilon) = record["epsilon"].as_f64() else {
            return Err(RecordProblem::NoRecord);
        };
        let mechanism = record["mechanism"]
            .as_str()
            .ok_or(RecordProblem::NoRecord)?;
        let mechanism =
            MechanismKind::parse(mechanism).map_err(|_| RecordProblem::OtherMechanism)?;
        let options = options.with_mechanism(mechanism);
        let privatizer = with_epsilon(epsilon, &|budget| {
            let options = options.clone().with_budget(budget);
            let made = Privatizer::certified(model.clone(), options, cores(), progress);
            made.map_err(|_| RecordProblem::OtherEpsilon)
        })?;
        // The bound says again what epsilon and mechanism say: an edit of one of them shows.
        let bound = record["bound"].as_f64().filter(|bound| *bound > 0.0);
        if bound.is_some_and(|bound| (privatizer.guarantee().bound() / bound - 1.0).abs() > 1e-3) {
            return Err(RecordProblem::Contradiction);
        }
        Ok(Written { privatizer, record })
    }

    /// The files that it wrote into a folder, in order; of a file, that one.
    pub fn files(&self, place: &Path) -> Result<Vec<PathBuf>, RecordProblem> {
        if !place.is_dir() {
            return Ok(vec![place.to_owned()]);
        }
        let files = self.record["files"].as_object();
        let files = files.ok_or(RecordProblem::OtherFile)?;
        Ok(files.keys().map(|name| place.join(name)).collect())
    }

    /// A run that reads a file that it wrote, or a stream.
    pub fn reader(&self, file: Option<&Path>) -> Result<Run<'_>, RecordProblem> {
        let entry = self.entry(file)?;
        let settings = &entry["settings"];
        let setting = |key: &str| settings[key].as_str();
        // Records of earlier builds have format and columns alone.
        let format = setting("format").or(entry["format"].as_str());
        let columns = match setting("columns") {
            Some(columns) => serde_json::from_str(columns).unwrap_or_default(),
            None => entry["columns"].clone(),
        };
        let emptied = entry["bad_rows"]["emptied"].as_u64();
        let emptied = emptied.or(entry["counts"]["emptied"].as_u64());
        let mut run = Run {
            format: format.and_then(|name| Format::parse(name).ok()),
            columns: serde_json::from_value(columns).unwrap_or_default(),
            optional_columns: true,
            // Bad rows that were kept without their text are still bad.
            on_bad_row: match emptied {
                Some(1..) => OnBadRow::CopyNull,
                _ => OnBadRow::Fail,
            },
            ..Run::new(&self.privatizer)
        };
        if setting("document") == Some(Document::File.name()) {
            run.document = Some(Document::File);
        }
        if setting("document_line") == Some("true") {
            run.document = None;
            (run.format, run.columns) = (Some(Format::Jsonl), vec!["text".into()]);
        }
        if matches!(run.format, Some(Format::Csv | Format::Tsv)) {
            run.header = setting("header").map(|header| header == "true");
            run.quotes = setting("quotes") != Some("false");
            run.delimiter = setting("delimiter").and_then(|d| d.bytes().next());
        }
        Ok(run)
    }

    /// How many tokens became random words because the model did not know them, in a file or
    /// folder that it wrote.
    pub fn unknown_words(&self, place: Option<&Path>) -> Result<u64, RecordProblem> {
        if self.record["unknown"].as_str() != Some(Unknown::Random.name()) {
            return Ok(0);
        }
        let entry = match place {
            Some(place) if place.is_dir() => &self.record,
            place => self.entry(place)?,
        };
        let unknown = entry["unknown_words"].as_u64();
        let unknown = unknown.or(entry["counts"]["unknown"].as_u64());
        unknown.ok_or(RecordProblem::NoRecord)
    }

    /// What is on record of the bytes of a file that it wrote; none by the records of earlier builds.
    pub fn fingerprint(&self, file: Option<&Path>) -> Result<Option<Fingerprint>, RecordProblem> {
        let output = &self.entry(file)?["output"];
        Ok(serde_json::from_value(output.clone()).ok())
    }

    /// What is on record about a file: of several the one whose name, which is relative to their
    /// folder, this path ends with.
    fn entry(&self, file: Option<&Path>) -> Result<&Value, RecordProblem> {
        let Some(files) = self.record.get("files") else {
            return Ok(&self.record);
        };
        let files = files.as_object().ok_or(RecordProblem::NoRecord)?;
        let file = file.ok_or(RecordProblem::OtherFile)?;
        let named = files.iter().filter(|(name, _)| file.ends_with(name));
        let found = named.max_by_key(|(name, _)| name.len());
        Ok(found.ok_or(RecordProblem::OtherFile)?.1)
    }
}

/// What has this epsilon, among what is made of budgets.
///
/// The epsilon on record is that of the distribution that was sampled, at most what was asked for. To ask for
/// it gives it, but for a rounding, or, where it is so small that the integers behind the draws take few values,
/// the next value below it. What was asked for lies above then, and epsilons rise with budgets.
fn with_epsilon(
    epsilon: f64,
    make: &dyn Fn(Budget) -> Result<Privatizer, RecordProblem>,
) -> Result<Privatizer, RecordProblem> {
    // A number may lose its last digit on the way through a file; the mechanism must not
    // fall to the next certificate below for that.
    let nearly = (epsilon * (1.0 + 1e-12)).max(f64::MIN_POSITIVE);
    let made = make(Budget::Epsilon(nearly))?;
    // Textbook weights for an epsilon that textbook weights gave may lie a rounding below it.
    if is_within(made.guarantee().epsilon, epsilon, 1e-4) {
        return Ok(made);
    }
    let (mut low, mut high) = (nearly, None);
    let mut step = nearly * 1e-9;
    for _ in 0..128 {
        let asked = match high {
            None => low + step,
            Some(high) => 0.5 * (low + high),
        };
        let made = make(Budget::Epsilon(asked))?;
        let found = made.guarantee().epsilon;
        if is_within(found, epsilon, 1e-9) {
            return Ok(made);
        }
        match found < epsilon {
            true => (low, step) = (asked, 2.0 * step),
            false => high = Some(asked),
        }
        if asked > 1.01 * nearly + 1e-6 {
            break;
        }
    }
    Err(RecordProblem::OtherEpsilon)
}

fn is_within(found: f64, epsilon: f64, share: f64) -> bool {
    (found - epsilon).abs() <= share * epsilon
}

/// Refuses what is no record of text that this model's mechanisms drew.
fn released(record: &Value, model: &Model) -> Result<(), RecordProblem> {
    let schema = record["schema"].as_u64();
    if schema.is_some_and(|found| found > SCHEMA) {
        return Err(RecordProblem::Newer);
    }
    // Records before schema 2 named the codes as the model's identity.
    let codes = record["model"]["codes"].as_str();
    let codes = codes.or(record["model"]["identity"].as_str());
    if codes.ok_or(RecordProblem::NoRecord)? != model.identity().to_string() {
        return Err(RecordProblem::OtherModel);
    }
    match record["context"].is_null() {
        true => Ok(()),
        false => Err(RecordProblem::Decoded),
    }
}

/// Which words were private, by a record: the name of the policy, and that of its list.
pub fn recorded_policy(record: &Value) -> Option<(&str, &str)> {
    let policy = &record["policy"];
    Some((policy["private"].as_str()?, policy["list"].as_str()?))
}

impl Run<'_> {
    /// Hands every private text of the input to `visit`, in order, and writes nothing.
    pub fn read(mut self, input: Input, visit: &mut dyn FnMut(&str)) -> Result {
        self.find_format(input.path(), None)?;
        self.check(Compression::None)?;
        #[cfg(feature = "parquet")]
        if self.kind() == Format::Parquet {
            return crate::parquet::read(&self, &input, visit);
        }
        let unpack = self.unpack(input.path())?;
        let mut chunks = Chunks::new(input.open(unpack)?, 0, self.max_record);
        let (format, _) = rows::open(&self, &mut chunks)?;
        self.tell(Progress::Begun);
        chunks.frame(format.framing());
        let taken = chunks.input().taken.clone();
        let mut row = 1;
        while let Some(chunk) = chunks.next_chunk()? {
            let mut edits = Edits::new(self.on_bad_row);
            let bad = |row, offset, problem| Error::BadRow {
                row,
                offset: Some(chunk.offset + offset as u64),
                problem,
            };
            if chunk.too_long() {
                return Err(bad(row, 0, RowProblem::TooLong));
            }
            format.edit(&chunk.bytes, &mut edits);
            edits.texts().iter().for_each(|text| visit(text));
            row += edits.rows();
            if let Some(failed) = edits.failed() {
                return Err(bad(row, failed.start, failed.problem));
            }
            self.tell(Progress::Bytes(taken.load(Ordering::Relaxed)));
            self.go_on()?;
        }
        Ok(())
    }
}

//! The one entrance: a file or stream in, a file or stream out.
//!
//! A [`Run`] finds the format by the names of the files, refuses what does not fit together before
//! anything is opened, and ends with a [`Report`] or with an error that says what is safe. What it
//! was asked to do is also what must be the same if it is resumed: all of it as it applies, not as
//! it was given, so that a program with other defaults does not continue it with another guarantee.

use std::path::Path;

use brr::{Case, Choice};
use serde_json::{Value, json};

use crate::checkpoint::{Checkpoint, Counts, Restart, Settings};
use crate::edits::OnBadRow;
use crate::error::{ColumnRole, Error, Result};
use crate::fingerprint::Fingerprint;
use crate::format::{Compression, Format};
use crate::input::{Input, Wrapping};
use crate::manifest::{self, SCHEMA};
use crate::output::{Output, Stream};
use crate::partial::{Opening, Partial, Writer};
use crate::rows;
use crate::run::Run;
use crate::units::{Ledger, Statistics};

/// What was done.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report {
    /// In numbers.
    pub counts: Counts,
    /// Private words per unit.
    pub units: Statistics,
    /// Where the run went on after an interruption.
    pub restarts: Vec<Restart>,
    /// Private columns that no row of this run had.
    pub unseen: Vec<ColumnRole>,
    /// The output, byte for byte. None if a run that was to be resumed was complete already.
    pub output: Option<Fingerprint>,
    /// The record of the run ([`manifest`]). None if a run that was to be resumed was complete
    /// already, and there was nothing to do.
    pub manifest: Option<Value>,
}

impl Report {
    /// Of an output of which only the checkpoint was still there.
    fn complete_before(counts: Counts) -> Report {
        Report {
            counts,
            units: Statistics::default(),
            restarts: Vec::new(),
            unseen: Vec::new(),
            output: None,
            manifest: None,
        }
    }
}

impl Run<'_> {
    /// Does it.
    pub fn run(self, input: Input, output: Output<'_>) -> Result<Report> {
        let path = self.manifest.clone();
        self.run_recorded(input, output, |report| match (path, &report.manifest) {
            (Some(path), Some(record)) => manifest::write(&path, record),
            _ => Ok(()),
        })
    }

    /// Does it, and calls `record` before the output takes its name.
    pub(crate) fn run_recorded(
        mut self,
        input: Input,
        output: Output<'_>,
        record: impl FnOnce(&Report) -> Result,
    ) -> Result<Report> {
        let (from, to) = (input.path(), output.name());
        self.find_format(from, to)?;
        let compression = self.output_compression.unwrap_or_else(|| by_name(to));
        self.check(compression)?;
        if let (Some(record), Some(to)) = (&self.manifest, to) {
            manifest::check_apart(record, to)?;
        }
        let unpack = self.unpack(from)?;
        // Fails early if the file is not there.
        let identity = input.identity()?;
        let mut writer: Box<dyn Writer + '_> = match (output, identity) {
            (Output::File(path), Some(identity)) => {
                match Partial::open(&self, &path, identity, self.settings(), compression)? {
                    Opening::Work(partial) => partial,
                    Opening::Done(state) => return Ok(Report::complete_before(state.counts)),
                }
            }
            (Output::Stream { writer, name }, _) if !self.resume => {
                Box::new(Stream::new(writer, name, compression))
            }
            _ => return Err(Error::NotRestartable),
        };
        let report = self.work(input, unpack, &mut *writer)?;
        record(&report)?;
        writer.publish()?;
        Ok(report)
    }

    /// What lies between the bytes of an input and its text.
    pub(crate) fn unpack(&self, from: Option<&Path>) -> Result<Wrapping> {
        let compression = self.input_compression.unwrap_or_else(|| by_name(from));
        compression.check()?;
        Ok(Wrapping {
            compression,
            encoding: self.encoding.filter(|encoding| !encoding.is_utf8()),
        })
    }

    pub(crate) fn find_format(&mut self, from: Option<&Path>, to: Option<&Path>) -> Result {
        let asked = self.format;
        let input = asked.or_else(|| from.and_then(Format::of));
        let input = input.unwrap_or_default();
        self.format = Some(input);
        match to.and_then(Format::of) {
            // A line for each document may well be JSON.
            Some(Format::Jsonl | Format::Json) if self.document_line.is_some() => Ok(()),
            Some(output) if output != input && asked.is_none() => {
                Err(Error::FormatsDiffer { input, output })
            }
            _ => Ok(()),
        }
    }

    /// Settings that were given and that the format does not have, each with what is to be said.
    pub(crate) fn misfits(&self) -> impl Iterator<Item = (&'static str, Error)> {
        let format = self.kind();
        let text = format == Format::Text;
        let csv = matches!(format, Format::Csv | Format::Tsv);
        let with_columns = "CSV, JSON and Parquet";
        let (for_csv, for_text) = ("CSV and TSV", "plain text");
        let encoded = format != Format::Parquet;
        let settings = [
            (!self.columns.is_empty(), "columns", !text, with_columns),
            (self.unit.is_some(), "unit", !text, with_columns),
            (self.header.is_some(), "header", csv, for_csv),
            (self.delimiter.is_some(), "delimiter", csv, for_csv),
            (!self.quotes, "quotes", csv, for_csv),
            (
                self.encoding.is_some(),
                "encoding",
                encoded,
                "text, CSV and JSON",
            ),
            (
                self.document_line.is_some(),
                "document_line",
                text,
                for_text,
            ),
            (self.document.is_some(), "document", text, for_text),
        ];
        let misfits = settings.into_iter().filter(|s| s.0 && !s.2);
        misfits.map(move |(_, setting, _, formats)| {
            let misfit = Error::Misfit {
                setting,
                formats,
                format,
            };
            (setting, misfit)
        })
    }

    /// Takes a setting back that [`misfits`](Self::misfits) named.
    pub(crate) fn unset(&mut self, setting: &str) {
        match setting {
            "columns" => self.columns.clear(),
            "header" => self.header = None,
            "delimiter" => self.delimiter = None,
            "quotes" => self.quotes = true,
            "encoding" => self.encoding = None,
            "document" => self.document = None,
            // The others change what is promised or written: they stay, and are refused.
            _ => {}
        }
    }

    /// Refuses what does not fit together.
    pub(crate) fn check(&self, compression: Compression) -> Result {
        compression.check()?;
        let format = self.kind();
        if let Some((_, misfit)) = self.misfits().next() {
            return Err(misfit);
        }
        match format {
            Format::Text => {}
            _ if self.columns.is_empty() => return Err(Error::NoColumns { format }),
            Format::Parquet if cfg!(not(feature = "parquet")) => {
                return Err(Error::Lacks { feature: "parquet" });
            }
            Format::Parquet if compression != Compression::None => {
                return Err(Error::CompressedParquet);
            }
            Format::Parquet | Format::Json if self.on_bad_row == OnBadRow::Skip => {
                return Err(Error::CannotSkip { format });
            }
            _ => self.dialect().check()?,
        }
        match &self.manifest {
            // Known before hours of work, rather than after.
            Some(path) => manifest::prepare(path, self.force || self.resume),
            None => Ok(()),
        }
    }

    /// What must be the same when a run goes on, by the names of the fields.
    pub(crate) fn settings(&self) -> Settings {
        let mut settings = Settings::new();
        let mut set = |key: &str, value: String| settings.insert(key.to_owned(), value);
        let (options, guarantee) = (self.privatizer.options(), self.privatizer.guarantee());
        let model = self.privatizer.model().file_identity();
        set("model", model.to_string());
        set("manifest schema", SCHEMA.to_string());
        let mechanism = self.privatizer.mechanism().name();
        set("mechanism", mechanism.to_owned());
        set("epsilon", guarantee.epsilon.to_string());
        set("layout", options.layout.name().to_owned());
        set("unknown", options.unknown.name().to_owned());
        if let Some(language) = &options.context {
            set("context", language.file_identity().to_string());
        }
        if let Some(list) = options.policy.list() {
            let policy = format!("{} {}", options.policy.name(), list.identity());
            set("policy", policy);
        }
        if options.case != Case::default() {
            set("case", options.case.name().to_owned());
        }
        set("format", self.kind().name().to_owned());
        set("columns", json!(self.columns).to_string());
        if let Some(encoding) = self.encoding {
            set("encoding", encoding.name().to_owned());
        }
        let none = || "none".to_owned();
        set("unit", self.unit.clone().unwrap_or_else(none));
        let cap = self.max_words.as_ref();
        set("max_words", cap.map_or_else(none, u64::to_string));
        if self.unit.is_some() {
            // Rows that are done are counted again: the same ones must be too long.
            set("max_record", self.max_record.to_string());
        }
        set("document_line", self.document_line.is_some().to_string());
        let document = self.document.unwrap_or_default();
        set("document", document.name().to_owned());
        if matches!(self.kind(), Format::Csv | Format::Tsv) {
            let dialect = self.dialect();
            set("delimiter", char::from(dialect.delimiter).to_string());
            set("quotes", dialect.quotes.to_string());
            set("header", (self.header != Some(false)).to_string());
        }
        settings
    }

    /// Privatizes all of the input into the writer, which keeps what can be kept if that fails.
    fn work(&self, input: Input, wrapping: Wrapping, writer: &mut dyn Writer) -> Result<Report> {
        let counts_of = |state: &Checkpoint| state.counts.clone();
        let mut counts = writer.so_far().map(counts_of).unwrap_or_default();
        let mut ledger = None;
        let done = Ledger::open(self.privatizer.model(), self.unit.is_some(), self.max_words)
            .and_then(|opened| {
                ledger = opened;
                let unseen = match self.kind() {
                    #[cfg(feature = "parquet")]
                    Format::Parquet => {
                        crate::parquet::run(self, &input, writer, &mut counts, &mut ledger)?;
                        // Its schema has every column, or the run had not begun.
                        Vec::new()
                    }
                    _ => rows::run(self, input, wrapping, writer, &mut counts, &mut ledger)?,
                };
                Ok((unseen, writer.complete()?))
            });
        let (unseen, output) = done.map_err(|mut error| {
            if let Error::Truncated { row, .. } = &mut error {
                *row = (counts.rows > 0).then_some(counts.rows);
            }
            writer.fail(error)
        })?;
        let units = ledger.map_or_else(
            || counts.lengths.statistics(),
            |ledger| ledger.accounts.statistics(),
        );
        let restarts_of = |state: &Checkpoint| state.restarts.clone();
        let restarts = writer.so_far().map(restarts_of).unwrap_or_default();
        let record = manifest::of_run(self, &counts, &units, &restarts, &output);
        Ok(Report {
            counts,
            units,
            restarts,
            unseen,
            output: Some(output),
            manifest: Some(record),
        })
    }
}

fn by_name(path: Option<&Path>) -> Compression {
    path.map_or(Compression::None, Compression::of)
}

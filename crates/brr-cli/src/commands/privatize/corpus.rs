//! Files and streams of documents: what `brr-corpus` is to do with them.

use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use brr::{Choice, Privatizer};
use brr_corpus::csv::Dialect;
use brr_corpus::jsonl::Jsonl;
use brr_corpus::output::{Existing, Opening, Partial, Stream};
use brr_corpus::rows::{self, Rows};
use brr_corpus::text::{ReportLine, Text};
use brr_corpus::{
    Event, Format, Job, OnBadRow, Output, Packing, Report, Source, Units, checkpoint,
};
use clap::ValueEnum;

use super::{Args, SCHEMA, announce, json_line, source, write_manifest};
use crate::failure::{Failure, Result};
use crate::output::{self, Sink};
use crate::usage::{Refused, file_name, whole};
use crate::{losses, progress};

/// Options for files with many documents.
#[derive(clap::Args)]
#[command(next_help_heading = "Files")]
pub struct CorpusArgs {
    /// Format of the input and the output [default: by the extension, otherwise text]
    #[arg(long, value_enum)]
    format: Option<FormatArg>,
    /// Column to privatize; may be given several times. In CSV and TSV a name or a number
    /// counted from 1 (2 or #2), in JSON lines and Parquet a path such as user.comment
    #[arg(short, long, value_name = "COLUMN")]
    column: Vec<String>,
    /// Column that names the unit of privacy a row belongs to, such as a user's number. It is
    /// copied unchanged, so it is public [default: every document is a unit]
    #[arg(long, value_name = "COLUMN")]
    pub unit: Option<String>,
    /// Largest number of private words to keep of each unit, in the order of the file; further
    /// words are deleted. A unit is what --unit names, otherwise a document
    #[arg(long, value_name = "N", value_parser = whole::<u64, 1, 1_000_000_000_000>)]
    pub max_words: Option<u64>,
    /// The first row holds the names of the columns and is copied
    #[arg(long, overrides_with = "no_header")]
    header: bool,
    /// The first row is data
    #[arg(long)]
    no_header: bool,
    /// Character between two cells [default: comma, or tab for TSV]
    #[arg(long, value_name = "CHARACTER", value_parser = delimiter)]
    delimiter: Option<u8>,
    /// Treat quotes as ordinary characters, as some TSV files do
    #[arg(long)]
    no_quotes: bool,
    /// Allow rows of JSON lines to lack a column, even the first row
    #[arg(long)]
    optional_columns: bool,
    /// What counts as a document in plain text [default: line]
    #[arg(long, value_enum)]
    document: Option<DocumentArg>,
    /// What to do with a row that cannot be read
    #[arg(long, value_enum, default_value = "fail")]
    on_bad_row: OnBadRowArg,
    /// Size of the longest row to read; a longer one is a bad row
    #[arg(long, value_name = "SIZE", default_value = "16M", value_parser = size)]
    max_record: usize,
    /// Continue an interrupted run from its last checkpoint
    #[arg(long, requires_all = ["input", "output"])]
    pub resume: bool,
    /// Seconds between checkpoints; they take at most a twentieth of the time
    #[arg(long, value_name = "SECONDS", default_value = "2", hide_short_help = true, value_parser = clap::value_parser!(u32))]
    checkpoint_seconds: u32,
}

#[derive(Clone, Copy, ValueEnum)]
enum FormatArg {
    /// Plain text, one document per line
    Text,
    /// Cells separated by commas, in quotes where necessary
    Csv,
    /// Cells separated by tabs
    Tsv,
    /// One JSON object per line
    Jsonl,
    /// Apache Parquet
    Parquet,
}

impl From<FormatArg> for Format {
    fn from(arg: FormatArg) -> Format {
        match arg {
            FormatArg::Text => Format::Text,
            FormatArg::Csv => Format::Csv,
            FormatArg::Tsv => Format::Tsv,
            FormatArg::Jsonl => Format::Jsonl,
            FormatArg::Parquet => Format::Parquet,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum DocumentArg {
    /// Each line
    Line,
    /// The whole input
    File,
}

#[derive(Clone, Copy, ValueEnum)]
enum OnBadRowArg {
    /// End the run
    Fail,
    /// Leave the row out
    Skip,
    /// Keep the row, without its text
    CopyNull,
}

impl From<OnBadRowArg> for OnBadRow {
    fn from(arg: OnBadRowArg) -> OnBadRow {
        match arg {
            OnBadRowArg::Fail => OnBadRow::Fail,
            OnBadRowArg::Skip => OnBadRow::Skip,
            OnBadRowArg::CopyNull => OnBadRow::CopyNull,
        }
    }
}

fn delimiter(text: &str) -> std::result::Result<u8, Refused> {
    let byte = match text.as_bytes() {
        b"tab" | b"\\t" => b'\t',
        &[byte] => byte,
        _ => 0,
    };
    let dialect = Dialect::new(byte, true).filter(|_| byte != 0);
    let dialect =
        dialect.ok_or_else(|| Refused::new("must be one character such as ';' or '|', or tab"))?;
    Ok(dialect.delimiter)
}

/// A number of bytes, with K, M or G for powers of 1024.
fn size(text: &str) -> std::result::Result<usize, Refused> {
    let number = text.trim_end_matches(['B', 'b', 'i']);
    let (digits, shift) = match number.as_bytes().last() {
        Some(b'K' | b'k') => (&number[..number.len() - 1], 10),
        Some(b'M' | b'm') => (&number[..number.len() - 1], 20),
        Some(b'G' | b'g') => (&number[..number.len() - 1], 30),
        _ => (number, 0),
    };
    let bytes = digits.parse::<usize>().ok();
    let bytes = bytes.and_then(|n| n.checked_mul(1 << shift));
    bytes
        .filter(|&n| n > 0)
        .ok_or_else(|| Refused::new("must be a size such as 64M"))
}

/// A file's kind and its private columns.
pub struct Corpus {
    pub format: Format,
    pub columns: Vec<String>,
}

impl Corpus {
    /// What the call is about; an error if its options do not fit each other.
    fn new(args: &Args) -> Result<Corpus> {
        let asked = args.corpus.format.map(Format::from);
        let of = |path: &Option<_>| path.as_deref().and_then(Format::of);
        let format = asked.or_else(|| of(&args.input)).unwrap_or(Format::Text);
        if let (None, Some(output)) = (asked, of(&args.output)) {
            let json_lines = args.json && output == Format::Jsonl;
            if output != format && !json_lines {
                return Err(Failure::Usage(format!(
                    "--output: {} in, {} out: brr does not convert formats; choose another extension, or say what it is with --format",
                    format.name(),
                    output.name()
                )));
            }
        }
        let corpus = Corpus {
            format,
            columns: args.corpus.column.clone(),
        };
        corpus.check(args)?;
        Ok(corpus)
    }

    fn check(&self, args: &Args) -> Result {
        let CorpusArgs {
            header,
            no_header,
            delimiter,
            no_quotes,
            document,
            ..
        } = &args.corpus;
        let name = self.format.name();
        let misfit = |flag: &str, wants: &str| {
            Err(Failure::Usage(format!(
                "{flag} is for {wants}; this input is {name}: name its kind by --format if it is not"
            )))
        };
        let (text, csv) = match self.format {
            Format::Text => (true, false),
            Format::Csv | Format::Tsv => (false, true),
            Format::Jsonl | Format::Parquet => (false, false),
        };
        if text && !self.columns.is_empty() {
            return misfit("--column", "CSV, JSON lines and Parquet");
        }
        if text && args.corpus.unit.is_some() {
            return misfit("--unit", "CSV, JSON lines and Parquet");
        }
        if !text && self.columns.is_empty() {
            return Err(Failure::Usage(format!(
                "--column: say which columns of the {name} input are to be privatized; all others are copied as they are"
            )));
        }
        if !csv {
            let given = [
                (*header, "--header"),
                (*no_header, "--no-header"),
                (delimiter.is_some(), "--delimiter"),
                (*no_quotes, "--no-quotes"),
            ];
            if let Some((_, flag)) = given.iter().find(|(given, _)| *given) {
                return misfit(flag, "CSV and TSV");
            }
        }
        if !text && args.json {
            return misfit("--json", "plain text");
        }
        if !text && document.is_some() {
            return misfit("--document", "plain text");
        }
        Ok(())
    }

    fn dialect(&self, args: &Args) -> Dialect {
        let usual = if self.format == Format::Tsv {
            b'\t'
        } else {
            b','
        };
        Dialect {
            delimiter: args.corpus.delimiter.unwrap_or(usual),
            quotes: !args.corpus.no_quotes,
        }
    }

    fn header(args: &Args) -> Option<bool> {
        match (args.corpus.header, args.corpus.no_header) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            _ => None,
        }
    }

    /// Rows of a stream; `None` for Parquet.
    fn rows<'a>(&self, args: &Args, privatizer: &'a Privatizer) -> Result<Option<Rows<'a>>> {
        Ok(Some(match self.format {
            Format::Text => Rows::Text(Text {
                whole: args.corpus.document == Some(DocumentArg::File),
                report: args.json.then(|| -> ReportLine<'a> {
                    Box::new(move |document| json_line(privatizer, document))
                }),
            }),
            Format::Csv | Format::Tsv => Rows::Csv {
                dialect: self.dialect(args),
                columns: self.columns.clone(),
                header: Corpus::header(args),
            },
            Format::Jsonl => Rows::Jsonl(Jsonl::new(&self.columns, args.corpus.optional_columns)?),
            Format::Parquet => return Ok(None),
        }))
    }

    /// What must be the same when a run goes on: options as they were resolved, so that a
    /// program with other defaults does not continue it with another guarantee.
    fn settings(&self, args: &Args, privatizer: &Privatizer) -> checkpoint::Settings {
        let mut settings = checkpoint::Settings::new();
        let mut set = |key: &str, value: String| settings.insert(key.to_owned(), value);
        let (options, guarantee) = (privatizer.options(), privatizer.guarantee());
        set("--model", privatizer.model().file_identity().to_string());
        set("manifest schema", SCHEMA.to_string());
        set("--mechanism", privatizer.mechanism().name().to_owned());
        set("epsilon", guarantee.epsilon.to_string());
        set("--layout", options.layout.name().to_owned());
        set("--unknown", options.unknown.name().to_owned());
        set("--format", self.format.name().to_owned());
        set("--column", serde_json::json!(self.columns).to_string());
        let none = || "none".to_owned();
        set("--unit", args.corpus.unit.clone().unwrap_or_else(none));
        let cap = args.corpus.max_words.as_ref();
        set("--max-words", cap.map_or_else(none, u64::to_string));
        if args.corpus.unit.is_some() {
            // Rows that are done are counted again: the same ones must be too long.
            set("--max-record", args.corpus.max_record.to_string());
        }
        set("--json", args.json.to_string());
        let whole = args.corpus.document == Some(DocumentArg::File);
        set("--document", if whole { "file" } else { "line" }.into());
        if matches!(self.format, Format::Csv | Format::Tsv) {
            let dialect = self.dialect(args);
            set("--delimiter", char::from(dialect.delimiter).to_string());
            set("--no-quotes", (!dialect.quotes).to_string());
            set("--no-header", args.corpus.no_header.to_string());
        }
        settings
    }
}

/// Privatizes a file or a stream.
pub fn run(args: &Args, privatizer: &Privatizer) -> Result {
    let corpus = Corpus::new(args)?;
    let source = source(args);
    // Fails early if the file is not there.
    let identity = source.identity()?;
    match (&args.output, identity) {
        (Some(path), Some(identity)) => {
            let existing = Existing {
                resume: args.corpus.resume,
                force: args.force,
            };
            let packing = packing_of(path, corpus.format)?;
            let interval = Duration::from_secs(args.corpus.checkpoint_seconds.into());
            let settings = corpus.settings(args, privatizer);
            let opened = Partial::open(path, existing, settings, identity, packing, interval)?;
            match opened {
                Opening::Work(partial) => to_partial(args, privatizer, &corpus, source, partial),
                Opening::Done(_) => {
                    eprintln!("brr: {} is complete already", path.display());
                    Ok(())
                }
            }
        }
        (_, None) if args.corpus.resume => Err(Failure::Usage(
            "--resume: the input is not a file that can be read again from the middle".into(),
        )),
        _ => to_stream(args, privatizer, &corpus, source),
    }
}

fn packing_of(path: &Path, format: Format) -> Result<Packing> {
    match Packing::of(path) {
        Packing::None => Ok(Packing::None),
        _ if format == Format::Parquet => Err(Failure::Usage(format!(
            "{}: Parquet is compressed inside: leave the last extension out",
            file_name(path)
        ))),
        packing => Ok(packing),
    }
}

/// Into a file that can be continued.
fn to_partial(
    args: &Args,
    privatizer: &Privatizer,
    corpus: &Corpus,
    source: Source,
    partial: Box<Partial>,
) -> Result {
    let mut output = Output::Partial(partial);
    let (report, unseen) = work(args, privatizer, corpus, source, &mut output)?;
    write_manifest(args, privatizer, &report, Some(corpus))?;
    if let Output::Partial(partial) = output {
        partial.publish()?;
    }
    tell(args, privatizer, corpus, &report, &unseen);
    Ok(())
}

/// To standard output, or into a file that is whole or not at all.
fn to_stream(args: &Args, privatizer: &Privatizer, corpus: &Corpus, source: Source) -> Result {
    let path = args.output.as_deref();
    let packing = path.map_or(Ok(Packing::None), |path| packing_of(path, corpus.format))?;
    let mut sink = Sink::open(path, args.force)?;
    let stream = Stream::new(&mut sink, path, packing);
    let mut output = Output::Stream(Box::new(stream));
    let (report, unseen) = work(args, privatizer, corpus, source, &mut output)?;
    sink.finish()?;
    write_manifest(args, privatizer, &report, Some(corpus))?;
    tell(args, privatizer, corpus, &report, &unseen);
    Ok(())
}

fn work(
    args: &Args,
    privatizer: &Privatizer,
    corpus: &Corpus,
    source: Source,
    output: &mut Output<'_>,
) -> Result<(Report, Vec<String>)> {
    let size = args.input.as_ref().and_then(|path| path.metadata().ok());
    let bar = progress::bytes(size.filter(|m| m.is_file()).map(|m| m.len()));
    let stop = match output {
        Output::Partial(_) => output::stop_at_safe_point(),
        Output::Stream(_) => output::never_stop(),
    };
    let unseen = Mutex::new(Vec::new());
    let job = Job {
        privatizer,
        threads: args.threads.map_or_else(all_cores, usize::from),
        units: Units {
            column: args.corpus.unit.as_deref(),
            max_words: args.corpus.max_words,
        },
        on_bad_row: args.corpus.on_bad_row.into(),
        max_record: args.corpus.max_record,
        stop,
        tell: &|event| match event {
            Event::Begun => bar.suspend(|| announce(args, privatizer)),
            Event::Passed(bytes) => bar.set_position(bytes),
            Event::Unseen(option) => {
                let mut unseen = unseen.lock().unwrap_or_else(|held| held.into_inner());
                unseen.push(option.to_owned());
            }
        },
    };
    let packing = args.input.as_deref().map_or(Packing::None, Packing::of);
    let report = match corpus.rows(args, privatizer)? {
        Some(rows) => rows::run(&job, rows, source, packing, output),
        None => parquet(&job, corpus, source, output),
    };
    bar.finish_and_clear();
    let unseen = unseen.into_inner().unwrap_or_else(|held| held.into_inner());
    Ok((report?, unseen))
}

#[cfg(feature = "parquet")]
fn parquet(
    job: &Job<'_>,
    corpus: &Corpus,
    source: Source,
    output: &mut Output<'_>,
) -> brr_corpus::Result<Report> {
    brr_corpus::parquet::run(job, &corpus.columns, source, output)
}

#[cfg(not(feature = "parquet"))]
fn parquet(_: &Job<'_>, _: &Corpus, _: Source, _: &mut Output<'_>) -> brr_corpus::Result<Report> {
    Err(brr_corpus::Error::Usage(
        "--format: this brr was built without Parquet; build it with --features parquet".into(),
    ))
}

fn all_cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Says what was done. Reports rows in which nothing was privatized, even with --quiet.
fn tell(args: &Args, privatizer: &Privatizer, corpus: &Corpus, report: &Report, unseen: &[String]) {
    let counts = &report.counts;
    let named = !corpus.columns.is_empty();
    if named && counts.documents == 0 && counts.rows > 0 {
        eprintln!(
            "warning: no text was found where --column points in any of {} rows: nothing was privatized",
            counts.rows
        );
    } else {
        for option in unseen {
            eprintln!("warning: {option}: no row of this run has such a field");
        }
        if named && !args.quiet {
            eprintln!(
                "brr: rows: {1}, cells privatized: {0}; other columns are as they were",
                counts.documents, counts.rows
            );
        }
    }
    let counted = args.corpus.unit.is_some() || args.corpus.max_words.is_some();
    if counted && !args.quiet {
        eprintln!("brr: {}", losses::of_units(privatizer, report));
    }
    let rows = |n: u64| {
        if n == 1 {
            "1 bad row was".into()
        } else {
            format!("{n} bad rows were")
        }
    };
    if counts.skipped > 0 {
        eprintln!("brr: {} left out, of {}", rows(counts.skipped), counts.rows);
    }
    if counts.emptied > 0 {
        eprintln!(
            "brr: {} kept without text, of {}",
            rows(counts.emptied),
            counts.rows
        );
    }
}

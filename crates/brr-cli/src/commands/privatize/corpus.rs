//! Files and streams of documents: what `brr-corpus` is to do with them.

use std::path::{Path, PathBuf};
use std::sync::Once;
use std::time::Duration;

use brr::parts::parallel::cores;
use brr::{Choice, Privatizer};
use brr_corpus::{
    Document, Encoding, Format, Input, OnBadRow, Output, Progress, Report, Run, files,
};

use super::{Args, announce, json_line, tell_what_was_public};
use crate::failure::{Failure, Result};
use crate::output::{self, is_standard};
use crate::usage::{Refused, choice, whole};
use crate::{input, losses, progress};
use indicatif::ProgressBar;

/// Options for files with many documents.
#[derive(clap::Args)]
#[command(next_help_heading = "Files")]
pub struct CorpusArgs {
    /// Format of the input and the output [default: by the extension, otherwise text]
    #[arg(long, value_name = "FORMAT", value_parser = choice::<Format>())]
    format: Option<Format>,
    /// Encoding of the input, such as latin-1 or utf-16; the output is UTF-8 [default: UTF-8]
    #[arg(long, value_name = "ENCODING", value_parser = encoding)]
    encoding: Option<Encoding>,
    /// Column to privatize; may be given several times. In CSV and TSV a name or a number
    /// counted from 1 (2 or #2), in JSON and Parquet a path such as user.comment
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
    #[arg(long, value_name = "DOCUMENT", value_parser = choice::<Document>())]
    document: Option<Document>,
    /// What to do with a row that cannot be read
    #[arg(long, value_name = "ON_BAD_ROW", value_parser = choice::<OnBadRow>(), default_value = OnBadRow::default().name())]
    on_bad_row: OnBadRow,
    /// Size of the longest row to read; a longer one is a bad row
    #[arg(long, value_name = "SIZE", default_value = "16M", value_parser = size)]
    max_record: usize,
    /// Continue an interrupted run from its last checkpoint
    #[arg(long)]
    pub resume: bool,
    /// Seconds between checkpoints; they take at most a twentieth of the time
    #[arg(long, value_name = "SECONDS", default_value = "2", hide_short_help = true, value_parser = whole::<u32, 0, 1_000_000>)]
    checkpoint_seconds: u32,
}

fn encoding(name: &str) -> std::result::Result<Encoding, Refused> {
    let refused = match name.to_ascii_lowercase().replace(['-', '_'], "") {
        known if known.starts_with("utf32") || known.starts_with("utf7") => {
            "is one that brr does not read: convert the file to UTF-8 first, as by iconv"
        }
        _ => "must be the name of an encoding, such as latin-1, windows-1252 or utf-16",
    };
    Encoding::named(name).ok_or_else(|| Refused::new(refused))
}

fn delimiter(text: &str) -> std::result::Result<u8, Refused> {
    match text.as_bytes() {
        b"tab" | b"\\t" => Ok(b'\t'),
        &[byte] => Ok(byte),
        _ => Err(Refused::new(
            "must be one character such as ';' or '|', or tab",
        )),
    }
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

impl CorpusArgs {
    /// Text on the command line is no file.
    pub fn refuse_for_arguments(&self) -> Result {
        let given = [
            (self.format.is_some(), "--format"),
            (self.encoding.is_some(), "--encoding"),
            (self.unit.is_some(), "--unit"),
            (self.resume, "--resume"),
        ];
        match given.iter().find(|(given, _)| *given) {
            Some((_, option)) => Err(Failure::Usage(format!(
                "{option} is for files, and TEXT was given: use --input, or --output-dir for files named as TEXT"
            ))),
            None => Ok(()),
        }
    }
}

/// Privatizes files or a stream.
pub fn run(args: &Args, privatizer: &Privatizer) -> Result {
    let found = args.input.as_ref().and_then(|path| path.metadata().ok());
    let size = found.as_ref().filter(|m| m.is_file()).map(|m| m.len());
    let bar = progress::bytes(size.or(args.output_dir.as_ref().map(|_| 0)));
    let announced = Once::new();
    let line = |document: &_| json_line(privatizer, document);
    let tell = |progress| match progress {
        // Files in a folder begin one after another.
        Progress::Begun => announced.call_once(|| bar.suspend(|| announce(args, privatizer))),
        Progress::Bytes(bytes) => bar.set_position(bytes),
        _ => {}
    };
    let corpus = &args.corpus;
    let run = Run {
        format: corpus.format,
        encoding: corpus.encoding,
        columns: corpus.column.clone(),
        optional_columns: corpus.optional_columns,
        unit: corpus.unit.clone(),
        max_words: corpus.max_words,
        header: match (corpus.header, corpus.no_header) {
            (false, false) => None,
            (header, _) => Some(header),
        },
        delimiter: corpus.delimiter,
        quotes: !corpus.no_quotes,
        document: corpus.document,
        document_line: if args.json { Some(&line) } else { None },
        on_bad_row: corpus.on_bad_row,
        max_record: corpus.max_record,
        threads: args.threads.map_or_else(cores, usize::from),
        resume: corpus.resume,
        force: args.force,
        checkpoint_interval: Duration::from_secs(corpus.checkpoint_seconds.into()),
        manifest: args.manifest_file().map(Path::to_owned),
        progress: Some(&tell),
        ..Run::new(privatizer)
    };
    if let Some(folder) = &args.output_dir {
        let run = Run {
            stop: Some(output::stop_at_safe_point()),
            ..run
        };
        return many(args, run, folder, &bar);
    }
    if corpus.resume && (args.input.is_none() || args.output.is_none()) {
        return Err(Failure::Usage(
            "--resume needs --input and --output, or --output-dir".into(),
        ));
    }
    let from_file = args.input.as_deref().is_some_and(|path| !is_standard(path));
    let restartable = from_file && found.is_none_or(|found| found.is_file());
    let source = input::open(args.input.as_deref())?;
    let done = match &args.output {
        Some(path) if restartable && is_plain(path) => {
            let run = Run {
                stop: Some(output::stop_at_safe_point()),
                ..run
            };
            Ok(run.run(source, Output::File(path.clone())))
        }
        name => to_stream(run, source, name.as_deref(), args.force),
    };
    bar.finish_and_clear();
    let report = done??;
    tell_what_was_done(args, privatizer, &report);
    match &report.manifest {
        Some(record) => args.print_manifest(record),
        None => Ok(()),
    }
}

/// Several files into a folder.
fn many(args: &Args, run: Run<'_>, folder: &Path, bar: &ProgressBar) -> Result {
    let privatizer = run.privatizer;
    let inputs: Vec<PathBuf> = args.text.iter().map(PathBuf::from).collect();
    if inputs.iter().any(|path| is_standard(path)) {
        return Err(Failure::Usage(
            "--output-dir: standard input (-) has no name to be written under: privatize it by itself".into(),
        ));
    }
    let begin = |path: &Path| {
        bar.set_message(path.display().to_string());
        bar.set_length(path.metadata().map_or(0, |found| found.len()));
        bar.set_position(0);
    };
    let done = run.run_all(&inputs, folder, &begin);
    bar.finish_and_clear();
    let done = done?;
    for (path, report) in &done.done {
        if !args.quiet {
            tell!("brr: {}: rows: {}", path.display(), report.counts.rows);
        }
        tell_what_was_done(args, privatizer, report);
    }
    if done.complete > 0 {
        tell!("brr: files that were complete already: {}", done.complete);
    }
    if done.left_alone > 0 {
        tell!(
            "warning: files in folders whose names do not tell a format, left alone: {}; give --format to take them",
            done.left_alone
        );
    }
    if done.special > 0 {
        tell!(
            "warning: pipes, devices and the like in folders, left alone: {}",
            done.special
        );
    }
    if done.taken_already > 0 {
        tell!(
            "warning: further names of files and folders that were taken already by another name, left out: {}; two draws of a text would cost twice",
            done.taken_already
        );
    }
    Ok(())
}

/// Whether an output is a file that can be cut and continued.
fn is_plain(path: &Path) -> bool {
    !is_standard(path) && !matches!(files::place(path), Ok(files::Place::Special(_)))
}

/// To standard output, or into a file that is whole or not at all.
fn to_stream(
    run: Run<'_>,
    input: Input,
    name: Option<&Path>,
    force: bool,
) -> Result<brr_corpus::Result<Report>> {
    let mut out = output::open(name, force)?;
    let name = name.filter(|path| !is_standard(path));
    let output = Output::Stream {
        writer: &mut out,
        name: name.map(Path::to_owned),
    };
    let done = run.run(input, output);
    if done.is_ok() {
        out.finish()?;
    }
    Ok(done)
}

/// Says what was done. Reports rows in which nothing was privatized, even with --quiet.
fn tell_what_was_done(args: &Args, privatizer: &Privatizer, report: &Report) {
    if let (None, Some(path)) = (&report.manifest, &args.output) {
        return tell!("brr: {} is complete already", path.display());
    }
    let counts = &report.counts;
    let named = !args.corpus.column.is_empty();
    if named && counts.documents == 0 && counts.rows > 0 {
        tell!(
            "warning: no text was found where --column points in any of {} rows: nothing was privatized",
            counts.rows
        );
    } else if counts.rows == 0 {
        tell!("warning: the input has no rows");
    } else {
        for column in &report.unseen {
            let option = column.called("--column", "--unit");
            tell!("warning: {option}: no row of this run has such a field");
        }
        if named && !args.quiet {
            tell!(
                "brr: rows: {1}, cells privatized: {0}; other columns are as they were",
                counts.documents,
                counts.rows
            );
        }
    }
    tell_what_was_public(args, privatizer, counts);
    let counted = args.corpus.unit.is_some() || args.corpus.max_words.is_some();
    if counted && !args.quiet {
        tell!("brr: {}", losses::of_units(privatizer, report));
    }
    let rows = |n: u64| {
        if n == 1 {
            "1 bad row was".into()
        } else {
            format!("{n} bad rows were")
        }
    };
    if counts.skipped > 0 {
        tell!("brr: {} left out, of {}", rows(counts.skipped), counts.rows);
    }
    if counts.emptied > 0 {
        tell!(
            "brr: {} kept without text, of {}",
            rows(counts.emptied),
            counts.rows
        );
    }
}

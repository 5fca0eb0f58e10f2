//! Whole files: `brr privatize --input --output` from Python.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use brr::Choice;
use brr_corpus::{Encoding, Error, FileProblem, Input, Output, Progress, Run};
use pyo3::prelude::*;

use crate::choices::{Callback, Whole};
use crate::privatizer::{Privatizer, parse};
use crate::{batch, failure, interruptible, record};

/// What was done to a file: a record `FileReport`.
fn reported<'py>(py: Python<'py>, report: brr_corpus::Report) -> PyResult<Bound<'py, PyAny>> {
    let place = |column: brr_corpus::ColumnRole| match column {
        brr_corpus::ColumnRole::Private { index, .. } => Some(index),
        brr_corpus::ColumnRole::Unit => None,
    };
    let counts = report.counts;
    let fields = (
        counts.rows,
        counts.documents,
        counts.words,
        counts.unknown,
        counts.skipped,
        counts.emptied,
        counts.cut,
        report
            .unseen
            .into_iter()
            .filter_map(place)
            .collect::<Vec<_>>(),
        report.manifest.map(|r| read_json(py, &r)).transpose()?,
    );
    record::new(py, "FileReport", fields)
}

/// JSON as Python reads it.
pub fn read_json<'py>(py: Python<'py>, json: &serde_json::Value) -> PyResult<Bound<'py, PyAny>> {
    let loads = py.import("json")?.getattr("loads")?;
    loads.call1((json.to_string(),))
}

/// Privatizes a file into another.
#[pyfunction(name = "_privatize_file")]
#[pyo3(signature = (privatizer, input, output, *, columns, format, encoding, unit, max_words, header,
                    delimiter, quotes, optional_columns, document, on_bad_row, max_record,
                    manifest, resume, force, threads, progress))]
#[allow(clippy::too_many_arguments)] // Python's keyword arguments
pub fn privatize_file<'py>(
    py: Python<'py>,
    privatizer: &Privatizer,
    input: PathBuf,
    output: PathBuf,
    columns: Vec<String>,
    format: Option<&str>,
    encoding: Option<&str>,
    unit: Option<String>,
    max_words: Option<u64>,
    header: Option<bool>,
    delimiter: Option<char>,
    quotes: bool,
    optional_columns: bool,
    document: Option<&str>,
    on_bad_row: Option<&str>,
    max_record: Option<usize>,
    manifest: Option<PathBuf>,
    resume: bool,
    force: bool,
    threads: Option<Whole>,
    progress: Option<Callback>,
) -> PyResult<Bound<'py, PyAny>> {
    let core = privatizer.share();
    let format = named(py, format)?;
    let unknown = || failure::argument(py, "there is no such encoding: give a name such as latin1");
    let encoding = encoding.map(|name| Encoding::named(name).ok_or_else(unknown));
    let encoding = encoding.transpose()?;
    let document = named(py, document)?;
    let on_bad_row = named(py, on_bad_row)?.unwrap_or_default();
    // A character of several bytes is none that a delimiter may be.
    let delimiter = delimiter.map(|c| u8::try_from(c).unwrap_or(u8::MAX));
    let threads = batch::threads(py, threads)?;
    let size = std::fs::metadata(&input).map_or(0, |found| found.len());
    let work = move |stop: &AtomicBool| {
        let tell = |told| {
            if let Progress::Bytes(done) = told {
                interruptible::tell(progress.as_ref(), (done, size));
            }
        };
        let usual = Run::new(&core);
        let run = Run {
            columns,
            format,
            encoding,
            unit,
            max_words,
            header,
            delimiter,
            quotes,
            optional_columns,
            document,
            on_bad_row,
            max_record: max_record.unwrap_or(usual.max_record),
            manifest,
            resume,
            force,
            threads,
            stop: Some(stop),
            progress: Some(&tell),
            ..usual
        };
        run.run(Input::File(input), Output::File(output))
    };
    // A chunk for each thread is done until it stops, at most.
    let report = interruptible::until_safe(py, work)?.map_err(|e| failure_of(py, &e))?;
    reported(py, report)
}

fn named<T: Choice>(py: Python<'_>, name: Option<&str>) -> PyResult<Option<T>> {
    name.map(|name| parse(py, name)).transpose()
}

/// An error of a run as an exception, with the way out in Python's words.
pub fn failure_of(py: Python<'_>, error: &Error) -> PyErr {
    let message = format!("{error}{}", way_out(error));
    match cause(error) {
        Error::Privatizer(core) => failure::of_kind(py, core.kind(), message),
        Error::File { source, path, .. } => {
            failure::file(py, "FileError", source.raw_os_error(), message, Some(path))
        }
        Error::Input(source) | Error::Output(source) => {
            failure::file(py, "FileError", source.raw_os_error(), message, None)
        }
        Error::InTheWay { path, problem } => {
            failure::file(py, "FileError", number_of(*problem), message, Some(path))
        }
        Error::BadRow { row, .. } => {
            let row = usize::try_from(*row).ok();
            failure::input(py, message, row)
        }
        Error::Thread => failure::internal(py),
        _ => failure::input(py, message, None),
    }
}

/// The system's number for what stands in the way, so that Python's own kind of error is raised.
fn number_of(problem: FileProblem) -> Option<i32> {
    const EXISTS: i32 = 17;
    const IS_FOLDER: i32 = 21;
    match problem {
        FileProblem::OutputExists
        | FileProblem::NothingToResume
        | FileProblem::OutputAppeared
        | FileProblem::ManifestExists
        | FileProblem::UnfinishedRun => Some(EXISTS),
        FileProblem::OutputIsFolder => Some(IS_FOLDER),
        _ => None,
    }
}

/// An error of a run that cannot be resumed.
pub fn failure_for_good(py: Python<'_>, error: &Error) -> PyErr {
    match cause(error) {
        Error::InTheWay {
            path,
            problem: problem @ FileProblem::UnfinishedRun,
        } => {
            let message = format!("{error}: start anew with force=True");
            failure::file(py, "FileError", number_of(*problem), message, Some(path))
        }
        error => failure_of(py, error),
    }
}

/// What ended an unfinished run, or the error itself.
fn cause(error: &Error) -> &Error {
    match error {
        Error::Unfinished { cause, .. } => cause,
        error => error,
    }
}

fn way_out(error: &Error) -> &'static str {
    const REPLACE: &str = ": choose another name, or give force=True to replace it";
    const ANEW: &str = "; give force=True without resume=True to start anew";
    match error {
        Error::InTheWay { problem, .. } => match problem {
            FileProblem::OutputExists
            | FileProblem::NothingToResume
            | FileProblem::ManifestExists => REPLACE,
            FileProblem::UnfinishedRun => ": go on with resume=True, or start anew with force=True",
            FileProblem::OutputAppeared => " (resume=True)",
            FileProblem::OutputIsFolder | FileProblem::InUse => "",
            _ => ANEW,
        },
        Error::Differs { .. } | Error::InputChanged => ANEW,
        Error::Misfit { .. } => ": name its kind by format= if it is not",
        Error::NoColumns { .. } => " with columns=; all others are copied as they are",
        Error::FormatsDiffer { .. } => "; choose another extension, or give format=",
        Error::HeaderUnknown => ": give header=True or header=False",
        Error::TornFirstRow => "; check delimiter=, or give quotes=False",
        Error::CannotSkip { .. } => "; use on_bad_row='copy-null'",
        Error::BadRow { .. } => "; on_bad_row says what becomes of such rows",
        Error::Unfinished { .. } => ", go on with resume=True",
        _ => "",
    }
}

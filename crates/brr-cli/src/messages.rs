//! What the library finds wrong, in words that name the program's options: the one place where
//! they meet.

use brr_corpus::{ColumnProblem, ColumnRole, Error, FileProblem, RowProblem};

use crate::failure::Failure;

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        failure(error)
    }
}

fn failure(error: Error) -> Failure {
    use Error::{BadRow, FirstRowTooLong, Malformed, Stopped, Thread, Truncated, Unfinished};
    let message = message(&error);
    match error {
        Error::InFile { cause, .. } => match failure(*cause) {
            Failure::Usage(_) => Failure::Usage(message),
            _ => Failure::Failed(message),
        },
        Error::File {
            doing,
            path,
            source,
        } => Failure::file(doing, &path, &source),
        Error::Input(source) => Failure::stream("standard input", &source),
        Error::Output(source) => Failure::stream("standard output", &source),
        Error::Privatizer(error) => error.into(),
        Unfinished { cause, .. } if matches!(*cause, Stopped) => Failure::Stopped(message),
        Unfinished { .. } | BadRow { .. } | FirstRowTooLong { .. } => Failure::Failed(message),
        Error::Encoded { .. } => Failure::Failed(message),
        Truncated { .. } | Malformed { .. } | Thread | Stopped => Failure::Failed(message),
        _ => Failure::Usage(message),
    }
}

/// As any other, but of a file that a run wrote: what is on record says how it is read, and a verb that reads
/// released text has few of the options that the verb that wrote it has.
#[cfg(feature = "workstation")]
pub fn of_released(error: Error, recorded: bool) -> Failure {
    let how = match recorded {
        true => "; is it the file that the manifest is of?",
        false => "; the manifest of the run says how the file is read: give it with --manifest",
    };
    match &error {
        Error::NoColumns { format } => Failure::Usage(format!(
            "--column: say which columns of the {} input were privatized{how}",
            brr::Choice::name(*format)
        )),
        Error::HeaderUnknown | Error::TornFirstRow | Error::Delimiter => {
            Failure::Usage(format!("--column: {error}{how}"))
        }
        Error::Column {
            column,
            problem,
            known,
        } => Failure::Usage(format!(
            "{}: {problem}{known}{how}",
            column.called("--column", "--unit")
        )),
        Error::BadRow { .. } | Error::FirstRowTooLong { .. } | Error::Encoded { .. } => {
            let plain = match &error {
                Error::Encoded { name, encoding } => format!("{name}: this is {encoding}"),
                _ => error.to_string(),
            };
            Failure::Failed(format!(
                "{plain}, and what `brr privatize` writes is not: give the file as it was written"
            ))
        }
        _ => error.into(),
    }
}

fn message(error: &Error) -> String {
    let told = match error {
        Error::Misfit { setting, .. } => error.to_string().replacen(setting, &option(setting), 1),
        Error::Differs { differences } => {
            let told = differences.iter().map(|d| d.told(&option(&d.setting)));
            let told: Vec<String> = told.collect();
            let told = told.join(", ");
            format!("the unfinished run differs from this one in {told}")
        }
        Error::Column {
            column,
            problem,
            known,
        } => {
            let column = column.called("--column", "--unit");
            format!("{column}: {problem}{known}")
        }
        Error::BadRow { problem, .. } => match problem {
            RowProblem::NotUtf8 | RowProblem::NullByte => {
                format!("{error}; give its --encoding if it has another, such as latin-1 or utf-16")
            }
            RowProblem::TooLong => error.to_string().replace("a row may be", "--max-record"),
            RowProblem::NoUnit => error.to_string().replace("unit", "unit (--unit)"),
            _ => error.to_string(),
        },
        Error::Unfinished { cause, .. } => {
            let plain = cause.to_string();
            error.to_string().replacen(&plain, &message(cause), 1)
        }
        Error::Encoded { name, encoding } => match *encoding {
            "UTF-16" => format!(
                "{name}: this is UTF-16: give --encoding utf-16, or convert it to UTF-8 first"
            ),
            other => format!(
                "{name}: this is {other}, which brr does not read: convert it to UTF-8 first, as by iconv"
            ),
        },
        Error::InFile { path, cause } => format!("{}: {}", path.display(), message(cause)),
        _ => error.to_string(),
    };
    let (before, after) = around(error);
    format!("{before}{told}{after}")
}

/// The option that an error is about, and the way out.
fn around(error: &Error) -> (&'static str, &'static str) {
    const ANEW: &str = "; give --force without --resume to start anew";
    const REPLACE: &str = ": choose another name, or give --force to replace it";
    match error {
        Error::InTheWay { problem, .. } => match problem {
            FileProblem::OutputExists | FileProblem::NothingToResume => ("", REPLACE),
            FileProblem::ManifestExists => ("--manifest: ", REPLACE),
            FileProblem::OutputAppeared => ("", " (--resume)"),
            FileProblem::UnfinishedRun => ("", ": go on with --resume, or start anew with --force"),
            FileProblem::OutputIsFolder | FileProblem::InUse | FileProblem::OutputIsSpecial => {
                ("", "")
            }
            FileProblem::ManifestIsOutput => ("--manifest: ", ""),
            FileProblem::InputIsSpecial => ("--output-dir: ", " (--input)"),
            FileProblem::NameOfRecord => ("--output-dir: ", " (--manifest)"),
            _ => ("--resume: ", ANEW),
        },
        Error::Differs { .. } => (
            "--resume: ",
            "; give the same options, or --force without --resume to start anew",
        ),
        Error::InputChanged => ("--resume: ", ANEW),
        Error::NotRestartable => ("--resume: ", ""),
        Error::Misfit { .. } => ("", ": name its kind by --format if it is not"),
        Error::NoColumns { .. } => ("--column: ", "; all others are copied as they are"),
        Error::FormatsDiffer { .. } => (
            "--output: ",
            "; choose another extension, or say what it is with --format",
        ),
        Error::UnitAcrossFiles => ("--unit: ", ""),
        Error::SameName { .. } | Error::NoFiles => ("--output-dir: ", ""),
        Error::Delimiter => ("--delimiter: ", ""),
        Error::CompressedParquet => ("--output: ", ""),
        Error::ParquetStream => ("", " (--input, --output)"),
        Error::CannotSkip { .. } => ("--on-bad-row skip: ", "; use copy-null"),
        Error::Lacks { .. } => ("", "; build it without --no-default-features"),
        Error::Column {
            column, problem, ..
        } => ("", find_column(*column, *problem)),
        Error::HeaderUnknown => ("--column: ", ": give --header or --no-header"),
        Error::TornFirstRow => ("", "; check --delimiter, or give --no-quotes"),
        Error::FirstRowTooLong { .. } => ("", " (--max-record)"),
        // Nor can a row without a place be left out.
        Error::BadRow { offset: None, .. } => (
            "",
            "; --on-bad-row copy-null keeps such rows without their text",
        ),
        Error::BadRow { .. } => (
            "",
            "; --on-bad-row skip leaves such rows out, copy-null keeps them without their text",
        ),
        Error::Unfinished { .. } => ("", ", go on with --resume"),
        _ => ("", ""),
    }
}

/// How to name a column so that it is found.
fn find_column(column: ColumnRole, problem: ColumnProblem) -> &'static str {
    match (problem, column) {
        (ColumnProblem::NoSuchName(_), _) => {
            "; check --delimiter, or give a number (with --header, the names are listed)"
        }
        (ColumnProblem::NearlyNamed(_), _) => " with --header",
        (ColumnProblem::NoSuchField | ColumnProblem::NoObject, ColumnRole::Private { .. }) => {
            ", and what is not found is not privatized; check the path, or give --optional-columns if some rows lack it"
        }
        (ColumnProblem::NoSuchField, ColumnRole::Unit) => "; check the path",
        (ColumnProblem::NoSuchColumn(_), _) => "; give the whole path of one",
        _ => "",
    }
}

/// The option of a setting.
fn option(setting: &str) -> String {
    match setting {
        // These come from other options.
        "epsilon" | "manifest schema" => setting.to_owned(),
        "policy" => "--public or --private".into(),
        "columns" => "--column".into(),
        "document_line" => "--json".into(),
        "quotes" => "--no-quotes".into(),
        "header" => "--header or --no-header".into(),
        _ => format!("--{}", setting.replace('_', "-")),
    }
}

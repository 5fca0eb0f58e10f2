//! How the program fails: one line on standard error, exit code 2 for a wrong
//! call, 130 after a signal, and 1 for anything else.

use std::fmt;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use crate::usage;

/// Why a command stopped.
#[derive(Debug)]
pub enum Failure {
    /// The call makes no sense; the message names the flag.
    Usage(String),
    /// The call makes sense, but could not be carried out.
    Failed(String),
    /// A signal ended the work at a safe point.
    Stopped(String),
    /// The reader of standard output went away.
    ClosedPipe,
}

/// A command's result.
pub type Result<T = ()> = std::result::Result<T, Failure>;

impl Failure {
    /// A file that could not be read or written.
    pub fn file(doing: &str, path: &Path, error: &io::Error) -> Failure {
        let hint = match error.kind() {
            io::ErrorKind::NotFound => "; check the path",
            io::ErrorKind::PermissionDenied => "; check its permissions",
            io::ErrorKind::StorageFull => "; free some space and run it again",
            _ => "",
        };
        let name = usage::file_name(path);
        Failure::Failed(format!("cannot {doing} {name}: {error}{hint}"))
    }

    /// Trouble on a standard stream.
    pub fn stream(name: &str, error: &io::Error) -> Failure {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::ClosedPipe,
            _ => Failure::Failed(format!("{name}: {error}")),
        }
    }

    pub fn code(&self) -> ExitCode {
        match self {
            Failure::Usage(_) => ExitCode::from(2),
            Failure::Failed(_) => ExitCode::from(1),
            Failure::Stopped(_) => ExitCode::from(130),
            Failure::ClosedPipe => ExitCode::SUCCESS,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Usage(message) | Failure::Failed(message) | Failure::Stopped(message) => {
                f.write_str(message)
            }
            Failure::ClosedPipe => f.write_str("standard output was closed"),
        }
    }
}

impl From<brr::Error> for Failure {
    fn from(error: brr::Error) -> Failure {
        use brr::Error::{
            InvalidBound, InvalidEpsilon, InvalidKeep, KeepOutOfReach, NoCalibration,
            NoDecodedKeep, NoPolicyKeep,
        };
        match error {
            InvalidEpsilon { .. } => Failure::Usage(format!("--epsilon: {error}")),
            InvalidBound { .. } => Failure::Usage(format!("--bound: {error}")),
            InvalidKeep { .. }
            | KeepOutOfReach { .. }
            | NoCalibration { .. }
            | NoDecodedKeep
            | NoPolicyKeep => Failure::Usage(format!("--keep: {error}")),
            brr::Error::Io { path, source } => Failure::file("read", &path, &source),
            _ => Failure::Failed(error.to_string()),
        }
    }
}

#[cfg(feature = "workstation")]
impl From<brr_build::Error> for Failure {
    fn from(error: brr_build::Error) -> Failure {
        use brr_build::Error::{NoWordsWanted, UnknownBinarizer};
        match error {
            NoWordsWanted => Failure::Usage(format!("--words: {error}")),
            UnknownBinarizer { .. } => Failure::Usage(format!("--binarizer: {error}")),
            brr_build::Error::CutShort { .. } => {
                let told = error.to_string();
                Failure::Failed(
                    told.replace("ask for a partial file to be taken", "give --partial"),
                )
            }
            brr_build::Error::Model(error) => error.into(),
            brr_build::Error::Read {
                path,
                offset: 0,
                source,
            } => Failure::file("read", &path, &source),
            // Some list what they found, a line each.
            _ => Failure::Failed(error.to_string().replace("\n  ", "; ")),
        }
    }
}

#[cfg(feature = "workstation")]
impl From<brr_eval::Error> for Failure {
    fn from(error: brr_eval::Error) -> Failure {
        match error {
            brr_eval::Error::Core(error) => error.into(),
            brr_eval::Error::Train(error) => error.into(),
            brr_eval::Error::File {
                doing,
                path,
                source,
            } => Failure::file(doing, &path, &source),
            _ => Failure::Failed(error.to_string()),
        }
    }
}

/// Reports a panic by its place in the program alone, because its message may quote what the
/// program was working on. `println!` panics where standard output is closed: that is no bug.
pub fn keep_panics_silent_about_text() {
    std::panic::set_hook(Box::new(|panic| {
        let message = panic.payload().downcast_ref::<String>();
        if message.is_some_and(|text| text.starts_with("failed printing to stdout")) {
            end_without_output(message.is_some_and(|text| text.contains("Broken pipe")));
        }
        #[cfg(feature = "parquet")]
        if brr_corpus::panic_is_told() {
            return;
        }
        let place = panic
            .location()
            .map_or(String::new(), |l| format!(" at {l}"));
        // Standard error may be closed: another panic in here would end the program.
        let _ = writeln!(
            io::stderr(),
            "error: this is a bug of brr{place}; please report it"
        );
    }));
}

/// Ends the program when standard output cannot be written to: quietly if its reader went away.
fn end_without_output(reader_went_away: bool) -> ! {
    if reader_went_away {
        std::process::exit(0);
    }
    let _ = writeln!(io::stderr(), "error: cannot write to standard output");
    std::process::exit(1);
}

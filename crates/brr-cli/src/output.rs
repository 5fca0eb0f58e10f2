//! Files that appear whole or not at all.
//!
//! Output goes to a temporary file in the same folder, is synchronized to disk,
//! and takes its name only when complete. Until then only its owner may read it; the rules are those of [`brr_corpus::files`]. A signal removes the temporary file
//! before the program ends; or, where work can go on later, lets it end at a
//! safe point (a second signal does not wait for that).

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, Once};

use brr_corpus::files;
use tempfile::{Builder, NamedTempFile};

use crate::failure::{Failure, Result};

/// Temporary files to remove when a signal ends the program.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
static SIGNALS: Once = Once::new();
/// Whether the program ends by itself when asked to.
static PATIENT: AtomicBool = AtomicBool::new(false);
static STOP: AtomicBool = AtomicBool::new(false);

fn unfinished() -> std::sync::MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
}

fn watch_signals() {
    SIGNALS.call_once(|| {
        // Without a handler the program would just end and leave the file: not worth failing for.
        let _ = ctrlc::set_handler(|| {
            if PATIENT.load(Ordering::SeqCst) && !STOP.swap(true, Ordering::SeqCst) {
                return;
            }
            for path in unfinished().iter() {
                let _ = std::fs::remove_file(path).or_else(|_| std::fs::remove_dir_all(path));
            }
            std::process::exit(130);
        });
    });
}

/// Removes a temporary folder when a signal ends the program.
#[cfg(feature = "workstation")]
pub fn remove_at_signal(folder: &Path) {
    watch_signals();
    unfinished().push(folder.to_owned());
}

/// Refuses standard output where files go into a folder.
pub fn want_folder(option: &str, path: Option<&Path>) -> Result {
    match path.is_some_and(is_standard) {
        true => Err(Failure::Usage(format!(
            "{option}: several files go into a folder, and `-` is standard output: name a folder"
        ))),
        false => Ok(()),
    }
}

/// From now on a signal sets this flag, for the work at hand to end at a safe point.
pub fn stop_at_safe_point() -> &'static AtomicBool {
    PATIENT.store(true, Ordering::SeqCst);
    watch_signals();
    &STOP
}

/// An output being written: a file that appears whole or not at all; or, where a file cannot be
/// replaced, standard output (`-`), a device or a pipe.
pub struct WholeFile {
    to: To,
    path: PathBuf,
    replace: bool,
}

enum To {
    /// Boxed, because the others are small.
    Temporary(Box<NamedTempFile>),
    Through(std::fs::File),
    Stdout(io::Stdout),
}

impl WholeFile {
    /// Starts a file. Unless `replace`, one that is there already is an error.
    pub fn create(path: &Path, replace: bool) -> Result<WholeFile> {
        if is_standard(path) {
            return Ok(WholeFile::to(To::Stdout(io::stdout()), path));
        }
        let place = files::place(path).map_err(|e| Failure::file("write", path, &e))?;
        let target = match place {
            files::Place::Plain(target) => target,
            files::Place::Special(target) => {
                let opened = files::write_through(&target);
                let opened = opened.map_err(|e| Failure::file("write", path, &e))?;
                return Ok(WholeFile::to(To::Through(opened), path));
            }
        };
        if !replace && files::is_there(&target) {
            return Err(Failure::Usage(format!(
                "{} exists already: choose another name, or give --force to replace it",
                path.display()
            )));
        }
        if target.is_dir() {
            return Err(Failure::Usage(format!(
                "{} is a folder: name a file in it",
                path.display()
            )));
        }
        Ok(WholeFile {
            to: To::Temporary(Box::new(temporary(&target)?)),
            path: target,
            replace,
        })
    }

    fn to(to: To, path: &Path) -> WholeFile {
        WholeFile {
            to,
            path: path.to_owned(),
            replace: false,
        }
    }

    /// Writes all of its content and gives it its name.
    pub fn finish_with(mut self, content: &[u8]) -> Result {
        let written = self.write_all(content);
        written.map_err(|e| self.failed(&e))?;
        self.finish()
    }

    /// Gives it its name.
    pub fn finish(mut self) -> Result {
        if !matches!(self.to, To::Temporary(_)) {
            let flushed = self.flush();
            return flushed.map_err(|e| self.failed(&e));
        }
        let To::Temporary(file) = self.to else {
            return Ok(());
        };
        let path = &self.path;
        let failed = |e: &io::Error| Failure::file("write", path, e);
        file.as_file().sync_all().map_err(|e| failed(&e))?;
        let mut list = unfinished();
        let temporary = file.path().to_owned();
        let placed = if self.replace {
            file.persist(path)
        } else {
            file.persist_noclobber(path)
        };
        let placed = placed.map_err(|e| failed(&e.error))?;
        list.retain(|p| *p != temporary);
        files::open_to_others(&placed).map_err(|e| failed(&e))
    }

    /// Whether it is standard output.
    #[cfg(feature = "workstation")]
    pub fn is_stdout(&self) -> bool {
        matches!(self.to, To::Stdout(_))
    }

    /// What went wrong with writing. A pipe whose reader went away is no failure.
    pub fn failed(&self, error: &io::Error) -> Failure {
        match self.to {
            To::Stdout(_) => Failure::stream("standard output", error),
            To::Through(_) if error.kind() == io::ErrorKind::BrokenPipe => Failure::ClosedPipe,
            _ => Failure::file("write", &self.path, error),
        }
    }
}

/// Whether a name means standard input or output.
pub fn is_standard(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// A file beside the one that it will become, which a signal removes.
fn temporary(path: &Path) -> Result<NamedTempFile> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    watch_signals();
    // Hold the list while the file is made: a signal in between must not miss it.
    let mut list = unfinished();
    let file = Builder::new()
        .prefix(".brr-")
        .suffix(".tmp")
        .make_in(folder, files::create)
        .map_err(|e| Failure::file("write in", folder, &e))?;
    list.push(file.path().to_owned());
    Ok(file)
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.to {
            To::Temporary(file) => file.write(bytes),
            To::Through(file) => file.write(bytes),
            To::Stdout(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.to {
            To::Temporary(file) => file.flush(),
            To::Through(file) => file.flush(),
            To::Stdout(out) => out.flush(),
        }
    }
}

/// Writes a whole data file at once.
#[cfg(feature = "workstation")]
pub fn write_whole(path: &Path, bytes: &[u8], replace: bool) -> Result {
    WholeFile::create(path, replace)?.finish_with(bytes)
}

/// An output that may be standard output.
pub fn open(path: Option<&Path>, replace: bool) -> Result<WholeFile> {
    WholeFile::create(path.unwrap_or(Path::new("-")), replace)
}

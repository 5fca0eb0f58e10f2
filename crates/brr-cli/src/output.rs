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
                let _ = std::fs::remove_file(path);
            }
            std::process::exit(130);
        });
    });
}

/// From now on a signal sets this flag, for the work at hand to end at a safe point.
pub fn stop_at_safe_point() -> &'static AtomicBool {
    PATIENT.store(true, Ordering::SeqCst);
    watch_signals();
    &STOP
}

/// A file being written.
pub struct WholeFile {
    file: NamedTempFile,
    path: PathBuf,
    replace: bool,
}

impl WholeFile {
    /// Starts a file. Unless `replace`, one that is there already is an error.
    pub fn create(path: &Path, replace: bool) -> Result<WholeFile> {
        if !replace && files::is_there(path) {
            return Err(Failure::Usage(format!(
                "{} exists already: choose another name, or give --force to replace it",
                path.display()
            )));
        }
        if path.is_dir() {
            return Err(Failure::Usage(format!(
                "{} is a folder: name a file in it",
                path.display()
            )));
        }
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
        Ok(WholeFile {
            file,
            path: path.to_owned(),
            replace,
        })
    }

    /// Where it will be.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes all of its content and gives it its name.
    pub fn finish_with(mut self, content: &[u8]) -> Result {
        let written = self.write_all(content);
        written.map_err(|e| Failure::file("write", &self.path, &e))?;
        self.finish()
    }

    /// Gives it its name.
    pub fn finish(self) -> Result {
        let WholeFile {
            file,
            path,
            replace,
        } = self;
        let failed = |e: &io::Error| Failure::file("write", &path, e);
        file.as_file().sync_all().map_err(|e| failed(&e))?;
        let mut list = unfinished();
        let temporary = file.path().to_owned();
        let placed = if replace {
            file.persist(&path)
        } else {
            file.persist_noclobber(&path)
        };
        let placed = placed.map_err(|e| failed(&e.error))?;
        list.retain(|p| *p != temporary);
        files::open_to_others(&placed).map_err(|e| failed(&e))
    }
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Writes a whole data file at once.
pub fn write_whole(path: &Path, bytes: &[u8], replace: bool) -> Result {
    WholeFile::create(path, replace)?.finish_with(bytes)
}

/// Standard output or a file.
pub enum Sink {
    /// Standard output.
    Stdout(io::Stdout),
    /// A file, whole or not at all.
    File(Box<WholeFile>),
}

impl Sink {
    /// The file, or standard output if none is named.
    pub fn open(path: Option<&Path>, replace: bool) -> Result<Sink> {
        Ok(match path {
            Some(path) => Sink::File(Box::new(WholeFile::create(path, replace)?)),
            None => Sink::Stdout(io::stdout()),
        })
    }

    /// Writes bytes through to the reader.
    pub fn put(&mut self, bytes: &[u8]) -> Result {
        match self {
            Sink::Stdout(out) => {
                let mut out = out.lock();
                let written = out.write_all(bytes).and_then(|()| out.flush());
                written.map_err(|e| Failure::stream("standard output", &e))
            }
            Sink::File(file) => {
                let written = file.write_all(bytes);
                written.map_err(|e| Failure::file("write", file.path(), &e))
            }
        }
    }

    /// Completes the file.
    pub fn finish(self) -> Result {
        match self {
            Sink::Stdout(_) => Ok(()),
            Sink::File(file) => file.finish(),
        }
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Sink::Stdout(out) => out.write(bytes),
            Sink::File(file) => file.write(bytes),
        }
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Sink::Stdout(out) => out.write_all(bytes),
            Sink::File(file) => file.write_all(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Sink::Stdout(out) => out.flush(),
            Sink::File(file) => file.flush(),
        }
    }
}

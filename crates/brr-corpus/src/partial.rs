//! How a run that stops can go on.
//!
//! With a file as output and a file as input, bytes go to `OUTPUT.partial`. From time to time the
//! packed stream is ended, the file synchronized, and `OUTPUT.checkpoint` replaced, in this order:
//! a checkpoint never speaks of bytes that are not on disk. A resumed run cuts the partial file
//! to the length that the checkpoint names and goes on, so no row is lost and none is there twice.
//! Only a complete output takes its name.
//!
//! Rows after the last checkpoint are drawn again. Their first draw is cut off with the file: it
//! is in no output, and costs no privacy as long as nobody read the partial file.

use std::fs::{File, TryLockError};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::checkpoint::{Checkpoint, Counts, InputIdentity, Restart, Settings};
use crate::compression::Compressor;
use crate::error::{Error, FileProblem, Result};
use crate::files::{self, Place, sync_folder, with_suffix};
use crate::fingerprint::Fingerprint;
use crate::format::Compression;
use crate::run::Run;

/// The receiving end of a run.
pub trait Writer {
    /// What was done before, if it can be known.
    fn so_far(&self) -> Option<&Checkpoint> {
        None
    }

    /// Takes the output of the input up to a position, all of it or an error.
    fn put(&mut self, bytes: &[u8], counts: &Counts, position: u64) -> Result;

    /// All is there: what it is, byte for byte.
    fn complete(&mut self) -> Result<Fingerprint>;

    /// Keeps what can be kept after a failure, and says so.
    fn fail(&mut self, cause: Error) -> Error {
        cause
    }

    /// Gives a complete file its name.
    fn publish(self: Box<Self>) -> Result {
        Ok(())
    }

    /// For a format that needs more of a file than to write at its end.
    #[cfg(feature = "parquet")]
    fn partial(&mut self) -> Option<&mut Partial> {
        None
    }
}

/// Places of an output that may be continued.
struct Paths {
    output: PathBuf,
    partial: PathBuf,
    checkpoint: PathBuf,
}

impl Paths {
    fn new(output: &Path) -> Paths {
        Paths {
            output: output.to_owned(),
            partial: with_suffix(output, ".partial"),
            checkpoint: with_suffix(output, ".checkpoint"),
        }
    }
}

/// An output that may be continued.
pub struct Partial {
    paths: Paths,
    /// Whether to replace an output that is there.
    force: bool,
    file: File,
    compressor: Compressor,
    /// Bytes in the file that belong to the position of `state`.
    written: u64,
    state: Checkpoint,
    /// What the last checkpoint on disk says.
    durable: (u64, u64),
    interval: Duration,
    last: Instant,
    cost: Duration,
    /// Bytes were written that no position stands for.
    between: bool,
    buffer: Vec<u8>,
}

/// What there is to do.
pub enum Opening {
    /// Work, from the start or from where it stopped.
    Work(Box<Partial>),
    /// Nothing: the output was complete, only its checkpoint was still there.
    Done(Box<Checkpoint>),
}

impl Partial {
    /// A checkpoint is due after so much output, whatever the clock says.
    const BYTES: u64 = 256 << 20;

    /// Starts or continues an output.
    pub fn open(
        task: &Run<'_>,
        output: &Path,
        input: InputIdentity,
        settings: Settings,
        compression: Compression,
    ) -> Result<Opening> {
        let output = match files::place(output).map_err(|e| Error::write(output, e))? {
            Place::Plain(output) => output,
            Place::Special(_) => return Err(FileProblem::OutputIsSpecial.of(output)),
        };
        let output = output.as_path();
        let paths = Paths::new(output);
        if output.is_dir() {
            return Err(FileProblem::OutputIsFolder.of(output));
        }
        let found = if task.resume {
            Checkpoint::read(&paths.checkpoint)?
        } else {
            None
        };
        if let Some(found) = &found {
            found.check(&settings, &input)?;
            if paths.is_done(found) {
                paths.show()?;
                remove(&paths.checkpoint)?;
                return Ok(Opening::Done(Box::new(found.clone())));
            }
        }
        if files::is_there(output) && !task.force {
            return Err(match &found {
                None if task.resume => FileProblem::NothingToResume.of(output),
                _ => FileProblem::OutputExists.of(output),
            });
        }
        let fresh = found.is_none();
        let (state, file) = match found {
            Some(state) => paths.resume(state)?,
            None => (Checkpoint::start(settings, input), paths.start(task)?),
        };
        let mut partial = Partial {
            paths,
            force: task.force,
            file,
            compressor: Compressor::new(compression),
            written: state.output_length,
            durable: (state.output_length, state.counts.rows),
            state,
            interval: task.checkpoint_interval,
            last: Instant::now(),
            cost: Duration::ZERO,
            between: false,
            buffer: Vec::new(),
        };
        let begun = partial.cut().and_then(|()| partial.save());
        if begun.is_err() && fresh {
            let _ = remove(&partial.paths.partial);
        }
        begun.map(|()| Opening::Work(Box::new(partial)))
    }

    /// The state of the run.
    #[cfg(feature = "parquet")]
    pub fn state(&self) -> &Checkpoint {
        &self.state
    }

    /// The unfinished file.
    #[cfg(feature = "parquet")]
    pub fn path(&self) -> &Path {
        &self.paths.partial
    }

    /// Writes bytes that no position stands for yet.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.between = true;
        self.compressor.compress(bytes, &mut self.buffer)?;
        self.flush()
    }

    /// All that was written stands for the input up to this position.
    pub(crate) fn reached(&mut self, counts: &Counts, position: u64) {
        (self.state.counts, self.state.position) = (counts.clone(), position);
        self.between = false;
    }

    /// Whether it is time for a checkpoint. They cost time: at most a twentieth of it.
    pub(crate) fn due(&self) -> bool {
        let pause = if self.interval.is_zero() {
            Duration::ZERO
        } else {
            self.interval.max(self.cost * 20)
        };
        self.last.elapsed() >= pause || self.written - self.durable.0 >= Self::BYTES
    }

    /// A checkpoint, with what the format has to remember.
    #[cfg(feature = "parquet")]
    pub(crate) fn save_with(&mut self, memory: String) -> Result {
        self.state.memory = memory;
        self.save()
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.write_all(&self.buffer)?;
        self.written += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }

    /// Makes all of it durable.
    fn save(&mut self) -> Result {
        let start = Instant::now();
        self.between = true;
        let ended = self.compressor.end(&mut self.buffer);
        let ended = ended.and_then(|()| self.flush());
        let ended = ended.and_then(|()| self.file.sync_data());
        ended.map_err(|e| Error::write(&self.paths.partial, e))?;
        self.between = false;
        self.state.output_length = self.written;
        self.state.write(&self.paths.checkpoint)?;
        self.durable = (self.written, self.state.counts.rows);
        self.last = Instant::now();
        self.cost = start.elapsed();
        Ok(())
    }

    /// Cuts off what the checkpoint does not speak of.
    fn cut(&mut self) -> Result {
        let length = self.state.output_length;
        let cut = self.file.set_len(length);
        let placed = cut.and_then(|()| self.file.seek(SeekFrom::Start(length)));
        placed.map_err(|e| Error::write(&self.paths.partial, e))?;
        Ok(())
    }
}

impl Writer for Partial {
    fn so_far(&self) -> Option<&Checkpoint> {
        Some(&self.state)
    }

    fn put(&mut self, bytes: &[u8], counts: &Counts, position: u64) -> Result {
        let written = self.write(bytes);
        written.map_err(|e| Error::write(&self.paths.partial, e))?;
        self.reached(counts, position);
        if self.due() {
            self.save()?;
        }
        Ok(())
    }

    fn complete(&mut self) -> Result<Fingerprint> {
        let packed = self.compressor.finish(self.written, &mut self.buffer);
        packed.map_err(|e| Error::write(&self.paths.partial, e))?;
        self.state.complete = true;
        self.save()?;
        // Parts of it may be of an earlier run, so it is read again.
        let start = self.file.seek(SeekFrom::Start(0));
        let read = start.and_then(|_| Fingerprint::of(&self.file));
        read.map_err(|e| Error::read(&self.paths.partial, e))
    }

    fn fail(&mut self, cause: Error) -> Error {
        let untouched = self.state.counts.rows == 0 && self.state.restarts.is_empty();
        if untouched && !matches!(cause, Error::Stopped) {
            let _ = remove(&self.paths.partial);
            let _ = remove(&self.paths.checkpoint);
            return cause;
        }
        if !self.between {
            // If even that fails, the checkpoint before it stands.
            let _ = self.save();
        }
        Error::Unfinished {
            cause: Box::new(cause),
            rows: self.durable.1,
            partial: self.paths.partial.clone(),
        }
    }

    fn publish(self: Box<Self>) -> Result {
        let Paths {
            output,
            partial,
            checkpoint,
        } = &self.paths;
        if files::is_there(output) && !self.force {
            return Err(FileProblem::OutputAppeared.of(output));
        }
        self.file.sync_all().map_err(|e| Error::write(partial, e))?;
        std::fs::rename(partial, output).map_err(|e| Error::write(output, e))?;
        files::open_to_others(&self.file).map_err(|e| Error::write(output, e))?;
        sync_folder(output);
        remove(checkpoint)
    }

    #[cfg(feature = "parquet")]
    fn partial(&mut self) -> Option<&mut Partial> {
        Some(self)
    }
}

impl Paths {
    /// Whether only the checkpoint of a complete output is left.
    fn is_done(&self, found: &Checkpoint) -> bool {
        let length = std::fs::metadata(&self.output).map(|m| m.len()).ok();
        found.complete && !files::is_there(&self.partial) && length == Some(found.output_length)
    }

    /// Gives the complete output the permissions that it has by its name: the run may have ended
    /// between the two.
    fn show(&self) -> Result {
        let shown = files::open_own(&self.output).and_then(|file| files::open_to_others(&file));
        shown.map_err(|e| Error::write(&self.output, e))
    }

    fn start(&self, task: &Run<'_>) -> Result<File> {
        let length = std::fs::symlink_metadata(&self.partial).map(|m| m.len());
        let length = length.ok();
        let left = length.is_some() || files::is_there(&self.checkpoint);
        // A run that was ended before its first checkpoint left an empty file, if any.
        let nothing = task.resume && length.unwrap_or(0) == 0;
        if left && !nothing && task.resume {
            return Err(FileProblem::NoCheckpoint.of(&self.partial));
        }
        if left && !nothing && !task.force {
            return Err(FileProblem::UnfinishedRun.of(&self.partial));
        }
        let file = self.claim_new()?;
        remove(&self.checkpoint)?;
        Ok(file)
    }

    fn resume(&self, mut state: Checkpoint) -> Result<(Checkpoint, File)> {
        let length = std::fs::symlink_metadata(&self.partial).map_or(0, |m| m.len());
        if length < state.output_length {
            return Err(FileProblem::UnlikeCheckpoint.of(&self.partial));
        }
        state.restarts.push(Restart {
            after_rows: state.counts.rows,
            discarded_bytes: length - state.output_length,
        });
        let file = files::open_own(&self.partial).map_err(|e| Error::write(&self.partial, e))?;
        self.claim(&file)?;
        Ok((state, file))
    }

    /// A new partial file, for this process alone.
    fn claim_new(&self) -> Result<File> {
        let failed = |e| Error::write(&self.partial, e);
        // Held until the new one is there: another process that writes to the old one has it locked.
        let _old = match files::open_own(&self.partial) {
            Ok(old) => self.claim(&old).map(|()| Some(old))?,
            // What is no file of ours is put aside, never written to.
            Err(_) => None,
        };
        let file = files::create_anew(&self.partial).map_err(failed)?;
        self.claim(&file)?;
        Ok(file)
    }

    /// Locks a partial file.
    fn claim(&self, file: &File) -> Result {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => Err(FileProblem::InUse.of(&self.partial)),
            // Some file systems have no locks.
            _ => Ok(()),
        }
    }
}

fn remove(path: &Path) -> Result {
    match std::fs::remove_file(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(Error::write(path, e)),
        _ => Ok(()),
    }
}

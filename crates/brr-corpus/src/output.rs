//! Where privatized bytes go, and how a run that stops can go on.
//!
//! With a file as output and a file as input, bytes go to `OUTPUT.partial`. From time to time the
//! packed stream is ended, the file synchronized, and `OUTPUT.checkpoint` replaced, in this order:
//! a checkpoint never speaks of bytes that are not on disk. A resumed run cuts the partial file
//! to the length that the checkpoint names and continues, so no row is lost and none is there twice.
//! Only a complete output takes its name.
//!
//! Rows after the last checkpoint are drawn again. Their first draw is cut off with the file: it
//! is in no output, and costs no privacy as long as nobody read the partial file.

use std::fs::{File, TryLockError};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::checkpoint::{
    Checkpoint, Counts, InputIdentity, Restart, Settings, sync_folder, with_suffix,
};
use crate::compression::Packer;
use crate::error::{Error, Result};
use crate::files;
use crate::format::Packing;

/// The receiving end of a run.
pub enum Output<'w> {
    /// Something that cannot be cut and continued.
    Stream(Box<Stream<'w>>),
    /// A file that grows beside a checkpoint.
    Partial(Box<Partial>),
}

impl Output<'_> {
    /// Where the input is to be read from.
    pub fn position(&self) -> u64 {
        match self {
            Output::Stream(_) => 0,
            Output::Partial(partial) => partial.state.position,
        }
    }

    /// What was done before.
    pub fn counts(&self) -> Counts {
        match self {
            Output::Stream(_) => Counts::default(),
            Output::Partial(partial) => partial.state.counts.clone(),
        }
    }

    /// Where it went on after an interruption.
    pub fn restarts(&self) -> Vec<Restart> {
        match self {
            Output::Stream(_) => Vec::new(),
            Output::Partial(partial) => partial.state.restarts.clone(),
        }
    }

    /// Takes the output of the input up to a position, all of it or an error.
    pub fn put(&mut self, bytes: &[u8], counts: &Counts, position: u64) -> Result {
        match self {
            Output::Stream(stream) => stream.put(bytes),
            Output::Partial(partial) => partial.put(bytes, counts, position),
        }
    }

    /// All is there.
    pub fn complete(&mut self) -> Result {
        match self {
            Output::Stream(stream) => stream.complete(),
            Output::Partial(partial) => partial.complete(),
        }
    }

    /// Keeps what can be kept after a failure, and says so.
    pub fn fail(&mut self, cause: Error) -> Error {
        match self {
            Output::Stream(_) => cause,
            Output::Partial(partial) => partial.fail(cause),
        }
    }
}

/// Standard output, or a file that is whole or not at all.
pub struct Stream<'w> {
    writer: &'w mut (dyn Write + Send),
    packer: Packer,
    written: u64,
    buffer: Vec<u8>,
    name: Option<PathBuf>,
}

impl<'w> Stream<'w> {
    /// Writes into a file of this name, or to standard output.
    pub fn new(
        writer: &'w mut (dyn Write + Send),
        name: Option<&Path>,
        packing: Packing,
    ) -> Stream<'w> {
        Stream {
            writer,
            packer: Packer::new(packing),
            written: 0,
            buffer: Vec::new(),
            name: name.map(Path::to_owned),
        }
    }

    fn put(&mut self, bytes: &[u8]) -> Result {
        let packed = self.packer.pack(bytes, &mut self.buffer);
        packed
            .and_then(|()| self.flush())
            .map_err(|e| self.failed(e))
    }

    fn complete(&mut self) -> Result {
        let packed = self.packer.finish(self.written, &mut self.buffer);
        packed
            .and_then(|()| self.flush())
            .map_err(|e| self.failed(e))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.write_all(&self.buffer)?;
        self.written += self.buffer.len() as u64;
        self.buffer.clear();
        self.writer.flush()
    }

    fn failed(&self, source: io::Error) -> Error {
        match &self.name {
            Some(path) => Error::write(path, source),
            None => Error::Stream {
                name: "standard output",
                source,
            },
        }
    }
}

/// How to treat what is already there.
#[derive(Clone, Copy, Debug, Default)]
pub struct Existing {
    /// Go on with an unfinished run.
    pub resume: bool,
    /// Replace an output, and forget an unfinished run that is not resumed.
    pub force: bool,
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
    existing: Existing,
    file: File,
    packer: Packer,
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
    Done(Checkpoint),
}

impl Partial {
    /// A checkpoint is due after so much output, whatever the clock says.
    const BYTES: u64 = 256 << 20;

    /// Starts or continues an output.
    pub fn open(
        output: &Path,
        existing: Existing,
        settings: Settings,
        input: InputIdentity,
        packing: Packing,
        interval: Duration,
    ) -> Result<Opening> {
        let paths = Paths::new(output);
        if output.is_dir() {
            return Err(Error::Usage(format!(
                "{} is a folder: name a file in it",
                output.display()
            )));
        }
        let found = if existing.resume {
            Checkpoint::read(&paths.checkpoint)?
        } else {
            None
        };
        if let Some(found) = &found {
            found.check(&settings, &input)?;
            if paths.is_done(found) {
                paths.show()?;
                remove(&paths.checkpoint)?;
                return Ok(Opening::Done(found.clone()));
            }
        }
        if files::is_there(output) && !existing.force {
            // Whether it is the same run's cannot be known: what it was made with is not in it.
            let whose = match (existing.resume, &found) {
                (true, None) => {
                    " and no unfinished run is beside it, so either that run is complete or the file is another's"
                }
                _ => "",
            };
            return Err(Error::Usage(format!(
                "{} exists already{whose}: choose another name, or give --force to replace it",
                output.display()
            )));
        }
        let partial = match found {
            Some(state) => paths.resume(state, existing, packing, interval)?,
            None => paths.start(
                Checkpoint::start(settings, input),
                existing,
                packing,
                interval,
            )?,
        };
        Ok(Opening::Work(Box::new(partial)))
    }

    /// The state of the run.
    pub fn state(&self) -> &Checkpoint {
        &self.state
    }

    /// The unfinished file.
    pub fn path(&self) -> &Path {
        &self.paths.partial
    }

    /// The unfinished file, to read from.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Writes bytes that no position stands for yet.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.between = true;
        self.packer.pack(bytes, &mut self.buffer)?;
        self.flush()
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
        let ended = self.packer.end(&mut self.buffer);
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

    fn complete(&mut self) -> Result {
        let packed = self.packer.finish(self.written, &mut self.buffer);
        packed.map_err(|e| Error::write(&self.paths.partial, e))?;
        self.state.complete = true;
        self.save()
    }

    /// Gives the complete output its name.
    pub fn publish(self) -> Result {
        let Paths {
            output,
            partial,
            checkpoint,
        } = &self.paths;
        if files::is_there(output) && !self.existing.force {
            return Err(Error::Usage(format!(
                "{} has appeared meanwhile: move it away and go on with --resume",
                output.display()
            )));
        }
        self.file.sync_all().map_err(|e| Error::write(partial, e))?;
        std::fs::rename(partial, output).map_err(|e| Error::write(output, e))?;
        files::open_to_others(&self.file).map_err(|e| Error::write(output, e))?;
        sync_folder(output);
        remove(checkpoint)
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

    fn start(
        self,
        state: Checkpoint,
        existing: Existing,
        packing: Packing,
        interval: Duration,
    ) -> Result<Partial> {
        let length = std::fs::symlink_metadata(&self.partial).map(|m| m.len());
        let length = length.ok();
        let left = length.is_some() || files::is_there(&self.checkpoint);
        // A run that was ended before its first checkpoint left an empty file, if any.
        let nothing = existing.resume && length.unwrap_or(0) == 0;
        if left && !nothing {
            let partial = self.partial.display();
            if existing.resume {
                return Err(Error::Usage(format!(
                    "--resume: {partial} has no checkpoint beside it; give --force without --resume to start anew"
                )));
            }
            if !existing.force {
                return Err(Error::Usage(format!(
                    "{partial} is there from an unfinished run: go on with --resume, or start anew with --force"
                )));
            }
        }
        let file = self.claim_new()?;
        remove(&self.checkpoint)?;
        let mut partial = Partial::new(self, state, existing, file, packing, interval);
        partial.cut()?;
        partial.save().inspect_err(|_| {
            let _ = remove(&partial.paths.partial);
        })?;
        Ok(partial)
    }

    fn resume(
        self,
        mut state: Checkpoint,
        existing: Existing,
        packing: Packing,
        interval: Duration,
    ) -> Result<Partial> {
        let length = std::fs::symlink_metadata(&self.partial).map_or(0, |m| m.len());
        if length < state.output_length {
            return Err(Error::Usage(format!(
                "--resume: {} is shorter than its checkpoint says; give --force without --resume to start anew",
                self.partial.display()
            )));
        }
        state.restarts.push(Restart {
            after_rows: state.counts.rows,
            discarded_bytes: length - state.output_length,
        });
        let file = files::open_own(&self.partial).map_err(|e| Error::write(&self.partial, e))?;
        self.claim(&file)?;
        let mut partial = Partial::new(self, state, existing, file, packing, interval);
        partial.cut()?;
        partial.save()?;
        Ok(partial)
    }

    /// A new partial file, for this process alone.
    fn claim_new(&self) -> Result<File> {
        let failed = |e| Error::write(&self.partial, e);
        // Held until the new one is there: whoever writes to the old one has it locked.
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
            Err(TryLockError::WouldBlock) => Err(Error::Usage(format!(
                "another brr is writing {}: wait for it, or choose another name",
                self.partial.display()
            ))),
            // Some file systems have no locks.
            _ => Ok(()),
        }
    }
}

impl Partial {
    fn new(
        paths: Paths,
        state: Checkpoint,
        existing: Existing,
        file: File,
        packing: Packing,
        interval: Duration,
    ) -> Partial {
        Partial {
            paths,
            existing,
            file,
            packer: Packer::new(packing),
            written: state.output_length,
            durable: (state.output_length, state.counts.rows),
            state,
            interval,
            last: Instant::now(),
            cost: Duration::ZERO,
            between: false,
            buffer: Vec::new(),
        }
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

fn remove(path: &Path) -> Result {
    match std::fs::remove_file(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(Error::write(path, e)),
        _ => Ok(()),
    }
}

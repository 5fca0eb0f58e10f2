//! Where the bytes come from.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::checkpoint::InputIdentity;
use crate::compression;
use crate::error::{Error, Result};
use crate::format::Packing;

/// A file, which may be opened again, or a stream, which may not.
pub enum Source {
    /// A file.
    File(PathBuf),
    /// Something that is read once.
    Stream(Box<dyn Read + Send>),
}

/// An opened source, unpacked.
pub struct Opened {
    reader: Box<dyn Read + Send>,
    /// What to call it.
    name: String,
    path: Option<PathBuf>,
    /// Bytes taken from the source itself, packed as they are.
    pub taken: Arc<AtomicU64>,
}

impl Source {
    /// What tells whether a file changed, if this is a file that stays.
    pub fn identity(&self) -> Result<Option<InputIdentity>> {
        let Source::File(path) = self else {
            return Ok(None);
        };
        let metadata = std::fs::metadata(path).map_err(|e| Error::read(path, e))?;
        Ok(metadata.is_file().then(|| InputIdentity::of(&metadata)))
    }

    /// What to call it.
    pub fn name(&self) -> String {
        match self {
            Source::File(path) => path.display().to_string(),
            Source::Stream(_) => "standard input".into(),
        }
    }

    /// Opens it.
    pub fn open(self, packing: Packing) -> Result<Opened> {
        match self {
            Source::File(path) => Opened::file(&path, packing, 0),
            Source::Stream(stream) => {
                let name = "standard input".to_owned();
                Opened::new(stream, name, None, packing)
            }
        }
    }
}

impl Opened {
    /// A file, from a place in its unpacked bytes on.
    pub fn file(path: &Path, packing: Packing, offset: u64) -> Result<Opened> {
        let failed = |e| Error::read(path, e);
        let mut file = File::open(path).map_err(failed)?;
        let seek = if packing == Packing::None { offset } else { 0 };
        if seek > 0 {
            file.seek(SeekFrom::Start(seek)).map_err(failed)?;
        }
        let name = path.display().to_string();
        let mut opened = Opened::new(Box::new(file), name, Some(path.to_owned()), packing)?;
        opened.taken.store(seek, Ordering::Relaxed);
        opened.skip(offset - seek)?;
        Ok(opened)
    }

    fn new(
        stream: Box<dyn Read + Send>,
        name: String,
        path: Option<PathBuf>,
        packing: Packing,
    ) -> Result<Opened> {
        let taken = Arc::new(AtomicU64::new(0));
        let counted = Counted(stream, taken.clone());
        let reader = compression::reader(counted, packing);
        let reader = reader.map_err(|source| Error::Stream {
            name: "decompression",
            source,
        })?;
        Ok(Opened {
            reader,
            name,
            path,
            taken,
        })
    }

    /// What to call it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Reads and forgets so many bytes.
    fn skip(&mut self, bytes: u64) -> Result {
        let mut part = self.reader.by_ref().take(bytes);
        let skipped = io::copy(&mut part, &mut io::sink());
        match skipped {
            Ok(n) if n == bytes => Ok(()),
            Ok(_) => Err(self.cut_short("before the place where the last run stopped")),
            Err(e) => Err(self.failed(e)),
        }
    }

    /// What is there, at most a buffer full; 0 at the end.
    pub fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        loop {
            match self.reader.read(buffer) {
                Ok(n) => return Ok(n),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(self.failed(e)),
            }
        }
    }

    /// The input ends where it must not.
    pub fn cut_short(&self, place: impl Into<String>) -> Error {
        Error::Truncated {
            name: self.name.clone(),
            place: place.into(),
            row: None,
        }
    }

    fn failed(&self, error: io::Error) -> Error {
        match (error.kind(), &self.path) {
            (io::ErrorKind::UnexpectedEof, _) => self.cut_short("inside its compressed data"),
            (_, Some(path)) => Error::read(path, error),
            (_, None) => Error::Stream {
                name: "standard input",
                source: error,
            },
        }
    }
}

/// Counts what passes.
struct Counted(Box<dyn Read + Send>, Arc<AtomicU64>);

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.0.read(buffer)?;
        self.1.fetch_add(n as u64, Ordering::Relaxed);
        Ok(n)
    }
}

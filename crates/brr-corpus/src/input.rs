//! Where the bytes come from.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::checkpoint::InputIdentity;
use crate::compression;
use crate::encoding::{Decoded, Encoding, NO_ORDER};
use crate::error::{Error, Result};
use crate::format::Compression;

/// A file, which may be opened again, or a stream, which may not.
pub enum Input {
    /// A file.
    File(PathBuf),
    /// Something that is read once.
    Stream(Box<dyn Read + Send>),
}

/// What stands between the bytes of an input and its text.
#[derive(Clone, Copy)]
pub struct Wrapping {
    pub compression: Compression,
    /// None if it is UTF-8.
    pub encoding: Option<Encoding>,
}

/// An opened input, unpacked.
pub struct Opened {
    reader: Box<dyn Read + Send>,
    path: Option<PathBuf>,
    /// Bytes taken from the input itself, packed as they are.
    pub taken: Arc<AtomicU64>,
}

impl Input {
    /// What tells whether a file changed, if this is a file that stays.
    pub(crate) fn identity(&self) -> Result<Option<InputIdentity>> {
        let Some(path) = self.path() else {
            return Ok(None);
        };
        let metadata = std::fs::metadata(path).map_err(|e| Error::read(path, e))?;
        Ok(metadata.is_file().then(|| InputIdentity::of(&metadata)))
    }

    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Input::File(path) => Some(path),
            Input::Stream(_) => None,
        }
    }

    pub(crate) fn open(self, wrapping: Wrapping) -> Result<Opened> {
        match self {
            Input::File(path) => Opened::file(&path, wrapping, 0),
            Input::Stream(stream) => Opened::new(stream, None, wrapping),
        }
    }
}

impl Opened {
    /// A file, from a place in its unpacked bytes on.
    pub fn file(path: &Path, wrapping: Wrapping, offset: u64) -> Result<Opened> {
        let failed = |e| Error::read(path, e);
        let mut file = File::open(path).map_err(failed)?;
        let plain = wrapping.compression == Compression::None && wrapping.encoding.is_none();
        let seek = if plain { offset } else { 0 };
        if seek > 0 {
            file.seek(SeekFrom::Start(seek)).map_err(failed)?;
        }
        let mut opened = Opened::new(Box::new(file), Some(path.to_owned()), wrapping)?;
        opened.taken.store(seek, Ordering::Relaxed);
        opened.skip(offset - seek)?;
        Ok(opened)
    }

    fn new(
        stream: Box<dyn Read + Send>,
        path: Option<PathBuf>,
        wrapping: Wrapping,
    ) -> Result<Opened> {
        let taken = Arc::new(AtomicU64::new(0));
        let counted = Counted(stream, taken.clone());
        let unpacked = compression::reader(counted, wrapping.compression).map_err(Error::Input)?;
        Ok(Opened {
            reader: match wrapping.encoding {
                Some(encoding) => Box::new(Decoded::new(unpacked, encoding)),
                None => unpacked,
            },
            path,
            taken,
        })
    }

    /// What to call it.
    pub fn name(&self) -> String {
        let path = self.path.as_ref().map(|path| path.display().to_string());
        path.unwrap_or_else(|| "the input".into())
    }

    /// Reads and discards this many bytes.
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
            name: self.name(),
            place: place.into(),
            row: None,
        }
    }

    fn failed(&self, error: io::Error) -> Error {
        match (error.kind(), &self.path) {
            (io::ErrorKind::UnexpectedEof, _) => self.cut_short("inside its compressed data"),
            (io::ErrorKind::InvalidData, _) => Error::Malformed {
                name: self.name(),
                problem: "its bytes are not of the encoding or the compression that it should have"
                    .into(),
            },
            (io::ErrorKind::Other, _) if error.to_string() == NO_ORDER => Error::Malformed {
                name: self.name(),
                problem: NO_ORDER.into(),
            },
            (_, Some(path)) => Error::read(path, error),
            (_, None) => Error::Input(error),
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

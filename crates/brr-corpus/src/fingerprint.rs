//! What ties a record to the file that was written: its length and the SHA-256 of its bytes, as they are on
//! disk (`sha256sum` says the same).
//!
//! It is of the output, so that it tells nothing that the output does not. Whoever reads an output by the
//! record of another would get nonsense without a word of warning; with it, the two are compared. It is no
//! protection against people: whoever can edit the record can write another fingerprint into it.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::{Arc, Mutex};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::error::{Error, Result};
use crate::input::Input;

/// Of the bytes of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fingerprint {
    /// How many they are.
    pub bytes: u64,
    /// Their SHA-256, in hexadecimal.
    pub sha256: String,
}

impl Fingerprint {
    /// Of all that is still to be read.
    pub(crate) fn of(mut reader: impl Read) -> io::Result<Fingerprint> {
        let mut passed = Passed::default();
        io::copy(&mut reader, &mut passed)?;
        Ok(passed.fingerprint())
    }

    /// Of a file.
    pub fn of_file(path: &Path) -> Result<Fingerprint> {
        let read = File::open(path).and_then(Fingerprint::of);
        read.map_err(|e| Error::read(path, e))
    }
}

/// Bytes that passed.
#[derive(Clone, Default)]
pub(crate) struct Passed {
    bytes: u64,
    hash: Sha256,
}

impl Passed {
    pub fn fingerprint(&self) -> Fingerprint {
        let hash = self.hash.clone().finalize();
        Fingerprint {
            bytes: self.bytes,
            sha256: hash.iter().map(|byte| format!("{byte:02x}")).collect(),
        }
    }
}

impl Write for Passed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes += bytes.len() as u64;
        self.hash.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Knows the bytes of an input.
pub enum Watch {
    /// Those of a file, whenever it is asked.
    File(std::path::PathBuf),
    /// Those of a stream that were read so far.
    Stream(Arc<Mutex<Sum>>),
}

/// The sum over a stream.
#[derive(Default)]
pub struct Sum(Passed);

impl Watch {
    /// Of the bytes of the file, or of what was read of the stream.
    pub fn fingerprint(&self) -> Result<Fingerprint> {
        match self {
            Watch::File(path) => Fingerprint::of_file(path),
            Watch::Stream(sum) => Ok(sum
                .lock()
                .unwrap_or_else(|e| e.into_inner())
                .0
                .fingerprint()),
        }
    }
}

impl Input {
    /// The same input, and who will know its bytes.
    pub fn watched(self) -> (Input, Watch) {
        match self {
            Input::File(path) => (Input::File(path.clone()), Watch::File(path)),
            Input::Stream(stream) => {
                let sum = Arc::new(Mutex::new(Sum::default()));
                let watched = Watched(stream, sum.clone());
                (Input::Stream(Box::new(watched)), Watch::Stream(sum))
            }
        }
    }
}

/// A stream, and the sum over it.
struct Watched(Box<dyn Read + Send>, Arc<Mutex<Sum>>);

impl Read for Watched {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.0.read(buffer)?;
        let mut sum = self.1.lock().unwrap_or_else(|e| e.into_inner());
        sum.0.write_all(&buffer[..n])?;
        Ok(n)
    }
}

//! What ties a record to the file that was written: its length and the SHA-256 of its bytes, as they are on
//! disk (`sha256sum` says the same).
//!
//! It is of the output, so that it tells nothing that the output does not. Whoever reads an output by the
//! record of another would get nonsense without a word of warning; with it, the two are compared. It is no
//! protection against people: whoever can edit the record can write another fingerprint into it.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::error::{Error, Result};

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

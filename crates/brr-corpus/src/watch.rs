//! An input whose bytes are summed up while it is read, so that it can be told afterwards whether it was
//! the file that a record is of ([`fingerprint`](crate::fingerprint)).

use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use crate::error::Result;
use crate::fingerprint::{Fingerprint, Passed};
use crate::input::Input;

/// Knows the bytes of an input.
pub enum Watch {
    /// Those of a file, whenever it is asked.
    File(PathBuf),
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

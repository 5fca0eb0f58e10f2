//! Where privatized bytes go: a file that can be cut and continued ([`partial`](crate::partial)), or a stream.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::checkpoint::Counts;
use crate::compression::Compressor;
use crate::error::{Error, Result};
use crate::fingerprint::{Fingerprint, Passed};
use crate::format::Compression;
use crate::partial::Writer;

/// Where a run writes to.
pub enum Output<'w> {
    /// A file that takes its name when it is complete, and that an interrupted run goes on with.
    /// The input must be a file, too.
    File(PathBuf),
    /// Something that cannot be cut and continued.
    Stream {
        /// Takes the bytes.
        writer: &'w mut (dyn Write + Send),
        /// The file that they become, if they do: its name tells format and compression.
        name: Option<PathBuf>,
    },
}

impl Output<'_> {
    pub(crate) fn name(&self) -> Option<&Path> {
        match self {
            Output::File(path) => Some(path),
            Output::Stream { name, .. } => name.as_deref(),
        }
    }
}

/// A stream of compressed bytes.
pub struct Stream<'w> {
    writer: &'w mut (dyn Write + Send),
    compressor: Compressor,
    written: u64,
    passed: Passed,
    buffer: Vec<u8>,
    name: Option<PathBuf>,
}

impl<'w> Stream<'w> {
    /// Nothing is written yet.
    pub fn new(
        writer: &'w mut (dyn Write + Send),
        name: Option<PathBuf>,
        compression: Compression,
    ) -> Stream<'w> {
        Stream {
            writer,
            compressor: Compressor::new(compression),
            written: 0,
            passed: Passed::default(),
            buffer: Vec::new(),
            name,
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.write_all(&self.buffer)?;
        self.written += self.buffer.len() as u64;
        self.passed.write_all(&self.buffer)?;
        self.buffer.clear();
        self.writer.flush()
    }

    fn failed(&self, source: io::Error) -> Error {
        match &self.name {
            Some(path) => Error::write(path, source),
            None => Error::Output(source),
        }
    }
}

impl Writer for Stream<'_> {
    fn put(&mut self, bytes: &[u8], _: &Counts, _: u64) -> Result {
        let packed = self.compressor.compress(bytes, &mut self.buffer);
        let put = packed.and_then(|()| self.flush());
        put.map_err(|e| self.failed(e))
    }

    fn complete(&mut self) -> Result<Fingerprint> {
        let packed = self.compressor.finish(self.written, &mut self.buffer);
        let put = packed.and_then(|()| self.flush());
        put.map_err(|e| self.failed(e))?;
        Ok(self.passed.fingerprint())
    }
}

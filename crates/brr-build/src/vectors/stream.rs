//! A buffered stream of bytes that can be looked into and jumped over.
//!
//! All formats are read through [`Stream`], so that a 5 GB file of which 50,000 words are wanted
//! costs one buffer, and so that every failure names the file and how far it was read.

use std::io::{self, BufRead, Read};
use std::path::{Path, PathBuf};

use super::source::{Gauge, SkipRead};
use crate::error::{Error, Result};

/// Size of the buffer, and so of what [`Stream::peek`] can see.
pub(super) const BUFFER: usize = 256 * 1024;

/// No row of word vectors is longer; without a limit a file without line ends would fill memory.
const MAX_LINE: u64 = 1 << 20;

/// A buffered [`SkipRead`] that knows its name and position.
pub(super) struct Stream<'a> {
    source: Box<dyn SkipRead + 'a>,
    path: PathBuf,
    gauge: Gauge,
    /// Whether the content is the file itself, so that its length is known.
    plain: bool,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// Content consumed so far.
    offset: u64,
    /// Whether compressed content ended before it was complete.
    cut: bool,
}

impl<'a> Stream<'a> {
    pub(super) fn new(
        source: Box<dyn SkipRead + 'a>,
        path: &Path,
        gauge: Gauge,
        plain: bool,
    ) -> Self {
        Stream {
            source,
            path: path.to_owned(),
            gauge,
            plain,
            buffer: vec![0; BUFFER],
            start: 0,
            end: 0,
            offset: 0,
            cut: false,
        }
    }

    /// Whether compressed content ended before it was complete: what was there, was read.
    pub(super) fn is_cut(&self) -> bool {
        self.cut
    }

    /// Reads from the source into the buffer, from here on.
    fn read_into(&mut self, from: usize) -> io::Result<usize> {
        match self.source.read(&mut self.buffer[from..]) {
            Err(e) if e.kind() == io::ErrorKind::UnexpectedEof && !self.plain => {
                self.cut = true;
                Ok(0)
            }
            read => read,
        }
    }

    /// What a decompressor gives.
    pub(super) fn unpacked(source: Box<dyn SkipRead + 'a>, path: &Path) -> Self {
        Stream::new(source, path, Gauge::default(), false)
    }

    /// `len` bytes of something larger.
    pub(super) fn of_length(source: Box<dyn SkipRead + 'a>, path: &Path, len: u64) -> Self {
        Stream::new(source, path, Gauge::of_length(len), true)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Content consumed so far.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    pub(super) fn gauge(&self) -> &Gauge {
        &self.gauge
    }

    pub(super) fn sha256(&self) -> Option<[u8; 32]> {
        self.gauge.sha256()
    }

    /// Content not yet consumed, if the file says: decompressors do not.
    pub(super) fn remaining(&self) -> Option<u64> {
        let len = self.gauge.len().filter(|_| self.plain)?;
        Some(len.saturating_sub(self.offset))
    }

    /// The next bytes without consuming them: a full buffer, or all that is left.
    pub(super) fn peek(&mut self) -> Result<&[u8]> {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        while self.end < BUFFER {
            match self.read_into(self.end) {
                Ok(0) => break,
                Ok(n) => self.end += n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(self.failed(e)),
            }
        }
        Ok(&self.buffer[..self.end])
    }

    /// Whether nothing is left.
    pub(super) fn at_end(&mut self) -> Result<bool> {
        match self.fill_buf() {
            Ok(bytes) => Ok(bytes.is_empty()),
            Err(e) => Err(self.failed(e)),
        }
    }

    /// Reads a line into `line`, without its end. Whether it had an end; nothing after the last.
    pub(super) fn line(&mut self, line: &mut Vec<u8>) -> Result<Option<bool>> {
        line.clear();
        let read = self.by_ref().take(MAX_LINE).read_until(b'\n', line);
        match read {
            Err(e) => return Err(self.failed(e)),
            Ok(0) => return Ok(None),
            Ok(n) if n as u64 == MAX_LINE && line.last() != Some(&b'\n') => {
                let what = format!("a line of over {MAX_LINE} bytes");
                return Err(self.damaged(what));
            }
            Ok(_) => {}
        }
        let ended = line.pop_if(|b| *b == b'\n').is_some();
        line.pop_if(|b| *b == b'\r');
        Ok(Some(ended))
    }

    /// Fills `bytes`; fewer only at the end. How many were read.
    pub(super) fn fill(&mut self, bytes: &mut [u8]) -> Result<usize> {
        let mut filled = 0;
        while filled < bytes.len() {
            match self.read(&mut bytes[filled..]) {
                Ok(0) => break,
                Ok(n) => filled += n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(self.failed(e)),
            }
        }
        Ok(filled)
    }

    /// The next `N` bytes, which must be there.
    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut bytes = [0; N];
        self.exactly(&mut bytes)?;
        Ok(bytes)
    }

    /// Fills `bytes`, which must be there.
    pub(super) fn exactly(&mut self, bytes: &mut [u8]) -> Result<()> {
        match self.fill(bytes)? == bytes.len() {
            true => Ok(()),
            false => Err(self.failed(io::ErrorKind::UnexpectedEof.into())),
        }
    }

    /// Jumps over `n` bytes, which must be there.
    pub(super) fn skip(&mut self, n: u64) -> Result<()> {
        let mut left = n;
        // Short ways are read: a seek would throw the buffer and the digest away.
        while left > 0 && (self.start < self.end || left < BUFFER as u64) {
            let here = match self.fill_buf() {
                Ok([]) => return Err(self.failed(io::ErrorKind::UnexpectedEof.into())),
                Ok(bytes) => left.min(bytes.len() as u64),
                Err(e) => return Err(self.failed(e)),
            };
            self.consume(here as usize);
            left -= here;
        }
        if left > 0 {
            self.source.skip(left).map_err(|e| self.failed(e))?;
            self.offset += left;
        }
        Ok(())
    }

    pub(super) fn failed(&self, source: io::Error) -> Error {
        Error::Read {
            path: self.path.clone(),
            offset: self.offset,
            source,
        }
    }

    pub(super) fn damaged(&self, what: impl Into<String>) -> Error {
        Error::Damaged {
            path: self.path.clone(),
            offset: self.offset,
            what: what.into(),
        }
    }
}

impl Read for Stream<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.fill_buf()?.read(buf)?;
        self.consume(n);
        Ok(n)
    }
}

impl BufRead for Stream<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.start == self.end {
            self.start = 0;
            self.end = 0;
            self.end = self.read_into(0)?;
        }
        Ok(&self.buffer[self.start..self.end])
    }

    fn consume(&mut self, n: usize) {
        self.start += n;
        self.offset += n as u64;
    }
}

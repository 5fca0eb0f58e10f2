//! A buffered stream of bytes that can be looked into, jumped over, and told apart from its file.
//!
//! All formats are read through [`Stream`], so that a 5 GB file of which 50,000 words are wanted
//! costs one buffer, and so that every failure names the file and how far it was read.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, BufRead, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use sha2::{Digest, Sha256};

use crate::error::{Error, Result};

/// Size of the buffer, and so of what [`Stream::peek`] can see.
pub(super) const BUFFER: usize = 256 * 1024;

/// No row of word vectors is longer; without a limit a file without line ends would fill memory.
const MAX_LINE: u64 = 1 << 20;

/// Bytes in order, some of which may be jumped over.
pub(super) trait Source: Read {
    /// Jumps over `n` bytes.
    fn skip(&mut self, n: u64) -> io::Result<()>;
}

/// Jumps over `n` bytes by reading them.
fn read_over(source: &mut impl Read, n: u64) -> io::Result<()> {
    match io::copy(&mut source.take(n), &mut io::sink())? {
        all if all == n => Ok(()),
        _ => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

/// The output of a decompressor: it can only be read.
pub(super) struct Decoded<R>(pub R);

impl<R: Read> Read for Decoded<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.0.read(buf)
    }
}

impl<R: Read> Source for Decoded<R> {
    fn skip(&mut self, n: u64) -> io::Result<()> {
        read_over(&mut self.0, n)
    }
}

/// What is known about the file below the decompressor.
#[derive(Default)]
struct Passed {
    hash: Sha256,
    bytes: u64,
    jumped: bool,
    ended: bool,
}

/// A file that hashes what is read from it.
pub(super) struct Tapped {
    file: File,
    len: Option<u64>,
    passed: Rc<RefCell<Passed>>,
}

impl Tapped {
    pub(super) fn new(file: File) -> Self {
        let len = file
            .metadata()
            .ok()
            .filter(|m| m.is_file())
            .map(|m| m.len());
        Tapped {
            file,
            len,
            passed: Rc::default(),
        }
    }

    pub(super) fn gauge(&self) -> Gauge {
        Gauge {
            len: self.len,
            passed: Some(Rc::clone(&self.passed)),
        }
    }
}

impl Read for Tapped {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.file.read(buf)?;
        let mut passed = self.passed.borrow_mut();
        passed.ended |= n == 0 && !buf.is_empty();
        passed.bytes += n as u64;
        if !passed.jumped {
            passed.hash.update(&buf[..n]);
        }
        Ok(n)
    }
}

impl Source for Tapped {
    fn skip(&mut self, n: u64) -> io::Result<()> {
        let Some(len) = self.len else {
            return read_over(self, n);
        };
        let mut passed = self.passed.borrow_mut();
        if n > len.saturating_sub(passed.bytes) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.file.seek(SeekFrom::Current(n as i64))?;
        passed.bytes += n;
        passed.jumped |= n > 0;
        Ok(())
    }
}

/// How far the file itself has been read.
#[derive(Default)]
pub(super) struct Gauge {
    len: Option<u64>,
    passed: Option<Rc<RefCell<Passed>>>,
}

impl Gauge {
    /// Bytes of the file read so far, where that is known.
    pub(super) fn bytes(&self) -> Option<u64> {
        self.passed.as_ref().map(|passed| passed.borrow().bytes)
    }

    /// Size of the file, where that is known.
    pub(super) fn len(&self) -> Option<u64> {
        self.len
    }

    /// The digest of the file, if all of it came by.
    fn sha256(&self) -> Option<[u8; 32]> {
        let passed = self.passed.as_ref()?.borrow();
        let whole = passed.ended || self.len == Some(passed.bytes);
        (whole && !passed.jumped).then(|| passed.hash.clone().finalize().into())
    }
}

/// A buffered [`Source`] that knows its name and position.
pub(super) struct Stream<'a> {
    source: Box<dyn Source + 'a>,
    path: PathBuf,
    gauge: Gauge,
    /// Whether the content is the file itself, so that its length is known.
    plain: bool,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// Content consumed so far.
    offset: u64,
}

impl<'a> Stream<'a> {
    pub(super) fn new(
        source: Box<dyn Source + 'a>,
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
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn gauge(&self) -> &Gauge {
        &self.gauge
    }

    pub(super) fn sha256(&self) -> Option<[u8; 32]> {
        self.gauge.sha256()
    }

    /// Content not yet consumed, if the file says: decompressors do not.
    pub(super) fn remaining(&self) -> Option<u64> {
        let len = self.gauge.len.filter(|_| self.plain)?;
        Some(len.saturating_sub(self.offset))
    }

    /// The next bytes without consuming them: a full buffer, or all that is left.
    pub(super) fn peek(&mut self) -> Result<&[u8]> {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        while self.end < BUFFER {
            match self.source.read(&mut self.buffer[self.end..]) {
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
            self.end = self.source.read(&mut self.buffer)?;
        }
        Ok(&self.buffer[self.start..self.end])
    }

    fn consume(&mut self, n: usize) {
        self.start += n;
        self.offset += n as u64;
    }
}

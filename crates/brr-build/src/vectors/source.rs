//! Where bytes come from: a file, hashed in passing, or a decompressor on top of one.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::rc::Rc;

use sha2::{Digest, Sha256};

/// Bytes in order, some of which may be jumped over.
pub(super) trait SkipRead: Read {
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

impl<R: Read> SkipRead for Decoded<R> {
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

impl SkipRead for Tapped {
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
    /// Of something whose length alone is known.
    pub(super) fn of_length(len: u64) -> Self {
        Gauge {
            len: Some(len),
            passed: None,
        }
    }

    /// Bytes of the file read so far, where that is known.
    pub(super) fn bytes(&self) -> Option<u64> {
        self.passed.as_ref().map(|passed| passed.borrow().bytes)
    }

    /// Size of the file, where that is known.
    pub(super) fn len(&self) -> Option<u64> {
        self.len
    }

    /// The digest of the file, if all of it came by.
    pub(super) fn sha256(&self) -> Option<[u8; 32]> {
        let passed = self.passed.as_ref()?.borrow();
        let whole = passed.ended || self.len == Some(passed.bytes);
        (whole && !passed.jumped).then(|| passed.hash.clone().finalize().into())
    }
}

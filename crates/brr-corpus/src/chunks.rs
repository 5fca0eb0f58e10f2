//! A stream cut into chunks of whole records, in constant memory.
//!
//! A [`Framing`] says where records end; here they are only gathered. A record longer than the
//! limit is not gathered but passed over, and reported by its place and length alone.

use crate::error::{Error, Result};
use crate::input::Opened;

/// Finds where records end, over any cut of the stream into pieces.
pub trait Framing: Send {
    /// Looks at the bytes that follow all those seen before, up to the end of a record if one is
    /// there, which is returned (0 if the record had ended before and only now it shows).
    fn next_end(&mut self, bytes: &[u8]) -> Option<usize>;

    /// Looks at all of the bytes; the end of the last record that ends in them.
    fn last_end(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut last = None;
        let mut from = 0;
        while let Some(end) = self.next_end(&bytes[from..]) {
            from += end;
            last = Some(from);
        }
        last
    }

    /// What is wrong between the records that were seen, if their format says what stands there.
    fn problem(&self) -> Option<&'static str> {
        None
    }

    /// Inside what a record still is, where no input may end.
    fn inside(&self) -> Option<&'static str> {
        None
    }
}

/// Records are lines.
pub struct LineFraming;

impl Framing for LineFraming {
    fn next_end(&mut self, bytes: &[u8]) -> Option<usize> {
        memchr::memchr(b'\n', bytes).map(|i| i + 1)
    }

    fn last_end(&mut self, bytes: &[u8]) -> Option<usize> {
        memchr::memrchr(b'\n', bytes).map(|i| i + 1)
    }
}

/// All of the input is one record.
pub struct WholeFraming;

impl Framing for WholeFraming {
    fn next_end(&mut self, _: &[u8]) -> Option<usize> {
        None
    }
}

/// Some whole records.
#[derive(Debug, PartialEq, Eq)]
pub struct Chunk {
    /// Their bytes; none if it is a record that is too long.
    pub bytes: Vec<u8>,
    /// Where they begin in the unpacked input.
    pub offset: u64,
    /// How many bytes of input they are.
    pub length: u64,
}

impl Chunk {
    /// A single record that was passed over for its length.
    pub fn too_long(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Takes off what lies before a place where a record begins.
    pub fn split_before(&mut self, place: u64) -> Option<Chunk> {
        let length = place.saturating_sub(self.offset).min(self.length);
        if length == 0 {
            return None;
        }
        // A record that was passed over has no bytes.
        let bytes = usize::try_from(length).map_or(self.bytes.len(), |n| n.min(self.bytes.len()));
        let rest = self.bytes.split_off(bytes);
        let before = Chunk {
            bytes: std::mem::replace(&mut self.bytes, rest),
            offset: self.offset,
            length,
        };
        self.offset += length;
        self.length -= length;
        Some(before)
    }
}

/// Cuts an input into chunks.
pub struct Chunks {
    input: Opened,
    framing: Box<dyn Framing>,
    max_record: usize,
    /// Read but not handed out.
    rest: Vec<u8>,
    /// How much of the rest the framing has seen.
    seen: usize,
    /// Where the rest begins in the input; what was passed over comes before it.
    offset: u64,
    /// How much of a record that is too long was passed over.
    passed: Option<u64>,
    ended: bool,
}

impl Chunks {
    /// Small enough for threads to share a small file, large enough to batch.
    const READ: usize = 32 << 10;

    /// Starts at a place where a record begins. The framing is set by [`frame`](Self::frame).
    pub fn new(input: Opened, offset: u64, max_record: usize) -> Chunks {
        Chunks {
            input,
            framing: Box::new(LineFraming),
            max_record,
            rest: Vec::new(),
            seen: 0,
            offset,
            passed: None,
            ended: false,
        }
    }

    /// How records end from here on.
    pub fn frame(&mut self, framing: Box<dyn Framing>) {
        self.framing = framing;
    }

    /// Where the next chunk begins.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The input itself.
    pub fn input(&self) -> &Opened {
        &self.input
    }

    /// Takes a prefix off, if the input goes on with it.
    pub fn take_prefix(&mut self, prefix: &[u8]) -> Result<bool> {
        // Stops reading as soon as the answer is known, so that interactive input is answered line
        // by line.
        while self.rest.len() < prefix.len() && prefix.starts_with(&self.rest) && self.read()? {}
        let there = self.rest.starts_with(prefix);
        if there {
            self.take(prefix.len());
        }
        Ok(there)
    }

    /// Takes a byte off that ends a line, if the input goes on with one.
    pub fn take_line_end(&mut self) -> Result<Option<u8>> {
        for end in [b'\n', b'\r'] {
            if self.take_prefix(&[end])? {
                return Ok(Some(end));
            }
        }
        Ok(None)
    }

    /// A copy of the first record, which stays where it is; the rest of the input if no record
    /// ends.
    pub fn peek_record(&mut self, mut framing: Box<dyn Framing>) -> Result<Vec<u8>> {
        let mut seen = 0;
        loop {
            if let Some(end) = framing.next_end(&self.rest[seen..]) {
                return Ok(self.rest[..seen + end].to_vec());
            }
            seen = self.rest.len();
            if seen > self.max_record {
                let name = self.input.name();
                return Err(Error::FirstRowTooLong { name });
            }
            if !self.read()? {
                self.check(&*framing)?;
                return match framing.inside() {
                    Some(place) => Err(self.input.cut_short(place)),
                    None => Ok(self.rest.clone()),
                };
            }
        }
    }

    /// Takes bytes off that were peeked at.
    pub fn take(&mut self, bytes: usize) {
        self.rest.drain(..bytes);
        self.offset += bytes as u64;
    }

    /// The records that one read brings, or more if that does not end one, so that interactive
    /// input is answered line by line.
    pub fn next_chunk(&mut self) -> Result<Option<Chunk>> {
        loop {
            let chunk = self.cut();
            self.check(&*self.framing)?;
            if chunk.is_some() {
                return Ok(chunk);
            }
            if !self.read()? {
                return self.last();
            }
        }
    }

    /// An error if what stands between records is wrong.
    fn check(&self, framing: &dyn Framing) -> Result {
        framing.problem().map_or(Ok(()), |problem| {
            Err(Error::Malformed {
                name: self.input.name(),
                problem: problem.into(),
            })
        })
    }

    /// Whole records of what was read, if there are any that the framing has not seen.
    fn cut(&mut self) -> Option<Chunk> {
        let fresh = &self.rest[self.seen..];
        if fresh.is_empty() {
            return None;
        }
        if let Some(passed) = self.passed {
            let end = self.framing.next_end(fresh).map(|end| self.seen + end);
            self.passed = Some(passed + end.unwrap_or(self.rest.len()) as u64);
            self.rest.drain(..end.unwrap_or(self.rest.len()));
            self.seen = 0;
            return end.and_then(|_| self.passed_over());
        }
        let end = self.framing.last_end(fresh).map(|end| self.seen + end);
        self.seen = self.rest.len();
        if let Some(end) = end {
            return Some(self.hand_out(end));
        }
        if self.rest.len() > self.max_record {
            self.passed = Some(self.rest.len() as u64);
            self.rest.clear();
            self.seen = 0;
        }
        None
    }

    fn hand_out(&mut self, end: usize) -> Chunk {
        let rest = self.rest.split_off(end);
        let bytes = std::mem::replace(&mut self.rest, rest);
        self.seen -= end;
        self.chunk(bytes, end as u64)
    }

    fn passed_over(&mut self) -> Option<Chunk> {
        let length = self.passed.take()?;
        Some(self.chunk(Vec::new(), length))
    }

    fn chunk(&mut self, bytes: Vec<u8>, length: u64) -> Chunk {
        let offset = self.offset;
        self.offset += length;
        Chunk {
            bytes,
            offset,
            length,
        }
    }

    fn last(&mut self) -> Result<Option<Chunk>> {
        if let Some(place) = self.framing.inside() {
            let begins = format!("{place} (of a row that begins at byte {})", self.offset);
            return Err(self.input.cut_short(begins));
        }
        if self.passed.is_some() {
            return Ok(self.passed_over());
        }
        let end = self.rest.len();
        Ok((end > 0).then(|| self.hand_out(end)))
    }

    /// One read; `false` at the end of the input.
    fn read(&mut self) -> Result<bool> {
        if self.ended {
            return Ok(false);
        }
        let start = self.rest.len();
        self.rest.resize(start + Self::READ, 0);
        let read = self.input.read(&mut self.rest[start..]);
        self.rest.truncate(start + *read.as_ref().unwrap_or(&0));
        self.ended = read? == 0;
        Ok(!self.ended)
    }
}

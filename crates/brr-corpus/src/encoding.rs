//! Text in other encodings than UTF-8, decoded while it is read.
//!
//! What is written is UTF-8. Bytes that the encoding does not have end the run: a replacement
//! character would be privatized as if somebody had written it.

use std::io::{self, Read};

use encoding_rs::{Decoder, DecoderResult, UTF_8};

/// The encoding of a text file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Encoding(&'static encoding_rs::Encoding);

impl Encoding {
    /// By its name, such as `latin-1`, `windows-1252`, `utf-16` or `shift_jis`.
    pub fn named(name: &str) -> Option<Encoding> {
        let short = name.replace(['-', '_', ' '], "");
        let found = encoding_rs::Encoding::for_label_no_replacement(name.as_bytes())
            .or_else(|| encoding_rs::Encoding::for_label_no_replacement(short.as_bytes()));
        found.map(Encoding)
    }

    /// Its usual name.
    pub fn name(self) -> &'static str {
        self.0.name()
    }

    /// Whether bytes can be taken as they are.
    pub(crate) fn is_utf8(self) -> bool {
        self.0 == UTF_8
    }
}

/// Bytes in an encoding, read as UTF-8. A byte order mark at the beginning has the last word.
pub struct Decoded<R> {
    inner: R,
    decoder: Decoder,
    /// Read and not decoded yet.
    waiting: Vec<u8>,
    /// Decoded, and how much of it was handed out.
    ready: Vec<u8>,
    handed_out: usize,
    ended: bool,
}

impl<R: Read> Decoded<R> {
    const READ: usize = 32 << 10;

    /// Nothing is read yet.
    pub fn new(inner: R, encoding: Encoding) -> Decoded<R> {
        Decoded {
            inner,
            decoder: encoding.0.new_decoder(),
            waiting: Vec::new(),
            ready: Vec::new(),
            handed_out: 0,
            ended: false,
        }
    }

    /// Decodes what one read brings.
    fn fill(&mut self) -> io::Result<()> {
        let start = self.waiting.len();
        self.waiting.resize(start + Self::READ, 0);
        let read = self.inner.read(&mut self.waiting[start..]);
        self.waiting.truncate(start + *read.as_ref().unwrap_or(&0));
        self.ended = read? == 0;
        let most = self
            .decoder
            .max_utf8_buffer_length_without_replacement(self.waiting.len());
        self.ready.resize(most.unwrap_or(4 * Self::READ), 0);
        let (result, read, written) = self.decoder.decode_to_utf8_without_replacement(
            &self.waiting,
            &mut self.ready,
            self.ended,
        );
        self.waiting.drain(..read);
        self.ready.truncate(written);
        self.handed_out = 0;
        match result {
            DecoderResult::Malformed(..) => Err(io::ErrorKind::InvalidData.into()),
            _ => Ok(()),
        }
    }
}

impl<R: Read> Read for Decoded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.handed_out == self.ready.len() && !self.ended {
            self.fill()?;
        }
        let n = buffer.len().min(self.ready.len() - self.handed_out);
        buffer[..n].copy_from_slice(&self.ready[self.handed_out..][..n]);
        self.handed_out += n;
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives a byte at a time.
    struct Slow<'b>(&'b [u8]);

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let n = self.0.len().min(buffer.len()).min(1);
            buffer[..n].copy_from_slice(&self.0[..n]);
            self.0 = &self.0[n..];
            Ok(n)
        }
    }

    fn decoded(bytes: &[u8], name: &str) -> io::Result<String> {
        let encoding = Encoding::named(name).unwrap();
        let mut out = String::new();
        Decoded::new(Slow(bytes), encoding).read_to_string(&mut out)?;
        let mut few = Decoded::new(bytes, encoding).take(3);
        assert!(few.read_to_end(&mut Vec::new())? <= 3);
        Ok(out)
    }

    #[test]
    fn text_comes_out_as_it_was_meant() {
        assert_eq!(decoded(b"caf\xe9", "latin-1").unwrap(), "café");
        assert_eq!(
            decoded(b"h\0\xe9\0\x3d\xd8\x00\xde", "utf-16").unwrap(),
            "hé😀"
        );
        assert_eq!(decoded(b"\xfe\xff\0h", "utf-16").unwrap(), "h");
        assert_eq!(decoded(b"\x83\x65", "shift_jis").unwrap(), "テ");
    }

    #[test]
    fn what_the_encoding_does_not_have_is_an_error() {
        for (bytes, name) in [
            (&b"a\x81\x20"[..], "shift_jis"),
            (b"ab\0", "utf-16le"),
            (b"\xff", "utf-8"),
        ] {
            let error = decoded(bytes, name).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidData);
        }
        assert_eq!(Encoding::named("no such"), None);
    }
}

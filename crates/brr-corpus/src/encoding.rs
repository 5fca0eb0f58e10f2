//! Text in other encodings than UTF-8, decoded while it is read.
//!
//! What is written is UTF-8. Bytes that the encoding does not have end the run: a replacement
//! character would be privatized as if somebody had written it. For the same reason UTF-16 without a mark and
//! without a name of its byte order is read only if its characters tell the order, and ASCII has no bytes above 127, which
//! the web's tables, those of `encoding_rs`, take for windows-1252.

use std::io::{self, Read};

use encoding_rs::{Decoder, DecoderResult, UTF_8, UTF_16BE, UTF_16LE};

/// The encoding of a text file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Encoding(Kind);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Ascii,
    /// In the byte order of its mark, or of its characters.
    Utf16,
    Other(&'static encoding_rs::Encoding),
}

/// Names that other programs use, less their separators, and what `encoding_rs` calls the same.
const ALIASES: [(&str, &str); 14] = [
    ("utf16le", "utf-16le"),
    ("utf16be", "utf-16be"),
    ("ucs2le", "utf-16le"),
    ("ucs2be", "utf-16be"),
    ("utf8sig", "utf-8"),
    ("cp65001", "utf-8"),
    ("cp1200", "utf-16le"),
    ("cp1201", "utf-16be"),
    ("cp932", "shift_jis"),
    ("cp936", "gbk"),
    ("cp949", "euc-kr"),
    ("cp950", "big5"),
    ("cp10000", "macintosh"),
    ("macroman", "macintosh"),
];

impl Encoding {
    /// By its name, such as `latin-1`, `windows-1252`, `utf-16` or `shift_jis`.
    pub fn named(name: &str) -> Option<Encoding> {
        let name = name.trim().to_ascii_lowercase();
        let short = name.replace(['-', '_', ' '], "");
        match &*short {
            "ascii" | "usascii" | "cp20127" | "ansix3.41968" | "iso646us" => {
                return Some(Encoding(Kind::Ascii));
            }
            "utf16" | "ucs2" | "unicode" => return Some(Encoding(Kind::Utf16)),
            _ => {}
        }
        let alias = ALIASES.iter().find(|(alias, _)| *alias == short);
        let hyphens = name.replace('_', "-");
        let labels = [&*name, &*hyphens, &*short].into_iter();
        let mut labels = labels.chain(alias.map(|(_, label)| *label));
        let found = labels
            .find_map(|label| encoding_rs::Encoding::for_label_no_replacement(label.as_bytes()));
        found.map(|found| Encoding(Kind::Other(found)))
    }

    /// Its usual name.
    pub fn name(self) -> &'static str {
        match self.0 {
            Kind::Ascii => "US-ASCII",
            Kind::Utf16 => "UTF-16",
            Kind::Other(encoding) => encoding.name(),
        }
    }

    /// Whether bytes can be taken as they are.
    pub(crate) fn is_utf8(self) -> bool {
        self.0 == Kind::Other(UTF_8)
    }

    /// What decodes text that begins with these bytes, if they tell.
    fn decoder(self, head: &[u8]) -> io::Result<Decoder> {
        let encoding = match self.0 {
            Kind::Other(encoding) => encoding,
            // That there is nothing else in it is seen to elsewhere.
            Kind::Ascii => return Ok(UTF_8.new_decoder_without_bom_handling()),
            Kind::Utf16 => byte_order(head).ok_or_else(|| io::Error::other(NO_ORDER))?,
        };
        Ok(encoding.new_decoder())
    }
}

/// Bytes from which the byte order of UTF-16 is told.
const HEAD: usize = 4096;

/// What is said of UTF-16 whose byte order cannot be told.
pub(crate) const NO_ORDER: &str = "this UTF-16 has no mark, and its characters do not tell the byte order: name it, as utf-16le or utf-16be";

/// By a mark, or by which order makes ASCII of more characters: line ends and spaces if nothing else.
fn byte_order(head: &[u8]) -> Option<&'static encoding_rs::Encoding> {
    match head {
        [] | [0xff, 0xfe, ..] => return Some(UTF_16LE),
        [0xfe, 0xff, ..] => return Some(UTF_16BE),
        _ => {}
    }
    let ascii = |high: usize| {
        let units = head.chunks_exact(2);
        units
            .filter(|unit| unit[high] == 0 && (1..0x80).contains(&unit[1 - high]))
            .count()
    };
    let (little, big) = (ascii(1), ascii(0));
    match (little > 4 * big, big > 4 * little) {
        (true, _) => Some(UTF_16LE),
        (_, true) => Some(UTF_16BE),
        _ => None,
    }
}

/// Bytes in an encoding, read as UTF-8. A byte order mark at the beginning has the last word.
pub struct Decoded<R> {
    inner: R,
    encoding: Encoding,
    /// None until enough was read to choose it.
    decoder: Option<Decoder>,
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
            encoding,
            decoder: None,
            waiting: Vec::new(),
            ready: Vec::new(),
            handed_out: 0,
            ended: false,
        }
    }

    /// Takes what one read brings.
    fn read_more(&mut self) -> io::Result<()> {
        let start = self.waiting.len();
        self.waiting.resize(start + Self::READ, 0);
        let read = self.inner.read(&mut self.waiting[start..]);
        self.waiting.truncate(start + *read.as_ref().unwrap_or(&0));
        self.ended = read? == 0;
        match self.encoding.0 {
            Kind::Ascii if !self.waiting[start..].is_ascii() => {
                Err(io::ErrorKind::InvalidData.into())
            }
            _ => Ok(()),
        }
    }

    /// Decodes what one read brings.
    fn fill(&mut self) -> io::Result<()> {
        self.read_more()?;
        if self.decoder.is_none() {
            let wanted = match self.encoding.0 {
                Kind::Utf16 => HEAD,
                _ => 0,
            };
            while !self.ended && self.waiting.len() < wanted {
                self.read_more()?;
            }
        }
        let decoder = match &mut self.decoder {
            Some(decoder) => decoder,
            none => none.insert(self.encoding.decoder(&self.waiting)?),
        };
        let most = decoder.max_utf8_buffer_length_without_replacement(self.waiting.len());
        self.ready.resize(most.unwrap_or(4 * Self::READ), 0);
        let (result, read, written) =
            decoder.decode_to_utf8_without_replacement(&self.waiting, &mut self.ready, self.ended);
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
        assert_eq!(decoded(b"\0h\0\xe9\0 ", "utf-16").unwrap(), "hé ");
        assert_eq!(decoded(b"h\0i\0", "UTF16LE").unwrap(), "hi");
        assert_eq!(decoded(b"\x83\x65", "cp932").unwrap(), "テ");
        assert_eq!(decoded(b"plain", "ascii").unwrap(), "plain");
        assert_eq!(decoded(b"\x83\x65", "shift_jis").unwrap(), "テ");
    }

    #[test]
    fn what_the_encoding_does_not_have_is_an_error() {
        for (bytes, name) in [
            (&b"a\x81\x20"[..], "shift_jis"),
            (b"ab\0", "utf-16le"),
            (b"\xff", "utf-8"),
            (b"caf\xe9", "ascii"),
            ("café".as_bytes(), "us-ascii"),
        ] {
            let error = decoded(bytes, name).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidData);
        }
        assert_eq!(Encoding::named("no such"), None);
        // Either order makes characters of these.
        let error = decoded(b"\x4e\x2d\x65\x87", "utf-16").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::Other);
    }
}

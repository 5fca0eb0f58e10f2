//! The frame of the files: magic, version, checksum, a table of sections.
//!
//! ```text
//!  0   8  magic: 89 'B' 'R' 'R' 0d 0a 1a 0a   (catches text-mode mangling, as PNG's does);
//!         'B' 'L' 'M' for a language model
//!  8   4  version, little-endian like every number here
//! 12   4  number of sections
//! 16  32  SHA-256 of everything from byte 48 to the end
//! 48      section table: per section a tag of 4 bytes, 4 zero bytes, offset (8), length (8)
//!         the sections' bytes
//! ```
//!
//! Sections with unknown tags are passed over, so that a newer writer may add
//! some without a new version. Every offset and length is checked against the
//! file before it is used; nothing is allocated by what a header claims.

mod fields;

use std::io::Read;
use std::path::Path;

use sha2::{Digest, Sha256};

pub use fields::{Fields, push_leb128};

use crate::error::{Error, Result};
use crate::identity::FileIdentity;

/// What a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Words and their codes.
    Model,
    /// How words follow each other.
    Language,
}

impl Content {
    fn magic(self) -> [u8; 8] {
        match self {
            Content::Model => *b"\x89BRR\r\n\x1a\n",
            Content::Language => *b"\x89BLM\r\n\x1a\n",
        }
    }

    fn not_this(self) -> Error {
        match self {
            Content::Model => Error::NotAModel,
            Content::Language => Error::NotALanguageModel,
        }
    }
}

/// The version this build writes, and the newest it reads.
pub const VERSION: u32 = 1;
const TABLE_AT: usize = 48;
const ENTRY: usize = 24;
const MAX_SECTIONS: usize = 64;
/// Sections start at multiples of this, so that planes of codes fall on cache lines.
const ALIGN: usize = 64;

/// A section's tag.
pub type Tag = [u8; 4];

/// Where the sections of a checked file lie.
pub struct Container {
    sections: Vec<(Tag, std::ops::Range<usize>)>,
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}

/// Whether `start`, a file's first bytes, announces this content in a known version.
pub fn check_start(start: &[u8], content: Content) -> Result<()> {
    if !start.starts_with(&content.magic()) {
        return Err(content.not_this());
    }
    need(start, TABLE_AT as u64)?;
    match u32_at(start, 8) {
        1..=VERSION => Ok(()),
        found => Err(Error::ModelVersion {
            found,
            newest: VERSION,
        }),
    }
}

fn need(bytes: &[u8], expected: u64) -> Result<()> {
    let got = bytes.len() as u64;
    if got < expected {
        return Err(Error::ModelTruncated { expected, got });
    }
    Ok(())
}

/// The identity of a file whose frame has been checked: a hash of magic, version, number of
/// sections and checksum, and so of every byte that is read.
pub fn identity(bytes: &[u8]) -> FileIdentity {
    FileIdentity(Sha256::digest(&bytes[..TABLE_AT]).into())
}

impl Container {
    /// Checks frame and checksum.
    pub fn parse(bytes: &[u8], content: Content) -> Result<Container> {
        check_start(bytes, content)?;
        let count = u32_at(bytes, 12) as usize;
        let invalid = |reason| Error::ModelInvalid {
            section: "table",
            reason,
        };
        if count > MAX_SECTIONS {
            return Err(invalid("too many sections"));
        }
        need(bytes, (TABLE_AT + count * ENTRY) as u64)?;
        let mut sections = Vec::with_capacity(count);
        for entry in bytes[TABLE_AT..TABLE_AT + count * ENTRY].chunks_exact(ENTRY) {
            let tag: Tag = entry[..4].try_into().expect("four bytes");
            let (start, len) = (u64_at(entry, 8), u64_at(entry, 16));
            let end = start
                .checked_add(len)
                .ok_or(invalid("a length overflows"))?;
            need(bytes, end)?;
            if sections.iter().any(|(t, _)| *t == tag) {
                return Err(invalid("a section is there twice"));
            }
            sections.push((tag, start as usize..end as usize));
        }
        if Sha256::digest(&bytes[TABLE_AT..])[..] != bytes[16..TABLE_AT] {
            return Err(Error::ModelChecksum);
        }
        Ok(Container { sections })
    }

    /// Where a section lies.
    pub fn section(&self, tag: Tag) -> Option<std::ops::Range<usize>> {
        let found = self.sections.iter().find(|(t, _)| *t == tag);
        found.map(|(_, range)| range.clone())
    }
}

/// Frames sections, in the order given.
pub fn write(content: Content, sections: &[(Tag, &[u8])]) -> Vec<u8> {
    let mut out = Vec::new();
    out.extend(content.magic());
    out.extend(VERSION.to_le_bytes());
    out.extend((sections.len() as u32).to_le_bytes());
    out.extend([0; 32]);
    let mut at = TABLE_AT + sections.len() * ENTRY;
    for (tag, content) in sections {
        at = at.next_multiple_of(ALIGN);
        out.extend(tag);
        out.extend([0; 4]);
        out.extend((at as u64).to_le_bytes());
        out.extend((content.len() as u64).to_le_bytes());
        at += content.len();
    }
    for (_, content) in sections {
        out.resize(out.len().next_multiple_of(ALIGN), 0);
        out.extend_from_slice(content);
    }
    let checksum = Sha256::digest(&out[TABLE_AT..]);
    out[16..TABLE_AT].copy_from_slice(&checksum);
    out
}

/// Reads a file that should have this content. Its start is looked at first: there is no need to
/// read gigabytes of something else.
pub fn read(path: &Path, content: Content) -> Result<Vec<u8>> {
    let io = |source| Error::Io {
        path: path.to_owned(),
        source,
    };
    let mut file = std::fs::File::open(path).map_err(io)?;
    let mut bytes = Vec::new();
    file.by_ref().take(64).read_to_end(&mut bytes).map_err(io)?;
    check_start(&bytes, content)?;
    file.read_to_end(&mut bytes).map_err(io)?;
    Ok(bytes)
}

pub fn read_meta(bytes: &[u8]) -> Result<Vec<(String, String)>> {
    let invalid = |reason| Error::ModelInvalid {
        section: "meta",
        reason,
    };
    let text = std::str::from_utf8(bytes).map_err(|_| invalid("not UTF-8"))?;
    // What is shown on a terminal must not move its cursor.
    if text.contains(|c: char| c.is_control() && !matches!(c, '\t' | '\n')) {
        return Err(invalid("it has control characters"));
    }
    text.lines()
        .map(|line| {
            let (key, value) = line.split_once('\t').ok_or(invalid("a line has no tab"))?;
            Ok((key.to_owned(), value.to_owned()))
        })
        .collect()
}

/// Remarks as a section: lines of `key<TAB>value`.
pub fn write_meta(meta: &[(String, String)]) -> Vec<u8> {
    let clean = |s: &str| s.replace(char::is_control, " ");
    let lines = meta
        .iter()
        .map(|(key, value)| format!("{}\t{}\n", clean(key), clean(value)));
    lines.collect::<String>().into_bytes()
}

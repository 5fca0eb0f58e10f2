//! tar archives, read in passing: which files are inside, and the content of one.
//!
//! ```text
//! 512 bytes           name, ..., size (octal) at 124, checksum at 148, kind at 156, "ustar" at 257,
//!                     folder at 345
//! content             padded to 512 bytes
//! ...
//! 512 bytes of zeros  the end
//! ```
//! A name that does not fit comes before its file, as an entry of kind `L` (GNU) or `x` (pax). Links and
//! devices are stepped over.

use std::io::{self, Read};
use std::path::Path;

use super::source::SkipRead;
use super::stream::{BUFFER, Stream};
use crate::error::{Error, Result};

const BLOCK: usize = 512;

/// Where the magic string is, and what it begins with in all kinds of archives that have one.
const MAGIC: (usize, &[u8]) = (257, b"ustar");

/// No extended header is longer.
const MAX_EXTENSION: u64 = 1 << 16;

/// No archive of vectors has more files.
const MAX_ENTRIES: usize = 1 << 20;

/// Whether an archive begins with these bytes.
pub(super) fn is_tar(head: &[u8]) -> bool {
    head.get(MAGIC.0..)
        .is_some_and(|at| at.starts_with(MAGIC.1))
}

/// A file in an archive.
struct Entry {
    name: String,
    size: u64,
}

/// The names of the files that `wanted` picks.
pub(super) fn names(stream: &mut Stream<'_>, wanted: impl Fn(&str) -> bool) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for _ in 0..MAX_ENTRIES {
        let Some(entry) = next_file(stream)? else {
            return Ok(names);
        };
        skip_content(stream, entry.size)?;
        if wanted(&entry.name) {
            names.push(entry.name);
        }
    }
    Err(stream.damaged(format!("a tar archive of over {MAX_ENTRIES} files")))
}

/// Lets `read` use the content of the file `name`, whose errors name `path`.
pub(super) fn with_file<T>(
    stream: &mut Stream<'_>,
    name: &str,
    path: &Path,
    read: impl FnOnce(&mut Stream<'_>) -> Result<T>,
) -> Result<T> {
    loop {
        match next_file(stream)? {
            Some(entry) if entry.name == name => {
                let left = entry.size;
                let content = Box::new(Content { stream, left });
                return read(&mut Stream::of_length(content, path, entry.size));
            }
            Some(entry) => skip_content(stream, entry.size)?,
            None => return Err(stream.damaged("a file of the archive is gone")),
        }
    }
}

/// The next file, its content not yet read. `None` at the end of the archive.
fn next_file(stream: &mut Stream<'_>) -> Result<Option<Entry>> {
    let mut long_name = None;
    loop {
        let mut header = [0; BLOCK];
        match stream.fill(&mut header)? {
            0 => return Ok(None),
            BLOCK if header == [0; BLOCK] => return Ok(None),
            BLOCK => {}
            _ => return Err(stream.failed(io::ErrorKind::UnexpectedEof.into())),
        }
        if !is_tar(&header) || checksum(&header) != octal(&header[148..156]) {
            return Err(stream.damaged("no header of a tar archive"));
        }
        let Some(size) = octal(&header[124..136]) else {
            return Err(stream.damaged("a file of unknown size in a tar archive"));
        };
        match header[156] {
            b'0' | 0 | b'7' => {
                let name = long_name.unwrap_or_else(|| short_name(&header));
                return Ok(Some(Entry { name, size }));
            }
            b'L' => long_name = gnu_name(&extension(stream, size)?),
            b'x' => long_name = pax_name(&extension(stream, size)?),
            // What belongs to a link or a folder ends with it.
            kind => {
                long_name = long_name.filter(|_| kind == b'g' || kind == b'K');
                skip_content(stream, size)?;
            }
        }
    }
}

fn checksum(header: &[u8; BLOCK]) -> Option<u64> {
    let counted = |(at, byte): (usize, &u8)| match at {
        148..156 => u64::from(b' '),
        _ => u64::from(*byte),
    };
    Some(header.iter().enumerate().map(counted).sum())
}

/// A number in octal digits, between spaces and NULs.
fn octal(field: &[u8]) -> Option<u64> {
    let text = str::from_utf8(field).ok()?;
    let digits = text.trim_matches(|c| c == ' ' || c == '\0');
    u64::from_str_radix(digits, 8).ok()
}

fn short_name(header: &[u8; BLOCK]) -> String {
    let text = |field: &[u8]| {
        let end = field.iter().position(|b| *b == 0);
        String::from_utf8_lossy(&field[..end.unwrap_or(field.len())]).into_owned()
    };
    let (name, folder) = (text(&header[..100]), text(&header[345..500]));
    // GNU's own form keeps other things where POSIX has the folder.
    let posix = header[MAGIC.0 + MAGIC.1.len()] == 0;
    match posix && !folder.is_empty() {
        true => format!("{folder}/{name}"),
        false => name,
    }
}

fn extension(stream: &mut Stream<'_>, size: u64) -> Result<Vec<u8>> {
    if size > MAX_EXTENSION {
        return Err(stream.damaged(format!("a name of {size} bytes in a tar archive")));
    }
    let mut content = vec![0; size as usize];
    stream.exactly(&mut content)?;
    stream.skip(padding(size))?;
    Ok(content)
}

fn gnu_name(content: &[u8]) -> Option<String> {
    let name = content.split(|b| *b == 0).next()?;
    Some(String::from_utf8_lossy(name).into_owned())
}

/// The path among lines of `LENGTH KEY=VALUE`.
fn pax_name(content: &[u8]) -> Option<String> {
    let mut lines = content.split(|b| *b == b'\n');
    let path = lines.find_map(|line| {
        let space = line.iter().position(|b| *b == b' ')?;
        line[space + 1..].strip_prefix(b"path=")
    })?;
    Some(String::from_utf8_lossy(path).into_owned())
}

fn skip_content(stream: &mut Stream<'_>, size: u64) -> Result<()> {
    stream.skip(size)?;
    stream.skip(padding(size))
}

fn padding(size: u64) -> u64 {
    size.wrapping_neg() % BLOCK as u64
}

/// What is left of a file's content.
struct Content<'s, 'a> {
    stream: &'s mut Stream<'a>,
    left: u64,
}

impl Read for Content<'_, '_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let most = self.left.min(buf.len().min(BUFFER) as u64) as usize;
        let n = self.stream.read(&mut buf[..most])?;
        if n == 0 && most > 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.left -= n as u64;
        Ok(n)
    }
}

impl SkipRead for Content<'_, '_> {
    fn skip(&mut self, n: u64) -> io::Result<()> {
        if n > self.left {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.left -= n;
        self.stream.skip(n).map_err(|error| match error {
            Error::Read { source, .. } => source,
            other => io::Error::other(other),
        })
    }
}

//! `key2row`: a MessagePack map from keys to rows, in the order in which spaCy has them.
//!
//! ```text
//! 0x80 | n, 0xde u16 or 0xdf u32        the number of entries
//! n x (whole number, whole number)      0x00..0x7f, or 0xcc u8, 0xcd u16, 0xce u32, 0xcf u64
//! ```
//! All numbers are big-endian.

use crate::error::Result;
use crate::vectors::MAX_WORDS;
use crate::vectors::stream::Stream;

/// Which row each word has.
pub(super) struct Keys {
    /// Entries that the map says it has. It has fewer if the file is cut short.
    pub(super) promised: u64,
    /// Keys and rows.
    pub(super) entries: Vec<(u64, u32)>,
}

/// The number of entries that the map says it has.
pub(super) fn size(stream: &mut Stream<'_>) -> Result<u64> {
    let size = match stream.array()? {
        [kind @ 0x80..=0x8f] => u64::from(kind & 0x0f),
        [0xde] => u64::from(u16::from_be_bytes(stream.array()?)),
        [0xdf] => u64::from(u32::from_be_bytes(stream.array()?)),
        _ => return Err(stream.damaged("no MessagePack map")),
    };
    match size <= MAX_WORDS {
        true => Ok(size),
        false => Err(stream.damaged(format!("a map of {size} words"))),
    }
}

/// Reads the map, of which no row may be `rows` or more. Memory grows with what is read.
pub(super) fn read(stream: &mut Stream<'_>, rows: u64) -> Result<Keys> {
    let promised = size(stream)?;
    let mut entries = Vec::new();
    for _ in 0..promised {
        let Some(key) = number(stream)? else { break };
        let Some(row) = number(stream)? else { break };
        match u32::try_from(row) {
            Ok(small) if row < rows => entries.push((key, small)),
            _ => return Err(stream.damaged(format!("row {row} of {rows}"))),
        }
    }
    if entries.len() as u64 == promised && !stream.at_end()? {
        return Err(stream.damaged("more than the map says it has"));
    }
    Ok(Keys { promised, entries })
}

/// A whole number that is not negative. `None` if the file ends before its end.
fn number(stream: &mut Stream<'_>) -> Result<Option<u64>> {
    let mut kind = [0];
    if stream.fill(&mut kind)? == 0 {
        return Ok(None);
    }
    let width = match kind[0] {
        small @ ..0x80 => return Ok(Some(u64::from(small))),
        0xcc => 1,
        0xcd => 2,
        0xce => 4,
        0xcf => 8,
        _ => return Err(stream.damaged("something else than a whole number")),
    };
    let mut bytes = [0; 8];
    let whole = stream.fill(&mut bytes[8 - width..])? == width;
    Ok(whole.then(|| u64::from_be_bytes(bytes)))
}

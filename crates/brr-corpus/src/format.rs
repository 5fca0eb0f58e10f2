//! What kind of file it is, by its name; and what CSV looks like.

use std::path::Path;

use brr::Choice;

use crate::error::{Error, Result};

/// How records lie in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// Plain text.
    #[default]
    Text,
    /// Cells between commas, or another delimiter.
    Csv,
    /// Cells between tabs.
    Tsv,
    /// A JSON object on each line.
    Jsonl,
    /// A JSON array of objects.
    Json,
    /// Apache Parquet.
    Parquet,
}

impl Choice for Format {
    const WHAT: &'static str = "format";
    const ALL: &'static [(&'static str, Format, &'static str)] = &[
        ("text", Format::Text, "Plain text, one document per line"),
        (
            "csv",
            Format::Csv,
            "Cells separated by commas, in quotes where necessary",
        ),
        ("tsv", Format::Tsv, "Cells separated by tabs"),
        ("jsonl", Format::Jsonl, "One JSON object per line"),
        ("json", Format::Json, "A JSON array of objects"),
        ("parquet", Format::Parquet, "Apache Parquet"),
    ];
}

/// How the bytes of a file are compressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compression {
    /// Not at all.
    #[default]
    None,
    /// gzip.
    Gzip,
    /// Zstandard.
    Zstd,
}

impl Format {
    /// By the extension, a compression's own left aside: `reviews.csv.gz` is CSV.
    pub fn of(path: &Path) -> Option<Format> {
        let inner = match Compression::of(path) {
            Compression::None => path.to_owned(),
            _ => path.with_extension(""),
        };
        Some(match extension(&inner)?.as_str() {
            "txt" | "text" => Format::Text,
            "csv" => Format::Csv,
            "tsv" | "tab" => Format::Tsv,
            "jsonl" | "ndjson" => Format::Jsonl,
            "json" => Format::Json,
            "parquet" | "pq" => Format::Parquet,
            _ => return None,
        })
    }
}

impl Compression {
    /// By the extension.
    pub fn of(path: &Path) -> Compression {
        match extension(path).as_deref() {
            Some("gz" | "gzip") => Compression::Gzip,
            Some("zst" | "zstd") => Compression::Zstd,
            _ => Compression::None,
        }
    }

    /// Refuses what this build cannot read or write.
    pub(crate) fn check(self) -> Result {
        match self {
            Compression::Zstd if cfg!(not(feature = "zstd")) => {
                Err(Error::Lacks { feature: "zstd" })
            }
            _ => Ok(()),
        }
    }
}

fn extension(path: &Path) -> Option<String> {
    Some(path.extension()?.to_str()?.to_ascii_lowercase())
}

/// How cells are separated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dialect {
    /// Between two cells.
    pub delimiter: u8,
    /// Whether quotes have a meaning.
    pub quotes: bool,
}

impl Dialect {
    /// A delimiter is an ASCII character that is no part of words, quotes or line ends.
    pub fn check(self) -> Result {
        match self.delimiter {
            b'"' | b'\n' | b'\r' => Err(Error::Delimiter),
            d if !d.is_ascii() || d.is_ascii_alphanumeric() => Err(Error::Delimiter),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_format_and_compression() {
        let of = |name: &str| {
            (
                Format::of(Path::new(name)),
                Compression::of(Path::new(name)),
            )
        };
        assert_eq!(of("a.csv"), (Some(Format::Csv), Compression::None));
        assert_eq!(of("a.b.TSV.gz"), (Some(Format::Tsv), Compression::Gzip));
        assert_eq!(of("a.jsonl.zst"), (Some(Format::Jsonl), Compression::Zstd));
        assert_eq!(of("a.gz"), (None, Compression::Gzip));
        assert_eq!(of("csv"), (None, Compression::None));
    }
}

//! What kind of file it is, by its name.

use std::path::Path;

/// How records lie in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Plain text.
    Text,
    /// Cells between commas, or another delimiter.
    Csv,
    /// Cells between tabs.
    Tsv,
    /// A JSON object on each line.
    Jsonl,
    /// Apache Parquet.
    Parquet,
}

/// How the bytes of a file are compressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Packing {
    /// Not at all.
    #[default]
    None,
    /// gzip.
    Gzip,
    /// Zstandard.
    Zstd,
}

impl Format {
    /// By the extension, a packing's own left aside: `reviews.csv.gz` is CSV.
    pub fn of(path: &Path) -> Option<Format> {
        let inner = match Packing::of(path) {
            Packing::None => path.to_owned(),
            _ => path.with_extension(""),
        };
        Some(match extension(&inner)?.as_str() {
            "txt" | "text" => Format::Text,
            "csv" => Format::Csv,
            "tsv" | "tab" => Format::Tsv,
            "jsonl" | "ndjson" => Format::Jsonl,
            "parquet" | "pq" => Format::Parquet,
            _ => return None,
        })
    }

    /// Its name, as options and manifests have it.
    pub fn name(self) -> &'static str {
        match self {
            Format::Text => "text",
            Format::Csv => "csv",
            Format::Tsv => "tsv",
            Format::Jsonl => "jsonl",
            Format::Parquet => "parquet",
        }
    }
}

impl Packing {
    /// By the extension.
    pub fn of(path: &Path) -> Packing {
        match extension(path).as_deref() {
            Some("gz" | "gzip") => Packing::Gzip,
            Some("zst" | "zstd") => Packing::Zstd,
            _ => Packing::None,
        }
    }
}

fn extension(path: &Path) -> Option<String> {
    Some(path.extension()?.to_str()?.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_format_and_packing() {
        let of = |name: &str| (Format::of(Path::new(name)), Packing::of(Path::new(name)));
        assert_eq!(of("a.csv"), (Some(Format::Csv), Packing::None));
        assert_eq!(of("a.b.TSV.gz"), (Some(Format::Tsv), Packing::Gzip));
        assert_eq!(of("a.jsonl.zst"), (Some(Format::Jsonl), Packing::Zstd));
        assert_eq!(of("a.gz"), (None, Packing::Gzip));
        assert_eq!(of("csv"), (None, Packing::None));
    }
}

//! Telling the formats apart by their first bytes.

use std::fmt;
use std::str::FromStr;

use super::stream::{BUFFER, Stream};
use super::{fasttext, npy, tar, text};
use crate::error::{Error, Result};

/// A format of word vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum VectorFormat {
    /// A word and its numbers per line, no header.
    GloveText,
    /// The same after a line with the number of rows and of columns: word2vec text, fastText `.vec`.
    Word2vecText,
    /// word2vec binary: the same header, then words in text and numbers in binary.
    Word2vecBinary,
    /// A fastText model, `.bin`: words and the n-grams that their vectors are made of.
    FastText,
    /// A NumPy matrix, `.npy`, with the words in a list of their own.
    Npy,
    /// A package of spaCy: `vectors`, `key2row` and `strings.json`.
    Spacy,
    /// An archive of navec: `meta.json`, `vocab.bin` and `pq.bin`.
    Navec,
}

impl VectorFormat {
    const NAMES: [(VectorFormat, &'static str); 7] = [
        (VectorFormat::GloveText, "glove"),
        (VectorFormat::Word2vecText, "word2vec-text"),
        (VectorFormat::Word2vecBinary, "word2vec-binary"),
        (VectorFormat::FastText, "fasttext"),
        (VectorFormat::Npy, "npy"),
        (VectorFormat::Spacy, "spacy"),
        (VectorFormat::Navec, "navec"),
    ];

    /// Whether the vectors are several files.
    pub(super) fn has_parts(self) -> bool {
        matches!(self, VectorFormat::Spacy | VectorFormat::Navec)
    }
}

impl fmt::Display for VectorFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            VectorFormat::GloveText => "GloVe text",
            VectorFormat::Word2vecText => "word2vec text",
            VectorFormat::Word2vecBinary => "word2vec binary",
            VectorFormat::FastText => "fastText .bin",
            VectorFormat::Npy => "NumPy .npy",
            VectorFormat::Spacy => "spaCy",
            VectorFormat::Navec => "navec",
        })
    }
}

impl FromStr for VectorFormat {
    type Err = String;

    /// The names are `glove`, `word2vec-text`, `word2vec-binary`, `fasttext`, `npy`, `spacy` and `navec`.
    fn from_str(name: &str) -> Result<Self, String> {
        let names = VectorFormat::NAMES;
        match names.iter().find(|(_, known)| *known == name) {
            Some((format, _)) => Ok(*format),
            None => {
                let known = names.map(|(_, name)| name).join(", ");
                Err(format!("unknown format: use one of {known}"))
            }
        }
    }
}

/// First bytes of files that people mistake for word vectors.
const OTHER_KINDS: [(&[u8], &str); 17] = [
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"\x7fELF", "a program (ELF)"),
    (b"MZ", "a program (Windows)"),
    (b"%PDF", "a PDF document"),
    (b"\x89HDF", "an HDF5 file"),
    (b"PAR1", "a Parquet file"),
    (b"SQLite format 3", "a SQLite database"),
    (b"ARROW1", "an Arrow file"),
    (
        b"FiFu",
        "a finalfusion file (convert it with finalfusion-utils)",
    ),
    (
        b"\x80\x02",
        "a Python pickle (save it with gensim's save_word2vec_format)",
    ),
    (
        b"\x80\x03",
        "a Python pickle (save it with gensim's save_word2vec_format)",
    ),
    (
        b"\x80\x04",
        "a Python pickle (save it with gensim's save_word2vec_format)",
    ),
    (b"\xff\xfe", "UTF-16 text (convert it to UTF-8 with iconv)"),
    (b"\xfe\xff", "UTF-16 text (convert it to UTF-8 with iconv)"),
    (
        b"PK\x03\x04",
        "an archive inside an archive (unpack the outer one)",
    ),
];

/// The format of the stream, which stays where it is. A format that was asked for is not doubted
/// here; its reader will say if it does not fit.
pub(super) fn recognize(
    stream: &mut Stream<'_>,
    asked: Option<VectorFormat>,
) -> Result<VectorFormat> {
    let path = stream.path().to_owned();
    let head = stream.peek()?;
    if text::is_blank(head) && head.len() < BUFFER {
        return Err(Error::EmptyFile { path });
    }
    if let Some(format) = asked {
        return Ok(format);
    }
    let found = match sniff(head) {
        Ok(format) => return Ok(format),
        Err(found) => found,
    };
    Err(Error::NotVectors { path, found })
}

fn sniff(head: &[u8]) -> Result<VectorFormat, &'static str> {
    if head.starts_with(npy::MAGIC) {
        return Ok(VectorFormat::Npy);
    }
    if head.starts_with(&fasttext::MAGIC) {
        return Ok(VectorFormat::FastText);
    }
    let layout = text::layout(head, head.len() < BUFFER);
    if let Some(header) = layout.header {
        let is_text = layout.dim == Some(header.dim);
        return Ok(match !is_text && is_binary_row(&head[layout.rows..]) {
            true => VectorFormat::Word2vecBinary,
            false => VectorFormat::Word2vecText,
        });
    }
    if let (Some(2..), false) = (layout.dim, head.contains(&0)) {
        return Ok(VectorFormat::GloveText);
    }
    let other = OTHER_KINDS
        .iter()
        .find(|(magic, _)| head.starts_with(magic));
    Err(match other {
        _ if tar::is_tar(head) => "a tar archive that comes through a pipe (give it as a file)",
        Some((_, kind)) => kind,
        None if head.contains(&0) => "binary data of an unknown kind",
        None if layout.dim.is_some() => "a list of words with one number each",
        None => "text without rows of numbers",
    })
}

/// Whether a word, a space and binary numbers could begin here, instead of a line of text.
fn is_binary_row(bytes: &[u8]) -> bool {
    let line = bytes.split(|b| *b == b'\n').next().unwrap_or_default();
    bytes.contains(&b' ') && text::trailing_numbers(line) == 0
}

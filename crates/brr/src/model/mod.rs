//! A model: words, their codes, and what was measured about them.
//!
//! A file is a checked frame (`container.rs`) around these sections:
//!
//! | tag  | content |
//! |------|---------|
//! | HEAD | numbers of words and bits, case folding, exact distances over all pairs |
//! | WORD | the vocabulary, packed ([`crate::vocabulary`]) |
//! | CODE | the codes, in the block layout of [`crate::codes`] |
//! | CALI | share of kept words by epsilon, for randomized response |
//! | CERT | certificates of the exponential mechanism |
//! | META | provenance, licence, quality: lines of `key<TAB>value` |
//!
//! HEAD, WORD and CODE are the model proper. Their hash is its
//! [identity](Model::identity): certificates name it, and adding a certificate
//! or a remark to a file does not change it.

mod calibration;
mod container;
mod fields;
mod stored_certificate;
mod writer;

use std::ops::Range;
use std::path::Path;
use std::sync::OnceLock;

use sha2::{Digest, Sha256};

pub use calibration::{Calibration, CalibrationPoint, Keep};
pub use writer::ModelParts;

use crate::codes::{CodeBits, CodeBlocks};
use crate::error::{Error, Result};
use crate::guarantee::{Metric, PairDistances};
use crate::mechanism::Certificate;
use crate::text::Lookup;
use crate::vocabulary::{Vocabulary, WordId};
use container::Container;
use fields::Fields;

/// Exact distances between a model's codes, over all pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodeDistances {
    /// Sum over all ordered pairs.
    pub sum: u128,
    /// The largest.
    pub maximum: u32,
    /// Sum over all words of the distance to the nearest other word.
    pub nearest_sum: u64,
    /// The smallest between two words.
    pub nearest_min: u32,
    /// Words whose code some word with a lower id has too.
    pub duplicates: u32,
}

/// A model in memory. Read-only, `Send + Sync`; share it behind an `Arc`.
pub struct Model {
    bytes: Box<dyn AsRef<[u8]> + Send + Sync>,
    container: Container,
    bits: CodeBits,
    lowercase: bool,
    distances: CodeDistances,
    codes: Range<usize>,
    vocabulary: Vocabulary,
    calibration: Calibration,
    certificates: Vec<Certificate>,
    meta: Vec<(String, String)>,
    identity: OnceLock<[u8; 32]>,
}

impl Model {
    /// Reads a model from bytes that the model then owns: a `Vec<u8>`, a
    /// `&'static [u8]`, a memory map. The codes are used where they lie.
    pub fn new(bytes: impl AsRef<[u8]> + Send + Sync + 'static) -> Result<Model> {
        let all = bytes.as_ref();
        let container = Container::parse(all)?;
        let required = |tag, section| {
            container.section(tag).ok_or(Error::ModelInvalid {
                section,
                reason: "missing",
            })
        };
        let head = Head::read(&all[required(*b"HEAD", "head")?])?;
        let codes = required(*b"CODE", "codes")?;
        CodeBlocks::new(head.bits, head.words as usize, &all[codes.clone()]).ok_or(
            Error::ModelInvalid {
                section: "codes",
                reason: "its size or padding does not fit the number of words",
            },
        )?;
        let words = &all[required(*b"WORD", "vocabulary")?];
        let optional = |tag| {
            container
                .section(tag)
                .map_or(&all[..0], |range| &all[range])
        };
        let model = Model {
            bits: head.bits,
            lowercase: head.lowercase,
            distances: head.distances,
            codes,
            vocabulary: Vocabulary::unpack(words, head.words as usize)?,
            calibration: Calibration::read(optional(*b"CALI"))?,
            certificates: stored_certificate::read_all(optional(*b"CERT"), head.bits, head.words)?,
            meta: read_meta(optional(*b"META"))?,
            identity: OnceLock::new(),
            container,
            bytes: Box::new(bytes),
        };
        if !model.certificates.is_empty() {
            let identity = model.identity();
            if model.certificates.iter().any(|c| c.identity != identity) {
                return Err(Error::CertificateMismatch);
            }
        }
        Ok(model)
    }

    /// Reads a model file into memory. (A copy, not a memory map: a file that
    /// is replaced or cut while in use cannot change what is being used.)
    pub fn open(path: impl AsRef<Path>) -> Result<Model> {
        use std::io::Read;
        let path = path.as_ref();
        let io = |source| Error::Io {
            path: path.to_owned(),
            source,
        };
        let mut file = std::fs::File::open(path).map_err(io)?;
        let mut bytes = Vec::new();
        // Look at the start first: no need to read gigabytes of something else.
        file.by_ref().take(64).read_to_end(&mut bytes).map_err(io)?;
        container::check_start(&bytes)?;
        file.read_to_end(&mut bytes).map_err(io)?;
        Model::new(bytes)
    }

    /// Code length.
    pub fn bits(&self) -> CodeBits {
        self.bits
    }

    /// The words.
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// The codes.
    pub fn codes(&self) -> CodeBlocks<'_> {
        let bytes = &self.bytes()[self.codes.clone()];
        CodeBlocks::new(self.bits, self.vocabulary.len(), bytes).expect("checked when read")
    }

    /// Whether words are looked up in lower case.
    pub fn lowercase(&self) -> bool {
        self.lowercase
    }

    /// Exact distances between the codes, as stored when the model was built.
    pub fn code_distances(&self) -> CodeDistances {
        self.distances
    }

    /// The same as aggregates of a metric.
    pub fn pair_distances(&self) -> PairDistances {
        let (d, n) = (&self.distances, self.vocabulary.len() as f64);
        PairDistances {
            average: d.sum as f64 / (n * n),
            maximum: d.maximum.into(),
            nearest_mean: d.nearest_sum as f64 / n,
            nearest_min: d.nearest_min.into(),
        }
    }

    /// The metric of this model's codes.
    pub fn metric(&self) -> Metric {
        Metric::Hamming(self.bits)
    }

    /// Share of kept words by epsilon, for randomized response.
    pub fn calibration(&self) -> &Calibration {
        &self.calibration
    }

    /// Certificates of the exponential mechanism, in ascending order of epsilon.
    pub fn certificates(&self) -> &[Certificate] {
        &self.certificates
    }

    /// Provenance, licence, quality: key and value.
    pub fn meta(&self) -> &[(String, String)] {
        &self.meta
    }

    /// One value of [`meta`](Self::meta).
    pub fn meta_value(&self, key: &str) -> Option<&str> {
        let found = self.meta.iter().find(|(k, _)| k == key);
        found.map(|(_, value)| value.as_str())
    }

    /// The id of a word, looked up in the form in which a text's words are.
    pub fn find(&self, word: &str) -> Option<WordId> {
        Lookup::new(&self.vocabulary, self.lowercase).word(word)
    }

    /// A text's tokens in order: the word of each, if it has one, and how it stands in the text.
    pub fn tokens<'t>(&self, text: &'t str) -> Vec<(Option<WordId>, &'t str)> {
        Lookup::new(&self.vocabulary, self.lowercase).tokens(text)
    }

    /// SHA-256 of the file's content, as stored in it and checked.
    pub fn checksum(&self) -> [u8; 32] {
        container::checksum(self.bytes())
    }

    /// SHA-256 of the model proper: numbers, words, codes.
    pub fn identity(&self) -> [u8; 32] {
        *self.identity.get_or_init(|| {
            let mut hash = Sha256::new();
            for tag in [*b"HEAD", *b"WORD", *b"CODE"] {
                let content = self.section(tag);
                hash.update(tag);
                hash.update((content.len() as u64).to_le_bytes());
                hash.update(content);
            }
            hash.finalize().into()
        })
    }

    /// A section's bytes; empty if it is not there.
    fn section(&self, tag: container::Tag) -> &[u8] {
        let range = self.container.section(tag).unwrap_or(0..0);
        &self.bytes()[range]
    }

    /// The file's bytes.
    pub fn bytes(&self) -> &[u8] {
        (*self.bytes).as_ref()
    }
}

struct Head {
    words: u32,
    bits: CodeBits,
    lowercase: bool,
    distances: CodeDistances,
}

impl Head {
    fn read(bytes: &[u8]) -> Result<Head> {
        let mut fields = Fields::new("head", bytes);
        let words = fields.u32()?;
        let bits = CodeBits::new(fields.u16()?.into());
        let head = Head {
            words,
            bits: bits
                .ok_or_else(|| fields.invalid("bits must be a multiple of 64, 64 to 1024"))?,
            lowercase: fields.u16()? & 1 == 1,
            distances: CodeDistances {
                sum: fields.u128()?,
                maximum: fields.u32()?,
                nearest_sum: fields.u64()?,
                nearest_min: fields.u32()?,
                duplicates: fields.u32()?,
            },
        };
        let d = &head.distances;
        let (n, longest) = (u128::from(words), head.bits.get() as u128);
        if n == 0 || d.sum > n * n * longest || u128::from(d.maximum) > longest {
            return Err(fields.invalid("its distances are impossible"));
        }
        if u128::from(d.nearest_sum) > n * longest
            || d.nearest_min > d.maximum
            || d.duplicates >= words
        {
            return Err(fields.invalid("its distances are impossible"));
        }
        fields.end()?;
        Ok(head)
    }

    fn write(&self) -> Vec<u8> {
        let d = &self.distances;
        let mut out = Vec::new();
        out.extend(self.words.to_le_bytes());
        out.extend((self.bits.get() as u16).to_le_bytes());
        out.extend(u16::from(self.lowercase).to_le_bytes());
        out.extend(d.sum.to_le_bytes());
        out.extend(d.maximum.to_le_bytes());
        out.extend(d.nearest_sum.to_le_bytes());
        out.extend(d.nearest_min.to_le_bytes());
        out.extend(d.duplicates.to_le_bytes());
        out
    }
}

fn read_meta(bytes: &[u8]) -> Result<Vec<(String, String)>> {
    let invalid = |reason| Error::ModelInvalid {
        section: "meta",
        reason,
    };
    let text = std::str::from_utf8(bytes).map_err(|_| invalid("not UTF-8"))?;
    text.lines()
        .map(|line| {
            let (key, value) = line.split_once('\t').ok_or(invalid("a line has no tab"))?;
            Ok((key.to_owned(), value.to_owned()))
        })
        .collect()
}

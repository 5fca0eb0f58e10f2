//! A model: words, their codes, and what was measured about them.
//!
//! A file is a checked frame (`frame`) around these sections:
//!
//! | tag  | content |
//! |------|---------|
//! | HEAD | numbers of words and bits, case folding, exact distances over all pairs |
//! | WORD | the vocabulary, packed ([`crate::vocabulary`]) |
//! | CODE | the codes, in the block layout of [`crate::codes`] |
//! | CALI | share of kept words by epsilon, for randomized response |
//! | CERT, CRT2 | certificates of the exponential mechanism, with their weights or without |
//! | TREE | the place of every word in a balanced tree ([`crate::tree`]), if there is one |
//! | META | provenance, licence, quality: lines of `key<TAB>value` |
//! | LANG | how the language is written ([`crate::text::orthography`]), if it is not as in English |
//!
//! HEAD, WORD and CODE are the model proper, and LANG where it is there. Their hash is the
//! [identity of the codes](Model::identity): certificates name it, and adding a certificate
//! or a remark to a file does not change it. [`Model::file_identity`] is that of the whole file.
//!
//! Distances, certificates and calibration are *claims*. The sum of all distances is computed
//! again whenever a file is read. The others are used if the file is pinned or was checked in
//! this process ([`Model::check`]); else the guarantee is the one that holds for any codes. A tree claims
//! nothing: whatever the places are, the losses of its levels hold.

mod stored_certificate;
mod subset;
mod writer;

use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;
use std::sync::OnceLock;

use sha2::{Digest, Sha256};

pub use writer::ModelParts;

use crate::all_pairs::OnShare;
use crate::calibration::{Calibration, stored};
use crate::certify::{Certificate, Certifier, Claim};
use crate::codes::{CodeBits, CodeBlocks, CodeRows};
use crate::distances::CodeDistances;
use crate::error::{Error, Result};
use crate::frame::{self, Container, Content, Fields};
use crate::guarantee::{Metric, PairDistances};
use crate::identity::{CodesIdentity, FileIdentity};
use crate::text::orthography::Orthography;
use crate::text::{Lookup, Piece};
use crate::tree::WordTree;
use crate::vocabulary::{Vocabulary, WordId};

/// Files whose claims were checked before this crate was released, by a test that checks them
/// again: the built-in English model.
const PINNED: [&str; 1] = [include_str!("english.identity")];

/// Why the claims of a model file (its distances, certificates, and the table behind `keep`) are
/// believed, or are not. What is not believed is not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// The file is one that this crate was released with.
    Pinned,
    /// All pairs of words were looked at, in this process.
    Checked,
    /// Neither: what holds for any codes stands in for the claims.
    Unchecked,
}

impl Standing {
    /// A short name: `pinned`, `checked`, `unchecked`.
    pub fn name(self) -> &'static str {
        match self {
            Standing::Pinned => "pinned",
            Standing::Checked => "checked",
            Standing::Unchecked => "unchecked",
        }
    }
}

/// What is known of a file's claims.
struct Believed {
    standing: Standing,
    distances: CodeDistances,
    certificates: Vec<Certificate>,
}

/// A model in memory. Read-only, `Send + Sync`; share it behind an `Arc`.
///
/// A file claims, the program checks: whatever a file says, the loss that a mechanism reports
/// over it is at least the true one ([`Standing`]).
pub struct Model {
    bytes: Cow<'static, [u8]>,
    container: Container,
    bits: CodeBits,
    lowercase: bool,
    /// What the file says.
    claimed: CodeDistances,
    /// What holds without a look at the pairs.
    certain: CodeDistances,
    codes: Range<usize>,
    vocabulary: Vocabulary,
    calibration: Calibration,
    claims: Vec<Claim>,
    believed: OnceLock<Believed>,
    tree: Option<WordTree>,
    table: Option<Orthography>,
    meta: Vec<(String, String)>,
    identity: OnceLock<CodesIdentity>,
    rows: OnceLock<CodeRows>,
}

impl Model {
    /// Reads a model from bytes that nobody can change any more: a `Vec<u8>`, or a
    /// `&'static [u8]`. The codes are used where they lie.
    pub fn new(bytes: impl Into<Cow<'static, [u8]>>) -> Result<Model> {
        let bytes = bytes.into();
        let all = &*bytes;
        let container = Container::parse(all, Content::Model)?;
        let required = |tag, section| {
            container.section(tag).ok_or(Error::ModelInvalid {
                section,
                reason: "missing",
            })
        };
        let head = Head::read(&all[required(*b"HEAD", "head")?])?;
        let codes = required(*b"CODE", "codes")?;
        let table = CodeBlocks::new(head.bits, head.words as usize, &all[codes.clone()]).ok_or(
            Error::ModelInvalid {
                section: "codes",
                reason: "its size or padding does not fit the number of words",
            },
        )?;
        let is_pinned = PINNED.contains(&frame::identity(all).to_string().trim());
        let certain = match is_pinned {
            true => head.distances,
            false => head.agrees(CodeDistances::without_pairs(table))?,
        };
        let words = &all[required(*b"WORD", "vocabulary")?];
        let optional = |tag| {
            container
                .section(tag)
                .map_or(&all[..0], |range| &all[range])
        };
        let certificates = [optional(*b"CERT"), optional(*b"CRT2")];
        let model = Model {
            bits: head.bits,
            lowercase: head.lowercase,
            claimed: head.distances,
            certain,
            codes,
            vocabulary: Vocabulary::unpack(words, head.words as usize)?,
            calibration: stored::read(optional(*b"CALI"))?,
            claims: stored_certificate::read_all(certificates, head.bits, head.words)?,
            believed: OnceLock::new(),
            tree: container
                .section(*b"TREE")
                .map(|range| WordTree::read(&all[range], head.words as usize))
                .transpose()?,
            table: container
                .section(*b"LANG")
                .map(|range| Orthography::read(&all[range]))
                .transpose()?,
            meta: frame::read_meta(optional(*b"META"))?,
            identity: OnceLock::new(),
            rows: OnceLock::new(),
            container,
            bytes,
        };
        if !model.claims.is_empty() {
            let identity = model.identity();
            if model.claims.iter().any(|c| c.identity != identity) {
                return Err(Error::CertificateMismatch);
            }
        }
        if is_pinned {
            let claims = model.claims.iter().cloned();
            let certificates = claims.map(Certificate::of_true).collect();
            model.believe(Standing::Pinned, head.distances, certificates);
        }
        Ok(model)
    }

    fn believe(
        &self,
        standing: Standing,
        distances: CodeDistances,
        certificates: Vec<Certificate>,
    ) {
        // Another thread that was first has found the same.
        let _ = self.believed.set(Believed {
            standing,
            distances,
            certificates,
        });
    }

    /// Why the file's claims are believed, or not.
    pub fn standing(&self) -> Standing {
        let believed = self.believed.get();
        believed.map_or(Standing::Unchecked, |believed| believed.standing)
    }

    /// Checks every claim of the file on this machine, if it is not known to hold: looks at
    /// all pairs of words, measures every certificate again and simulates the table behind
    /// `keep`. Takes seconds for some ten thousand words. Fails if a claim does not hold.
    pub fn check(&self, threads: usize, progress: OnShare<'_>) -> Result<()> {
        if self.standing() != Standing::Unchecked {
            return Ok(());
        }
        self.check_again(threads, progress)
    }

    /// As [`check`](Self::check), even if the claims are known to hold.
    pub fn check_again(&self, threads: usize, progress: OnShare<'_>) -> Result<()> {
        let invalid = |section, reason| Err(Error::ModelInvalid { section, reason });
        let certifier = self.certifier(threads, &|share| progress(0.5 * share));
        let distances = certifier.distances(&self.claimed);
        // A subset's file says no more than what holds without a look at the pairs.
        let bounds = CodeDistances::without_pairs(self.codes());
        if self.claimed != distances && self.claimed != bounds {
            return invalid("head", "its distances are not those of its codes");
        }
        let mut certificates = Vec::with_capacity(self.claims.len());
        for claim in &self.claims {
            match certifier.verify(claim.clone()) {
                Ok(certificate) => certificates.push(certificate),
                Err(_) => return invalid("certificates", "one of them does not hold"),
            }
            progress(0.5 + 0.4 * certificates.len() as f64 / self.claims.len() as f64);
        }
        drop(certifier);
        if !self.calibration.holds(self.codes(), threads) {
            return invalid("calibration", "more words stay than it says");
        }
        progress(1.0);
        self.believe(Standing::Checked, distances, certificates);
        Ok(())
    }

    /// Looks at all pairs of words, for certificates of this model's codes.
    pub fn certifier(&self, threads: usize, progress: OnShare<'_>) -> Certifier {
        Certifier::new(self.identity(), self.codes(), threads, progress)
    }

    /// Reads a model file into memory. (A copy, not a memory map: a file that
    /// is replaced or cut while in use cannot change what is being used.)
    ///
    /// ```
    /// use brr::{Model, Standing};
    ///
    /// let model = Model::open("../brr-english/src/english.brr")?;
    /// assert!(model.find("Secret").is_some());
    /// // The built-in model is known; what another file claims is used after `check`.
    /// assert_eq!(model.standing(), Standing::Pinned);
    /// # Ok::<(), brr::Error>(())
    /// ```
    pub fn open(path: impl AsRef<Path>) -> Result<Model> {
        Model::new(frame::read(path.as_ref(), Content::Model)?)
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

    /// The codes as rows, in which those of single words are found at once. They are made when they
    /// are first asked for.
    pub(crate) fn code_rows(&self) -> &CodeRows {
        self.rows.get_or_init(|| self.codes().to_rows())
    }

    /// Whether words are looked up in lower case.
    pub fn lowercase(&self) -> bool {
        self.lowercase
    }

    /// Distances between the codes: exact if the file's claims are believed, else bounds
    /// that hold for certain ([`CodeDistances::without_pairs`]).
    pub fn code_distances(&self) -> CodeDistances {
        let believed = self.believed.get();
        believed.map_or(self.certain, |believed| believed.distances)
    }

    /// The same as aggregates of a metric.
    pub fn pair_distances(&self) -> PairDistances {
        let (d, n) = (self.code_distances(), self.vocabulary.len() as f64);
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

    /// Share of kept words by epsilon, for randomized response, if the file's claims are
    /// believed.
    pub fn calibration(&self) -> Option<&Calibration> {
        self.believed.get().map(|_| &self.calibration)
    }

    /// Certificates of the exponential mechanism, in ascending order of epsilon; none if the
    /// file's claims are not believed.
    pub fn certificates(&self) -> &[Certificate] {
        let believed = self.believed.get();
        believed.map_or(&[], |believed| &believed.certificates)
    }

    /// How many certificates the file holds, believed or not.
    pub fn claimed_certificates(&self) -> usize {
        self.claims.len()
    }

    /// The tree of its words, which tree response needs. Files of older versions of brr have none.
    pub fn tree(&self) -> Option<&WordTree> {
        self.tree.as_ref()
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
        self.lookup().word(word)
    }

    /// What cuts texts and looks their tokens up.
    pub(crate) fn lookup(&self) -> Lookup<'_> {
        Lookup::new(&self.vocabulary, self.orthography(), self.lowercase)
    }

    /// How its language is written. A file without a table is one of English.
    pub fn orthography(&self) -> &Orthography {
        self.table
            .as_ref()
            .unwrap_or_else(|| Orthography::english())
    }

    /// Whether the file says how its language is written.
    pub fn has_orthography(&self) -> bool {
        self.table.is_some()
    }

    /// A text's pieces in order: tokens and public structure. A function of its characters and, for scripts
    /// without spaces, of the model.
    pub fn pieces<'t>(&self, text: &'t str) -> Vec<Piece<'t>> {
        self.lookup().cutter().pieces(text)
    }

    /// How many tokens a text has.
    pub fn count(&self, text: &str) -> usize {
        let mut tokens = 0;
        let cutter = self.lookup().cutter();
        cutter.each_token(text, |_, _| tokens += 1);
        tokens
    }

    /// A text's tokens in order: the word of each, if it has one, and how it stands in the text.
    pub fn tokens<'t>(&self, text: &'t str) -> Vec<(Option<WordId>, &'t str)> {
        self.lookup().tokens(text)
    }

    /// Which file this is, every byte of it.
    pub fn file_identity(&self) -> FileIdentity {
        frame::identity(self.bytes())
    }

    /// Which codes these are: numbers, words, codes, and how texts are cut where the file says that.
    pub fn identity(&self) -> CodesIdentity {
        *self.identity.get_or_init(|| {
            let mut hash = Sha256::new();
            let table = self.table.as_ref().map(|_| *b"LANG");
            for tag in [*b"HEAD", *b"WORD", *b"CODE"].into_iter().chain(table) {
                let content = self.section(tag);
                hash.update(tag);
                hash.update((content.len() as u64).to_le_bytes());
                hash.update(content);
            }
            CodesIdentity(hash.finalize().into())
        })
    }

    /// A section's bytes; empty if it is not there.
    fn section(&self, tag: frame::Tag) -> &[u8] {
        let range = self.container.section(tag).unwrap_or(0..0);
        &self.bytes()[range]
    }

    /// The file's bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
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

    /// `certain`, if the stored distances agree with it where they can be told apart.
    fn agrees(&self, certain: CodeDistances) -> Result<CodeDistances> {
        let d = &self.distances;
        if (d.sum, d.duplicates) != (certain.sum, certain.duplicates) {
            return Err(Error::ModelInvalid {
                section: "head",
                reason: "its distances are not those of its codes",
            });
        }
        Ok(certain)
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

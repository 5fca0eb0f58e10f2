//! A language model: which words follow which, as probabilities.
//!
//! It is public, fixed before any private text is seen and never made from one. The decoder of
//! [`crate::context`] uses it after the noise, so nothing in it can change a guarantee: a file that
//! lies makes text that reads worse, and no more.
//!
//! # The model
//!
//! The states are the words of a vocabulary, the *boundary* of a sentence and the *unknown* token.
//! Some pairs (u, v) are listed with their probability p(v | u). All other successors of u share
//! what is left in proportion to how frequent they are:
//!
//! ```text
//! P(v | u) = p(v | u)  if (u, v) is listed, else  b(u) P(v),
//! b(u) = (1 - sum of p(v | u)) / (1 - sum of P(v)),   both over the listed v,
//! ```
//!
//! so that every row that does not list all states adds up to 1, whatever the file says. A boundary as u is a sentence's start,
//! as v its end.
//!
//! # The file
//!
//! The frame of [`crate::frame`] around
//!
//! | tag  | content |
//! |------|---------|
//! | LHED | number of words (4 bytes), SHA-256 of the vocabulary (32) |
//! | UNIG | -2048 ln P(v) in 2 bytes, for every word, the boundary and the unknown token |
//! | ROWS | the number of listed successors of every state, in LEB128 |
//! | NEXT | the listed successors in ascending order, each as the gap to the one before, in LEB128 |
//! | PROB | -16 ln p(v \| u) in a byte, for every listed pair |
//! | KEPT | what stays after decoding: for each set of private words and each mechanism the identity of the words' codes (32 bytes), the length of the mechanism's name in a byte, its name, the number of points (4 bytes), and for each point epsilon and two shares |
//! | META | provenance and licence: lines of `key<TAB>value` |

mod pairs;
mod shares;
mod writer;

use std::fmt;
use std::path::Path;
use std::sync::OnceLock;

use sha2::{Digest, Sha256};

use pairs::Rows;
pub(crate) use pairs::{After, Heads, Listed};
pub(crate) use shares::Shares;
pub use writer::LanguageParts;

use crate::calibration::{Calibration, stored};
use crate::error::{Error, Result};
use crate::frame::{self, Container, Content, Fields};
use crate::identity::{CodesIdentity, FileIdentity};
use crate::vocabulary::Vocabulary;

/// A word, [the boundary](Language::boundary) or [the unknown token](Language::unknown).
pub type State = u32;

/// -ln P in a unit of UNIG.
const UNIGRAM_STEPS: f32 = 2048.0;
/// -ln p in a unit of PROB.
const PAIR_STEPS: f32 = 16.0;

/// How words follow each other: a bigram model over a vocabulary.
pub struct Language {
    vocabulary: [u8; 32],
    words: usize,
    unigrams: Vec<f32>,
    log_unigrams: Vec<f32>,
    backoffs: Vec<f32>,
    listed: Listed,
    /// p for its steps.
    pairs: [f32; 256],
    /// The likeliest successors of each state, and its likeliest predecessors.
    heads: [Heads; 2],
    /// Found when they are first asked for.
    shares: OnceLock<Shares>,
    decoded: Vec<DecodedKeep>,
    meta: Vec<(String, String)>,
    identity: FileIdentity,
    bytes: usize,
}

/// The share of a mechanism's private words that are as they were after decoding, by epsilon, measured
/// on a public sample: about what other texts will have.
#[derive(Clone, Debug, PartialEq)]
pub struct DecodedKeep {
    /// The codes of the private words: those of the whole model, or of a policy's subset of it.
    pub codes: CodesIdentity,
    /// The mechanism's name.
    pub mechanism: String,
    /// The shares.
    pub table: Calibration,
}

impl DecodedKeep {
    fn read_all(bytes: &[u8]) -> Result<Vec<DecodedKeep>> {
        let mut fields = Fields::new("shares after decoding", bytes);
        let mut all = Vec::new();
        while !fields.is_empty() {
            let codes = CodesIdentity(fields.take()?);
            let [length] = fields.take()?;
            let mechanism = String::from_utf8_lossy(fields.bytes(length.into())?).into_owned();
            let points = fields.u32()? as usize;
            let table = stored::read_points(&mut fields, points)?;
            all.push(DecodedKeep {
                codes,
                mechanism,
                table,
            });
        }
        Ok(all)
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.extend(self.codes.0);
        out.push(self.mechanism.len() as u8);
        out.extend(self.mechanism.bytes());
        out.extend((self.table.points().len() as u32).to_le_bytes());
        out.extend(stored::write(&self.table));
    }
}

/// Language models whose table of kept words is believed: the built-in one. A table decides how much
/// privacy a share buys, so that of a file of unknown origin is not used.
const PINNED: [&str; 1] = [include_str!("english.identity")];

impl fmt::Debug for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Language({})", self.identity)
    }
}

/// Those with the same bytes are the same.
impl PartialEq for Language {
    fn eq(&self, other: &Language) -> bool {
        self.identity == other.identity
    }
}

/// The hash by which a language model names the vocabulary that it is for.
pub(crate) fn vocabulary_hash(vocabulary: &Vocabulary) -> [u8; 32] {
    let mut hash = Sha256::new();
    for word in vocabulary.iter() {
        hash.update(word);
        hash.update(b"\n");
    }
    hash.finalize().into()
}

impl Language {
    /// Reads a language model from a file's bytes.
    pub fn new(bytes: &[u8]) -> Result<Language> {
        let container = Container::parse(bytes, Content::Language)?;
        let section = |tag, section| {
            let range = container.section(tag).ok_or(Error::ModelInvalid {
                section,
                reason: "missing",
            })?;
            Ok(&bytes[range])
        };
        let mut head = Fields::new("head", section(*b"LHED", "head")?);
        let (words, vocabulary) = (head.u32()? as usize, head.take()?);
        head.end()?;
        let unigrams = read_unigrams(section(*b"UNIG", "words")?, words)?;
        let next = read_rows(
            unigrams.len(),
            section(*b"ROWS", "rows")?,
            section(*b"NEXT", "pairs")?,
            section(*b"PROB", "probabilities")?,
        )?;
        let optional = |tag| {
            container
                .section(tag)
                .map_or(&bytes[..0], |range| &bytes[range])
        };
        let log_unigrams: Vec<f32> = unigrams.iter().map(|&p| libm::logf(p)).collect();
        Ok(Language {
            vocabulary,
            words,
            backoffs: backoffs(&next, &unigrams)?,
            pairs: pairs(),
            listed: Listed::new(&next),
            heads: {
                let previous = next.transposed();
                let shares = log_unigrams.clone();
                [Heads::new(next, None), Heads::new(previous, Some(shares))]
            },
            unigrams,
            log_unigrams,
            shares: OnceLock::new(),
            decoded: DecodedKeep::read_all(optional(*b"KEPT"))?,
            meta: frame::read_meta(optional(*b"META"))?,
            identity: frame::identity(bytes),
            bytes: bytes.len(),
        })
    }

    /// Reads a file.
    pub fn open(path: impl AsRef<Path>) -> Result<Language> {
        Language::new(&Language::read(path)?)
    }

    /// The bytes of a file that begins as a language model does: for those who keep them, which a
    /// language model does not.
    pub fn read(path: impl AsRef<Path>) -> Result<Vec<u8>> {
        frame::read(path.as_ref(), Content::Language)
    }

    /// Whether it is for this vocabulary.
    pub fn check_vocabulary(&self, vocabulary: &Vocabulary) -> Result<()> {
        match self.words == vocabulary.len() && self.vocabulary == vocabulary_hash(vocabulary) {
            true => Ok(()),
            false => Err(Error::LanguageMismatch),
        }
    }

    /// Number of words.
    pub fn words(&self) -> usize {
        self.words
    }

    /// Number of listed pairs.
    pub fn pairs(&self) -> usize {
        self.listed.len()
    }

    /// Size of the file in bytes.
    pub fn file_size(&self) -> usize {
        self.bytes
    }

    /// Which file this is, every byte of it.
    pub fn file_identity(&self) -> FileIdentity {
        self.identity
    }

    /// What stays after decoding of private words with these codes, under the mechanism of this name, if
    /// that was measured and the file is one that this crate was released with.
    pub(crate) fn decoded_keep(&self, codes: CodesIdentity, name: &str) -> Option<&Calibration> {
        let pinned = PINNED.contains(&self.identity.to_string().as_str());
        let mut known = self.decoded.iter().filter(|_| pinned);
        let found = known.find(|keep| keep.codes == codes && keep.mechanism == name);
        found.map(|keep| &keep.table)
    }

    /// Provenance and licence, as written by its builder.
    pub fn meta(&self) -> &[(String, String)] {
        &self.meta
    }

    /// The start and end of a sentence.
    pub fn boundary(&self) -> State {
        self.words as State
    }

    /// A token without a word.
    pub fn unknown(&self) -> State {
        self.words as State + 1
    }

    /// Number of states.
    pub(crate) fn states(&self) -> usize {
        self.unigrams.len()
    }

    /// P(v).
    pub fn unigram(&self, v: State) -> f32 {
        self.unigrams[v as usize]
    }

    /// How frequent each state is.
    pub(crate) fn shares(&self) -> &Shares {
        self.shares.get_or_init(|| Shares::new(self))
    }

    /// ln P(v) of every state.
    pub(crate) fn log_unigrams(&self) -> &[f32] {
        &self.log_unigrams
    }

    /// b(u).
    pub(crate) fn backoff(&self, u: State) -> f32 {
        self.backoffs[u as usize]
    }

    /// The listed pairs.
    pub(crate) fn listed(&self) -> &Listed {
        &self.listed
    }

    /// The listed pairs (u, v, p(v | u)), ascending.
    pub fn listed_pairs(&self) -> Vec<(State, State, f64)> {
        let mut pairs = Vec::with_capacity(self.pairs());
        for u in 0..self.states() as State {
            let row = self.listed.after(u);
            pairs.extend(row.iter().map(|(v, s)| (u, v, f64::from(self.pair(s)))));
        }
        pairs.sort_unstable_by_key(|&(u, v, _)| (u, v));
        pairs
    }

    /// The listed successors v of a state u with the largest p(v | u).
    pub(crate) fn likely_next(&self) -> &Heads {
        &self.heads[0]
    }

    /// The listed predecessors u of a state v with the largest P(u) p(v | u).
    pub(crate) fn likely_previous(&self) -> &Heads {
        &self.heads[1]
    }

    /// p for its steps.
    pub(crate) fn pair(&self, steps: u8) -> f32 {
        self.pairs[usize::from(steps)]
    }

    /// P(v | u).
    ///
    /// ```
    /// # let language = brr::Language::open("../brr-english/src/english.lm")?;
    /// # let model = brr::Model::open("../brr-english/src/english.brr")?;
    /// let [ever, seen, banana] = ["ever", "seen", "banana"].map(|w| model.find(w).unwrap());
    /// assert!(language.probability(ever, seen) > 10.0 * language.probability(banana, seen));
    /// # Ok::<(), brr::Error>(())
    /// ```
    pub fn probability(&self, u: State, v: State) -> f32 {
        match self.listed.after(u).get(v) {
            Some(steps) => self.pair(steps),
            None => self.backoff(u) * self.unigram(v),
        }
    }
}

/// ln p for its steps.
pub(crate) fn log_pair(steps: u8) -> f32 {
    -f32::from(steps) / PAIR_STEPS
}

/// p for all steps.
fn pairs() -> [f32; 256] {
    std::array::from_fn(|steps| libm::expf(log_pair(steps as u8)))
}

fn invalid(section: &'static str, reason: &'static str) -> Error {
    Error::ModelInvalid { section, reason }
}

/// P(v) of every state, made to add up to 1.
fn read_unigrams(bytes: &[u8], words: usize) -> Result<Vec<f32>> {
    let (steps, rest) = bytes.as_chunks::<2>();
    if words == 0 || steps.len() != words + 2 || !rest.is_empty() {
        return Err(invalid("words", "not one probability for each state"));
    }
    let steps = steps.iter().map(|b| f32::from(u16::from_le_bytes(*b)));
    let raw: Vec<f32> = steps.map(|s| libm::expf(-s / UNIGRAM_STEPS)).collect();
    let total: f64 = raw.iter().map(|&p| f64::from(p)).sum();
    Ok(raw.iter().map(|&p| (f64::from(p) / total) as f32).collect())
}

fn read_rows(states: usize, rows: &[u8], next: &[u8], probabilities: &[u8]) -> Result<Rows> {
    let (mut rows, mut next) = (Fields::new("rows", rows), Fields::new("pairs", next));
    let mut starts = Vec::with_capacity(states + 1);
    starts.push(0);
    let mut others = Vec::with_capacity(probabilities.len());
    for _ in 0..states {
        let mut least = 0;
        for _ in 0..rows.leb128()? {
            let other = next.leb128()?.checked_add(least);
            let other = other.filter(|&other| (other as usize) < states);
            let other = other.ok_or(invalid("pairs", "a state is out of range"))?;
            others.push(other);
            least = other + 1;
        }
        starts.push(others.len() as u32);
    }
    rows.end()?;
    next.end()?;
    if others.len() != probabilities.len() {
        return Err(invalid("probabilities", "not one for each pair"));
    }
    Ok(Rows {
        starts,
        others,
        probabilities: probabilities.to_vec(),
    })
}

/// b(u) of every state.
fn backoffs(next: &Rows, unigrams: &[f32]) -> Result<Vec<f32>> {
    let pairs = pairs();
    let backoff = |u: State| {
        let (row, steps) = next.row(u);
        let listed: f64 = steps
            .iter()
            .map(|&s| f64::from(pairs[usize::from(s)]))
            .sum();
        let shares = row.iter().map(|&v| f64::from(unigrams[v as usize]));
        let others = 1.0 - shares.sum::<f64>();
        match listed <= 1.0 {
            true if others > 1e-6 => Ok(((1.0 - listed) / others) as f32),
            true => Ok(0.0),
            false => Err(invalid("probabilities", "a row adds up to more than 1")),
        }
    };
    (0..unigrams.len() as State).map(backoff).collect()
}

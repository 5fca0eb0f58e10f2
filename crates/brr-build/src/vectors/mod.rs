//! Pretrained word vectors, and the files they come in.
//!
//! [`load`] reads a file of any of the usual formats, plain or packed (`.gz`, `.zst`, `.zip`),
//! word by word in file order, and stops as soon as it has the words that are wanted. Memory is
//! that of the result plus one buffer: no length in a header is believed.
//!
//! The vectors of spaCy (`spacy/`) and navec (`navec.rs`) are several files in a folder or an archive (`package.rs`). Words and
//! vectors are in different files there, and the words in an order of their own: memory then also holds the keys or the
//! words of the package, as far as they were read.
//!
//! Real files are dirty. A row that cannot be used is skipped and counted, or is an error that
//! names file and line: [`OnDefect`]. Which words may enter is the matter of
//! [`VocabularyRule`].
//!
//! # Why the readers are our own
//!
//! The field's own crate, `finalfusion`, reads the same formats and is the oracle of our tests. It
//! cannot be the reader, since it always reads a file to its end and into memory, reserves memory
//! as the header says, gives up at the first defect, and scales all rows to unit length. VectorFormat by
//! format:
//!
//! - GloVe and word2vec text, fastText `.vec` (`text.rs`): it takes the first field as the word, so
//!   that tokens with spaces (GloVe 840B) are errors, as are blank lines.
//! - word2vec binary (`word2vec.rs`): no early stop; the header drives the allocation.
//! - fastText `.bin` (`fasttext.rs`): reads all 4.8 GB of a Common Crawl model's matrix for one
//!   word, refuses supervised models, and counts the brackets as n-grams of one character.
//! - NumPy `.npy` (`npy.rs`), spaCy, navec: not among its formats. Their oracles are spaCy and navec themselves
//!   ([compare.py](../../../tests/packages/compare.py)).

mod archive;
mod collect;
mod digest;
mod fasttext;
mod format;
mod navec;
mod npy;
mod package;
mod report;
mod source;
mod spacy;
mod stream;
mod subwords;
mod tar;
mod text;
mod word2vec;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

pub use digest::sha256_of_file;
pub use format::VectorFormat;
pub use report::{Defect, Header, LoadReport, Tally, Unit};

use crate::error::{Error, Result};
use crate::exclusion::ExclusionList;
use crate::vocabulary_rule::VocabularyRule;
use collect::Collector;
use stream::Stream;

/// No word vectors are longer. Headers that say otherwise are damaged, and must not allocate.
const MAX_DIM: usize = 1 << 16;

/// No token of a binary file is longer, in bytes.
const MAX_TOKEN: u64 = 1 << 16;

/// No package has more words: eight times the two million of fastText's largest.
const MAX_WORDS: u64 = 1 << 24;

/// No list of words is longer, in bytes: as many of sixteen bytes each.
const MAX_LIST: u64 = 1 << 28;

/// No more numbers are made of fewer that a file has.
const MAX_NUMBERS: usize = 1 << 31;

/// Words with their vectors, in file order (most frequent first in the usual files).
#[derive(Clone, Debug, Default)]
pub struct Vectors {
    /// The words.
    pub words: Vec<String>,
    /// Length of a vector.
    pub dim: usize,
    /// `words.len() * dim` numbers, row after row.
    pub data: Vec<f32>,
}

impl Vectors {
    /// The vector of word `i`.
    pub fn row(&self, i: usize) -> &[f32] {
        &self.data[i * self.dim..(i + 1) * self.dim]
    }

    /// Euclidean distance of words `a` and `b`.
    pub fn distance(&self, a: usize, b: usize) -> f64 {
        let pair = self.row(a).iter().zip(self.row(b));
        pair.map(|(x, y)| (f64::from(*x) - f64::from(*y)).powi(2))
            .sum::<f64>()
            .sqrt()
    }

    /// The vectors of these words, in this order; nothing if one of them has none.
    pub fn of_words<'w>(&self, words: impl Iterator<Item = &'w str>) -> Option<Vectors> {
        let places = self.words.iter().enumerate();
        let places: HashMap<&str, usize> = places.map(|(i, word)| (word.as_str(), i)).collect();
        let mut found = Vectors {
            words: Vec::new(),
            dim: self.dim,
            data: Vec::new(),
        };
        for word in words {
            found.data.extend(self.row(*places.get(word)?));
            found.words.push(word.to_owned());
        }
        Some(found)
    }
}

/// What to do with a row that cannot be used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnDefect {
    /// Skip it and count it in the report.
    #[default]
    Skip,
    /// End with an error that names the place.
    Fail,
}

/// How to load word vectors. The default takes all words that the rule for release admits.
#[derive(Clone, Debug, Default)]
pub struct LoadOptions {
    /// Stop after this many words. (A few less are loaded if lone letters among them turn out
    /// not to be at home: see [`VocabularyRule::stray_letters`].)
    pub words: Option<usize>,
    /// The format, instead of what the file looks like.
    pub format: Option<VectorFormat>,
    /// The words of a NumPy file: one per line, in the order of the rows.
    pub word_list: Option<PathBuf>,
    /// What to do with a row that cannot be used.
    pub on_defect: OnDefect,
    /// Take what is there of a file that was cut short.
    pub partial: bool,
    /// Also take words that have no vector of their own but that of a more frequent word, as most words in packages of
    /// spaCy do.
    pub shared_vectors: bool,
    /// Which words may enter.
    pub filter: VocabularyRule,
    /// Words that may not, by list.
    pub exclude: Vec<ExclusionList>,
}

/// Loaded word vectors with the account of their loading.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The vectors.
    pub vectors: Vectors,
    /// What was read, skipped and left out.
    pub report: LoadReport,
}

/// How far a load has come.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Progress {
    /// Words so far.
    pub words: usize,
    /// Words wanted, if not all.
    pub words_wanted: Option<usize>,
    /// Bytes of the file read so far, where known.
    pub bytes: Option<u64>,
    /// Bytes of the file, where known.
    pub bytes_total: Option<u64>,
}

/// Loads the word vectors in the file `path`, or in the member of a zip archive that
/// `archive.zip#member` names. Vectors of spaCy and navec are several files: `path` is the archive or the folder that they
/// are in.
pub fn load(path: &Path, options: &LoadOptions) -> Result<Loaded> {
    load_with_progress(path, options, &mut |_| {})
}

/// Like [`load`], and calls `progress` every few thousand rows.
pub fn load_with_progress(
    path: &Path,
    options: &LoadOptions,
    progress: &mut dyn FnMut(Progress),
) -> Result<Loaded> {
    if options.words == Some(0) {
        return Err(Error::NoWordsWanted);
    }
    if let Some(package) = package::find(path, options.format)? {
        check_word_list(path, package.format, options)?;
        let mut collector = Collector::new(path, package.format, options, progress);
        match package.format {
            VectorFormat::Navec => navec::read(&package, &mut collector)?,
            _ => spacy::read(&package, options, &mut collector)?,
        }
        return collector.finish(None);
    }
    archive::with_stream(path, |stream| {
        let format = format::recognize(stream, options.format)?;
        check_word_list(path, format, options)?;
        let mut collector = Collector::new(path, format, options, progress);
        read(stream, format, options, &mut collector)?;
        collector.finish(Some(stream))
    })
}

fn check_word_list(path: &Path, format: VectorFormat, options: &LoadOptions) -> Result<()> {
    match (&options.word_list, format) {
        (None, _) | (_, VectorFormat::Npy) => Ok(()),
        _ => Err(Error::WordListUnused {
            path: path.to_owned(),
            format,
        }),
    }
}

fn read(
    stream: &mut Stream<'_>,
    format: VectorFormat,
    options: &LoadOptions,
    collector: &mut Collector<'_>,
) -> Result<()> {
    match format {
        VectorFormat::GloveText | VectorFormat::Word2vecText => {
            text::read(stream, format, collector)
        }
        VectorFormat::Word2vecBinary => word2vec::read(stream, collector),
        VectorFormat::FastText => fasttext::read(stream, collector),
        VectorFormat::Npy => npy::read(stream, options.word_list.as_deref(), collector),
        VectorFormat::Spacy | VectorFormat::Navec => Err(Error::WrongFormat {
            path: stream.path().to_owned(),
            format,
            reason: "it is not the archive or the folder that the files of such vectors are in",
        }),
    }
}

/// Whether there can be room for so many vectors, which a file says in fewer numbers.
fn check_size(stream: &Stream<'_>, words: usize, dim: usize) -> Result<()> {
    match words.checked_mul(dim) {
        Some(0..=MAX_NUMBERS) => Ok(()),
        _ => Err(Error::Unsupported {
            path: stream.path().to_owned(),
            what: "the vectors of these words would take over 8 GB",
            remedy: "ask for fewer words",
        }),
    }
}

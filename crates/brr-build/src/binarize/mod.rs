//! Real vectors to binary codes whose Hamming distance keeps their similarity.
//!
//! Every way of doing so stands behind one trait, [`Binarizer`]:
//!
//! - [`Hyperplane`]: signs of random projections. The baseline.
//! - [`Itq`]: principal components, then the rotation that loses least to signs.
//! - [`Autoencoder`]: near-lossless binarization (Tissier, Gravier, Habrard 2019),
//!   the codes of the BRR paper.
//! - [`Affinity`]: codes chosen word by word to reproduce the similarities
//!   themselves. The best at every length, most of all at few bits.
//!
//! Same vectors, same options: same codes, bit for bit, on any CPU and for any
//! number of threads ([`crate::matrix`] says why). [`separate()`] then gives
//! every word a code of its own.

mod affinity;
mod autoencoder;
mod descent;
pub(crate) mod graph;
mod hyperplane;
mod itq;
mod separate;
pub(crate) mod spectrum;
mod word;

use crate::matrix::Matrix;
use crate::vectors::Vectors;
use brr::parts::codes::{CodeBits, CodeRows};

pub use affinity::Affinity;
pub use autoencoder::Autoencoder;
pub use hyperplane::Hyperplane;
pub use itq::Itq;
pub use separate::{Separated, separate};

/// The options of every binarizer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BinarizeOptions {
    /// Length of a code.
    pub bits: CodeBits,
    /// Seed of everything random.
    pub seed: u64,
    /// Threads to use; the codes do not depend on it.
    pub threads: usize,
}

/// How far a binarizer has come. Sent before the first step and after each.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// What a step is: `"epoch"`, `"iteration"`, ... Where there are several kinds,
    /// one ends before the next begins.
    pub unit: &'static str,
    /// Steps done.
    pub step: usize,
    /// Steps in all.
    pub steps: usize,
    /// What is being minimized, once it is known; comparable only within a run.
    pub loss: Option<f64>,
}

impl Progress {
    fn new(unit: &'static str, (step, steps): (usize, usize), loss: Option<f64>) -> Progress {
        Progress {
            unit,
            step,
            steps,
            loss,
        }
    }
}

/// Receives progress.
pub type OnProgress<'a> = dyn FnMut(Progress) + 'a;

/// A way to make codes from vectors.
pub trait Binarizer {
    /// Its name on the command line and in a model's record.
    fn name(&self) -> &'static str;

    /// One code per word, in the order of the words.
    fn binarize(
        &self,
        vectors: &Vectors,
        options: &BinarizeOptions,
        progress: &mut OnProgress<'_>,
    ) -> Result<CodeRows, BinarizeError>;
}

/// The names that [`by_name`] knows, the best binarizer first.
pub const NAMES: [&str; 4] = ["affinity", "autoencoder", "itq", "hyperplane"];

/// The binarizer of that name, with its default settings.
pub fn by_name(name: &str) -> Option<Box<dyn Binarizer>> {
    match name {
        "affinity" => Some(Box::new(Affinity::default())),
        "autoencoder" => Some(Box::new(Autoencoder::default())),
        "itq" => Some(Box::new(Itq::default())),
        "hyperplane" => Some(Box::new(Hyperplane)),
        _ => None,
    }
}

/// Why vectors cannot be binarized.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BinarizeError {
    /// There are fewer than two words.
    #[error("found {found} words, codes need at least 2: use more vectors")]
    TooFewWords {
        /// How many there are.
        found: usize,
    },
    /// The numbers are not `words * dim` many, or `dim` is 0.
    #[error("{words} words of dimension {dim} need {} numbers, found {found}", words * dim)]
    Shape {
        /// Words.
        words: usize,
        /// Stated length of a vector.
        dim: usize,
        /// Numbers found.
        found: usize,
    },
    /// A vector holds NaN or an infinity.
    #[error("the vector of word {word} holds NaN or infinity: drop the word")]
    NotFinite {
        /// Id of the word.
        word: usize,
    },
    /// All vectors are equal: there is nothing to tell words apart by.
    #[error("all vectors are equal: codes cannot tell words apart")]
    AllEqual,
}

/// Refuses vectors no binarizer can use.
fn check(vectors: &Vectors) -> Result<(), BinarizeError> {
    let (words, dim, found) = (vectors.words.len(), vectors.dim, vectors.data.len());
    if dim == 0 || found != words * dim {
        return Err(BinarizeError::Shape { words, dim, found });
    }
    if words < 2 {
        return Err(BinarizeError::TooFewWords { found: words });
    }
    if let Some(at) = vectors.data.iter().position(|x| !x.is_finite()) {
        return Err(BinarizeError::NotFinite { word: at / dim });
    }
    if vectors
        .data
        .chunks_exact(dim)
        .all(|row| row == vectors.row(0))
    {
        return Err(BinarizeError::AllEqual);
    }
    Ok(())
}

/// Bit `j` of row `i` is set where entry `(i, j)` is not negative.
fn signs(values: &Matrix, bits: CodeBits) -> CodeRows {
    assert_eq!(values.cols, bits.get(), "one column for each bit");
    let mut codes = CodeRows::zeros(bits, values.rows);
    for i in 0..values.rows {
        pack(values.row(i), codes.row_mut(i));
    }
    codes
}

/// Packs signs into limbs.
fn pack(values: &[f64], limbs: &mut [u64]) {
    for (limb, chunk) in limbs.iter_mut().zip(values.chunks(64)) {
        *limb = chunk
            .iter()
            .enumerate()
            .fold(0, |acc, (j, v)| acc | u64::from(*v >= 0.0) << j);
    }
}

#[cfg(test)]
mod tests;

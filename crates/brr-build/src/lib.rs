//! Building brr models from pretrained word vectors.
//!
//! The way through the crate: [`orthography`] has the tables of languages, [`vectors`] reads a file, [`vocabulary_rule`] and
//! [`exclusion`] decide which of its words may enter a model, [`binarize`] gives each word a
//! code, [`tree`] a place in a balanced tree, [`quality`] measures what the codes kept.
//! [`build`](mod@build) is all of that in a row, with the core's own look at the finished codes: [`brr::parts::distances`],
//! [`brr::parts::calibration`]
//! and [`brr::parts::certify`]. A build is reproducible: same vectors, same options, same bytes, on any
//! machine and any number of threads (see [`matrix`] and [`brr::parts::parallel`]).

pub mod binarize;
pub mod build;
pub mod error;
pub mod exclusion;
pub mod language;
pub mod matrix;
pub mod network;
pub mod orthography;
pub mod quality;
pub mod seeded;
pub mod tree;
pub mod vectors;
pub mod vocabulary_rule;

pub use error::{Error, Result};

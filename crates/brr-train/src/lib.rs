//! Building brr models from pretrained word vectors.
//!
//! The way through the crate: [`vectors`] reads a file, [`vocabulary_rule`] and
//! [`exclusion`] decide which of its words may enter a model, [`binarize`] gives each word a
//! code, [`quality`] measures what the codes kept and how far they lie apart,
//! [`calibration`] what an epsilon does to a text, [`certify`] proves what the
//! exponential mechanism guarantees. [`build`](mod@build) is all of that in a row.
//! A build is reproducible: same vectors, same options, same bytes, on any machine
//! and any number of threads (see [`matrix`] and [`parallel`]).

pub mod binarize;
pub mod build;
pub mod error;
pub mod exclusion;
pub mod matrix;
pub mod network;
pub mod quality;
pub mod vectors;
pub mod vocabulary_rule;

pub use error::{Error, Result};

//! Building brr models from pretrained word vectors.
//!
//! The way through the crate: [`vectors`] reads a file, [`vocabulary_rule`]
//! decides which of its words may enter a model, [`binarize`] gives each word a
//! code, [`quality`] measures what the codes kept. A build is reproducible: same
//! vectors, same options, same bytes, on any machine and any number of threads
//! (see [`matrix`] and [`parallel`]).

pub mod binarize;
pub mod error;
pub mod matrix;
pub mod parallel;
pub mod quality;
pub mod vectors;
pub mod vocabulary_rule;

pub use error::{Error, Result};

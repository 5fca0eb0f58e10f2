//! Building brr models from pretrained word vectors.
//!
//! The way through the crate: [`vectors`] reads a file of word vectors, [`vocabulary_rule`]
//! decides which of its words may enter a model.

pub mod error;
pub mod vectors;
pub mod vocabulary_rule;

pub use error::{Error, Result};

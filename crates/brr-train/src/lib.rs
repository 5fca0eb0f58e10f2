//! Building brr models from pretrained word vectors.
//!
//! vectors -> [`binarize`] -> codes -> [`quality`]. A build is reproducible:
//! same vectors, same options, same bytes, on any machine and any number of
//! threads (see [`matrix`] and [`parallel`]).

pub mod binarize;
pub mod matrix;
pub mod parallel;
pub mod quality;
pub mod vectors;

//! Building brr models from pretrained word vectors.

pub mod vectors;

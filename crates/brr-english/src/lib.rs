//! The default English model as bytes, and nothing else.
//!
//! Made by `scripts/default-model` from GloVe vectors (Pennington, Socher and
//! Manning 2014; Common Crawl 840B, 300d; Public Domain Dedication and License
//! 1.0). NOTICE says where they come from.

/// The model file.
pub static MODEL: &[u8] = include_bytes!("english.brr");

/// The model, ready for use.
pub fn model() -> brr::Result<brr::Model> {
    brr::Model::new(MODEL)
}

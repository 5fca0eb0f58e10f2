//! Building brr models from pretrained word vectors.

pub mod all_pairs;
pub mod calibration;
pub mod certify;
pub mod distances;
pub mod frequency;
pub mod parallel;
pub mod vectors;

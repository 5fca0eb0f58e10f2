//! On-device text privatization with binary randomized response (BRR).

pub mod codes;
pub mod nearest;

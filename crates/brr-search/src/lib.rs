//! Binary codes, and the exact nearest of them, for [`brr`](../brr/index.html).
//!
//! What is here takes most of the time of compiling brr and changes least: the kernels of the search
//! in every form that a CPU may want, with the layout of codes that they share. `codes` says what a
//! code is and how codes are stored, [`nearest`] finds them. Use both through `brr::parts`; what this crate
//! gives out beyond that is for brr alone.

pub mod codes;
pub mod nearest;

/// A word's number in its model. The most frequent word has the lowest.
pub type WordId = u32;

//! How good codes are: what a model's record says and a build reports.
//!
//! - [`retention`]: how much of the agreement with human similarity judgements
//!   the codes keep (Spearman correlation, codes against real vectors);
//! - [`neighbor_overlap`]: how many of a word's 10 nearest words stay;
//! - [`CodeStats`](brr::parts::distances::CodeStats): duplicate codes, balance of bits, closest pairs,
//!   and the exact P_avg and P_max of the BRR paper (Section 5) in Hamming distance;
//! - [`euclidean`]: exact P_avg and P_max of the real vectors, for comparing
//!   mechanisms over different metrics.

mod distances;
mod neighbors;
mod rank;
mod similarity;

pub use distances::{EuclideanStats, euclidean};
pub use neighbors::{code_neighbors, neighbor_overlap, real_neighbors};
pub use rank::spearman;
pub use similarity::{Retention, SimilarityError, SimilaritySet, retention};

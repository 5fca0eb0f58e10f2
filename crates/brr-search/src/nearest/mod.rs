//! Exact nearest code in Hamming distance, ties to the lowest id.
//!
//! The last step of BRR (Alg. 3): a noisy code becomes the word whose code is
//! nearest. It is post-processing, so it costs no privacy, as long as it is a
//! function of the noisy code alone. [`Scan`] is also blind in time: it touches
//! every code, and no branch and no address range that it visits depends on how
//! near a word is. Only [`Scan::sift`] is not, which is for what comes after the noise.
//!
//! Two kernels do the work, both written once over a small `Vector` trait and
//! compiled for each CPU:
//!
//! * `planes` adds the popcounts of byte planes: one query, or all distances.
//! * `slices` counts in bit slices and shares work between queries: batches.
//!   `weigh` turns such counts into sums of weights, `sift` finds the words that
//!   lie near enough, for what comes after the noise.

mod arch;
mod backend;
mod multi_index;
mod planes;
mod sift;
mod slices;
mod vector;
mod weigh;

pub use backend::Backend;
pub use multi_index::MultiIndex;
pub use sift::Sieve;
pub use sift::pass;
pub use weigh::WeightTable;

use crate::WordId;
use crate::codes::{CodeBlocks, CodeRows, LANES};
use std::ops::Range;

use zeroize::Zeroizing;

/// The nearest word to a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Neighbor {
    /// Word id.
    pub id: u32,
    /// Hamming distance to the query.
    pub distance: u32,
}

impl Neighbor {
    /// Farther than any word.
    const NONE: Neighbor = Neighbor {
        id: u32::MAX,
        distance: u32::MAX,
    };

    /// The nearer of two, the lower id if equally near; without a branch.
    #[inline(always)]
    fn nearer(self, other: Neighbor) -> Neighbor {
        let key = |n: Neighbor| (u64::from(n.distance) << 32) | u64::from(n.id);
        let least = key(self).min(key(other));
        Neighbor {
            id: least as u32,
            distance: (least >> 32) as u32,
        }
    }
}

/// The distances of some words to `query`, from codes as rows, in which single words are found faster
/// than in a table that is made to be scanned.
///
/// # Panics
/// If there is no such word.
pub fn distances_of(rows: &CodeRows, query: &[u64], words: &[WordId]) -> Vec<u16> {
    let mut out = vec![0; words.len()];
    backend::Kernels::fastest().distances_of(rows, query, words, &mut out);
    out
}

/// Batches smaller than this are cheaper query by query: bit slices of the
/// table are made once a batch.
const SLICED_FROM: usize = 12;

/// Scans every code of a table.
#[derive(Clone, Copy)]
pub struct Scan<'a> {
    codes: CodeBlocks<'a>,
    kernels: backend::Kernels,
}

impl<'a> Scan<'a> {
    /// A scan with the fastest backend that this CPU has.
    pub fn new(codes: CodeBlocks<'a>) -> Scan<'a> {
        let kernels = backend::Kernels::fastest();
        Scan { codes, kernels }
    }

    /// A scan with a backend of your choice; `None` if this CPU lacks it.
    pub fn with_backend(codes: CodeBlocks<'a>, backend: Backend) -> Option<Scan<'a>> {
        let kernels = backend::Kernels::new(backend)?;
        Some(Scan { codes, kernels })
    }

    /// The backend in use.
    pub fn backend(&self) -> Backend {
        self.kernels.backend()
    }

    /// The table that is searched.
    pub fn codes(&self) -> CodeBlocks<'a> {
        self.codes
    }

    /// The nearest word of each query, in the order of the queries.
    ///
    /// # Panics
    /// If the queries' code length is not the table's.
    pub fn nearest(&self, queries: &CodeRows) -> Vec<Neighbor> {
        assert_eq!(queries.bits(), self.codes.bits(), "code length of queries");
        if queries.len() < SLICED_FROM {
            return queries
                .iter()
                .map(|query| self.nearest_one(query))
                .collect();
        }
        let mut out = vec![Neighbor::NONE; queries.len()];
        self.kernels.nearest_many(self.codes, queries, &mut out);
        out
    }

    /// The nearest word of one query.
    ///
    /// # Panics
    /// If `query` is not `bits / 64` limbs long.
    pub fn nearest_one(&self, query: &[u64]) -> Neighbor {
        self.check(query);
        self.kernels.nearest_one(self.codes, query)
    }

    /// The distance of every word to `query`, by word id.
    ///
    /// # Panics
    /// If `query` is not `bits / 64` limbs long, or `out` not one entry a word.
    pub fn distances(&self, query: &[u64], out: &mut [u16]) {
        self.distances_in(query, 0..self.codes.blocks(), out);
    }

    /// Passes the words on that a sieve asks for, of each query in ascending order, with their
    /// distances.
    ///
    /// # Panics
    /// If the queries' code length is not the table's.
    pub fn sift(&self, queries: &CodeRows, sieve: &mut dyn Sieve) {
        assert_eq!(queries.bits(), self.codes.bits(), "code length of queries");
        if queries.len() >= SLICED_FROM {
            return self.kernels.sift(self.codes, queries, sieve);
        }
        let mut distances = Zeroizing::new(vec![0; self.codes.len()]);
        for (i, query) in queries.iter().enumerate() {
            self.distances(query, &mut distances);
            pass(i, 0, &distances, sieve);
        }
    }

    /// The distance of every word to a word of the table, by word id.
    ///
    /// # Panics
    /// If there is no such word, or `out` is not one entry a word.
    pub fn distances_from(&self, word: WordId, out: &mut [u16]) {
        let mut code = vec![0; self.codes.bits().limbs()];
        self.codes.read(word as usize, &mut code);
        self.distances(&code, out);
    }

    /// The distances to `query` of the words in a range of blocks, that is, of
    /// the words from `64 * blocks.start` up to `64 * blocks.end` or the last.
    ///
    /// A tile of blocks that stays in cache while many queries pass over it is
    /// how all pairs of a vocabulary are visited.
    ///
    /// # Panics
    /// If the range is outside the table, `query` is not `bits / 64` limbs
    /// long, or `out` is not one entry a word.
    pub fn distances_in(&self, query: &[u64], blocks: Range<usize>, out: &mut [u16]) {
        self.check(query);
        assert!(
            blocks.start <= blocks.end && blocks.end <= self.codes.blocks(),
            "block range"
        );
        let words = (blocks.end * LANES).min(self.codes.len()) - blocks.start * LANES;
        assert_eq!(out.len(), words, "one distance a word");
        self.kernels.distances(self.codes, blocks, query, out);
    }

    /// For each query and each block, in this order, the sum over the block's
    /// words of their weights: of query `i`, what `tables[i]` says of the word's
    /// distance to it.
    ///
    /// # Panics
    /// If the queries' code length is not the table's, there are not as many
    /// tables as queries, or `sums` has another length.
    pub fn weigh_many(&self, queries: &CodeRows, tables: &[&WeightTable], sums: &mut [u64]) {
        assert_eq!(queries.bits(), self.codes.bits(), "code length of queries");
        assert_eq!(queries.len(), tables.len(), "one table a query");
        let blocks = self.codes.blocks();
        assert_eq!(sums.len(), queries.len() * blocks, "one sum a block");
        if queries.len() >= SLICED_FROM {
            return self.kernels.weigh_many(self.codes, queries, tables, sums);
        }
        let mut distances = Zeroizing::new(vec![0; self.codes.len()]);
        for (i, query) in queries.iter().enumerate() {
            self.distances(query, &mut distances);
            tables[i].sums(&distances, &mut sums[i * blocks..(i + 1) * blocks]);
        }
    }

    /// The largest distance from each query to a word. The largest of these
    /// over all words as queries is `P_max` of the paper's Section 5.
    ///
    /// # Panics
    /// If the queries' code length is not the table's.
    pub fn farthest(&self, queries: &CodeRows) -> Vec<u32> {
        // The word farthest from q is the word nearest to the complement of q.
        let bits = self.codes.bits().get() as u32;
        let mut complements = queries.clone();
        for i in 0..queries.len() {
            complements.row_mut(i).iter_mut().for_each(|l| *l = !*l);
        }
        let nearest = self.nearest(&complements);
        nearest.iter().map(|n| bits - n.distance).collect()
    }

    fn check(&self, query: &[u64]) {
        assert_eq!(query.len(), self.codes.bits().limbs(), "query length");
    }
}

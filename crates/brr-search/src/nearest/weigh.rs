//! Sums of weights by distance, block by block.
//!
//! What the exponential mechanism asks of a scan: not how far each word is but
//! how much the 64 words of a block weigh together, where a word at distance `d`
//! weighs what a table says. Sums of blocks are exact integers.

use super::slices::{self, Counter};
use super::vector::Vector;
use crate::codes::{CodeBits, CodeBlocks, CodeRows, LANES};
use std::hint::black_box;

/// Weights by distance.
pub struct WeightTable {
    /// Long enough for an index that need not be checked.
    weights: [u64; WeightTable::LEN],
    /// Byte `p` of the weights of distances 0 to 255, for kernels that look
    /// bytes up.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
    pub(super) bytes: [[u8; 256]; 8],
    /// Number of bytes of the weights that are not 0 throughout.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
    pub(super) width: usize,
    /// The largest distance.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
    pub(super) longest: usize,
}

impl WeightTable {
    /// A power of two above the longest distance.
    const LEN: usize = (CodeBits::MAX.get() + 1).next_power_of_two();

    /// One weight for each distance from 0 to the code length, at most 2^57:
    /// 64 of them fit a u64. The fewer bytes the largest has, the faster the sums.
    ///
    /// # Panics
    /// If there are more than 1025 weights, none, or too large ones.
    pub fn new(weights: &[u64]) -> WeightTable {
        let most = weights.iter().max().expect("a weight");
        assert!(*most <= 1 << 57, "weights up to 2^57");
        let mut table = WeightTable {
            weights: [0; WeightTable::LEN],
            bytes: [[0; 256]; 8],
            width: (64 - most.leading_zeros() as usize).div_ceil(8),
            longest: weights.len() - 1,
        };
        table.weights[..weights.len()].copy_from_slice(weights);
        for (d, weight) in weights.iter().take(256).enumerate() {
            for (plane, byte) in table.bytes.iter_mut().zip(weight.to_le_bytes()) {
                plane[d] = byte;
            }
        }
        table
    }

    /// The weight at a distance.
    #[inline(always)]
    pub fn weight(&self, distance: u16) -> u64 {
        self.weights[usize::from(distance) % WeightTable::LEN]
    }

    /// The sum for each block of distances.
    ///
    /// Not inlined: compiled for AVX2 or AVX-512, the lookups would become gather
    /// instructions, which are slower than loads.
    #[inline(never)]
    pub(super) fn sums(&self, distances: &[u16], sums: &mut [u64]) {
        for (sum, block) in sums.iter_mut().zip(distances.chunks(LANES)) {
            *sum = block.iter().map(|&d| self.weight(d)).sum();
        }
    }
}

/// As [`Scan::weigh_many`](super::Scan::weigh_many).
#[inline(always)]
pub(super) fn weigh<V: Vector>(
    codes: CodeBlocks<'_>,
    queries: &CodeRows,
    tables: &[&WeightTable],
    sums: &mut [u64],
) {
    let weigh = Weigh {
        codes,
        queries,
        tables,
        sums,
    };
    slices::run::<V, _>(codes.bits(), weigh);
}

/// Counts distances in bit slices, a tile of words at a time, and weighs the
/// tile for each query.
struct Weigh<'a> {
    codes: CodeBlocks<'a>,
    queries: &'a CodeRows,
    tables: &'a [&'a WeightTable],
    sums: &'a mut [u64],
}

impl<V: Vector> slices::Task<V> for Weigh<'_> {
    const EVERY_LENGTH: bool = false;

    #[inline(always)]
    fn run<const P: usize, const L: usize, const S: usize>(self) {
        let (codes, limbs) = (self.codes, self.codes.bits().limbs());
        let mut counter = Counter::<V, P, L, S>::new(self.queries.limbs(), limbs);
        let mut counts = vec![[V::splat(0); P]; self.queries.len()];
        for first in (0..codes.blocks()).step_by(V::BYTES / 8) {
            let words = (codes.len() - first * LANES).min(V::BYTES * 8);
            let blocks = words.div_ceil(LANES);
            counter.tile(codes, first, &mut counts, |_, query, count| {
                let sums = &mut self.sums[query * codes.blocks() + first..][..blocks];
                V::weigh(count, self.tables[query], words, sums);
            });
        }
        // The last tile's distances tell the query; `zeroize` knows no vectors.
        counts.fill([V::splat(0); P]);
        black_box(&counts);
    }
}

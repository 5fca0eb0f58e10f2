//! All distances of many queries, counted in bit slices.

use super::slices::{self, Counter};
use super::vector::Vector;
use crate::codes::{CodeBlocks, CodeRows, LANES};
use std::hint::black_box;
use zeroize::Zeroize;

/// Told of distances as they are found: the query, the first word, the distances.
pub(crate) type Each<'a> = &'a mut dyn FnMut(usize, usize, &[u16]);

/// As [`Scan::distances_many`](super::Scan::distances_many).
#[inline(always)]
pub(super) fn distances<V: Vector>(
    codes: CodeBlocks<'_>,
    queries: &CodeRows,
    out: &mut [u16],
    each: Each<'_>,
) {
    let distances = Distances {
        codes,
        queries,
        out,
        each,
    };
    slices::run::<V>(codes.bits(), distances);
}

/// Counts distances a tile of words at a time, and writes each query's.
struct Distances<'a> {
    codes: CodeBlocks<'a>,
    queries: &'a CodeRows,
    out: &'a mut [u16],
    each: Each<'a>,
}

impl<V: Vector> slices::Task<V> for Distances<'_> {
    #[inline(always)]
    fn run<const P: usize, const L: usize, const S: usize>(self) {
        let (codes, limbs) = (self.codes, self.codes.bits().limbs());
        let mut counter = Counter::<V, P, L, S>::new(self.queries.limbs(), limbs);
        let mut counts = vec![[V::splat(0); P]; self.queries.len()];
        let mut last = [0; 512];
        for first in (0..codes.blocks()).step_by(V::BYTES / 8) {
            let words = (codes.len() - first * LANES).min(V::BYTES * 8);
            counter.tile(codes, first, &mut counts, |_, query, count| {
                let out = &mut self.out[query * codes.len() + first * LANES..][..words];
                if words == V::BYTES * 8 {
                    V::spread(count, out);
                } else {
                    V::spread(count, &mut last);
                    out.copy_from_slice(&last[..words]);
                }
                (self.each)(query, first * LANES, out);
            });
        }
        // The last tile's distances tell the query; `zeroize` knows no vectors.
        counts.fill([V::splat(0); P]);
        black_box(&counts);
        last.zeroize();
    }
}

//! Many queries, all distances: bit slices counted and turned back.
//!
//! Distances are counted in bit slices ([`super::slices`]), which is cheaper than
//! byte by byte, a tile of words (as many as a register has bits) at a time.
//! Then the slices of a tile become one number a word, and the tile is shown to
//! the caller while it is in cache. Blind as the other kernels are: the order of
//! queries and tiles depends on nothing.

use super::Visit;
use super::slices::{LimbTable, QueryLimb, add_limbs, strip};
use super::vector::Vector;
use crate::codes::{CodeBlocks, CodeRows, LANES};

/// As [`Scan::distances_many`](super::Scan::distances_many).
#[inline(always)]
pub(super) fn distances<V: Vector>(
    codes: CodeBlocks<'_>,
    queries: &CodeRows,
    visit: &mut Visit<'_>,
) {
    // A distance of `bits` must fit.
    match codes.bits().get().ilog2() + 1 {
        7 => counted::<V, 7>(codes, queries, visit),
        8 => counted::<V, 8>(codes, queries, visit),
        9 => counted::<V, 9>(codes, queries, visit),
        10 => counted::<V, 10>(codes, queries, visit),
        _ => counted::<V, 11>(codes, queries, visit),
    }
}

#[inline(always)]
fn counted<V: Vector, const P: usize>(
    codes: CodeBlocks<'_>,
    queries: &CodeRows,
    visit: &mut Visit<'_>,
) {
    let (limbs, strip) = (codes.bits().limbs(), strip::<V>());
    let picks: Vec<_> = queries.limbs().iter().map(|&l| QueryLimb::new(l)).collect();
    let mut tables = vec![LimbTable::<V>::zero(); strip.min(limbs)];
    let mut counts = vec![[V::splat(0); P]; queries.len()];
    let mut distances = [0; 8 * LANES];
    for first in (0..codes.blocks()).step_by(V::BYTES / 8) {
        counts.fill([V::splat(0); P]);
        let words = (codes.len() - first * LANES).min(V::BYTES * 8);
        for start in (0..limbs).step_by(strip) {
            let end = limbs.min(start + strip);
            let tables = &mut tables[..end - start];
            for (limb, table) in (start..end).zip(tables.iter_mut()) {
                table.fill(codes, first, limb);
            }
            for (q, query) in picks.chunks_exact(limbs).enumerate() {
                counts[q] = add_limbs(counts[q], tables, &query[start..end]);
                if end == limbs {
                    V::spread(counts[q], &mut distances);
                    visit(q, first * LANES, &distances[..words]);
                }
            }
        }
    }
}

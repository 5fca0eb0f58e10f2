//! The nearest word of each query, as a running minimum in bit slices.

use super::{Counter, Keeps, Task, lanes, run};
use crate::codes::{CodeBlocks, CodeRows};
use crate::nearest::Neighbor;
use crate::nearest::vector::{MAX_BLOCKS, Vector};

/// Queries that pass over a tile together. Their running minima live in the
/// second-level cache; the more they are, the less a tile's tables cost.
const GROUP: usize = 256;

/// Bits of a tile's number within a run of tiles, and tiles in such a run.
const RUN_BITS: usize = 5;
const RUN: usize = 1 << RUN_BITS;

/// What a query has seen so far, one number per column of a tile.
#[derive(Clone, Copy)]
struct State<V, const P: usize> {
    /// Distance to the words of this tile, in the making.
    count: [V; P],
    /// Least distance in this run of tiles.
    least: [V; P],
    /// Number of the tile, within the run, that has it first.
    tile: [V; RUN_BITS],
}

impl<V, const P: usize> Keeps<V, P> for State<V, P> {
    #[inline(always)]
    fn count(&mut self) -> &mut [V; P] {
        &mut self.count
    }
}

impl<V: Vector, const P: usize> State<V, P> {
    /// No distance yet: all ones is more than any distance.
    #[inline(always)]
    fn new() -> State<V, P> {
        State {
            count: [V::splat(0); P],
            least: [V::splat(0xff); P],
            tile: [V::splat(0); RUN_BITS],
        }
    }

    /// Keeps the lesser of `count`, of the tile of this number, and the least so
    /// far, which stays if equal.
    #[inline(always)]
    fn take(&mut self, count: [V; P], tile: &[V; RUN_BITS]) {
        // Where the numbers differ in a bit, the higher bit decides: count is
        // less where that bit is set in the other.
        let mut less = V::splat(0);
        for (&c, &l) in count.iter().zip(&self.least) {
            less = V::select(c.xor(l), l, less);
        }
        for (l, c) in self.least.iter_mut().zip(count) {
            *l = V::select(less, c, *l);
        }
        for (slice, bit) in self.tile.iter_mut().zip(tile) {
            *slice = V::select(less, *bit, *slice);
        }
    }

    /// The least of all columns, then the first tile, then the first column.
    #[inline(always)]
    fn nearest(&self, first_tile: usize) -> Neighbor {
        // The columns still in question, narrowed bit by bit, the highest
        // first. Masks, not branches: this too is blind.
        let mut columns = [0u64; MAX_BLOCKS];
        columns[..V::BYTES / 8].fill(!0);
        let mut key = 0u32;
        for slice in self.tile.iter().chain(&self.least).rev() {
            let bits = lanes(*slice);
            let mut clear = [0; MAX_BLOCKS];
            let mut any = 0;
            for i in 0..MAX_BLOCKS {
                clear[i] = columns[i] & !bits[i];
                any |= clear[i];
            }
            let keep = 0u64.wrapping_sub(u64::from(any == 0));
            for i in 0..MAX_BLOCKS {
                columns[i] = clear[i] | (columns[i] & keep);
            }
            key = (key << 1) | u32::from(any == 0);
        }
        let mut first = usize::MAX;
        for (i, lane) in columns.iter().enumerate() {
            // An empty lane goes behind all others.
            let empty = usize::from(*lane == 0) << 16;
            first = first.min(i * 64 + lane.trailing_zeros() as usize + empty);
        }
        let tile = first_tile + (key as usize % RUN);
        Neighbor {
            id: (tile * V::BYTES * 8 + first) as u32,
            distance: key >> RUN_BITS,
        }
    }
}

/// The nearest word of each query.
#[inline(always)]
pub(in crate::nearest) fn nearest<V: Vector>(
    codes: CodeBlocks<'_>,
    queries: &CodeRows,
    out: &mut [Neighbor],
) {
    let limbs = codes.bits().limbs();
    // Groups of equal size, as far as that goes.
    let size = out.len().div_ceil(out.len().div_ceil(GROUP).max(1)).max(1);
    let queries = queries.limbs().chunks(size * limbs);
    let groups = queries.zip(out.chunks_mut(size));
    run::<V, _>(codes.bits(), Nearest { codes, groups });
}

/// Finds the nearest words of queries, group by group.
struct Nearest<'a, G> {
    codes: CodeBlocks<'a>,
    groups: G,
}

impl<'q, V: Vector, G: Iterator<Item = (&'q [u64], &'q mut [Neighbor])>> Task<V>
    for Nearest<'_, G>
{
    const EVERY_LENGTH: bool = true;

    #[inline(always)]
    fn run<const P: usize, const L: usize, const S: usize>(self) {
        for (queries, out) in self.groups {
            group::<V, P, L, S>(self.codes, queries, out);
        }
    }
}

/// One group of queries over all tiles.
#[inline(always)]
fn group<V: Vector, const P: usize, const L: usize, const S: usize>(
    codes: CodeBlocks<'_>,
    queries: &[u64],
    out: &mut [Neighbor],
) {
    let mut counter = Counter::<V, P, L, S>::new(queries, codes.bits().limbs());
    let mut states = vec![State::<V, P>::new(); out.len()];
    let blocks = V::BYTES / 8;
    let tiles = codes.blocks().div_ceil(blocks);
    for run in (0..tiles).step_by(RUN) {
        states.fill(State::new());
        for tile in run..tiles.min(run + RUN) {
            let mut number = [V::splat(0); RUN_BITS];
            for (i, bit) in number.iter_mut().enumerate() {
                *bit = V::splat(0u8.wrapping_sub(((tile - run) >> i & 1) as u8));
            }
            counter.tile(codes, tile * blocks, &mut states, |state, _, count| {
                state.take(count, V::hide(&number));
            });
        }
        for (state, best) in states.iter().zip(out.iter_mut()) {
            *best = best.nearer(state.nearest(run));
        }
    }
}

//! One query against byte planes.
//!
//! A plane holds byte `j` of 64 words, so `popcount(plane ^ query[j])`, added
//! up over the planes, is the distance of each word in its own lane: no sums
//! across lanes, nothing to shuffle.

use super::Neighbor;
use super::vector::Vector;
use crate::codes::{CodeBits, CodeBlocks, LANES};
use std::ops::Range;

/// Planes whose popcounts surely fit a byte: 8 * 24 < 256.
const PLANES_PER_BYTE: usize = 24;

/// Blocks whose counters run side by side: enough to hide latency, and the
/// query's bytes are loaded once for all of them.
const BLOCKS: usize = 4;

/// Blocks between two folds of the running minimum. A minimum and its place are
/// one 16-bit key, `distance << 5 | block % 32`: the distance is at most 1024.
const FOLD: usize = 32;

/// Each byte of a query in all lanes of a vector.
struct Splats<V>([V; CodeBits::MAX.bytes()]);

impl<V: Vector> Splats<V> {
    #[inline(always)]
    fn new(query: &[u64]) -> Splats<V> {
        let mut splats = [V::splat(0); CodeBits::MAX.bytes()];
        for (i, splat) in splats[..query.len() * 8].iter_mut().enumerate() {
            *splat = V::splat((query[i / 8] >> (i % 8 * 8)) as u8);
        }
        Splats(splats)
    }
}

/// Distances of a vector of words, in 16 bits: those in even lanes, then those
/// in odd lanes.
type Wide<V> = [V; 2];

/// Distances of the words from lane `lane` on in `N` consecutive blocks.
#[inline(always)]
fn measure<V: Vector, const N: usize>(
    planes: &[[u8; LANES]],
    splats: &[V],
    lane: usize,
) -> [Wide<V>; N] {
    let mut totals = [[V::splat(0); 2]; N];
    for (c, chunk) in splats.chunks(PLANES_PER_BYTE).enumerate() {
        let mut parts = [&planes[..0]; N];
        for (b, part) in parts.iter_mut().enumerate() {
            *part = &planes[b * splats.len() + c * PLANES_PER_BYTE..][..chunk.len()];
        }
        let mut counts = [V::splat(0); N];
        for (p, &splat) in chunk.iter().enumerate() {
            for (count, part) in counts.iter_mut().zip(&parts) {
                *count = count.add_popcount(V::load(&part[p][lane..]).xor(splat));
            }
        }
        for ([even, odd], count) in totals.iter_mut().zip(counts) {
            *even = even.add16(count.even());
            *odd = odd.add16(count.odd());
        }
    }
    totals
}

/// Distances of the words in `blocks`, as [`Scan::distances_in`](super::Scan::distances_in).
#[inline(always)]
pub(super) fn distances<V: Vector>(
    codes: CodeBlocks<'_>,
    blocks: Range<usize>,
    query: &[u64],
    out: &mut [u16],
) {
    let size = codes.bits().bytes();
    let splats = Splats::<V>::new(query);
    let splats = &splats.0[..size];
    let (planes, _) = codes.bytes().as_chunks::<LANES>();
    let planes = &planes[blocks.start * size..blocks.end * size];
    let (whole, rest) = out.as_chunks_mut::<LANES>();
    let mut groups = whole.chunks_exact_mut(BLOCKS);
    for (g, out) in groups.by_ref().enumerate() {
        write::<V, BLOCKS>(&planes[g * BLOCKS * size..], splats, out);
    }
    let groups = groups.into_remainder();
    let done = (blocks.len() - groups.len() - usize::from(!rest.is_empty())) * size;
    for (b, out) in groups.chunks_mut(1).enumerate() {
        write::<V, 1>(&planes[done + b * size..], splats, out);
    }
    if !rest.is_empty() {
        let mut last = [[0; LANES]];
        write::<V, 1>(&planes[planes.len() - size..], splats, &mut last);
        rest.copy_from_slice(&last[0][..rest.len()]);
    }
}

/// Distances of `N` blocks, in order.
#[inline(always)]
fn write<V: Vector, const N: usize>(
    planes: &[[u8; LANES]],
    splats: &[V],
    out: &mut [[u16; LANES]],
) {
    for lane in (0..LANES).step_by(V::BYTES) {
        let found = measure::<V, N>(planes, splats, lane);
        for ([even, odd], out) in found.into_iter().zip(out.iter_mut()) {
            V::store_wide(even, odd, &mut out[lane..lane + V::BYTES]);
        }
    }
}

/// The running minimum of each of 64 lanes.
struct Minima<V> {
    /// `distance << 5 | block % 32` since the last fold, by part of a block.
    keys: [Wide<V>; LANES / 8],
    distances: [u32; LANES],
    blocks: [u32; LANES],
}

impl<V: Vector> Minima<V> {
    #[inline(always)]
    fn new() -> Minima<V> {
        Minima {
            keys: [[V::splat(0xff); 2]; LANES / 8],
            distances: [u32::MAX; LANES],
            blocks: [0; LANES],
        }
    }

    /// Measures `N` blocks, the first of which is block `first` since the last
    /// fold, and takes their distances.
    #[inline(always)]
    fn take<const N: usize>(&mut self, planes: &[[u8; LANES]], splats: &[V], first: usize) {
        for (part, [even_key, odd_key]) in self.keys[..LANES / V::BYTES].iter_mut().enumerate() {
            let found = measure::<V, N>(planes, splats, part * V::BYTES);
            for (b, [even, odd]) in found.into_iter().enumerate() {
                let place = V::splat16((first + b) as u16);
                *even_key = even_key.min16(even.shl16_5().add16(place));
                *odd_key = odd_key.min16(odd.shl16_5().add16(place));
            }
        }
    }

    /// Moves the keys of the blocks from `first` on into the wide minima.
    #[inline(always)]
    fn fold(&mut self, first: usize) {
        let mut keys = [0; LANES];
        for (part, wide) in self.keys[..LANES / V::BYTES].iter_mut().enumerate() {
            let [even, odd] = std::mem::replace(wide, [V::splat(0xff); 2]);
            V::store_wide(even, odd, &mut keys[part * V::BYTES..][..V::BYTES]);
        }
        for lane in 0..LANES {
            let key = u32::from(keys[lane]);
            let nearer = key >> 5 < self.distances[lane];
            let block = first as u32 + key % FOLD as u32;
            self.distances[lane] = if nearer {
                key >> 5
            } else {
                self.distances[lane]
            };
            self.blocks[lane] = if nearer { block } else { self.blocks[lane] };
        }
    }

    /// The nearest of all lanes, the lowest id among equals.
    #[inline(always)]
    fn nearest(&self) -> Neighbor {
        let mut best = u64::MAX;
        for lane in 0..LANES {
            let id = u64::from(self.blocks[lane]) * LANES as u64 + lane as u64;
            best = best.min((u64::from(self.distances[lane]) << 32) | id);
        }
        Neighbor {
            id: best as u32,
            distance: (best >> 32) as u32,
        }
    }
}

/// The word nearest to `query`.
#[inline(always)]
pub(super) fn nearest<V: Vector>(codes: CodeBlocks<'_>, query: &[u64]) -> Neighbor {
    let size = codes.bits().bytes();
    let splats = Splats::<V>::new(query);
    let splats = &splats.0[..size];
    let (planes, _) = codes.bytes().as_chunks::<LANES>();
    let mut minima = Minima::<V>::new();
    for (f, run) in planes.chunks(FOLD * size).enumerate() {
        let groups = run.chunks_exact(BLOCKS * size);
        let rest = groups.remainder();
        let done = groups.len() * BLOCKS;
        for (g, planes) in groups.enumerate() {
            minima.take::<BLOCKS>(planes, splats, g * BLOCKS);
        }
        for (b, planes) in rest.chunks_exact(size).enumerate() {
            minima.take::<1>(planes, splats, done + b);
        }
        minima.fold(f * FOLD);
    }
    minima.nearest()
}

//! One query against byte planes.
//!
//! A plane holds byte `j` of 64 words, so `popcount(plane ^ query[j])`, added
//! up over the planes, is the distance of each word in its own lane: no sums
//! across lanes, nothing to shuffle.
//!
//! Every kernel takes a number of blocks, `N`, whose counters run side by side:
//! it hides latency, and the query's bytes are loaded once for all of them. On
//! x86 two are best: with four the CPU's own prefetching loses track in tables
//! that outgrow the cache.

use super::Neighbor;
use super::vector::Vector;
use crate::codes::{CodeBits, CodeBlocks, LANES};
use std::hint::black_box;
use std::ops::Range;

/// Blocks between two folds of the running minimum. A minimum and its place are
/// one 16-bit key, `distance << 5 | block % 32`: the distance is at most 1024.
const FOLD: usize = 32;

/// A plane, and the eight planes of a limb.
type Plane = [u8; LANES];
type Limb = [Plane; 8];

/// Limbs whose popcounts surely fit a byte: 3 * 64 < 256.
const LIMBS_PER_BYTE: usize = 3;

/// Distances of a vector of words, in 16 bits: those in even lanes, then those
/// in odd lanes.
type Wide<V> = [V; 2];

/// The bytes of a query, made ready for a backend, limb by limb.
struct Query<V: Vector>([[V::Byte; 8]; CodeBits::MAX.limbs()]);

impl<V: Vector> Query<V> {
    #[inline(always)]
    fn new(limbs: &[u64]) -> Query<V> {
        let mut query = [[V::byte(0); 8]; CodeBits::MAX.limbs()];
        for (bytes, limb) in query.iter_mut().zip(limbs) {
            for (byte, value) in bytes.iter_mut().zip(limb.to_le_bytes()) {
                *byte = V::byte(value);
            }
        }
        Query(query)
    }
}

/// A query may be a private code.
impl<V: Vector> Drop for Query<V> {
    #[inline(always)]
    fn drop(&mut self) {
        self.0.fill([V::byte(0); 8]);
        black_box(&self.0);
    }
}

/// Distances of the words from lane `lane` on in `N` consecutive blocks.
#[inline(always)]
fn measure<V: Vector, const N: usize>(
    blocks: &[Limb],
    query: &[[V::Byte; 8]],
    lane: usize,
) -> [Wide<V>; N] {
    let mut totals = [[V::splat(0); 2]; N];
    for (c, bytes) in query.chunks(LIMBS_PER_BYTE).enumerate() {
        let mut parts = [&blocks[..0]; N];
        for (b, part) in parts.iter_mut().enumerate() {
            *part = &blocks[b * query.len() + c * LIMBS_PER_BYTE..][..bytes.len()];
        }
        let mut counts = [V::splat(0); N];
        for (l, bytes) in bytes.iter().enumerate() {
            for (p, &byte) in bytes.iter().enumerate() {
                for (count, part) in counts.iter_mut().zip(&parts) {
                    *count = count.add_distance(V::load(&part[l][p][lane..]), byte);
                }
            }
        }
        for ([even, odd], count) in totals.iter_mut().zip(counts) {
            *even = even.add16(count.even());
            *odd = odd.add16(count.odd());
        }
    }
    totals
}

fn limbs(codes: CodeBlocks<'_>) -> &[Limb] {
    codes.bytes().as_chunks().0.as_chunks().0
}

/// Distances of the words in `blocks`, as [`Scan::distances_in`](super::Scan::distances_in).
#[inline(always)]
pub(super) fn distances<V: Vector, const N: usize>(
    codes: CodeBlocks<'_>,
    blocks: Range<usize>,
    query: &[u64],
    out: &mut [u16],
) {
    let size = codes.bits().limbs();
    let query = Query::<V>::new(query);
    let query = &query.0[..size];
    let limbs = limbs(codes);
    let limbs = &limbs[blocks.start * size..blocks.end * size];
    let (whole, rest) = out.as_chunks_mut::<LANES>();
    let mut groups = whole.chunks_exact_mut(N);
    for (g, out) in groups.by_ref().enumerate() {
        write::<V, N>(&limbs[g * N * size..], query, out);
    }
    let groups = groups.into_remainder();
    let done = (blocks.len() - groups.len() - usize::from(!rest.is_empty())) * size;
    for (b, out) in groups.chunks_mut(1).enumerate() {
        write::<V, 1>(&limbs[done + b * size..], query, out);
    }
    if !rest.is_empty() {
        let mut last = [[0; LANES]];
        write::<V, 1>(&limbs[limbs.len() - size..], query, &mut last);
        rest.copy_from_slice(&last[0][..rest.len()]);
    }
}

/// Distances of `N` blocks, in order.
#[inline(always)]
fn write<V: Vector, const N: usize>(
    limbs: &[Limb],
    query: &[[V::Byte; 8]],
    out: &mut [[u16; LANES]],
) {
    for lane in (0..LANES).step_by(V::BYTES) {
        let found = measure::<V, N>(limbs, query, lane);
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
    fn take<const N: usize>(&mut self, limbs: &[Limb], query: &[[V::Byte; 8]], first: usize) {
        for (part, [even_key, odd_key]) in self.keys[..LANES / V::BYTES].iter_mut().enumerate() {
            let found = measure::<V, N>(limbs, query, part * V::BYTES);
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
        for (lane, key) in keys.map(u32::from).into_iter().enumerate() {
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
        let mut best = Neighbor::NONE;
        for lane in 0..LANES {
            best = best.nearer(Neighbor {
                id: self.blocks[lane] * LANES as u32 + lane as u32,
                distance: self.distances[lane],
            });
        }
        best
    }
}

/// The word nearest to `query`.
#[inline(always)]
pub(super) fn nearest<V: Vector, const N: usize>(codes: CodeBlocks<'_>, query: &[u64]) -> Neighbor {
    let size = codes.bits().limbs();
    let query = Query::<V>::new(query);
    let query = &query.0[..size];
    let limbs = limbs(codes);
    let mut minima = Minima::<V>::new();
    for (f, run) in limbs.chunks(FOLD * size).enumerate() {
        let groups = run.chunks_exact(N * size);
        let rest = groups.remainder();
        let done = groups.len() * N;
        for (g, limbs) in groups.enumerate() {
            minima.take::<N>(limbs, query, g * N);
        }
        for (b, limbs) in rest.chunks_exact(size).enumerate() {
            minima.take::<1>(limbs, query, done + b);
        }
        minima.fold(f * FOLD);
    }
    minima.nearest()
}

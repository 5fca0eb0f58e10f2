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

type Distances = [u16; LANES];

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

/// Distances of `N` consecutive blocks.
#[inline(always)]
fn measure<V: Vector, const N: usize>(blocks: &[u8], splats: &[V]) -> [Distances; N] {
    let stride = splats.len() * LANES;
    let blocks = &blocks[..N * stride];
    let mut out = [[0; LANES]; N];
    for lane in (0..LANES).step_by(V::BYTES) {
        for (c, chunk) in splats.chunks(PLANES_PER_BYTE).enumerate() {
            let start = c * PLANES_PER_BYTE * LANES + lane;
            let mut counts = [V::splat(0); N];
            for (p, &splat) in chunk.iter().enumerate() {
                for (b, count) in counts.iter_mut().enumerate() {
                    let at = b * stride + start + p * LANES;
                    *count = count.add_popcount(V::load(&blocks[at..]).xor(splat));
                }
            }
            for (distances, count) in out.iter_mut().zip(counts) {
                let mut bytes = [0; LANES];
                count.store(&mut bytes);
                for (d, byte) in distances[lane..lane + V::BYTES].iter_mut().zip(bytes) {
                    *d += u16::from(byte);
                }
            }
        }
    }
    out
}

/// Distances of the words in `blocks`, as [`Scan::distances_in`](super::Scan::distances_in).
#[inline(always)]
pub(super) fn distances<V: Vector>(
    codes: CodeBlocks<'_>,
    blocks: Range<usize>,
    query: &[u64],
    out: &mut [u16],
) {
    let size = codes.bits().bytes() * LANES;
    let splats = Splats::<V>::new(query);
    let splats = &splats.0[..codes.bits().bytes()];
    let bytes = &codes.bytes()[blocks.start * size..blocks.end * size];
    let mut bytes = bytes.chunks_exact(BLOCKS * size);
    let mut out = out.chunks_mut(BLOCKS * LANES);
    for (blocks, out) in bytes.by_ref().zip(out.by_ref()) {
        let found = measure::<V, BLOCKS>(blocks, splats);
        let found = found.as_flattened();
        // The last block of the table may be padded.
        out.copy_from_slice(&found[..out.len()]);
    }
    let rest = bytes.remainder().chunks_exact(size);
    let out = out.next().unwrap_or_default();
    for (block, out) in rest.zip(out.chunks_mut(LANES)) {
        let [found] = measure::<V, 1>(block, splats);
        out.copy_from_slice(&found[..out.len()]);
    }
}

/// The running minimum of each of 64 lanes.
struct Minima {
    /// `distance << 5 | block % 32` since the last fold.
    keys: [u16; LANES],
    distances: [u32; LANES],
    blocks: [u32; LANES],
}

impl Minima {
    #[inline(always)]
    fn new() -> Minima {
        Minima {
            keys: [u16::MAX; LANES],
            distances: [u32::MAX; LANES],
            blocks: [0; LANES],
        }
    }

    /// Takes the distances of block `block`.
    #[inline(always)]
    fn take(&mut self, block: usize, distances: &Distances) {
        let place = (block % FOLD) as u16;
        for (key, &d) in self.keys.iter_mut().zip(distances) {
            *key = (*key).min((d << 5) | place);
        }
    }

    /// Moves the keys of the blocks from `first` on into the wide minima.
    #[inline(always)]
    fn fold(&mut self, first: usize) {
        for lane in 0..LANES {
            let key = u32::from(self.keys[lane]);
            let nearer = key >> 5 < self.distances[lane];
            let block = first as u32 + key % FOLD as u32;
            self.distances[lane] = if nearer {
                key >> 5
            } else {
                self.distances[lane]
            };
            self.blocks[lane] = if nearer { block } else { self.blocks[lane] };
        }
        self.keys = [u16::MAX; LANES];
    }

    /// The nearest of all lanes, the lowest id among equals.
    #[inline(always)]
    fn nearest(&self) -> Neighbor {
        let mut best = u64::MAX;
        for lane in 0..LANES {
            let id = u64::from(self.blocks[lane]) * LANES as u64 + lane as u64;
            best = best.min(u64::from(self.distances[lane]) << 32 | id);
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
    let size = codes.bits().bytes() * LANES;
    let splats = Splats::<V>::new(query);
    let splats = &splats.0[..codes.bits().bytes()];
    let mut minima = Minima::new();
    for (f, run) in codes.bytes().chunks(FOLD * size).enumerate() {
        let groups = run.chunks_exact(BLOCKS * size);
        let rest = groups.remainder();
        let done = groups.len() * BLOCKS;
        for (g, blocks) in groups.enumerate() {
            let found = measure::<V, BLOCKS>(blocks, splats);
            for (b, distances) in found.iter().enumerate() {
                minima.take(g * BLOCKS + b, distances);
            }
        }
        for (b, block) in rest.chunks_exact(size).enumerate() {
            let [distances] = measure::<V, 1>(block, splats);
            minima.take(done + b, &distances);
        }
        minima.fold(f * FOLD);
    }
    minima.nearest()
}

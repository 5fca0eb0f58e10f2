//! The words that lie near enough to each of many queries, and the distances of a few.
//!
//! Distances are counted in bit slices and compared there with what is near enough, so that those of
//! the words that are not are never written out. Which words are passed on depends on the query: this
//! is for what comes after the noise, when a query tells no more than was observed.

use super::slices::{self, Counter, lanes};
use super::vector::{MAX_BLOCKS, Vector};
use crate::WordId;
use crate::codes::{CodeBlocks, CodeRows, LANES, hamming};
use std::hint::black_box;
use std::ops::Range;

/// Decides which words are passed on, query by query.
pub trait Sieve {
    /// Number of words.
    fn words(&self) -> usize;

    /// The largest step from a query at which some word of a range would be wanted; `None` if none
    /// would be. The words of a query are asked for in ascending order.
    fn reach(&self, query: usize, words: Range<usize>) -> Option<u16>;

    /// A word within reach of a query.
    fn take(&mut self, query: usize, word: usize, step: u16);
}

/// Passes on what is wanted of the steps of all words, from the word `first` on.
pub fn pass(query: usize, first: usize, steps: &[u16], sieve: &mut dyn Sieve) {
    for (i, block) in steps.chunks(LANES).enumerate() {
        let first = first + i * LANES;
        let Some(reach) = sieve.reach(query, first..first + block.len()) else {
            continue;
        };
        if block.iter().fold(u16::MAX, |a, &b| a.min(b)) > reach {
            continue;
        }
        for (lane, &step) in block.iter().enumerate() {
            if step <= reach {
                sieve.take(query, first + lane, step);
            }
        }
    }
}

/// As [`Scan::sift`](super::Scan::sift).
#[inline(always)]
pub(super) fn sift<V: Vector>(codes: CodeBlocks<'_>, queries: &CodeRows, sieve: &mut dyn Sieve) {
    let sift = Sift {
        codes,
        queries,
        sieve,
    };
    slices::run::<V, _>(codes.bits(), sift);
}

/// The distances of some words, whose codes are given as rows, to a query.
#[inline(always)]
pub(super) fn distances_of(rows: &CodeRows, query: &[u64], words: &[WordId], out: &mut [u16]) {
    for (out, &word) in out.iter_mut().zip(words) {
        *out = hamming(rows.row(word as usize), query) as u16;
    }
}

/// Counts distances a tile of words at a time.
struct Sift<'a> {
    codes: CodeBlocks<'a>,
    queries: &'a CodeRows,
    sieve: &'a mut dyn Sieve,
}

impl<V: Vector> slices::Task<V> for Sift<'_> {
    const EVERY_LENGTH: bool = false;

    #[inline(always)]
    fn run<const P: usize, const L: usize, const S: usize>(self) {
        let (codes, limbs) = (self.codes, self.codes.bits().limbs());
        let mut counter = Counter::<V, P, L, S>::new(self.queries.limbs(), limbs);
        let mut counts = vec![[V::splat(0); P]; self.queries.len()];
        for first in (0..codes.blocks()).step_by(V::BYTES / 8) {
            let words = first * LANES..codes.len().min(first * LANES + V::BYTES * 8);
            counter.tile(codes, first, &mut counts, |own, _, count| *own = count);
            // Not in the closure: what a compiler does not inline into this function it compiles
            // for a CPU without vectors.
            for (query, count) in counts.iter().enumerate() {
                let Some(reach) = self.sieve.reach(query, words.clone()) else {
                    continue;
                };
                let near = lanes(within(count, reach));
                if near.iter().fold(0, |a, lane| a | lane) != 0 {
                    let slices = spread_out(count);
                    hand_over::<P>(self.sieve, query, words.clone(), near, slices);
                }
            }
        }
        // The last tile's distances tell the query; `zeroize` knows no vectors.
        counts.fill([V::splat(0); P]);
        black_box(&counts);
    }
}

/// The columns whose count is at most `reach`.
#[inline(always)]
fn within<V: Vector, const P: usize>(count: &[V; P], reach: u16) -> V {
    if usize::from(reach) >> P != 0 {
        return V::splat(0xff);
    }
    // Where the numbers differ in a bit, the higher bit decides.
    let mut more = V::splat(0);
    for (p, &bits) in count.iter().enumerate() {
        let of_reach = V::splat(0u8.wrapping_sub((reach >> p & 1) as u8));
        more = V::select(bits.xor(of_reach), bits, more);
    }
    more.xor(V::splat(0xff))
}

#[inline(always)]
fn spread_out<V: Vector, const P: usize>(count: &[V; P]) -> [[u64; MAX_BLOCKS]; P] {
    let mut slices = [[0; MAX_BLOCKS]; P];
    for (slice, bits) in slices.iter_mut().zip(count) {
        *slice = lanes(*bits);
    }
    slices
}

/// Hands the columns in question over, with their counts.
fn hand_over<const P: usize>(
    sieve: &mut dyn Sieve,
    query: usize,
    words: Range<usize>,
    near: [u64; MAX_BLOCKS],
    slices: [[u64; MAX_BLOCKS]; P],
) {
    for (block, &near) in near.iter().enumerate() {
        let mut near = near;
        while near != 0 {
            let lane = near.trailing_zeros();
            near &= near - 1;
            let word = words.start + block * LANES + lane as usize;
            // Past the end copies of the last block stand in.
            if word < words.end {
                let mut step = 0;
                for (p, slice) in slices.iter().enumerate() {
                    step |= ((slice[block] >> lane & 1) as u16) << p;
                }
                sieve.take(query, word, step);
            }
        }
    }
}

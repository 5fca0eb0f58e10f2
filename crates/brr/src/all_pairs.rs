//! Every pair of words, once each way round.
//!
//! Exact distance measures and certificates look at all N^2 pairs. The codes
//! are taken in tiles that stay in cache while a group of words passes over
//! them; groups are dealt to threads. What a group finds depends on the group
//! alone, so the number of threads never shows.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::codes::{CodeBlocks, LANES};
use crate::nearest::Scan;

use crate::parallel;

/// Words that pass over a tile together.
const GROUP: usize = 64;
/// Blocks of codes in a tile.
const TILE: usize = 64;

/// Called with the share of the work that is done, from any thread.
pub type OnShare<'a> = &'a (dyn Fn(f64) + Sync);

/// What a group of words makes of its distances.
pub trait Visitor: Send {
    /// The distances from `word` to the words from `first` on.
    fn visit(&mut self, word: usize, first: usize, distances: &[u16]);
}

/// Shows each group of words, made by `new`, its distances to all words.
pub fn visit<V: Visitor>(
    codes: CodeBlocks<'_>,
    threads: usize,
    progress: OnShare<'_>,
    new: impl Fn(Range<usize>) -> V + Sync,
) -> Vec<V> {
    visit_groups(codes.len(), threads, progress, |words| {
        let mut visitor = new(words.clone());
        visit_group(codes, words, &mut visitor);
        visitor
    })
}

/// As [`visit`], for some words: `new` gets a range of places in `words`.
pub fn visit_some<V: Visitor>(
    codes: CodeBlocks<'_>,
    words: &[usize],
    threads: usize,
    new: impl Fn(Range<usize>) -> V + Sync,
) -> Vec<V> {
    visit_groups(words.len(), threads, &|_| {}, |places| {
        let mut visitor = new(places.clone());
        visit_group(codes, words[places].iter().copied(), &mut visitor);
        visitor
    })
}

fn visit_groups<V: Send>(
    len: usize,
    threads: usize,
    progress: OnShare<'_>,
    visit: impl Fn(Range<usize>) -> V + Sync,
) -> Vec<V> {
    let groups = len.div_ceil(GROUP);
    let done = AtomicUsize::new(0);
    parallel::map(threads, groups, |group| {
        let found = visit(group * GROUP..len.min((group + 1) * GROUP));
        progress((done.fetch_add(1, Ordering::Relaxed) + 1) as f64 / groups as f64);
        found
    })
}

fn visit_group(
    codes: CodeBlocks<'_>,
    words: impl Iterator<Item = usize> + Clone,
    visitor: &mut impl Visitor,
) {
    let scan = Scan::new(codes);
    let mut code = vec![0; codes.bits().limbs()];
    let mut distances = vec![0; TILE * LANES];
    for tile in (0..codes.blocks()).step_by(TILE) {
        let blocks = tile..codes.blocks().min(tile + TILE);
        let first = blocks.start * LANES;
        let distances = &mut distances[..codes.len().min(blocks.end * LANES) - first];
        for word in words.clone() {
            codes.read(word, &mut code);
            scan.distances_in(&code, blocks.clone(), distances);
            visitor.visit(word, first, distances);
        }
    }
}

/// Calls `f(other, distance)` for the words from `first` on that lie within
/// `reach`. They are few: most runs of words are passed over at a glance.
#[inline]
pub fn for_near(first: usize, distances: &[u16], reach: u16, mut f: impl FnMut(usize, u16)) {
    for (run, from) in distances.chunks(32).zip((first..).step_by(32)) {
        if run.iter().fold(u16::MAX, |a, &b| a.min(b)) > reach {
            continue;
        }
        for (&distance, other) in run.iter().zip(from..) {
            if distance <= reach {
                f(other, distance);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codes::{CodeBits, CodeRows, hamming, to_blocks};

    struct Sum(u64);

    impl Visitor for Sum {
        fn visit(&mut self, word: usize, first: usize, distances: &[u16]) {
            for (i, &d) in distances.iter().enumerate() {
                self.0 += (word * 7 + first + i) as u64 * u64::from(d);
            }
        }
    }

    #[test]
    fn every_ordered_pair_is_seen_once_by_any_number_of_threads() {
        let len = GROUP * 2 + 3;
        let mut rows = CodeRows::new(CodeBits::new(64).unwrap());
        (0..len).for_each(|i| rows.push(&[(i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)]));
        let mut expected = 0;
        for (i, a) in rows.iter().enumerate() {
            for (j, b) in rows.iter().enumerate() {
                expected += (i * 7 + j) as u64 * u64::from(hamming(a, b));
            }
        }
        let blocks = to_blocks(&rows);
        let codes = CodeBlocks::new(rows.bits(), len, &blocks).unwrap();
        for threads in [1, 3] {
            let sums = visit(codes, threads, &|_| {}, |_| Sum(0));
            assert_eq!(sums.iter().map(|s| s.0).sum::<u64>(), expected);
        }
    }
}

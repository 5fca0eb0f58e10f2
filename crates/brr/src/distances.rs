//! How far the codes of a table lie apart: what can be read off the table alone, in one pass
//! over all pairs; and what holds without a look at the pairs.
//!
//! P_avg, P_max and the distance to the nearest word (Sec. 5) are what an epsilon
//! is multiplied with to compare mechanisms, so none of them is estimated.

use std::collections::BinaryHeap;
use std::ops::Range;
use std::sync::atomic::{AtomicU16, Ordering};

use crate::codes::{CodeBlocks, LANES};

use crate::all_pairs::{OnShare, Visitor, for_near, visit};

/// Distances between a table's codes, over all pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodeDistances {
    /// Sum over all ordered pairs.
    pub sum: u128,
    /// The largest.
    pub maximum: u32,
    /// Sum over all words of the distance to the nearest other word.
    pub nearest_sum: u64,
    /// The smallest between two words.
    pub nearest_min: u32,
    /// Words whose code some word with a lower id has too.
    pub duplicates: u32,
}

impl CodeDistances {
    /// What holds of these codes without a look at the pairs: the sum and the number of
    /// duplicates are exact, the others bounds on the side of a larger loss. No distance
    /// exceeds the number of bits, and the nearest other word is no farther than the others are
    /// on average.
    pub fn without_pairs(codes: CodeBlocks<'_>) -> CodeDistances {
        let words = codes.len() as u128;
        let sum = distance_sum(&ones(codes), codes.len());
        let nearest = sum.div_ceil((words - 1).max(1));
        CodeDistances {
            sum,
            maximum: if words > 1 {
                codes.bits().get() as u32
            } else {
                0
            },
            nearest_sum: nearest as u64,
            nearest_min: 0,
            duplicates: duplicates(codes),
        }
    }
}

/// Words whose code some word with a lower id has too.
fn duplicates(codes: CodeBlocks<'_>) -> u32 {
    let rows = codes.to_rows();
    let mut sorted: Vec<&[u64]> = rows.iter().collect();
    sorted.sort_unstable();
    sorted.windows(2).filter(|pair| pair[0] == pair[1]).count() as u32
}

/// Share of ones over the bits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Balance {
    /// Of all bits.
    pub mean: f64,
    /// Of the bit with the fewest ones.
    pub min: f64,
    /// Of the bit with the most ones.
    pub max: f64,
}

/// Two words and the Hamming distance of their codes; ordered by distance,
/// then by ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ClosePair {
    /// Hamming distance.
    pub distance: u32,
    /// The lower id.
    pub a: u32,
    /// The higher id.
    pub b: u32,
}

/// Statistics of a code table.
#[derive(Clone, Debug, PartialEq)]
pub struct CodeStats {
    /// What a model says of its distances. A single word has no other: its
    /// distance to the nearest counts as 0.
    pub distances: CodeDistances,
    /// Share of ones per bit.
    pub balance: Balance,
    /// The closest pairs, closest first.
    pub closest: Vec<ClosePair>,
}

impl CodeStats {
    /// Looks at all pairs of `codes`, with `threads` threads, and lists the
    /// `closest` closest ones. `progress` gets the share of the work done.
    pub fn measure(
        codes: CodeBlocks<'_>,
        closest: usize,
        threads: usize,
        progress: OnShare<'_>,
    ) -> CodeStats {
        let ones = ones(codes);
        let bar = AtomicU16::new(if closest > 0 { u16::MAX } else { 0 });
        let groups = visit(codes, threads, progress, |words| {
            Extremes::new(words, closest, &bar)
        });
        let nearest = groups.iter().flat_map(|g| &g.nearest);
        // A word without another has seen no distance.
        let nearest = nearest.map(|&d| if d == u16::MAX { 0 } else { d });
        let farthest = groups.iter().map(|g| g.farthest).max();
        let distances = CodeDistances {
            sum: distance_sum(&ones, codes.len()),
            maximum: farthest.unwrap_or(0).into(),
            nearest_sum: nearest.clone().map(u64::from).sum(),
            nearest_min: nearest.min().unwrap_or(0).into(),
            duplicates: groups.iter().map(|g| g.duplicates).sum(),
        };
        let mut pairs: Vec<ClosePair> = groups.into_iter().flat_map(|g| g.closest).collect();
        pairs.sort_unstable();
        pairs.truncate(closest);
        CodeStats {
            distances,
            balance: balance(&ones, codes.len()),
            closest: pairs,
        }
    }
}

/// The distances alone.
pub fn code_distances(
    codes: CodeBlocks<'_>,
    threads: usize,
    progress: OnShare<'_>,
) -> CodeDistances {
    CodeStats::measure(codes, 0, threads, progress).distances
}

/// Number of ones in each bit's column.
fn ones(codes: CodeBlocks<'_>) -> Vec<u64> {
    let mut ones = vec![0; codes.bits().get()];
    for b in 0..codes.blocks() {
        // The padding of the last block is no word.
        let words = (codes.len() - b * LANES).min(LANES);
        for (plane, counts) in codes
            .block(b)
            .chunks_exact(LANES)
            .zip(ones.chunks_exact_mut(8))
        {
            for eight in plane[..words].chunks(8) {
                let mut bytes = [0; 8];
                bytes[..eight.len()].copy_from_slice(eight);
                let bytes = u64::from_le_bytes(bytes);
                for (bit, count) in counts.iter_mut().enumerate() {
                    let column = bytes >> bit & 0x0101_0101_0101_0101;
                    *count += u64::from(column.count_ones());
                }
            }
        }
    }
    ones
}

fn balance(ones: &[u64], words: usize) -> Balance {
    let share = |n: u64| n as f64 / words as f64;
    Balance {
        mean: share(ones.iter().sum()) / ones.len() as f64,
        min: share(*ones.iter().min().unwrap_or(&0)),
        max: share(*ones.iter().max().unwrap_or(&0)),
    }
}

/// Sum over all ordered pairs: a bit that is 1 in k of n codes differs in
/// k (n - k) unordered pairs.
fn distance_sum(ones: &[u64], words: usize) -> u128 {
    let differing = |&k: &u64| 2 * u128::from(k) * u128::from(words as u64 - k);
    ones.iter().map(differing).sum()
}

/// Nearest, farthest and closest pairs of a group of words.
struct Extremes<'a> {
    first: usize,
    /// Distance of each word of the group to its nearest other word.
    nearest: Vec<u16>,
    farthest: u16,
    duplicates: u32,
    /// Words of the group known to be duplicates.
    is_duplicate: Vec<bool>,
    /// The `keep` closest pairs, the least close on top.
    closest: BinaryHeap<ClosePair>,
    keep: usize,
    /// Some group has as many pairs as are wanted at this distance or less. It
    /// spares work; what is farther would be dropped in the end.
    bar: &'a AtomicU16,
}

impl<'a> Extremes<'a> {
    fn new(words: Range<usize>, keep: usize, bar: &'a AtomicU16) -> Extremes<'a> {
        Extremes {
            first: words.start,
            nearest: vec![u16::MAX; words.len()],
            farthest: 0,
            duplicates: 0,
            is_duplicate: vec![false; words.len()],
            closest: BinaryHeap::new(),
            keep,
            bar,
        }
    }

    fn offer(&mut self, pair: ClosePair) {
        if self.closest.len() < self.keep {
            self.closest.push(pair);
        } else if self.closest.peek().is_some_and(|last| pair < *last) {
            self.closest.pop();
            self.closest.push(pair);
        }
        if let Some(last) = self
            .closest
            .peek()
            .filter(|_| self.closest.len() == self.keep)
        {
            self.bar.fetch_min(last.distance as u16, Ordering::Relaxed);
        }
    }
}

impl Visitor for Extremes<'_> {
    fn visit(&mut self, word: usize, first: usize, distances: &[u16]) {
        let own = word.wrapping_sub(first);
        let (before, after) = if own < distances.len() {
            (&distances[..own], &distances[own + 1..])
        } else {
            (distances, &distances[..0])
        };
        let least = least(before).min(least(after));
        let i = word - self.first;
        self.nearest[i] = self.nearest[i].min(least);
        self.farthest = self.farthest.max(most(distances));
        let lower = &distances[..word.saturating_sub(first).min(distances.len())];
        if least == 0 && !self.is_duplicate[i] && lower.contains(&0) {
            self.is_duplicate[i] = true;
            self.duplicates += 1;
        }
        let bar = self.bar.load(Ordering::Relaxed);
        if self.keep > 0 && least <= bar && first + distances.len() > word {
            for_near(first, distances, bar, |other, distance| {
                if other > word {
                    self.offer(ClosePair {
                        distance: distance.into(),
                        a: word as u32,
                        b: other as u32,
                    });
                }
            });
        }
    }
}

fn least(distances: &[u16]) -> u16 {
    distances.iter().fold(u16::MAX, |a, &b| a.min(b))
}

fn most(distances: &[u16]) -> u16 {
    distances.iter().fold(0, |a, &b| a.max(b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codes::{CodeBits, CodeRows, hamming, to_blocks};
    use proptest::prelude::*;

    fn measure(rows: &CodeRows, closest: usize, threads: usize) -> CodeStats {
        let blocks = to_blocks(rows);
        let codes = CodeBlocks::new(rows.bits(), rows.len(), &blocks).unwrap();
        CodeStats::measure(codes, closest, threads, &|_| {})
    }

    fn naive(rows: &CodeRows) -> CodeDistances {
        let d = |i: usize, j: usize| hamming(rows.row(i), rows.row(j));
        let n = rows.len();
        let others = |i: usize| (0..n).filter(move |&j| j != i);
        let nearest = |i: usize| others(i).map(|j| d(i, j)).min().unwrap_or(0);
        let all = || (0..n).flat_map(|i| (0..n).map(move |j| d(i, j)));
        CodeDistances {
            sum: all().map(u128::from).sum(),
            maximum: all().max().unwrap(),
            nearest_sum: (0..n).map(|i| u64::from(nearest(i))).sum(),
            nearest_min: (0..n).map(nearest).min().unwrap(),
            duplicates: (0..n).filter(|&i| (0..i).any(|j| d(i, j) == 0)).count() as u32,
        }
    }

    fn closest(rows: &CodeRows, keep: usize) -> Vec<ClosePair> {
        let pair = |a: usize, b: usize| ClosePair {
            distance: hamming(rows.row(a), rows.row(b)),
            a: a as u32,
            b: b as u32,
        };
        let pairs = (0..rows.len()).flat_map(|b| (0..b).map(move |a| pair(a, b)));
        let mut pairs: Vec<ClosePair> = pairs.collect();
        pairs.sort();
        pairs.truncate(keep);
        pairs
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn agrees_with_the_definition(
            codes in prop::collection::vec(prop::collection::vec(0u64..0x3ff, 2), 1..250),
            keep in 0usize..12,
            threads in 1usize..4,
        ) {
            let mut rows = CodeRows::new(CodeBits::new(128).unwrap());
            codes.iter().for_each(|code| rows.push(code));
            let got = measure(&rows, keep, threads);
            prop_assert_eq!(got.distances, naive(&rows));
            prop_assert_eq!(got.closest, closest(&rows, keep));
        }
    }

    #[test]
    fn balance_of_known_bits() {
        let mut rows = CodeRows::new(CodeBits::new(64).unwrap());
        rows.push(&[u64::MAX]);
        rows.push(&[u64::MAX - 1]);
        let got = measure(&rows, 1, 1).balance;
        assert_eq!((got.min, got.max), (0.5, 1.0));
        assert!((got.mean - 127.0 / 128.0).abs() < 1e-12);
    }
}

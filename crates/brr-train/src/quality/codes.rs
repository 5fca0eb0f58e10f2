//! What can be read off a table of codes alone.

use crate::all_pairs::{Visitor, visit};
use brr::codes::{CodeBlocks, CodeRows, to_blocks};
use std::collections::BinaryHeap;

/// An exact mean of whole numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Average {
    /// Sum of all of them.
    pub sum: u128,
    /// How many there are.
    pub count: u128,
}

impl Average {
    /// The mean as a number; 0 of nothing.
    pub fn value(&self) -> f64 {
        if self.count == 0 {
            0.0
        } else {
            self.sum as f64 / self.count as f64
        }
    }
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
    /// Words whose code another word with a lower id has already. Such a word
    /// can never be an output of BRR.
    pub duplicates: usize,
    /// Share of ones per bit.
    pub balance: Balance,
    /// P_avg: mean Hamming distance over all ordered pairs, the diagonal included.
    pub average: Average,
    /// P_max: largest Hamming distance of two words.
    pub max: u32,
    /// The closest pairs, closest first.
    pub closest: Vec<ClosePair>,
}

impl CodeStats {
    /// Looks at all pairs of `codes`, with `threads` threads, and lists the
    /// `closest` closest ones. `progress` gets the share of the work done.
    pub fn measure(
        codes: &CodeRows,
        closest: usize,
        threads: usize,
        progress: impl Fn(f64) + Sync,
    ) -> CodeStats {
        let ones = ones(codes);
        let (max, closest) = pairs(codes, closest, threads, progress);
        CodeStats {
            duplicates: duplicates(codes),
            balance: balance(&ones, codes.len()),
            average: average(&ones, codes.len()),
            max,
            closest,
        }
    }
}

/// Words whose code a word with a lower id has already.
pub fn duplicates(codes: &CodeRows) -> usize {
    let mut rows: Vec<&[u64]> = codes.iter().collect();
    rows.sort_unstable();
    rows.windows(2).filter(|w| w[0] == w[1]).count()
}

/// Number of ones in each bit's column.
fn ones(codes: &CodeRows) -> Vec<u64> {
    let mut ones = vec![0; codes.bits().get()];
    for row in codes.iter() {
        for (limb, counts) in row.iter().zip(ones.chunks_exact_mut(64)) {
            for (j, count) in counts.iter_mut().enumerate() {
                *count += limb >> j & 1;
            }
        }
    }
    ones
}

fn balance(ones: &[u64], words: usize) -> Balance {
    let share = |n: u64| {
        if words == 0 {
            0.0
        } else {
            n as f64 / words as f64
        }
    };
    Balance {
        mean: share(ones.iter().sum()) / ones.len() as f64,
        min: share(*ones.iter().min().unwrap_or(&0)),
        max: share(*ones.iter().max().unwrap_or(&0)),
    }
}

/// A bit with `k` ones among `n` words differs in `2 k (n - k)` ordered pairs,
/// so the sum over all pairs needs no pair to be looked at.
fn average(ones: &[u64], words: usize) -> Average {
    let n = words as u128;
    let differing = |&k: &u64| 2 * u128::from(k) * (n - u128::from(k));
    Average {
        sum: ones.iter().map(differing).sum(),
        count: n * n,
    }
}

/// Largest distance and the `keep` closest pairs.
fn pairs(
    codes: &CodeRows,
    keep: usize,
    threads: usize,
    progress: impl Fn(f64) + Sync,
) -> (u32, Vec<ClosePair>) {
    let blocks = to_blocks(codes);
    let Some(blocks) = CodeBlocks::new(codes.bits(), codes.len(), &blocks) else {
        return (0, Vec::new());
    };
    let (max, heap) = (0, BinaryHeap::new());
    let new = |_| Extremes {
        keep,
        max,
        heap: heap.clone(),
    };
    let found = visit(blocks, threads, &progress, new);
    let max = found.iter().map(|group| group.max).max().unwrap_or(0);
    let mut closest: Vec<ClosePair> = found.into_iter().flat_map(|group| group.heap).collect();
    closest.sort_unstable();
    closest.truncate(keep);
    (max.into(), closest)
}

/// Largest distance and closest pairs of a group of words.
struct Extremes {
    keep: usize,
    max: u16,
    heap: BinaryHeap<ClosePair>,
}

impl Visitor for Extremes {
    fn visit(&mut self, word: usize, first: usize, distances: &[u16]) {
        let bar = match self.heap.peek() {
            Some(worst) if self.heap.len() == self.keep => worst.distance,
            _ => u32::MAX,
        };
        for (other, &distance) in (first..).zip(distances) {
            self.max = self.max.max(distance);
            if u32::from(distance) <= bar && other > word {
                let (a, b) = (word as u32, other as u32);
                offer(
                    &mut self.heap,
                    self.keep,
                    ClosePair {
                        distance: distance.into(),
                        a,
                        b,
                    },
                );
            }
        }
    }
}

/// Keeps the `keep` smallest pairs in `heap`.
fn offer(heap: &mut BinaryHeap<ClosePair>, keep: usize, pair: ClosePair) {
    if heap.len() < keep {
        heap.push(pair);
    } else if heap.peek().is_some_and(|worst| pair < *worst) {
        heap.pop();
        heap.push(pair);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use brr::codes::CodeBits;
    use proptest::prelude::*;

    fn table(limbs: &[u64]) -> CodeRows {
        let mut codes = CodeRows::new(CodeBits::new(64).unwrap());
        limbs.iter().for_each(|limb| codes.push(&[*limb]));
        codes
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(50))]
        #[test]
        fn agrees_with_looking_at_every_pair(limbs in prop::collection::vec(0u64..1 << 9, 1..300), threads in 1usize..4) {
            let codes = table(&limbs);
            let got = CodeStats::measure(&codes, 5, threads, |_| {});
            let mut all = Vec::new();
            let mut sum = 0;
            for (a, x) in limbs.iter().enumerate() {
                for (b, y) in limbs.iter().enumerate() {
                    let distance = (x ^ y).count_ones();
                    sum += u128::from(distance);
                    if a < b {
                        all.push(ClosePair { distance, a: a as u32, b: b as u32 });
                    }
                }
            }
            all.sort();
            prop_assert_eq!(got.average, Average { sum, count: (limbs.len() * limbs.len()) as u128 });
            prop_assert_eq!(got.max, all.last().map_or(0, |p| p.distance));
            prop_assert_eq!(&got.closest[..], &all[..all.len().min(5)]);
            let distinct: std::collections::HashSet<_> = limbs.iter().collect();
            prop_assert_eq!(got.duplicates, limbs.len() - distinct.len());
        }
    }

    #[test]
    fn balance_of_known_bits() {
        let got = CodeStats::measure(&table(&[u64::MAX, u64::MAX - 1]), 1, 1, |_| {}).balance;
        assert_eq!((got.min, got.max), (0.5, 1.0));
        assert!((got.mean - 127.0 / 128.0).abs() < 1e-12);
    }

    #[test]
    fn no_words() {
        let got = CodeStats::measure(&table(&[]), 3, 2, |_| {});
        assert_eq!((got.max, got.duplicates, got.average.value()), (0, 0, 0.0));
    }
}

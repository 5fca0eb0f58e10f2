//! Exact distances between a model's codes, over all pairs (Sec. 5).
//!
//! P_avg, P_max and the distance to the nearest word are what an epsilon is
//! multiplied with to compare mechanisms, so none of them is estimated.

use std::ops::Range;

use brr::codes::CodeBlocks;
use brr::model::CodeDistances;

use crate::all_pairs::{OnShare, Visitor, visit};

/// Looks at every pair of codes.
///
/// A single word has no other: its distance to the nearest counts as 0.
pub fn code_distances(
    codes: CodeBlocks<'_>,
    threads: usize,
    progress: OnShare<'_>,
) -> CodeDistances {
    let groups = visit(codes, threads, progress, Extremes::new);
    let nearest = groups.iter().flat_map(|g| &g.nearest);
    // A word without another has seen no distance.
    let nearest = nearest.map(|&d| if d == u16::MAX { 0 } else { d });
    let farthest = groups.iter().map(|g| g.farthest).max();
    CodeDistances {
        sum: distance_sum(codes),
        maximum: farthest.unwrap_or(0).into(),
        nearest_sum: nearest.clone().map(u64::from).sum(),
        nearest_min: nearest.min().unwrap_or(0).into(),
        duplicates: groups.iter().map(|g| g.duplicates).sum(),
    }
}

/// Sum over all ordered pairs: a bit that is 1 in k of N codes differs in
/// k (N - k) unordered pairs.
fn distance_sum(codes: CodeBlocks<'_>) -> u128 {
    let mut ones = vec![0u64; codes.bits().get()];
    for row in codes.to_rows().iter() {
        for (limb, ones) in row.iter().zip(ones.chunks_mut(64)) {
            for (bit, ones) in ones.iter_mut().enumerate() {
                *ones += limb >> bit & 1;
            }
        }
    }
    let n = codes.len() as u64;
    let differing = |&k: &u64| 2 * u128::from(k) * u128::from(n - k);
    ones.iter().map(differing).sum()
}

/// Nearest and farthest of a group of words.
struct Extremes {
    first: usize,
    /// Distance of each word of the group to its nearest other word.
    nearest: Vec<u16>,
    farthest: u16,
    duplicates: u32,
    /// Words of the group known to be duplicates.
    is_duplicate: Vec<bool>,
}

impl Extremes {
    fn new(words: Range<usize>) -> Extremes {
        Extremes {
            first: words.start,
            nearest: vec![u16::MAX; words.len()],
            farthest: 0,
            duplicates: 0,
            is_duplicate: vec![false; words.len()],
        }
    }
}

impl Visitor for Extremes {
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
    use brr::codes::{CodeBits, CodeRows, hamming, to_blocks};
    use proptest::prelude::*;

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

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn agrees_with_the_definition(
            codes in prop::collection::vec(prop::collection::vec(0u64..0x3ff, 2), 1..150),
            threads in 1usize..4,
        ) {
            let mut rows = CodeRows::new(CodeBits::new(128).unwrap());
            codes.iter().for_each(|code| rows.push(code));
            let blocks = to_blocks(&rows);
            let table = CodeBlocks::new(rows.bits(), rows.len(), &blocks).unwrap();
            prop_assert_eq!(code_distances(table, threads, &|_| {}), naive(&rows));
        }
    }
}

//! What all certificates of a model have in common, found in one pass over all
//! pairs of words: how many words lie at each distance from each word, and which
//! pairs are near.

use std::ops::Range;

use crate::codes::{CodeBlocks, CodeRows, hamming};

use crate::all_pairs::{OnShare, Visitor, for_near, visit};
use crate::parallel;

/// Approximate number of near pairs that are listed.
const NEAR_PAIRS: u64 = 1 << 22;
/// Words whose distances tell how far "near" reaches.
const SAMPLE: usize = 256;

/// What only a look at all pairs tells of their distances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extremes {
    /// The largest.
    pub maximum: u32,
    /// Sum over all words of the distance to the nearest other word.
    pub nearest_sum: u64,
    /// The smallest between two words.
    pub nearest_min: u32,
}

/// Distances between the words of a model.
pub struct Profile {
    /// Distances 0 to bits.
    distances: usize,
    /// For each word, how many words lie at each distance; some words each.
    histograms: Vec<Vec<u32>>,
    /// For each distance up to the reach, the pairs (a, b), a < b, in order.
    near: Vec<Vec<(u32, u32)>>,
}

impl Profile {
    /// Looks at every pair.
    pub fn new(codes: CodeBlocks<'_>, threads: usize, progress: OnShare<'_>) -> Profile {
        Profile::listing(NEAR_PAIRS, codes, threads, progress)
    }

    /// Looks at every pair and lists about `pairs` of them.
    pub(super) fn listing(
        pairs: u64,
        codes: CodeBlocks<'_>,
        threads: usize,
        progress: OnShare<'_>,
    ) -> Profile {
        let distances = codes.bits().get() + 1;
        let reach = reach(&codes.to_rows(), pairs);
        let groups = visit(codes, threads, progress, |words| {
            Group::new(words, distances, reach)
        });
        let mut near = vec![Vec::new(); reach + 1];
        let mut histograms = Vec::with_capacity(groups.len());
        for group in groups {
            for (distance, a, b) in group.near {
                near[usize::from(distance)].push((a, b));
            }
            histograms.push(group.histograms);
        }
        // Tiles of codes come before words in the pass: sort for one order of
        // pairs, whatever the tiles.
        near.iter_mut().for_each(|pairs| pairs.sort_unstable());
        Profile {
            distances,
            histograms,
            near,
        }
    }

    /// Z of every word under a table of weights, exactly.
    pub fn normalizers(&self, weights: &[u64], threads: usize) -> Vec<u128> {
        assert_eq!(weights.len(), self.distances, "one weight a distance");
        let parts = parallel::map(threads, self.histograms.len(), |group| {
            let rows = self.histograms[group].chunks_exact(self.distances);
            let z = |row: &[u32]| {
                let terms = row.iter().zip(weights);
                terms.map(|(&n, &t)| u128::from(n) * u128::from(t)).sum()
            };
            rows.map(z).collect::<Vec<u128>>()
        });
        parts.concat()
    }

    /// How far the codes lie apart, less the sum and the number of duplicates.
    pub fn extremes(&self) -> Extremes {
        let mut extremes = Extremes {
            maximum: 0,
            nearest_sum: 0,
            nearest_min: u32::MAX,
        };
        let rows = self.histograms.iter();
        for row in rows.flat_map(|group| group.chunks_exact(self.distances)) {
            // A word is at distance 0 of itself.
            let others = |d: usize| row[d] - u32::from(d == 0);
            let nearest = (0..row.len()).find(|&d| others(d) > 0).unwrap_or(0);
            let farthest = (0..row.len()).rfind(|&d| others(d) > 0).unwrap_or(0);
            extremes.maximum = extremes.maximum.max(farthest as u32);
            extremes.nearest_sum += nearest as u64;
            extremes.nearest_min = extremes.nearest_min.min(nearest as u32);
        }
        extremes
    }

    /// The listed pairs, by distance. Pairs at larger distances are not listed.
    pub fn near(&self) -> &[Vec<(u32, u32)>] {
        &self.near
    }
}

/// The largest distance within which there are about `pairs` pairs or fewer.
fn reach(rows: &CodeRows, pairs: u64) -> usize {
    let (n, bits) = (rows.len(), rows.bits().get());
    let step = n.div_ceil(SAMPLE);
    let mut counts = vec![0u64; bits + 1];
    for i in (0..n).step_by(step) {
        let others = rows.iter().enumerate().filter(|&(j, _)| j != i);
        others.for_each(|(_, row)| counts[hamming(rows.row(i), row) as usize] += 1);
    }
    let mut within = 0;
    let mut fits = |&count: &u64| {
        within += count;
        // Each sampled word stands for `step` words; a pair has two words.
        within * step as u64 / 2 <= pairs
    };
    counts.iter().take_while(|c| fits(c)).count().max(1) - 1
}

struct Group {
    first: usize,
    reach: u16,
    distances: usize,
    histograms: Vec<u32>,
    near: Vec<(u16, u32, u32)>,
    /// Counts of one visit, in four parts: equal neighbours do not wait for
    /// each other.
    parts: [Vec<u32>; 4],
}

impl Group {
    fn new(words: Range<usize>, distances: usize, reach: usize) -> Group {
        Group {
            first: words.start,
            reach: reach as u16,
            distances,
            histograms: vec![0; words.len() * distances],
            near: Vec::new(),
            parts: std::array::from_fn(|_| vec![0; distances]),
        }
    }

    fn count(&mut self, word: usize, distances: &[u16]) {
        let [a, b, c, d] = &mut self.parts;
        let quads = distances.chunks_exact(4);
        for &i in quads.remainder() {
            a[usize::from(i)] += 1;
        }
        for quad in quads {
            a[usize::from(quad[0])] += 1;
            b[usize::from(quad[1])] += 1;
            c[usize::from(quad[2])] += 1;
            d[usize::from(quad[3])] += 1;
        }
        let at = (word - self.first) * self.distances;
        let row = &mut self.histograms[at..at + self.distances];
        for part in &mut self.parts {
            for (sum, n) in row.iter_mut().zip(part) {
                *sum += std::mem::take(n);
            }
        }
    }

    fn list(&mut self, word: usize, first: usize, distances: &[u16]) {
        let near = &mut self.near;
        for_near(first, distances, self.reach, |other, distance| {
            if other > word {
                near.push((distance, word as u32, other as u32));
            }
        });
    }
}

impl Visitor for Group {
    fn visit(&mut self, word: usize, first: usize, distances: &[u16]) {
        self.count(word, distances);
        // Later words only: each pair once.
        if first + distances.len() > word {
            self.list(word, first, distances);
        }
    }
}

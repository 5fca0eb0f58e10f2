//! Word vectors with exact nearest-word search in Euclidean distance.
//!
//! |q - x|^2 = |q|^2 - 2 (q.x - |x|^2/2): the nearest word has the largest
//! q.x - |x|^2/2, and the products q.x of a batch of queries with a tile of words
//! are one matrix product, in single precision.
//!
//! **Exactness.** Single precision alone would get near ties wrong. A computed
//! score is off by at most [`Space::slack`]; so the answer is among the words whose
//! score comes within twice that of the best, mostly one, and those few are
//! compared in double precision (a product of two f32 is exact in f64; sums err
//! by about 1e-14 of their size). Equal vectors get equal sums, and ties go to
//! the lowest id.

use brr::parts::distances::PairDistances;
use brr::parts::vocabulary::WordId;
use brr_build::matrix::gemm;
use brr_build::quality;
use brr_build::vectors::Vectors;

/// Words per matrix product: a tile of scores stays in the second-level cache.
const TILE: usize = 1024;
/// Queries per matrix product.
const BATCH: usize = 128;

/// Finds the word with the nearest vector.
pub trait NearestVector: Send + Sync {
    /// The nearest word of each query; queries are vectors, one after another.
    fn nearest(&self, queries: &[f32]) -> Vec<WordId>;
}

/// Word vectors, ready to be searched.
pub struct Space {
    vectors: Vectors,
    distances: PairDistances,
    /// |x|^2 / 2 of each word.
    halves: Vec<f32>,
    /// Length of the longest vector.
    longest: f64,
}

impl Space {
    /// Takes vectors and looks at all pairs of them, with `threads` threads.
    /// `progress` gets the share of the work done.
    pub fn new(vectors: Vectors, threads: usize, progress: impl Fn(f64) + Sync) -> Space {
        let stats = quality::euclidean(&vectors, threads, progress);
        let distances = PairDistances {
            average: stats.average,
            maximum: stats.max,
            nearest_mean: stats.nearest_mean,
            nearest_min: stats.nearest_min,
        };
        Space::with_distances(vectors, distances)
    }

    /// Takes vectors whose pair distances are known already.
    ///
    /// # Panics
    /// If there is no word, or the vectors do not have the length they say.
    pub fn with_distances(vectors: Vectors, distances: PairDistances) -> Space {
        let n = vectors.words.len();
        assert!(n > 0 && vectors.dim > 0, "there are no vectors");
        assert_eq!(vectors.data.len(), n * vectors.dim, "size of the vectors");
        let squares: Vec<f64> = (0..n)
            .map(|i| dot(vectors.row(i), vectors.row(i)))
            .collect();
        let longest = squares.iter().fold(0.0, |top: f64, s| top.max(*s));
        Space {
            halves: squares.iter().map(|s| (s / 2.0) as f32).collect(),
            longest: longest.sqrt(),
            vectors,
            distances,
        }
    }

    /// The vectors.
    pub fn vectors(&self) -> &Vectors {
        &self.vectors
    }

    /// Distances over all pairs.
    pub fn pair_distances(&self) -> PairDistances {
        self.distances
    }

    /// Number of words.
    pub fn len(&self) -> usize {
        self.vectors.words.len()
    }

    /// Never true: there is at least one word.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Euclidean distance of two words.
    pub fn distance(&self, a: WordId, b: WordId) -> f64 {
        self.vectors.distance(a as usize, b as usize)
    }

    /// A word's distance to every word, by dot products: to about 1e-3 for words
    /// that nearly coincide, to six digits for others.
    pub fn distances(&self, word: WordId) -> Vec<f32> {
        let (x, own) = (self.vectors.row(word as usize), self.halves[word as usize]);
        let to = |y: usize| {
            let half = f64::from(own + self.halves[y]) - dot(x, self.vectors.row(y));
            (2.0 * half).max(0.0).sqrt() as f32
        };
        let mut distances: Vec<f32> = (0..self.len()).map(to).collect();
        distances[word as usize] = 0.0;
        distances
    }

    /// The distances of several vectors, one after another, to every word: by dot products in single
    /// precision.
    pub fn distances_to(&self, queries: &[f32]) -> Vec<Vec<f32>> {
        let dim = self.vectors.dim;
        let rows: Vec<&[f32]> = queries.chunks_exact(dim).collect();
        let mut dots = vec![0.0f32; rows.len() * self.len()];
        gemm(
            (rows.len(), dim, self.len()),
            (queries, dim as isize, 1),
            (&self.vectors.data, 1, dim as isize),
            &mut dots,
        );
        let of = |(query, dots): (&&[f32], &[f32])| {
            let own = (dot(query, query) / 2.0) as f32;
            let halves = dots.iter().zip(&self.halves);
            let distances = halves.map(|(dot, half)| (2.0 * (own + half - dot)).max(0.0).sqrt());
            distances.collect()
        };
        let dots = dots.chunks_exact(self.len().max(1));
        rows.iter().zip(dots).map(of).collect()
    }

    /// Cosine of two words' vectors; 0 if one is zero.
    pub fn cosine(&self, a: WordId, b: WordId) -> f64 {
        let (x, y) = (self.vectors.row(a as usize), self.vectors.row(b as usize));
        let lengths = (dot(x, x) * dot(y, y)).sqrt();
        if lengths > 0.0 {
            dot(x, y) / lengths
        } else {
            0.0
        }
    }

    /// How far a computed score of a query can be from the true one.
    ///
    /// A dot product of k terms in any order errs by at most k u / (1 - k u) times
    /// the sum of |q_i x_i|, which is at most |q| |x| (u = 2^-24). Rounding |x|^2/2
    /// and the subtraction add three more roundings of numbers of that size.
    fn slack(&self, query: &[f32]) -> f64 {
        let unit = 1.0 / (1u64 << 24) as f64;
        let size = dot(query, query).sqrt() * self.longest + self.longest * self.longest;
        1.01 * (self.vectors.dim as f64 + 4.0) * unit * size
    }

    /// The score in double precision: larger is nearer.
    fn score(&self, query: &[f32], word: usize) -> f64 {
        let x = self.vectors.row(word);
        dot(query, x) - dot(x, x) / 2.0
    }

    fn nearest_of_batch(&self, queries: &[f32], out: &mut Vec<WordId>) {
        let dim = self.vectors.dim;
        let rows: Vec<&[f32]> = queries.chunks_exact(dim).collect();
        let mut best: Vec<Best> = rows.iter().map(|q| Best::new(self.slack(q))).collect();
        let mut scores = vec![0.0f32; rows.len() * TILE];
        for start in (0..self.len()).step_by(TILE) {
            let words = TILE.min(self.len() - start);
            let scores = &mut scores[..rows.len() * words];
            gemm(
                (rows.len(), dim, words),
                (queries, dim as isize, 1),
                (&self.vectors.data[start * dim..], 1, dim as isize),
                scores,
            );
            let halves = &self.halves[start..start + words];
            for (row, best) in scores.chunks_exact_mut(words).zip(&mut best) {
                best.take(row, halves, start);
            }
        }
        for (query, best) in rows.iter().zip(best) {
            out.push(best.finish(|word| self.score(query, word)));
        }
    }
}

impl NearestVector for Space {
    fn nearest(&self, queries: &[f32]) -> Vec<WordId> {
        let mut out = Vec::with_capacity(queries.len() / self.vectors.dim);
        for batch in queries.chunks(BATCH * self.vectors.dim) {
            self.nearest_of_batch(batch, &mut out);
        }
        out
    }
}

/// The words that can still be a query's nearest.
struct Best {
    /// Twice the slack: scores this far below the best cannot win.
    margin: f32,
    top: f32,
    candidates: Vec<(f32, u32)>,
}

impl Best {
    fn new(slack: f64) -> Best {
        Best {
            margin: (2.02 * slack) as f32,
            top: f32::NEG_INFINITY,
            candidates: Vec::new(),
        }
    }

    /// Takes a tile's dot products; leaves scores in their place.
    fn take(&mut self, dots: &mut [f32], halves: &[f32], start: usize) {
        const LANES: usize = 16;
        let mut tops = [f32::NEG_INFINITY; LANES];
        for (dots, halves) in dots.chunks_mut(LANES).zip(halves.chunks(LANES)) {
            for ((dot, half), top) in dots.iter_mut().zip(halves).zip(&mut tops) {
                *dot -= half;
                *top = if *dot > *top { *dot } else { *top };
            }
        }
        let top = tops.iter().fold(f32::NEG_INFINITY, |a, &b| a.max(b));
        if top < self.top - self.margin {
            return;
        }
        self.top = self.top.max(top);
        let least = self.top - self.margin;
        self.candidates.retain(|c| c.0 >= least);
        let near = dots
            .iter()
            .enumerate()
            .filter(|(_, score)| **score >= least);
        self.candidates
            .extend(near.map(|(i, &score)| (score, (start + i) as u32)));
    }

    /// The candidate with the largest exact score, the lowest id of several.
    fn finish(self, exact: impl Fn(usize) -> f64) -> WordId {
        if let [(_, only)] = self.candidates[..] {
            return only;
        }
        let scored = self.candidates.iter().map(|c| (exact(c.1 as usize), c.1));
        let better = |a: (f64, u32), b: (f64, u32)| if b.0 > a.0 { b } else { a };
        scored.reduce(better).map_or(0, |best| best.1)
    }
}

/// Dot product in double precision, eight lanes.
pub(super) fn dot(x: &[f32], y: &[f32]) -> f64 {
    let mut lanes = [0.0f64; 8];
    let (xs, ys) = (x.chunks_exact(8), y.chunks_exact(8));
    let rest = xs.remainder().iter().zip(ys.remainder());
    let rest: f64 = rest.map(|(a, b)| f64::from(*a) * f64::from(*b)).sum();
    for (a, b) in xs.zip(ys) {
        for (lane, (p, q)) in lanes.iter_mut().zip(a.iter().zip(b)) {
            *lane += f64::from(*p) * f64::from(*q);
        }
    }
    lanes.iter().sum::<f64>() + rest
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;

    pub(crate) fn space(dim: usize, data: Vec<f32>) -> Space {
        let words = (0..data.len() / dim).map(|i| format!("w{i}")).collect();
        Space::new(Vectors { words, dim, data }, 1, |_| {})
    }

    fn naive(space: &Space, query: &[f32]) -> WordId {
        let square = |word: usize| -> f64 {
            let pair = query.iter().zip(space.vectors.row(word));
            pair.map(|(q, x)| (f64::from(*q) - f64::from(*x)).powi(2))
                .sum()
        };
        let mut best = 0;
        for word in 1..space.len() {
            if square(word) < square(best) {
                best = word;
            }
        }
        best as WordId
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        /// Small whole numbers: many exact ties, no rounding in the oracle.
        #[test]
        fn finds_what_the_naive_search_finds(
            data in prop::collection::vec(-3i8..4, 3..9000),
            queries in prop::collection::vec(-4i8..5, 3..60),
        ) {
            let cut = |v: &[i8]| -> Vec<f32> { v[..v.len() / 3 * 3].iter().map(|&x| x.into()).collect() };
            let (space, queries) = (space(3, cut(&data)), cut(&queries));
            let expected: Vec<_> = queries.chunks(3).map(|q| naive(&space, q)).collect();
            prop_assert_eq!(space.nearest(&queries), expected);
        }
    }

    /// Far from the origin single precision cannot tell these words apart.
    #[test]
    fn near_ties_are_decided_in_double_precision() {
        let words: Vec<f32> = (0..200)
            .flat_map(|i| [3000.0 + i as f32 * 0.001, 500.0])
            .collect();
        let space = space(2, words);
        for query in [[3000.047, 512.0], [3000.15, 8.0], [2999.0, 0.0]] {
            assert_eq!(space.nearest(&query), [naive(&space, &query)]);
        }
    }

    #[test]
    fn tiles_and_batches_have_no_seams() {
        let n = 2 * TILE + 77;
        let value = |i: usize| ((i * 2_654_435_761) % 10_007) as f32 / 1000.0;
        let space = space(4, (0..n * 4).map(value).collect());
        let picks = [0, 1, TILE - 1, TILE, 2 * TILE, n - 1];
        let queries: Vec<f32> = (0..BATCH + 9)
            .flat_map(|i| space.vectors.row(picks[i % 6]).to_vec())
            .collect();
        let expected: Vec<_> = queries.chunks(4).map(|q| naive(&space, q)).collect();
        assert_eq!(space.nearest(&queries), expected);
        assert!(space.nearest(&[]).is_empty());
        let distances = space.distances(5);
        for (y, d) in (0..).zip(&distances) {
            assert!((f64::from(*d) - space.distance(5, y)).abs() < 1e-2);
        }
    }
}

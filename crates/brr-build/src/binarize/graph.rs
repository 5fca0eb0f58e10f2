//! The graph of near words: every word with its nearest words by cosine.
//!
//! All pairs are compared, in single precision, and still every cosine is exact:
//! rows are no longer than 1 and snapped to multiples of 2^-12, so products are
//! multiples of 2^-24 and by Cauchy-Schwarz no partial sum exceeds 1. Numbers
//! like that fit the 24 bits of an `f32`: nothing rounds, whatever the kernel.

use crate::matrix::{Matrix, gemm};
use brr::parts::parallel;
use std::ops::Range;

/// Rows and columns of similarities computed at once: they fit the second-level
/// cache.
const BATCH: usize = 128;
const TILE: usize = 1024;
/// Parts of the work after which progress is reported.
const STEPS: usize = 64;
/// Rows are scaled to this length, so that snapping cannot push one past 1.
const LENGTH: f64 = 0.99;
/// Entries are multiples of 1 / GRID.
const GRID: f64 = 4096.0;

/// Unit rows on a grid, on which dot products are exact.
pub struct Snapped {
    /// Number of columns.
    pub dim: usize,
    /// All rows.
    pub data: Vec<f32>,
}

impl Snapped {
    /// Scales the rows of `m` to equal length and snaps them to the grid.
    pub fn new(mut m: Matrix) -> Snapped {
        super::spectrum::normalize(&mut m);
        let snap = |x: &f64| ((x * (LENGTH * GRID)).round_ties_even() / GRID) as f32;
        Snapped {
            dim: m.cols,
            data: m.data.iter().map(snap).collect(),
        }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.data.len() / self.dim
    }

    /// Row `i`.
    pub fn row(&self, i: usize) -> &[f32] {
        &self.data[i * self.dim..(i + 1) * self.dim]
    }
}

/// Near pairs, each in both directions.
pub struct Graph {
    /// Neighbours of word `i` are at `offsets[i]..offsets[i + 1]`.
    pub offsets: Vec<usize>,
    /// Ids of the neighbours, ascending within a word.
    pub ids: Vec<u32>,
    /// Their similarities.
    pub similarities: Vec<f32>,
}

impl Graph {
    /// Joins every row with its `k` most similar others. `progress` gets the
    /// number of parts done, and of all.
    pub fn new(
        threads: usize,
        rows: &Snapped,
        k: usize,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Graph {
        let k = k.min(rows.len() - 1);
        let nearest = nearest(threads, rows, k, progress);
        let lists: Vec<&[(u32, f32)]> = nearest.chunks_exact(k).collect();
        let one_way = one_way(threads, &lists);
        let mut offsets = vec![0];
        for (list, more) in lists.iter().zip(incoming(&one_way, rows.len())) {
            offsets.push(offsets[offsets.len() - 1] + list.len() + more);
        }
        let mut graph = Graph {
            ids: vec![0; offsets[rows.len()]],
            similarities: vec![0.0; offsets[rows.len()]],
            offsets,
        };
        let mut free = graph.offsets.clone();
        let both_ways = lists.iter().zip(&one_way).zip(0u32..);
        for ((list, one_way), i) in both_ways {
            list.iter().for_each(|&edge| graph.put(&mut free, i, edge));
            for &(j, similarity) in one_way {
                graph.put(&mut free, j, (i, similarity));
            }
        }
        graph.sort();
        graph
    }

    /// Writes an edge of word `i` where its list is free.
    fn put(&mut self, free: &mut [usize], i: u32, (id, similarity): (u32, f32)) {
        let at = &mut free[i as usize];
        (self.ids[*at], self.similarities[*at]) = (id, similarity);
        *at += 1;
    }

    /// Brings each word's neighbours in ascending order.
    fn sort(&mut self) {
        let mut list: Vec<(u32, f32)> = Vec::new();
        for ends in self.offsets.windows(2) {
            let ids = &mut self.ids[ends[0]..ends[1]];
            let similarities = &mut self.similarities[ends[0]..ends[1]];
            list.clear();
            list.extend(ids.iter().copied().zip(similarities.iter().copied()));
            list.sort_unstable_by_key(|&(id, _)| id);
            for (at, &(id, similarity)) in list.iter().enumerate() {
                (ids[at], similarities[at]) = (id, similarity);
            }
        }
    }

    /// Ids and similarities of the neighbours of `i`.
    pub fn of(&self, i: usize) -> (&[u32], &[f32]) {
        let range = self.offsets[i]..self.offsets[i + 1];
        (&self.ids[range.clone()], &self.similarities[range])
    }
}

/// The edges of each word whose other end does not have them. Lists are in
/// ascending order.
fn one_way(threads: usize, lists: &[&[(u32, f32)]]) -> Vec<Vec<(u32, f32)>> {
    parallel::map(threads, lists.len(), |i| {
        let unknown = |&&(j, _): &&(u32, f32)| {
            let found = lists[j as usize].binary_search_by_key(&(i as u32), |e| e.0);
            found.is_err()
        };
        lists[i].iter().filter(unknown).copied().collect()
    })
}

/// How many of `edges` end at each of `n` words.
fn incoming(edges: &[Vec<(u32, f32)>], n: usize) -> Vec<usize> {
    let mut counts = vec![0; n];
    for &(j, _) in edges.iter().flatten() {
        counts[j as usize] += 1;
    }
    counts
}

/// The `k` most similar other rows of each row, row after row, in ascending
/// order.
fn nearest(
    threads: usize,
    rows: &Snapped,
    k: usize,
    progress: &mut dyn FnMut(usize, usize),
) -> Vec<(u32, f32)> {
    let n = rows.len();
    let batches = n.div_ceil(BATCH);
    let mut found = Vec::with_capacity(n * k);
    for step in 0..STEPS {
        let (from, to) = (step * batches / STEPS, (step + 1) * batches / STEPS);
        let parts = parallel::map(threads, to - from, |part| {
            let first = (from + part) * BATCH;
            nearest_to(rows, first..n.min(first + BATCH), k)
        });
        parts.iter().for_each(|part| found.extend(part));
        progress(step + 1, STEPS);
    }
    found
}

/// The same for some rows. Similarities are made tile by tile, so that they stay
/// in cache until they are looked at.
fn nearest_to(rows: &Snapped, words: Range<usize>, k: usize) -> Vec<(u32, f32)> {
    let (n, dim) = (rows.len(), rows.dim);
    let own = &rows.data[words.start * dim..words.end * dim];
    let mut tops: Vec<Top> = words.clone().map(|_| Top::new(k)).collect();
    let mut dots = vec![0.0f32; words.len() * TILE];
    for from in (0..n).step_by(TILE) {
        let to = n.min(from + TILE);
        let dots = &mut dots[..words.len() * (to - from)];
        gemm(
            (words.len(), dim, to - from),
            (own, dim as isize, 1),
            (&rows.data[from * dim..to * dim], 1, dim as isize),
            dots,
        );
        let by_word = dots.chunks_exact_mut(to - from).zip(words.clone());
        for ((row, word), top) in by_word.zip(&mut tops) {
            if (from..to).contains(&word) {
                row[word - from] = f32::NEG_INFINITY;
            }
            top.offer(from, row);
        }
    }
    tops.into_iter().flat_map(Top::into_found).collect()
}

/// The largest of the values seen, with their places; the lower place wins a tie.
struct Top {
    k: usize,
    found: Vec<(u32, f32)>,
    /// At least `k` values before are as large as this.
    bar: f32,
}

impl Top {
    fn new(k: usize) -> Top {
        Top {
            k,
            found: Vec::with_capacity(5 * k),
            bar: f32::NEG_INFINITY,
        }
    }

    /// Looks at `values`, whose places are `first` and up: later than all before.
    fn offer(&mut self, first: usize, values: &[f32]) {
        for (run, at) in values.chunks(32).zip((first..).step_by(32)) {
            // Few runs have anything to offer; without a branch this is quick.
            if !run.iter().fold(false, |any, &v| any | (v > self.bar)) {
                continue;
            }
            for (&value, at) in run.iter().zip(at..) {
                if value > self.bar {
                    self.found.push((at as u32, value));
                    if self.found.len() == 5 * self.k {
                        self.bar = self.cut();
                    }
                }
            }
        }
    }

    /// Drops all but the `k` largest; the least of these.
    fn cut(&mut self) -> f32 {
        let better = |a: &(u32, f32), b: &(u32, f32)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
        let least = self.found.select_nth_unstable_by(self.k - 1, better).1.1;
        self.found.truncate(self.k);
        least
    }

    fn into_found(mut self) -> Vec<(u32, f32)> {
        if self.found.len() > self.k {
            self.cut();
        }
        self.found.sort_unstable_by_key(|&(at, _)| at);
        self.found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::rotation::gaussian;
    use crate::seeded::generator;

    #[test]
    fn dot_products_on_the_grid_are_exact() {
        let rows = Snapped::new(gaussian(300, 40, &mut generator(3, 0)));
        let graph = Graph::new(2, &rows, 7, &mut |_, _| {});
        for i in 0..300 {
            let (ids, similarities) = graph.of(i);
            for (&j, &similarity) in ids.iter().zip(similarities) {
                let pair = rows.row(i).iter().zip(rows.row(j as usize));
                let exact: f64 = pair.map(|(a, b)| f64::from(*a) * f64::from(*b)).sum();
                assert_eq!(f64::from(similarity), exact);
            }
        }
    }

    #[test]
    fn every_edge_goes_both_ways_and_the_nearest_are_there() {
        let rows = Snapped::new(gaussian(200, 10, &mut generator(4, 0)));
        let graph = Graph::new(1, &rows, 5, &mut |_, _| {});
        for i in 0..200 {
            let (ids, _) = graph.of(i);
            assert!(ids.len() >= 5 && ids.is_sorted());
            assert!(!ids.contains(&(i as u32)));
            for &j in ids {
                assert!(graph.of(j as usize).0.contains(&(i as u32)));
            }
        }
    }

    #[test]
    fn ties_go_to_the_lower_place() {
        let top = |values: &[f32], k| {
            let mut top = Top::new(k);
            for (part, from) in values.chunks(3).zip((0..).step_by(3)) {
                top.offer(from, part);
            }
            top.into_found()
        };
        let found = top(&[1.0, 3.0, 2.0, 3.0, 2.0, 2.0], 3);
        assert_eq!(found, [(1, 3.0), (2, 2.0), (3, 3.0)]);
        let equal = top(&[0.5; 100], 4);
        assert_eq!(equal.iter().map(|f| f.0).collect::<Vec<_>>(), [0, 1, 2, 3]);
    }
}

//! The graph of near words: every word with its nearest words by cosine.
//!
//! All pairs are compared, in single precision, and still every cosine is exact:
//! rows are no longer than 1 and snapped to multiples of 2^-12, so products are
//! multiples of 2^-24 and by Cauchy-Schwarz no partial sum exceeds 1. Numbers
//! like that fit the 24 bits of an `f32`: nothing rounds, whatever the kernel.

use crate::matrix::{Matrix, gemm};
use crate::parallel;

/// Rows of similarities computed at once.
const BATCH: usize = 128;
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
    /// Joins every row with its `k` most similar others.
    pub fn new(threads: usize, rows: &Snapped, k: usize) -> Graph {
        let n = rows.len();
        let nearest = nearest(threads, rows, k.min(n - 1));
        let mut edges: Vec<Vec<(u32, f32)>> = nearest.clone();
        for (i, near) in nearest.iter().enumerate() {
            for &(j, similarity) in near {
                edges[j as usize].push((i as u32, similarity));
            }
        }
        parallel::chunks(threads, &mut edges, 1024, |_, chunk| {
            for list in chunk {
                list.sort_unstable_by_key(|&(id, _)| id);
                list.dedup_by_key(|&mut (id, _)| id);
            }
        });
        let mut offsets = vec![0];
        for list in &edges {
            offsets.push(offsets[offsets.len() - 1] + list.len());
        }
        Graph {
            offsets,
            ids: edges.iter().flatten().map(|e| e.0).collect(),
            similarities: edges.iter().flatten().map(|e| e.1).collect(),
        }
    }

    /// Ids and similarities of the neighbours of `i`.
    pub fn of(&self, i: usize) -> (&[u32], &[f32]) {
        let range = self.offsets[i]..self.offsets[i + 1];
        (&self.ids[range.clone()], &self.similarities[range])
    }
}

/// The `k` most similar other rows of each row, in no particular order.
fn nearest(threads: usize, rows: &Snapped, k: usize) -> Vec<Vec<(u32, f32)>> {
    let (n, dim) = (rows.len(), rows.dim);
    let part = |part: usize| {
        let (from, to) = (part * BATCH, ((part + 1) * BATCH).min(n));
        let mut dots = vec![0.0f32; (to - from) * n];
        gemm(
            (to - from, dim, n),
            (&rows.data[from * dim..to * dim], dim as isize, 1),
            (&rows.data, 1, dim as isize),
            &mut dots,
        );
        let mut found = Vec::with_capacity(to - from);
        for (row, word) in dots.chunks_exact_mut(n).zip(from..to) {
            row[word] = f32::NEG_INFINITY;
            found.push(top(row, k));
        }
        found
    };
    let parts = parallel::map(threads, n.div_ceil(BATCH), part);
    parts.into_iter().flatten().collect()
}

/// The `k` largest values with their places; the lower place wins a tie.
fn top(values: &[f32], k: usize) -> Vec<(u32, f32)> {
    let better = |a: &(u32, f32), b: &(u32, f32)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
    let mut found: Vec<(u32, f32)> = Vec::with_capacity(5 * k);
    let mut bar = f32::NEG_INFINITY;
    for (at, &value) in values.iter().enumerate() {
        if value > bar {
            found.push((at as u32, value));
            if found.len() == 5 * k {
                bar = found.select_nth_unstable_by(k - 1, better).1.1;
                found.truncate(k);
            }
        }
    }
    if found.len() > k {
        found.select_nth_unstable_by(k - 1, better);
        found.truncate(k);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::rotation::{gaussian, generator};

    #[test]
    fn dot_products_on_the_grid_are_exact() {
        let rows = Snapped::new(gaussian(300, 40, &mut generator(3, 0)));
        let graph = Graph::new(2, &rows, 7);
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
        let graph = Graph::new(1, &rows, 5);
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
        let mut found = top(&[1.0, 3.0, 2.0, 3.0, 2.0, 2.0], 3);
        found.sort_unstable_by_key(|f| f.0);
        assert_eq!(found, [(1, 3.0), (2, 2.0), (3, 3.0)]);
        let mut equal = top(&[0.5; 100], 4);
        equal.sort_unstable_by_key(|f| f.0);
        assert_eq!(equal.iter().map(|f| f.0).collect::<Vec<_>>(), [0, 1, 2, 3]);
    }
}

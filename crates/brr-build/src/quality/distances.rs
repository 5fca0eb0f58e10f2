//! Exact P_avg and P_max of real vectors in Euclidean distance, and how far the
//! nearest words are: every pair is looked at, none sampled.
//!
//! Distances come from matrix products, |x - y|^2 = |x|^2 + |y|^2 - 2 x.y, in
//! single precision after the mean is taken away (which changes no distance and
//! loses fewer digits); they are summed in double precision. The relative error
//! is about 1e-6.

use crate::matrix::gemm;
use crate::vectors::Vectors;
use brr::parts::parallel;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Rows and columns of a block of pairs.
const BLOCK: usize = 512;

/// Distances over all pairs of words.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EuclideanStats {
    /// P_avg: mean distance over all ordered pairs, the diagonal included.
    pub average: f64,
    /// P_max: largest distance of two words.
    pub max: f64,
    /// Mean distance of a word to its nearest other word; 0 if there is none.
    pub nearest_mean: f64,
    /// Smallest distance of two words; 0 if there are none.
    pub nearest_min: f64,
}

impl EuclideanStats {
    /// Of no words, or of a single one.
    const NONE: EuclideanStats = EuclideanStats {
        average: 0.0,
        max: 0.0,
        nearest_mean: 0.0,
        nearest_min: 0.0,
    };
}

/// Looks at all pairs of `vectors`. `progress` gets the share of the work done.
pub fn euclidean(
    vectors: &Vectors,
    threads: usize,
    progress: impl Fn(f64) + Sync,
) -> EuclideanStats {
    let n = vectors.words.len();
    if n < 2 {
        return EuclideanStats::NONE;
    }
    let rows = centered(vectors);
    let squares: Vec<f32> = rows
        .chunks_exact(vectors.dim)
        .map(|row| row.iter().map(|&x| f64::from(x).powi(2)).sum::<f64>() as f32)
        .collect();
    let blocks = n.div_ceil(BLOCK);
    let work: Vec<(usize, usize)> = (0..blocks)
        .flat_map(|a| (a..blocks).map(move |b| (a, b)))
        .collect();
    let done = AtomicUsize::new(0);
    let nearest = Mutex::new(vec![f32::INFINITY; n]);
    let found = parallel::map(threads, work.len(), |at| {
        let (a, b) = work[at];
        let (sum, max) = block(&rows, &squares, vectors.dim, (a, b), &nearest);
        progress((done.fetch_add(1, Ordering::Relaxed) + 1) as f64 / work.len() as f64);
        (if a == b { sum } else { 2.0 * sum }, max)
    });
    let max = found.iter().fold(0.0f32, |top, f| top.max(f.1));
    let nearest = nearest.into_inner().unwrap();
    let smallest = nearest.iter().fold(f32::INFINITY, |low, &d| low.min(d));
    EuclideanStats {
        average: found.iter().map(|f| f.0).sum::<f64>() / (n as f64 * n as f64),
        max: f64::from(max).sqrt(),
        nearest_mean: sum_of_roots(&nearest) / n as f64,
        nearest_min: f64::from(smallest).sqrt(),
    }
}

/// Sum of the distances and largest squared distance between two blocks of rows.
/// Lowers each row's squared distance to its `nearest` other row, in an order
/// that does not show: a minimum is the same in any.
fn block(
    rows: &[f32],
    squares: &[f32],
    dim: usize,
    (a, b): (usize, usize),
    nearest: &Mutex<Vec<f32>>,
) -> (f64, f32) {
    let n = squares.len();
    let (from_a, to_a) = (a * BLOCK, ((a + 1) * BLOCK).min(n));
    let (from_b, to_b) = (b * BLOCK, ((b + 1) * BLOCK).min(n));
    let (m, k) = (to_a - from_a, to_b - from_b);
    let mut dots = vec![0.0f32; m * k];
    gemm(
        (m, dim, k),
        (&rows[from_a * dim..to_a * dim], dim as isize, 1),
        (&rows[from_b * dim..to_b * dim], 1, dim as isize),
        &mut dots,
    );
    let (mut sum, mut max) = (0.0, 0.0);
    let mut near_a = vec![f32::INFINITY; m];
    let mut near_b = vec![f32::INFINITY; k];
    for (i, row) in dots.chunks_exact_mut(k).enumerate() {
        let own = squares[from_a + i];
        for (dot, other) in row.iter_mut().zip(&squares[from_b..to_b]) {
            let square = own + other - 2.0 * *dot;
            *dot = if square > 0.0 { square } else { 0.0 };
        }
        if a == b {
            row[i] = f32::INFINITY;
        }
        for (near, &d) in near_b.iter_mut().zip(&*row) {
            *near = if d < *near { d } else { *near };
            near_a[i] = if d < near_a[i] { d } else { near_a[i] };
        }
        if a == b {
            row[i] = 0.0;
        }
        max = row
            .iter()
            .fold(max, |top, &d| if d > top { d } else { top });
        sum += sum_of_roots(row);
    }
    let mut nearest = nearest.lock().unwrap();
    for (from, near) in [(from_a, near_a), (from_b, near_b)] {
        let rows = nearest[from..].iter_mut().zip(near);
        rows.for_each(|(old, new)| *old = old.min(new));
    }
    (sum, max)
}

/// Sum of square roots in eight double-precision lanes.
fn sum_of_roots(squares: &[f32]) -> f64 {
    let mut lanes = [0.0f64; 8];
    let chunks = squares.chunks_exact(8);
    let rest: f64 = chunks.remainder().iter().map(|x| f64::from(x.sqrt())).sum();
    for chunk in chunks {
        for (lane, x) in lanes.iter_mut().zip(chunk) {
            *lane += f64::from(x.sqrt());
        }
    }
    lanes.iter().sum::<f64>() + rest
}

/// Rows less their mean.
fn centered(vectors: &Vectors) -> Vec<f32> {
    let mut mean = vec![0.0f64; vectors.dim];
    for row in vectors.data.chunks_exact(vectors.dim) {
        mean.iter_mut()
            .zip(row)
            .for_each(|(m, &x)| *m += f64::from(x));
    }
    mean.iter_mut()
        .for_each(|m| *m /= vectors.words.len() as f64);
    let less = |row: &[f32]| -> Vec<f32> {
        row.iter()
            .zip(&mean)
            .map(|(&x, m)| (f64::from(x) - m) as f32)
            .collect()
    };
    vectors
        .data
        .chunks_exact(vectors.dim)
        .flat_map(less)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_definition() {
        let (n, dim) = (1100, 7);
        let value = |i: usize| ((i * 2654435761) % 1000) as f32 / 100.0 + 50.0;
        let vectors = Vectors {
            words: (0..n).map(|i| i.to_string()).collect(),
            dim,
            data: (0..n * dim).map(value).collect(),
        };
        let (mut sum, mut max) = (0.0, 0.0f64);
        let mut nearest = vec![f64::INFINITY; n];
        for (i, nearest) in nearest.iter_mut().enumerate() {
            for j in 0..n {
                let pair = vectors.row(i).iter().zip(vectors.row(j));
                let d = pair
                    .map(|(a, b)| f64::from(a - b).powi(2))
                    .sum::<f64>()
                    .sqrt();
                sum += d;
                max = max.max(d);
                if i != j {
                    *nearest = nearest.min(d);
                }
            }
        }
        let got = euclidean(&vectors, 2, |_| {});
        assert!((got.average / (sum / (n * n) as f64) - 1.0).abs() < 1e-5);
        assert!((got.max / max - 1.0).abs() < 1e-5);
        let mean = nearest.iter().sum::<f64>() / n as f64;
        // Near pairs lose digits to cancellation: some of these are equal.
        assert!((got.nearest_mean - mean).abs() < 1e-2);
        let least = nearest.iter().fold(f64::INFINITY, |low, &d| low.min(d));
        assert!((got.nearest_min - least).abs() < 1e-2);
        assert_eq!(got, euclidean(&vectors, 1, |_| {}));
    }

    #[test]
    fn equal_vectors_are_at_distance_zero() {
        let vectors = Vectors {
            words: vec!["a".into(), "b".into()],
            dim: 3,
            data: vec![0.1; 6],
        };
        let got = euclidean(&vectors, 1, |_| {});
        assert_eq!(got, EuclideanStats::NONE);
    }
}

//! Nearest words, by cosine of real vectors and by Hamming distance of codes.

use crate::matrix::gemm;
use crate::vectors::Vectors;
use brr::parts::codes::{CodeRows, hamming};
use brr::parts::parallel;

/// Queries per matrix product.
const BATCH: usize = 64;

/// The `k` words nearest to each of `words` by cosine, nearest first, with their
/// cosines; the word itself is left out, ties go to the lower id.
pub fn real_neighbors(
    vectors: &Vectors,
    words: &[usize],
    k: usize,
    threads: usize,
) -> Vec<Vec<(usize, f32)>> {
    let (n, dim) = (vectors.words.len(), vectors.dim);
    let unit = unit_rows(vectors);
    let part = |part: usize| {
        let batch = &words[part * BATCH..((part + 1) * BATCH).min(words.len())];
        let queries: Vec<f32> = batch
            .iter()
            .flat_map(|&w| unit[w * dim..(w + 1) * dim].iter().copied())
            .collect();
        let mut cosines = vec![0.0f32; batch.len() * n];
        let strides = (dim as isize, 1);
        gemm(
            (batch.len(), dim, n),
            (&queries, strides.0, strides.1),
            (&unit, strides.1, strides.0),
            &mut cosines,
        );
        let nearest = |(&word, row): (&usize, &[f32])| {
            let mut found = smallest(n, k, word, |id| Descending(row[id]));
            found
                .drain(..)
                .map(|(Descending(cosine), id)| (id, cosine))
                .collect()
        };
        batch
            .iter()
            .zip(cosines.chunks_exact(n.max(1)))
            .map(nearest)
            .collect::<Vec<_>>()
    };
    parallel::map(threads, words.len().div_ceil(BATCH), part)
        .into_iter()
        .flatten()
        .collect()
}

/// The `k` words nearest to each of `words` by Hamming distance, nearest first,
/// with their distances; the word itself is left out, ties go to the lower id.
pub fn code_neighbors(
    codes: &CodeRows,
    words: &[usize],
    k: usize,
    threads: usize,
) -> Vec<Vec<(usize, u32)>> {
    parallel::map(threads, words.len(), |at| {
        let query = codes.row(words[at]);
        let found = smallest(codes.len(), k, words[at], |id| {
            hamming(query, codes.row(id))
        });
        found
            .into_iter()
            .map(|(distance, id)| (id, distance))
            .collect()
    })
}

/// Mean share of the `k` nearest words by cosine that are among the `k` nearest
/// by code, over `samples` words spread evenly over the vocabulary.
pub fn neighbor_overlap(
    vectors: &Vectors,
    codes: &CodeRows,
    k: usize,
    samples: usize,
    threads: usize,
) -> f64 {
    let n = codes.len();
    let samples = samples.min(n);
    let k = k.min(n.saturating_sub(1));
    if samples == 0 || k == 0 {
        return 0.0;
    }
    let words: Vec<usize> = (0..samples).map(|i| i * n / samples).collect();
    let real = real_neighbors(vectors, &words, k, threads);
    let code = code_neighbors(codes, &words, k, threads);
    let mut common = 0;
    for (real, code) in real.iter().zip(&code) {
        common += real
            .iter()
            .filter(|r| code.iter().any(|c| c.0 == r.0))
            .count();
    }
    common as f64 / (samples * k) as f64
}

/// Rows scaled to length 1 (zero rows stay).
fn unit_rows(vectors: &Vectors) -> Vec<f32> {
    let mut unit = vectors.data.clone();
    for row in unit.chunks_exact_mut(vectors.dim) {
        let length = row
            .iter()
            .map(|&x| f64::from(x).powi(2))
            .sum::<f64>()
            .sqrt();
        if length > 0.0 {
            row.iter_mut()
                .for_each(|x| *x = (f64::from(*x) / length) as f32);
        }
    }
    unit
}

/// A number whose order is reversed.
#[derive(Clone, Copy, PartialEq)]
struct Descending(f32);

impl PartialOrd for Descending {
    fn partial_cmp(&self, other: &Descending) -> Option<std::cmp::Ordering> {
        Some(other.0.total_cmp(&self.0))
    }
}

/// The `k` ids but `skip` with the smallest keys, in order of key, then id.
fn smallest<K: PartialOrd + Copy>(
    n: usize,
    k: usize,
    skip: usize,
    key: impl Fn(usize) -> K,
) -> Vec<(K, usize)> {
    let mut best: Vec<(K, usize)> = Vec::with_capacity(k + 1);
    for id in (0..n).filter(|&id| id != skip) {
        let value = key(id);
        if best.len() < k || best.last().is_some_and(|worst| value < worst.0) {
            let at = best.partition_point(|b| b.0 <= value);
            best.insert(at, (value, id));
            best.truncate(k);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use brr::parts::codes::CodeBits;

    fn ring(n: usize) -> (Vectors, CodeRows) {
        let angle = |i: usize| i as f32 / n as f32 * 3.0;
        let vectors = Vectors {
            words: (0..n).map(|i| i.to_string()).collect(),
            dim: 2,
            data: (0..n)
                .flat_map(|i| [angle(i).cos(), angle(i).sin()])
                .collect(),
        };
        let mut codes = CodeRows::new(CodeBits::new(64).unwrap());
        (0..n).for_each(|i| codes.push(&[(1u64 << i) - 1]));
        (vectors, codes)
    }

    #[test]
    fn neighbors_on_a_line() {
        let (vectors, codes) = ring(30);
        let real = real_neighbors(&vectors, &[0, 10], 2, 2);
        let code = code_neighbors(&codes, &[0, 10], 2, 2);
        let ids = |found: &[(usize, u32)]| found.iter().map(|f| f.0).collect::<Vec<_>>();
        assert_eq!(real[0].iter().map(|f| f.0).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(ids(&code[0]), [1, 2]);
        assert_eq!(ids(&code[1]), [9, 11]);
        assert_eq!(neighbor_overlap(&vectors, &codes, 2, 30, 2), 1.0);
        assert_eq!(neighbor_overlap(&vectors, &codes, 100, 30, 1), 1.0);
        assert_eq!(neighbor_overlap(&vectors, &codes, 5, 0, 1), 0.0);
    }
}

//! Eigenvectors of a symmetric positive semidefinite matrix (a covariance).
//!
//! One-sided Jacobi: rotate pairs of rows of C until all rows are orthogonal.
//! If C = U diag(v) U^T, then U^T C = diag(v) U^T has orthogonal rows, so what
//! the rotations arrive at is each eigenvector times its eigenvalue, with no
//! second matrix to carry along. Slow in theory, 0.3 s for 300 dimensions in
//! practice, accurate, and the same bits everywhere: plain loops in a fixed order.

use super::Matrix;

/// Eigenvalues from large to small with their eigenvectors as rows.
pub struct Eigen {
    /// Eigenvalues, descending.
    pub values: Vec<f64>,
    /// Row `i` is the unit eigenvector of `values[i]` (zero if that is 0).
    pub vectors: Matrix,
}

/// Decomposes the symmetric positive semidefinite `c`.
///
/// # Panics
/// If `c` is not square.
pub fn decompose(c: &Matrix) -> Eigen {
    assert_eq!(c.rows, c.cols, "a covariance is square");
    let n = c.rows;
    let mut g = c.clone();
    let scale = g.data.iter().fold(0.0f64, |top, v| top.max(v.abs()));
    // Squared length below which a row counts as an eigenvalue of zero.
    let nothing = (scale * 1e-14).powi(2);
    for _sweep in 0..40 {
        let mut rotations = 0;
        for i in 0..n {
            for j in i + 1..n {
                rotations += usize::from(rotate(&mut g, i, j, nothing));
            }
        }
        if rotations == 0 {
            break;
        }
    }
    sorted(g)
}

/// Makes rows `i < j` orthogonal; whether there was anything to do.
fn rotate(g: &mut Matrix, i: usize, j: usize, nothing: f64) -> bool {
    let (head, tail) = g.data.split_at_mut(j * g.cols);
    let (x, y) = (&mut head[i * g.cols..(i + 1) * g.cols], &mut tail[..g.cols]);
    let (xx, yy, xy) = (dot(x, x), dot(y, y), dot(x, y));
    if xy * xy <= 1e-22 * xx * yy || xx <= nothing && yy <= nothing {
        return false;
    }
    let zeta = (yy - xx) / (2.0 * xy);
    let t = zeta.signum() / (zeta.abs() + (1.0 + zeta * zeta).sqrt());
    let cos = 1.0 / (1.0 + t * t).sqrt();
    let sin = cos * t;
    for (a, b) in x.iter_mut().zip(y) {
        (*a, *b) = (cos * *a - sin * *b, sin * *a + cos * *b);
    }
    true
}

/// Reads eigenvalues off as row lengths and sorts; equal ones keep their order.
fn sorted(g: Matrix) -> Eigen {
    let lengths: Vec<f64> = (0..g.rows)
        .map(|i| dot(g.row(i), g.row(i)).sqrt())
        .collect();
    let mut order: Vec<usize> = (0..g.rows).collect();
    order.sort_by(|&i, &j| lengths[j].total_cmp(&lengths[i]));
    let mut vectors = Matrix::zeros(g.rows, g.cols);
    for (to, &from) in order.iter().enumerate() {
        if lengths[from] > 0.0 {
            for (v, x) in vectors.row_mut(to).iter_mut().zip(g.row(from)) {
                *v = x / lengths[from];
            }
        }
    }
    Eigen {
        values: order.iter().map(|&i| lengths[i]).collect(),
        vectors,
    }
}

/// Dot product in eight fixed lanes: quick, and one defined order of additions.
pub fn dot(x: &[f64], y: &[f64]) -> f64 {
    let mut lanes = [0.0; 8];
    let (xs, ys) = (x.chunks_exact(8), y.chunks_exact(8));
    let rest: f64 = xs
        .remainder()
        .iter()
        .zip(ys.remainder())
        .map(|(a, b)| a * b)
        .sum();
    for (a, b) in xs.zip(ys) {
        for (lane, (p, q)) in lanes.iter_mut().zip(a.iter().zip(b)) {
            *lane += p * q;
        }
    }
    lanes.iter().sum::<f64>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Op;

    #[test]
    fn rebuilds_the_matrix() {
        let n = 20;
        let a = Matrix::from_fn(n, n, |i, j| ((i * 7 + j * 13) % 11) as f64 - 5.0);
        let c = Matrix::product(1, &a, Op::Plain, &a, Op::Transposed);
        let eigen = decompose(&c);
        assert!(eigen.values.windows(2).all(|w| w[0] >= w[1]));
        for i in 0..n {
            for j in 0..n {
                let back: f64 = (0..n)
                    .map(|k| eigen.values[k] * eigen.vectors.row(k)[i] * eigen.vectors.row(k)[j])
                    .sum();
                assert!((back - c.row(i)[j]).abs() < 1e-8 * eigen.values[0]);
            }
        }
    }

    #[test]
    fn eigenvectors_are_orthonormal_even_if_the_rank_is_low() {
        let c = Matrix::from_fn(5, 5, |i, j| ((i + 1) * (j + 1)) as f64);
        let eigen = decompose(&c);
        assert!((eigen.values[0] - 55.0).abs() < 1e-9);
        assert!(eigen.values[1..].iter().all(|v| *v < 1e-9));
        let top = eigen.vectors.row(0);
        assert!((dot(top, top) - 1.0).abs() < 1e-12);
    }
}

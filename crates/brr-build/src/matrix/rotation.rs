//! Random directions and nearest orthogonal matrices.

use super::{Matrix, Op};
use crate::seeded::normal;
use rand_core::Rng;

/// A matrix of independent normal numbers.
pub fn gaussian(rows: usize, cols: usize, rng: &mut impl Rng) -> Matrix {
    Matrix::from_fn(rows, cols, |_, _| normal(rng))
}

/// A random matrix with orthonormal rows (or columns, whichever are fewer).
pub fn orthonormal(threads: usize, rows: usize, cols: usize, rng: &mut impl Rng) -> Matrix {
    polar(threads, &gaussian(rows, cols, rng))
}

/// The matrix with orthonormal rows (or columns, whichever are fewer) nearest
/// to `m`: its orthogonal polar factor, `U V^T` of its singular value
/// decomposition. By Newton-Schulz iteration, which is nothing but products.
pub fn polar(threads: usize, m: &Matrix) -> Matrix {
    if m.rows > m.cols {
        return polar(threads, &m.transposed()).transposed();
    }
    let frobenius = m.data.iter().map(|x| x * x).sum::<f64>().sqrt();
    if frobenius == 0.0 {
        return m.clone();
    }
    // All singular values lie in (0, 1]; each step takes s to s (3 - s^2) / 2.
    let mut q = m.clone().scaled(1.0 / frobenius);
    let mut last = f64::INFINITY;
    for step in 0..60 {
        let gram = Matrix::product(threads, &q, Op::Plain, &q, Op::Transposed);
        let error = distance_to_identity(&gram);
        if error < 1e-9 || error >= last && step > 30 {
            break;
        }
        last = error;
        let mut poly = gram.scaled(-0.5);
        for i in 0..poly.rows {
            poly.row_mut(i)[i] += 1.5;
        }
        q = Matrix::product(threads, &poly, Op::Plain, &q, Op::Plain);
    }
    q
}

/// Mean squared difference to the identity.
pub fn distance_to_identity(gram: &Matrix) -> f64 {
    let sum: f64 = (0..gram.rows)
        .flat_map(|i| {
            gram.row(i)
                .iter()
                .enumerate()
                .map(move |(j, x)| (x - f64::from(i == j)).powi(2))
        })
        .sum();
    sum / gram.data.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seeded::generator;

    #[test]
    fn orthonormal_rows_or_columns() {
        let mut rng = generator(1, 0);
        for (rows, cols) in [(20, 20), (8, 30), (30, 8)] {
            let q = orthonormal(1, rows, cols, &mut rng);
            let gram = match rows <= cols {
                true => Matrix::product(1, &q, Op::Plain, &q, Op::Transposed),
                false => Matrix::product(1, &q, Op::Transposed, &q, Op::Plain),
            };
            assert!(distance_to_identity(&gram) < 1e-8, "{rows} x {cols}");
        }
    }

    #[test]
    fn polar_factor_of_a_stretched_rotation_is_the_rotation() {
        let mut rng = generator(2, 0);
        let q = orthonormal(1, 12, 12, &mut rng);
        let stretched = Matrix::from_fn(12, 12, |i, j| q.row(i)[j] * (1 + i) as f64);
        let back = polar(1, &stretched);
        for (a, b) in q.data.iter().zip(&back.data) {
            assert!((a - b).abs() < 1e-3);
        }
    }
}

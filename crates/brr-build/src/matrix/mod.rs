//! Dense matrices whose products are the same bits on every machine.
//!
//! A fast matrix product is not reproducible as such: which kernel runs (fused
//! multiply-add or not, which register and cache blocking) depends on the CPU,
//! and every kernel adds in another order and so rounds differently. A model
//! file that anyone must be able to rebuild byte for byte cannot hang on that.
//!
//! So operands are rounded *first*. [`Matrix::product`] keeps of each operand
//! only as many leading bits (relative to its largest entry) as make all
//! products and all partial sums integers below 2^53 on a common grid: no
//! addition rounds any more, hence the order of additions does not matter, and
//! any kernel on any CPU with any number of threads gives the same answer. For
//! the sizes here 17 to 22 bits are kept, about what `f32` has. (This is the
//! pre-rounding of reproducible BLAS, with a single slice.)
//!
//! Everything else in this crate that reaches a code uses only operations that
//! IEEE 754 defines exactly (+, -, *, /, square root), in a fixed order.

pub mod eigen;
pub mod exact;
pub mod rotation;

use brr::parts::parallel;
pub use exact::gemm;

/// Most rows of a product computed in one go.
const PART: usize = 512;

/// A matrix in row-major order.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub cols: usize,
    /// `rows * cols` numbers, row after row.
    pub data: Vec<f64>,
}

/// How an operand enters a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// As it is.
    Plain,
    /// Transposed.
    Transposed,
}

impl Matrix {
    /// All zero.
    pub fn zeros(rows: usize, cols: usize) -> Matrix {
        Matrix {
            rows,
            cols,
            data: vec![0.0; rows * cols],
        }
    }

    /// Entry `(i, j)` is `f(i, j)`; `f` is called row after row.
    pub fn from_fn(rows: usize, cols: usize, mut f: impl FnMut(usize, usize) -> f64) -> Matrix {
        let mut data = Vec::with_capacity(rows * cols);
        for i in 0..rows {
            data.extend((0..cols).map(|j| f(i, j)));
        }
        Matrix { rows, cols, data }
    }

    /// The identity.
    pub fn identity(n: usize) -> Matrix {
        Matrix::from_fn(n, n, |i, j| f64::from(i == j))
    }

    /// Row `i`.
    pub fn row(&self, i: usize) -> &[f64] {
        &self.data[i * self.cols..(i + 1) * self.cols]
    }

    /// Row `i`, to change.
    pub fn row_mut(&mut self, i: usize) -> &mut [f64] {
        &mut self.data[i * self.cols..(i + 1) * self.cols]
    }

    /// Changes the number of rows; new ones are zero.
    pub fn resize(&mut self, rows: usize) {
        self.rows = rows;
        self.data.resize(rows * self.cols, 0.0);
    }

    /// The transpose.
    pub fn transposed(&self) -> Matrix {
        Matrix::from_fn(self.cols, self.rows, |i, j| self.data[j * self.cols + i])
    }

    /// Multiplies every entry.
    pub fn scaled(mut self, factor: f64) -> Matrix {
        self.data.iter_mut().for_each(|x| *x *= factor);
        self
    }

    /// Shape as an operand: rows, columns, row stride, column stride.
    fn shape(&self, op: Op) -> (usize, usize, isize, isize) {
        match op {
            Op::Plain => (self.rows, self.cols, self.cols as isize, 1),
            Op::Transposed => (self.cols, self.rows, 1, self.cols as isize),
        }
    }

    /// Drops what a product with `terms` terms cannot take of an operand.
    pub fn round(&mut self, terms: usize) {
        exact::round(&mut self.data, exact::bits_for(terms));
    }

    /// A copy, [rounded](Self::round).
    pub fn rounded(&self, terms: usize) -> Matrix {
        let mut copy = self.clone();
        copy.round(terms);
        copy
    }

    /// The product of `a` and `b`, rounded as the module's documentation says:
    /// the same bits on any CPU and for any number of threads.
    ///
    /// # Panics
    /// If the inner dimensions differ.
    pub fn product(threads: usize, a: &Matrix, op_a: Op, b: &Matrix, op_b: Op) -> Matrix {
        let terms = a.shape(op_a).1;
        let (a, b) = (a.rounded(terms), b.rounded(terms));
        let mut out = Matrix::zeros(a.shape(op_a).0, b.shape(op_b).1);
        out.set_product(threads, &a, op_a, &b, op_b);
        out
    }

    /// Becomes the product of operands that are [rounded](Self::round) already,
    /// to no fewer terms than it has, or hold small whole numbers.
    ///
    /// # Panics
    /// If the shapes do not fit.
    pub fn set_product(&mut self, threads: usize, a: &Matrix, op_a: Op, b: &Matrix, op_b: Op) {
        let (m, k, rs_a, cs_a) = a.shape(op_a);
        let (kb, n, rs_b, cs_b) = b.shape(op_b);
        assert_eq!(k, kb, "inner dimensions of a product");
        assert_eq!((self.rows, self.cols), (m, n), "shape of a product");
        // No addition rounds, so how the rows are split does not show.
        let rows = m.div_ceil(threads.max(1)).clamp(1, PART);
        parallel::chunks(threads, &mut self.data, rows * n.max(1), |part, chunk| {
            let from = &a.data[part * rows * rs_a.unsigned_abs()..];
            let shape = (chunk.len() / n, k, n);
            gemm(shape, (from, rs_a, cs_a), (&b.data, rs_b, cs_b), chunk);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(rows: usize, cols: usize, salt: u64) -> Matrix {
        let mut state = salt;
        Matrix::from_fn(rows, cols, |_, _| {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (state >> 40) as f64 / (1 << 23) as f64 - 1.0
        })
    }

    #[test]
    fn products_are_close_to_the_true_ones_for_every_shape() {
        let (a, b) = (sample(700, 33, 1), sample(33, 17, 2));
        let got = Matrix::product(2, &a, Op::Plain, &b, Op::Plain);
        for (i, j) in [(0, 0), (511, 3), (512, 4), (699, 16)] {
            let want: f64 = (0..33).map(|k| a.row(i)[k] * b.row(k)[j]).sum();
            assert!((got.row(i)[j] - want).abs() < 1e-4, "({i}, {j})");
        }
        let (at, bt) = (a.transposed(), b.transposed());
        assert_eq!(got, Matrix::product(1, &at, Op::Transposed, &b, Op::Plain));
        assert_eq!(got, Matrix::product(3, &a, Op::Plain, &bt, Op::Transposed));
    }

    #[test]
    fn the_order_of_additions_does_not_show() {
        let (a, b) = (sample(40, 1000, 3), sample(1000, 20, 4));
        let got = Matrix::product(1, &a, Op::Plain, &b, Op::Plain);
        let flip = |m: &Matrix, rows: bool| {
            Matrix::from_fn(m.rows, m.cols, |i, j| {
                let (i, j) = if rows {
                    (m.rows - 1 - i, j)
                } else {
                    (i, m.cols - 1 - j)
                };
                m.row(i)[j]
            })
        };
        let back = Matrix::product(2, &flip(&a, false), Op::Plain, &flip(&b, true), Op::Plain);
        assert_eq!(got, back);
    }
}

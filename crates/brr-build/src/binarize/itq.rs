//! Iterative quantization (Gong, Lazebnik 2011): principal components, then the
//! rotation R that brings the words nearest to the corners of the cube.
//!
//! It alternates B = sign(V R) with the orthogonal R nearest to V^T B (Procrustes),
//! each step lowering ||B - V R||^2. With more bits than dimensions R has
//! orthonormal rows instead and spreads each word over all bits (a tight frame).

use super::spectrum::spectrum;
use super::{BinarizeError, BinarizeOptions, Binarizer, OnProgress, Progress, signs};
use crate::matrix::{Matrix, Op, rotation};
use crate::seeded;
use crate::vectors::Vectors;
use brr::parts::codes::CodeRows;
use brr::parts::parallel;

/// Principal components and a learned rotation.
#[derive(Clone, Copy, Debug)]
pub struct Itq {
    /// Rounds of alternation; 50 in the paper, with little gain after 30.
    pub iterations: usize,
}

impl Default for Itq {
    fn default() -> Itq {
        Itq { iterations: 30 }
    }
}

impl Binarizer for Itq {
    fn name(&self) -> &'static str {
        "itq"
    }

    fn binarize(
        &self,
        vectors: &Vectors,
        options: &BinarizeOptions,
        progress: &mut OnProgress<'_>,
    ) -> Result<CodeRows, BinarizeError> {
        let scores = spectrum(options.threads, vectors)?.scores;
        let kept = first_columns(&scores, options.bits.get());
        Ok(signs(
            &rotate(&kept, self.iterations, options, progress),
            options.bits,
        ))
    }
}

/// The first `n` columns, or all if there are fewer.
pub fn first_columns(m: &Matrix, n: usize) -> Matrix {
    Matrix::from_fn(m.rows, n.min(m.cols), |i, j| m.row(i)[j])
}

/// `v` turned into `bits` columns by the learned rotation; signs are the codes.
pub fn rotate(
    v: &Matrix,
    iterations: usize,
    options: &BinarizeOptions,
    progress: &mut OnProgress<'_>,
) -> Matrix {
    let (threads, bits) = (options.threads, options.bits.get());
    let mut rng = seeded::generator(options.seed, 0);
    let mut r = rotation::orthonormal(threads, v.cols, bits, &mut rng);
    let mut report = |step, loss| progress(Progress::new("iteration", (step, iterations), loss));
    report(0, None);
    // Signs need no rounding: only `v` is copied, once.
    let rounded = v.rounded(v.rows);
    let mut target = Matrix::zeros(v.cols, bits);
    for step in 1..=iterations {
        let mut turned = Matrix::product(threads, v, Op::Plain, &r, Op::Plain);
        let loss = to_signs(threads, &mut turned);
        target.set_product(threads, &rounded, Op::Transposed, &turned, Op::Plain);
        r = rotation::polar(threads, &target);
        report(step, Some(loss));
    }
    Matrix::product(threads, v, Op::Plain, &r, Op::Plain)
}

/// Replaces entries by their signs; the mean squared change, up to scale.
fn to_signs(threads: usize, m: &mut Matrix) -> f64 {
    let count = m.data.len() as f64;
    let mean = m.data.iter().map(|x| x.abs()).sum::<f64>() / count;
    let square = m.data.iter().map(|x| x * x).sum::<f64>() / count;
    parallel::chunks(threads, &mut m.data, 1 << 16, |_, chunk| {
        chunk
            .iter_mut()
            .for_each(|x| *x = if *x >= 0.0 { 1.0 } else { -1.0 });
    });
    // Best scale s = mean |x|: ||x - s sign(x)||^2 = square - mean^2.
    1.0 - mean * mean / square.max(f64::MIN_POSITIVE)
}

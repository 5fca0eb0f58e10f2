//! The real vectors as the binarizers see them: unit length, centred, and along
//! their principal components.

use super::BinarizeError;
use crate::matrix::{Matrix, Op, eigen};
use crate::vectors::Vectors;

/// Words along their principal components, strongest first.
pub struct Spectrum {
    /// One row per word.
    pub scores: Matrix,
    /// Variance along each component.
    pub variances: Vec<f64>,
}

impl Spectrum {
    /// The scores, each component divided by the square root of its standard deviation: the few strong
    /// ones are toned down.
    pub fn flattened(self) -> Matrix {
        let Spectrum {
            mut scores,
            variances,
        } = self;
        let floor = variances[0] * 1e-9;
        let weight = |&v: &f64| {
            if v > floor {
                1.0 / v.sqrt().sqrt()
            } else {
                0.0
            }
        };
        let weights: Vec<f64> = variances.iter().map(weight).collect();
        for row in scores.data.chunks_exact_mut(scores.cols) {
            row.iter_mut().zip(&weights).for_each(|(x, w)| *x *= w);
        }
        scores
    }
}

/// Scales each vector to length 1 (the cosine is what similarity means for word
/// vectors, and frequent words have longer ones), takes the mean away (a
/// direction that all words share tells none apart) and turns to principal
/// components.
pub fn spectrum(threads: usize, vectors: &Vectors) -> Result<Spectrum, BinarizeError> {
    super::check(vectors)?;
    let (words, dim) = (vectors.words.len(), vectors.dim);
    let mut x = Matrix {
        rows: words,
        cols: dim,
        data: vectors.data.iter().map(|&v| f64::from(v)).collect(),
    };
    normalize(&mut x);
    center(&mut x);
    let covariance = Matrix::product(threads, &x, Op::Transposed, &x, Op::Plain);
    let eigen = eigen::decompose(&covariance.scaled(1.0 / words as f64));
    if eigen.values[0] <= 0.0 {
        return Err(BinarizeError::AllEqual);
    }
    Ok(Spectrum {
        scores: Matrix::product(threads, &x, Op::Plain, &eigen.vectors, Op::Transposed),
        variances: eigen.values,
    })
}

/// Scales each row to length 1; a row of zeros stays.
pub fn normalize(x: &mut Matrix) {
    for row in x.data.chunks_exact_mut(x.cols) {
        let length = eigen::dot(row, row).sqrt();
        if length > 0.0 {
            row.iter_mut().for_each(|v| *v /= length);
        }
    }
}

/// Takes the mean of all rows from each.
pub fn center(x: &mut Matrix) {
    let mut mean = vec![0.0; x.cols];
    for row in x.data.chunks_exact(x.cols) {
        mean.iter_mut().zip(row).for_each(|(m, v)| *m += v);
    }
    mean.iter_mut().for_each(|m| *m /= x.rows as f64);
    for row in x.data.chunks_exact_mut(x.cols) {
        row.iter_mut().zip(&mean).for_each(|(v, m)| *v -= m);
    }
}

//! Random hyperplanes: bit `j` says on which side of a random plane through the
//! mean a word lies (Charikar 2002). Two words' bits differ with probability
//! angle / pi. Nothing is learned; every better binarizer is measured against it.

use super::spectrum::{center, normalize};
use super::{BinarizeError, BinarizeOptions, Binarizer, OnProgress, Progress, check, signs};
use crate::matrix::{Matrix, Op, rotation};
use crate::seeded;
use crate::vectors::Vectors;
use brr::parts::codes::CodeRows;

/// Signs of random projections.
#[derive(Clone, Copy, Debug, Default)]
pub struct Hyperplane;

impl Binarizer for Hyperplane {
    fn name(&self) -> &'static str {
        "hyperplane"
    }

    fn binarize(
        &self,
        vectors: &Vectors,
        options: &BinarizeOptions,
        progress: &mut OnProgress<'_>,
    ) -> Result<CodeRows, BinarizeError> {
        check(vectors)?;
        let mut report = |step| progress(Progress::new("step", (step, 1), None));
        report(0);
        let mut x = Matrix {
            rows: vectors.words.len(),
            cols: vectors.dim,
            data: vectors.data.iter().map(|&v| f64::from(v)).collect(),
        };
        normalize(&mut x);
        center(&mut x);
        let mut rng = seeded::generator(options.seed, 0);
        let planes = rotation::gaussian(options.bits.get(), vectors.dim, &mut rng);
        let sides = Matrix::product(options.threads, &x, Op::Plain, &planes, Op::Transposed);
        report(1);
        Ok(signs(&sides, options.bits))
    }
}

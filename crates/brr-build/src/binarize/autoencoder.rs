//! Near-lossless binarization (Tissier, Gravier, Habrard 2019), the codes of the
//! BRR paper (Section 3): an autoencoder whose hidden layer is the code.
//!
//! ```text
//! b  = H(W x)               code: 1 where W x is not negative, else 0
//! x' = tanh(W^T b + c)      the vector rebuilt from its code
//! loss = mean (x - x')^2 + lambda / 2 ||W^T W - I||^2
//! ```
//!
//! H has no useful gradient, so none passes the encoder: W learns as decoder and
//! is shared. The second term keeps the rows of W apart, so that bits do not
//! repeat each other. Its gradient is 2 W (W^T W - I) = 2 (W W^T - I) W, whichever
//! is the smaller product. Inputs are clipped to [-1, 1], what tanh can reach.
//!
//! A batch is cut into a fixed number of parts, gradients are added up in the
//! order of the parts, and every product is exact after rounding
//! ([`crate::matrix`]): the number of threads and the CPU do not show.

use super::{BinarizeError, BinarizeOptions, Binarizer, OnProgress, Progress, check, signs};
use crate::matrix::{Matrix, Op, rotation};
use crate::network::{Adam, Dense, Gradient, activation};
use crate::seeded;
use crate::vectors::Vectors;
use brr::parts::codes::CodeRows;
use brr::parts::parallel;
use rand_core::Rng;

/// Parts of a batch.
const PARTS: usize = 4;

/// Codes from which the vectors can be rebuilt.
#[derive(Clone, Copy, Debug)]
pub struct Autoencoder {
    /// Times all words are seen.
    pub epochs: usize,
    /// Words per step.
    pub batch: usize,
    /// Learning rate at the start; it falls linearly to a tenth.
    pub rate: f64,
    /// Weight of the orthogonality term.
    pub lambda: f64,
}

impl Default for Autoencoder {
    fn default() -> Autoencoder {
        Autoencoder {
            epochs: 10,
            batch: 256,
            rate: 1e-3,
            lambda: 1.0,
        }
    }
}

impl Binarizer for Autoencoder {
    fn name(&self) -> &'static str {
        "autoencoder"
    }

    fn binarize(
        &self,
        vectors: &Vectors,
        options: &BinarizeOptions,
        progress: &mut OnProgress<'_>,
    ) -> Result<CodeRows, BinarizeError> {
        check(vectors)?;
        let (words, dim, bits) = (vectors.words.len(), vectors.dim, options.bits.get());
        let x = Matrix {
            rows: words,
            cols: dim,
            data: vectors
                .data
                .iter()
                .map(|&v| f64::from(v.clamp(-1.0, 1.0)))
                .collect(),
        }
        .rounded(bits.max(dim));
        let mut rng = seeded::generator(options.seed, 0);
        let mut model = Model::new(bits, dim, self, options.threads, &mut rng);
        let mut order: Vec<usize> = (0..words).collect();
        let mut report = |epoch, loss| progress(Progress::new("epoch", (epoch, self.epochs), loss));
        report(0, None);
        for epoch in 1..=self.epochs {
            seeded::shuffle(&mut order, &mut rng);
            model.slow_down(1.0 - 0.9 * (epoch - 1) as f64 / self.epochs as f64);
            let mut loss = 0.0;
            for batch in order.chunks(self.batch.max(1)) {
                loss += model.learn(&x, batch) * batch.len() as f64 / words as f64;
            }
            report(epoch, Some(loss));
        }
        let hidden = Matrix::product(
            options.threads,
            &x,
            Op::Plain,
            model.weights(),
            Op::Transposed,
        );
        Ok(signs(&hidden, options.bits))
    }
}

/// The network in training. The decoder is a dense layer from code to vector
/// whose weights, bits x dim, are the encoder's too.
struct Model {
    decoder: Dense,
    optimizers: [Adam; 2],
    rate: f64,
    lambda: f64,
    threads: usize,
    /// What is computed for each part of a batch, and for the orthogonality term
    /// first; kept between steps, since fresh memory costs more than arithmetic.
    work: Vec<Work>,
}

impl Model {
    fn new(
        bits: usize,
        dim: usize,
        settings: &Autoencoder,
        threads: usize,
        rng: &mut impl Rng,
    ) -> Model {
        let rate = settings.rate;
        let part = settings.batch.max(1).div_ceil(PARTS);
        let mut work = vec![Work::new(bits.min(dim), bits, dim)];
        work.extend((0..PARTS).map(|_| Work::new(part, bits, dim)));
        Model {
            decoder: Dense {
                weights: rotation::orthonormal(threads, bits, dim, rng),
                bias: vec![0.0; dim],
            },
            optimizers: [Adam::new(bits * dim, rate), Adam::new(dim, rate)],
            rate,
            lambda: settings.lambda,
            threads,
            work,
        }
    }

    fn weights(&self) -> &Matrix {
        &self.decoder.weights
    }

    /// Learns at this share of the first rate from now on.
    fn slow_down(&mut self, share: f64) {
        let rate = self.rate * share;
        self.optimizers
            .iter_mut()
            .for_each(|optimizer| optimizer.set_rate(rate));
    }

    /// One step on the words of `batch`; the loss before it.
    fn learn(&mut self, x: &Matrix, batch: &[usize]) -> f64 {
        let terms = self.weights().rows.max(x.cols);
        let rounded = Dense {
            weights: self.weights().rounded(terms),
            bias: self.decoder.bias.clone(),
        };
        let parts: Vec<&[usize]> = batch.chunks(batch.len().div_ceil(PARTS)).collect();
        let work = &mut self.work[..=parts.len()];
        parallel::chunks(self.threads, work, 1, |at, work| match at {
            0 => work[0].orthogonality(&rounded.weights, self.lambda),
            _ => work[0].reconstruction(&rounded, x, parts[at - 1], batch.len()),
        });
        let (total, parts) = work.split_first_mut().expect("the orthogonality term");
        for part in parts.iter() {
            total.gradient.add(&part.gradient);
            total.loss += part.loss;
        }
        let gradient = &total.gradient;
        self.optimizers[0].step(&mut self.decoder.weights.data, &gradient.weights.data);
        self.optimizers[1].step(&mut self.decoder.bias, &gradient.bias);
        total.loss
    }
}

/// A part's share of the loss and its gradient, and memory to compute it in.
struct Work {
    loss: f64,
    gradient: Gradient,
    input: Matrix,
    code: Matrix,
    output: Matrix,
}

impl Work {
    fn new(rows: usize, bits: usize, dim: usize) -> Work {
        Work {
            loss: 0.0,
            gradient: Gradient::zeros(bits, dim),
            input: Matrix::zeros(rows, dim),
            code: Matrix::zeros(rows, bits),
            output: Matrix::zeros(rows, dim),
        }
    }

    /// Mean squared error of `words`, a part of a batch of `batch` words, and its
    /// gradient by the decoder.
    fn reconstruction(&mut self, decoder: &Dense, x: &Matrix, words: &[usize], batch: usize) {
        for matrix in [&mut self.input, &mut self.code, &mut self.output] {
            matrix.resize(words.len());
        }
        for (at, &word) in words.iter().enumerate() {
            self.input.row_mut(at).copy_from_slice(x.row(word));
        }
        let (w, code) = (&decoder.weights, &mut self.code);
        code.set_product(1, &self.input, Op::Plain, w, Op::Transposed);
        code.data
            .iter_mut()
            .for_each(|h| *h = f64::from(u8::from(*h >= 0.0)));
        self.output.set_product(1, code, Op::Plain, w, Op::Plain);
        let per = 1.0 / (batch * x.cols) as f64;
        self.loss = 0.0;
        let rows = self.output.data.chunks_exact_mut(x.cols);
        for (output, input) in rows.zip(self.input.data.chunks_exact(x.cols)) {
            for ((y, x), c) in output.iter_mut().zip(input).zip(&decoder.bias) {
                let rebuilt = activation::tanh(*y + c);
                let error = rebuilt - x;
                self.loss += per * (error * error);
                *y = 2.0 * per * error * (1.0 - rebuilt * rebuilt);
            }
        }
        self.output.round(words.len());
        Dense::backward(&self.code, &self.output, &mut self.gradient);
    }

    /// lambda / 2 ||W^T W - I||^2 and its gradient by W.
    fn orthogonality(&mut self, w: &Matrix, lambda: f64) {
        let wide = w.rows <= w.cols;
        let side = w.rows.min(w.cols);
        let mut gram = Matrix::zeros(side, side);
        let (first, second) = match wide {
            true => (Op::Plain, Op::Transposed),
            false => (Op::Transposed, Op::Plain),
        };
        gram.set_product(1, w, first, w, second);
        for i in 0..side {
            gram.row_mut(i)[i] -= 1.0;
        }
        // W^T W has the eigenvalues of W W^T and dim - bits zeros besides.
        let zeros = (w.cols - side) as f64;
        let squares: f64 = gram.data.iter().map(|x| x * x).sum();
        self.loss = lambda * (squares + zeros) / 2.0;
        gram.round(w.rows.max(w.cols));
        let (a, b) = if wide { (&gram, w) } else { (w, &gram) };
        let gradient = &mut self.gradient;
        gradient.weights.set_product(1, a, Op::Plain, b, Op::Plain);
        gradient
            .weights
            .data
            .iter_mut()
            .for_each(|g| *g *= 2.0 * lambda);
        gradient.bias.fill(0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks `gradient` of `loss` by central differences at a few places.
    fn check_gradient(at: &Matrix, gradient: &Matrix, loss: impl Fn(&Matrix) -> f64) {
        const STEP: f64 = 1e-3;
        for place in (0..at.data.len()).step_by(3) {
            let moved = |by: f64| {
                let mut moved = at.clone();
                moved.data[place] += by;
                loss(&moved)
            };
            let want = (moved(STEP) - moved(-STEP)) / (2.0 * STEP);
            let got = gradient.data[place];
            assert!(
                (got - want).abs() < 2e-3 * (want.abs() + 0.1),
                "{got} is not {want}"
            );
        }
    }

    #[test]
    fn gradient_of_the_orthogonality_term() {
        for (bits, dim) in [(6, 9), (9, 6)] {
            let w = rotation::gaussian(bits, dim, &mut seeded::generator(1, 0));
            let mut work = Work::new(1, bits, dim);
            work.orthogonality(&w.rounded(9), 1.0);
            check_gradient(&w, &work.gradient.weights, |w| {
                let product = Matrix::product(1, w, Op::Transposed, w, Op::Plain);
                let off =
                    |(i, x): (usize, &f64)| (x - f64::from(u8::from(i / dim == i % dim))).powi(2);
                product.data.iter().enumerate().map(off).sum::<f64>() / 2.0
            });
        }
    }

    /// The decoder's gradient with codes held fixed, which is what "H gives no
    /// gradient" means: the numeric derivative must not let a code bit change.
    #[test]
    fn gradient_of_the_reconstruction() {
        let mut rng = seeded::generator(2, 0);
        let mut x = rotation::gaussian(5, 6, &mut rng);
        x.data.iter_mut().for_each(|v| *v = v.clamp(-1.0, 1.0));
        let w = rotation::gaussian(8, 6, &mut rng).scaled(0.3);
        let decoder = Dense {
            weights: w.clone(),
            bias: vec![0.1; 6],
        };
        let mut code = Matrix::product(1, &x, Op::Plain, &w, Op::Transposed);
        code.data
            .iter_mut()
            .for_each(|h| *h = f64::from(u8::from(*h >= 0.0)));
        let mut work = Work::new(5, 8, 6);
        work.reconstruction(&decoder, &x, &[0, 1, 2, 3, 4], 5);
        let fixed = |w: &Matrix| {
            let y = Dense {
                weights: w.clone(),
                bias: vec![0.1; 6],
            }
            .forward(&code);
            let pairs = y.data.iter().zip(&x.data);
            pairs.map(|(y, x)| (y.tanh() - x).powi(2)).sum::<f64>() / 30.0
        };
        assert!((work.loss - fixed(&w)).abs() < 1e-6);
        check_gradient(&w, &work.gradient.weights, fixed);
    }

    #[test]
    fn training_makes_the_weights_orthogonal_and_the_loss_small() {
        let vectors = crate::binarize::tests::clusters(20, 20, 16);
        let bits = brr::parts::codes::CodeBits::new(64).unwrap();
        let options = BinarizeOptions {
            bits,
            seed: 1,
            threads: 2,
        };
        let mut losses = Vec::new();
        let settings = Autoencoder {
            epochs: 20,
            batch: 50,
            ..Default::default()
        };
        settings
            .binarize(&vectors, &options, &mut |p| losses.extend(p.loss))
            .unwrap();
        assert!(losses[19] < 0.8 * losses[0], "{losses:?}");
    }
}

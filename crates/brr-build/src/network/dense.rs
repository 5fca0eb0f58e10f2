//! A dense layer, forward and backward.

use crate::matrix::{Matrix, Op};

/// y = x W + c for every row x of a batch.
#[derive(Clone, Debug)]
pub struct Dense {
    /// W: inputs x outputs.
    pub weights: Matrix,
    /// c: one for each output.
    pub bias: Vec<f64>,
}

/// How the loss changes with a layer's parameters.
#[derive(Clone, Debug)]
pub struct Gradient {
    /// By W.
    pub weights: Matrix,
    /// By c.
    pub bias: Vec<f64>,
}

impl Dense {
    /// The layer's output for a batch of rows, before any activation.
    pub fn forward(&self, x: &Matrix) -> Matrix {
        let mut y = Matrix::product(1, x, Op::Plain, &self.weights, Op::Plain);
        for row in y.data.chunks_exact_mut(self.bias.len()) {
            row.iter_mut().zip(&self.bias).for_each(|(y, c)| *y += c);
        }
        y
    }

    /// Sets `gradient` to that of the parameters, from the batch `x` and the
    /// gradient by the output; both [rounded](Matrix::round) to the batch's rows.
    pub fn backward(x: &Matrix, by_output: &Matrix, gradient: &mut Gradient) {
        gradient.bias.fill(0.0);
        for row in by_output.data.chunks_exact(by_output.cols) {
            gradient.bias.iter_mut().zip(row).for_each(|(c, g)| *c += g);
        }
        gradient
            .weights
            .set_product(1, x, Op::Transposed, by_output, Op::Plain);
    }

    /// The gradient by the input, for the layer below.
    pub fn by_input(&self, by_output: &Matrix) -> Matrix {
        Matrix::product(1, by_output, Op::Plain, &self.weights, Op::Transposed)
    }
}

impl Gradient {
    /// No gradient, for a layer of this shape.
    pub fn zeros(inputs: usize, outputs: usize) -> Gradient {
        Gradient {
            weights: Matrix::zeros(inputs, outputs),
            bias: vec![0.0; outputs],
        }
    }

    /// Adds the gradient of another part of the batch.
    pub fn add(&mut self, other: &Gradient) {
        let weights = self.weights.data.iter_mut().zip(&other.weights.data);
        weights.for_each(|(a, b)| *a += b);
        self.bias
            .iter_mut()
            .zip(&other.bias)
            .for_each(|(a, b)| *a += b);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::rotation::gaussian;
    use crate::network::activation::tanh;
    use crate::seeded::generator;

    /// Half the sum of squares of a two-layer network's output.
    fn loss(layers: &[Dense; 2], x: &Matrix) -> f64 {
        let mut hidden = layers[0].forward(x);
        hidden.data.iter_mut().for_each(|h| *h = tanh(*h));
        layers[1]
            .forward(&hidden)
            .data
            .iter()
            .map(|y| y * y)
            .sum::<f64>()
            / 2.0
    }

    /// Its gradient by both layers.
    fn gradients(layers: &[Dense; 2], x: &Matrix) -> [Gradient; 2] {
        let mut hidden = layers[0].forward(x);
        hidden.data.iter_mut().for_each(|h| *h = tanh(*h));
        let y = layers[1].forward(&hidden);
        let mut by_hidden = layers[1].by_input(&y);
        for (g, h) in by_hidden.data.iter_mut().zip(&hidden.data) {
            *g *= 1.0 - h * h;
        }
        let gradient = |x: &Matrix, by_output: &Matrix| {
            let mut gradient = Gradient::zeros(x.cols, by_output.cols);
            Dense::backward(
                &x.rounded(x.rows),
                &by_output.rounded(x.rows),
                &mut gradient,
            );
            gradient
        };
        [gradient(x, &by_hidden), gradient(&hidden, &y)]
    }

    #[test]
    fn gradients_agree_with_differences() {
        const STEP: f64 = 1e-3;
        let mut rng = generator(1, 0);
        let layer = |inputs, outputs, rng: &mut _| Dense {
            weights: gaussian(inputs, outputs, rng),
            bias: gaussian(1, outputs, rng).data,
        };
        let layers = [layer(4, 5, &mut rng), layer(5, 3, &mut rng)];
        let x = gaussian(6, 4, &mut rng);
        let got = gradients(&layers, &x);
        for which in 0..2 {
            for at in 0..layers[which].weights.data.len() {
                let moved = |by: f64| {
                    let mut layers = layers.clone();
                    layers[which].weights.data[at] += by;
                    loss(&layers, &x)
                };
                let want = (moved(STEP) - moved(-STEP)) / (2.0 * STEP);
                let found = got[which].weights.data[at];
                assert!(
                    (found - want).abs() < 1e-3 * (1.0 + want.abs()),
                    "{found} {want}"
                );
            }
            for at in 0..layers[which].bias.len() {
                let moved = |by: f64| {
                    let mut layers = layers.clone();
                    layers[which].bias[at] += by;
                    loss(&layers, &x)
                };
                let want = (moved(STEP) - moved(-STEP)) / (2.0 * STEP);
                assert!((got[which].bias[at] - want).abs() < 1e-3 * (1.0 + want.abs()));
            }
        }
    }
}

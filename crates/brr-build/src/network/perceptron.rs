//! A perceptron with hidden layers that says how likely a row belongs to a class.

use super::activation::sigmoid;
use super::{Adam, Dense, Gradient};
use crate::matrix::Matrix;
use crate::matrix::rotation::gaussian;
use crate::seeded::{generator, shuffle};

/// How a [`Perceptron`] is trained.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Training {
    /// Passes over the rows.
    pub epochs: usize,
    /// Rows between two steps.
    pub batch: usize,
    /// Adam's learning rate; it falls to nothing along the way.
    pub rate: f64,
    /// Seed of the first weights and of the order of the rows.
    pub seed: u64,
}

/// Dense layers with ReLU between them and one sigmoid at the end.
#[derive(Clone, Debug)]
pub struct Perceptron {
    layers: Vec<Dense>,
}

impl Perceptron {
    /// An untrained one (He et al. 2015): `inputs` numbers in, these hidden layers.
    pub fn new(inputs: usize, hidden: &[usize], seed: u64) -> Perceptron {
        let mut rng = generator(seed, 0);
        let ends = hidden.iter().copied().chain([1]);
        let starts = [inputs].into_iter().chain(hidden.iter().copied());
        let layer = |(from, to): (usize, usize)| Dense {
            weights: gaussian(from, to, &mut rng).scaled((2.0 / from as f64).sqrt()),
            bias: vec![0.0; to],
        };
        Perceptron {
            layers: starts.zip(ends).map(layer).collect(),
        }
    }

    /// The probability of the class for every row.
    pub fn probabilities(&self, rows: &Matrix) -> Vec<f64> {
        let outputs = self.forward(rows);
        let last = outputs.last().expect("there is a layer");
        last.data.iter().map(|x| sigmoid(*x)).collect()
    }

    /// What every layer puts out: rectified, but for the last.
    fn forward(&self, rows: &Matrix) -> Vec<Matrix> {
        let mut outputs: Vec<Matrix> = Vec::with_capacity(self.layers.len());
        for (i, layer) in self.layers.iter().enumerate() {
            let mut y = layer.forward(outputs.last().unwrap_or(rows));
            if i + 1 < self.layers.len() {
                y.data.iter_mut().for_each(|y| *y = y.max(0.0));
            }
            outputs.push(y);
        }
        outputs
    }

    /// Gradients of the mean cross-entropy, layer by layer.
    fn gradients(&self, rows: &Matrix, classes: &[f64]) -> Vec<Gradient> {
        let outputs = self.forward(rows);
        // The derivative of sigmoid and cross-entropy together.
        let last = outputs.last().expect("there is a layer");
        let mut by_output = Matrix::from_fn(rows.rows, 1, |i, _| {
            (sigmoid(last.data[i]) - classes[i]) / rows.rows as f64
        });
        let mut gradients = Vec::with_capacity(self.layers.len());
        for (i, layer) in self.layers.iter().enumerate().rev() {
            let input = if i == 0 { rows } else { &outputs[i - 1] };
            let mut gradient = Gradient::zeros(input.cols, by_output.cols);
            Dense::backward(
                &input.rounded(rows.rows),
                &by_output.rounded(rows.rows),
                &mut gradient,
            );
            gradients.push(gradient);
            if i > 0 {
                let mut by_input = layer.by_input(&by_output);
                for (g, y) in by_input.data.iter_mut().zip(&input.data) {
                    *g = if *y > 0.0 { *g } else { 0.0 };
                }
                by_output = by_input;
            }
        }
        gradients.reverse();
        gradients
    }

    /// Learns to tell rows of class 1 from rows of class 0.
    ///
    /// # Panics
    /// If there are not as many classes as rows.
    pub fn train(&mut self, rows: &Matrix, classes: &[f64], training: &Training) {
        assert_eq!(rows.rows, classes.len(), "a class for every row");
        let adam = |len| Adam::new(len, training.rate);
        let mut weights: Vec<Adam> = self
            .layers
            .iter()
            .map(|l| adam(l.weights.data.len()))
            .collect();
        let mut biases: Vec<Adam> = self.layers.iter().map(|l| adam(l.bias.len())).collect();
        let mut order: Vec<usize> = (0..rows.rows).collect();
        let mut rng = generator(training.seed, 1);
        for epoch in 0..training.epochs {
            let rate = training.rate * (1.0 - epoch as f64 / training.epochs as f64);
            shuffle(&mut order, &mut rng);
            for ids in order.chunks(training.batch.max(1)) {
                let batch = Matrix::from_fn(ids.len(), rows.cols, |i, j| rows.row(ids[i])[j]);
                let wanted: Vec<f64> = ids.iter().map(|&i| classes[i]).collect();
                let gradients = self.gradients(&batch, &wanted);
                for (i, (layer, gradient)) in self.layers.iter_mut().zip(&gradients).enumerate() {
                    weights[i].set_rate(rate);
                    weights[i].step(&mut layer.weights.data, &gradient.weights.data);
                    biases[i].set_rate(rate);
                    biases[i].step(&mut layer.bias, &gradient.bias);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loss(net: &Perceptron, rows: &Matrix, classes: &[f64]) -> f64 {
        let p = net.probabilities(rows);
        let terms = p.iter().zip(classes);
        let sum: f64 = terms
            .map(|(p, c)| -(c * p.ln() + (1.0 - c) * (1.0 - p).ln()))
            .sum();
        sum / classes.len() as f64
    }

    #[test]
    fn gradients_agree_with_differences() {
        const STEP: f64 = 1e-4;
        let net = Perceptron::new(3, &[5, 4], 7);
        let rows = gaussian(9, 3, &mut generator(2, 0));
        let classes: Vec<f64> = (0..9).map(|i| f64::from(i % 2)).collect();
        let found = net.gradients(&rows, &classes);
        for (which, gradient) in found.iter().enumerate() {
            let check = |pick: &dyn Fn(&mut Dense) -> &mut Vec<f64>, found: &[f64]| {
                for (at, found) in found.iter().enumerate() {
                    let moved = |by: f64| {
                        let mut net = net.clone();
                        pick(&mut net.layers[which])[at] += by;
                        loss(&net, &rows, &classes)
                    };
                    let want = (moved(STEP) - moved(-STEP)) / (2.0 * STEP);
                    assert!(
                        (found - want).abs() < 1e-3 * (1.0 + want.abs()),
                        "{found} {want}"
                    );
                }
            };
            check(&|l| &mut l.weights.data, &gradient.weights.data);
            check(&|l| &mut l.bias, &gradient.bias);
        }
    }

    #[test]
    fn learns_what_no_line_can_separate() {
        let rows = Matrix::from_fn(400, 2, |i, j| {
            f64::from((i >> j) as u32 & 1) + 0.01 * (i % 7) as f64
        });
        let classes: Vec<f64> = (0..400)
            .map(|i| f64::from((i ^ (i >> 1)) as u32 & 1))
            .collect();
        let training = Training {
            epochs: 60,
            batch: 32,
            rate: 0.01,
            seed: 3,
        };
        let mut net = Perceptron::new(2, &[16, 16], 3);
        net.train(&rows, &classes, &training);
        let right = net
            .probabilities(&rows)
            .iter()
            .zip(&classes)
            .filter(|(p, c)| (**p > 0.5) == (**c > 0.5))
            .count();
        assert_eq!(right, 400);
    }
}

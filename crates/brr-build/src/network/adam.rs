//! The Adam optimizer (Kingma, Ba 2015).

/// Optimizer state for one block of parameters.
#[derive(Clone, Debug)]
pub struct Adam {
    rate: f64,
    /// Decay to the power of the steps done, for both moments.
    decayed: [f64; 2],
    /// Running mean of the gradient.
    mean: Vec<f64>,
    /// Running mean of its square.
    square: Vec<f64>,
}

const DECAY: [f64; 2] = [0.9, 0.999];
const TINY: f64 = 1e-8;

impl Adam {
    /// For `len` parameters, with learning rate `rate`.
    pub fn new(len: usize, rate: f64) -> Adam {
        Adam {
            rate,
            decayed: [1.0; 2],
            mean: vec![0.0; len],
            square: vec![0.0; len],
        }
    }

    /// Sets the learning rate.
    pub fn set_rate(&mut self, rate: f64) {
        self.rate = rate;
    }

    /// One step down the gradient.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn step(&mut self, parameters: &mut [f64], gradient: &[f64]) {
        assert_eq!(parameters.len(), self.mean.len(), "number of parameters");
        assert_eq!(gradient.len(), self.mean.len(), "length of the gradient");
        for (power, decay) in self.decayed.iter_mut().zip(DECAY) {
            *power *= decay;
        }
        let rate = self.rate / (1.0 - self.decayed[0]);
        let unbias = 1.0 / (1.0 - self.decayed[1]);
        let moments = self.mean.iter_mut().zip(&mut self.square);
        for ((p, g), (m, v)) in parameters.iter_mut().zip(gradient).zip(moments) {
            *m = DECAY[0] * *m + (1.0 - DECAY[0]) * g;
            *v = DECAY[1] * *v + (1.0 - DECAY[1]) * g * g;
            *p -= rate * *m / ((*v * unbias).sqrt() + TINY);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_step_has_the_length_of_the_rate() {
        let mut adam = Adam::new(2, 0.1);
        let mut p = [1.0, 1.0];
        adam.step(&mut p, &[5.0, -0.01]);
        assert!((p[0] - 0.9).abs() < 1e-6 && (p[1] - 1.1).abs() < 1e-6);
    }

    #[test]
    fn finds_the_bottom_of_a_bowl() {
        let mut adam = Adam::new(2, 0.05);
        let mut p = [3.0, -2.0];
        for _ in 0..2000 {
            let gradient = [2.0 * (p[0] - 1.0), 20.0 * (p[1] - 0.5)];
            adam.step(&mut p, &gradient);
        }
        assert!((p[0] - 1.0).abs() < 1e-3 && (p[1] - 0.5).abs() < 1e-3);
    }
}

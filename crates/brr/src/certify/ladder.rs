//! Which epsilons a model ships certificates for.
//!
//! Multiples of a round step, so that a user who asks for a round epsilon gets
//! just that, from where a few words are kept to where nearly all are.

use super::{Certificate, Certifier, Weights};
use crate::all_pairs::OnShare;
use crate::codes::CodeBits;
use crate::epsilon::Epsilon;

/// Shares of kept words, by use, from and to which the ladder reaches.
const ENDS: (f64, f64) = (0.02, 0.995);
/// Smallest number of steps between them.
const STEPS: f64 = 40.0;
/// Halvings of the scale's range in the search for the ends.
const HALVINGS: u32 = 14;

/// Certificates for a ladder of epsilons. `progress` gets the share of the work done.
pub fn certify_ladder(certifier: &Certifier, progress: OnShare<'_>) -> Vec<Certificate> {
    let targets = certifier.ladder();
    let certify = |(i, &target): (usize, &Epsilon)| {
        let certificate = certifier.certify(target, None);
        progress((i + 1) as f64 / targets.len() as f64);
        certificate
    };
    targets.iter().enumerate().map(certify).collect()
}

impl Certifier {
    /// The epsilons of the ladder.
    pub fn ladder(&self) -> Vec<Epsilon> {
        let bits = self.rows.bits();
        let epsilon_at = |share| {
            let scale = self.scale_keeping(share, bits);
            self.measure(&Weights::exponential(bits, scale, None))
                .epsilon
        };
        let (low, high) = (epsilon_at(ENDS.0), epsilon_at(ENDS.1));
        let step = round_step((high - low) / STEPS);
        let (first, last) = ((low / step).floor().max(1.0), (high / step).ceil());
        let multiples = (0..)
            .map(|i| first + f64::from(i))
            .take_while(|m| *m <= last);
        // Dividing by a whole number gives the f64 nearest to the round number.
        let value = |m: f64| m / (1.0 / step).round();
        let value = |m: f64| if step < 1.0 { value(m) } else { m * step };
        multiples
            .filter_map(|m| Epsilon::new(value(m)).ok())
            .collect()
    }

    /// About the scale at which this share of words, by use, is kept.
    fn scale_keeping(&self, share: f64, bits: CodeBits) -> f64 {
        let (mut low, mut high) = (0.0, 2.0);
        for _ in 0..HALVINGS {
            let middle = (low + high) / 2.0;
            let weights = Weights::exponential(bits, middle, None);
            if self.measure(&weights).keep.weighted < share {
                low = middle;
            } else {
                high = middle;
            }
        }
        high
    }
}

/// The largest of 1, 2, 5 times a power of ten that is at most `x`.
fn round_step(x: f64) -> f64 {
    let power = 10f64.powi(x.log10().floor() as i32);
    let digit = x / power;
    power
        * if digit >= 5.0 {
            5.0
        } else if digit >= 2.0 {
            2.0
        } else {
            1.0
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_round() {
        for (x, step) in [(0.0049, 0.002), (0.0051, 0.005), (0.19, 0.1), (3.0, 2.0)] {
            assert!((round_step(x) / step - 1.0).abs() < 1e-12, "{x}");
        }
    }
}

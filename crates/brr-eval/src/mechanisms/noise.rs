//! Madlib's noise: density proportional to exp(-epsilon * |z|) in n dimensions.
//!
//! The density depends on the length alone, so the direction is uniform on the
//! sphere (a vector of standard Gaussians, scaled to length 1) and the length r
//! has density proportional to r^(n-1) exp(-epsilon r): Gamma with shape n and
//! scale 1/epsilon. n is a whole number, so that is the sum of n exponential
//! variables, -ln(u_1 u_2 ... u_n) / epsilon with u_i uniform.
//!
//! **Floating point.** Gaps between floating-point numbers let an attacker who
//! sees the noisy vector rule inputs out (Mironov 2012). Here only the nearest
//! word is seen, which makes the attack harder and no proof easier: the real
//! numbers' guarantee is not one of this code. For baselines only.

use brr::parts::random::Noise;

/// Draws noise vectors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VectorNoise {
    dim: usize,
    epsilon: f64,
}

impl VectorNoise {
    /// Of density proportional to exp(-epsilon * |z|) in `dim` dimensions.
    pub fn new(dim: usize, epsilon: f64) -> VectorNoise {
        VectorNoise { dim, epsilon }
    }

    /// Draws a length.
    pub fn length(&self, noise: &mut Noise) -> f64 {
        // A product of 16 uniform numbers cannot underflow: each is at least 2^-53.
        let mut left = self.dim;
        let mut sum = 0.0;
        while left > 0 {
            let some = left.min(16);
            let product: f64 = (0..some).map(|_| uniform(noise)).product();
            sum -= libm::log(product);
            left -= some;
        }
        sum / self.epsilon
    }

    /// Draws a noise vector into `out` (of `dim` numbers).
    pub fn draw(&self, out: &mut [f64], noise: &mut Noise) {
        assert_eq!(out.len(), self.dim, "dimension of the noise");
        let mut square = 0.0;
        while square == 0.0 {
            for pair in out.chunks_mut(2) {
                let (a, b) = gaussians(noise);
                pair[0] = a;
                if let Some(second) = pair.get_mut(1) {
                    *second = b;
                }
            }
            square = out.iter().map(|x| x * x).sum();
        }
        let scale = self.length(noise) / libm::sqrt(square);
        out.iter_mut().for_each(|x| *x *= scale);
    }
}

/// Uniform over 2^52 midpoints in 0..1, each a double: never 0, never 1.
fn uniform(noise: &mut Noise) -> f64 {
    ((noise.limb() >> 12) as f64 + 0.5) / (1u64 << 52) as f64
}

/// Two independent standard Gaussians (Box and Muller).
fn gaussians(noise: &mut Noise) -> (f64, f64) {
    let radius = libm::sqrt(-2.0 * libm::log(uniform(noise)));
    let (sin, cos) = libm::sincos(2.0 * std::f64::consts::PI * uniform(noise));
    (radius * cos, radius * sin)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// |Z| > SIGMAS for a Gaussian Z with probability below 1e-6.
    const SIGMAS: f64 = 4.9;

    #[test]
    fn golden() {
        let mut z = [0.0; 3];
        VectorNoise::new(3, 2.0).draw(&mut z, &mut Noise::numbered(5));
        for (got, expected) in z.iter().zip(GOLDEN) {
            assert!((got - expected).abs() < 1e-12, "{z:?}");
        }
    }
    const GOLDEN: [f64; 3] = [
        0.9755561496306301,
        -0.009530780006013454,
        0.3142059366104269,
    ];

    /// Mean n/eps and variance n/eps^2 of the Gamma distribution; its fourth
    /// central moment is (3n^2 + 6n)/eps^4.
    #[test]
    fn lengths_have_the_gamma_moments() {
        for (n, epsilon) in [(1, 0.5), (7, 3.0), (300, 10.0)] {
            let (draws, nf) = (20_000, n as f64);
            let mut noise = Noise::numbered(n as u64);
            let lengths = VectorNoise::new(n, epsilon);
            let lengths: Vec<f64> = (0..draws).map(|_| lengths.length(&mut noise)).collect();
            let count = draws as f64;
            let mean = lengths.iter().sum::<f64>() / count;
            let (expected, variance) = (nf / epsilon, nf / epsilon.powi(2));
            assert!((mean - expected).abs() < SIGMAS * (variance / count).sqrt());
            let spread = lengths.iter().map(|r| (r - expected).powi(2)).sum::<f64>() / count;
            let fourth = (3.0 * nf * nf + 6.0 * nf) / epsilon.powi(4);
            let error = ((fourth - variance * variance) / count).sqrt();
            assert!((spread - variance).abs() < SIGMAS * error, "n = {n}");
        }
    }

    /// Every coordinate of a uniform direction has mean 0 and mean square 1/n.
    #[test]
    fn directions_are_uniform() {
        let (n, draws) = (5, 20_000);
        let mut noise = Noise::numbered(9);
        let (mut sums, mut squares, mut z) = ([0.0; 5], [0.0; 5], [0.0; 5]);
        for _ in 0..draws {
            VectorNoise::new(n, 1.0).draw(&mut z, &mut noise);
            let square: f64 = z.iter().map(|x| x * x).sum();
            for i in 0..n {
                sums[i] += z[i] / square.sqrt();
                squares[i] += z[i] * z[i] / square;
            }
        }
        let (count, nf) = (f64::from(draws), n as f64);
        // E x^2 = 1/n, E x^4 = 3/(n(n+2)).
        let of_mean = SIGMAS * (1.0 / nf / count).sqrt();
        let of_square = SIGMAS * ((3.0 / (nf * (nf + 2.0)) - 1.0 / (nf * nf)) / count).sqrt();
        for i in 0..n {
            assert!((sums[i] / count).abs() < of_mean, "{sums:?}");
            assert!(
                (squares[i] / count - 1.0 / nf).abs() < of_square,
                "{squares:?}"
            );
        }
    }

    /// Uniform numbers at both ends: no infinity, no zero length.
    #[test]
    fn boundaries() {
        for limb in [0, u64::MAX] {
            let mut noise = Noise::scripted(move || limb);
            let r = VectorNoise::new(300, 1.0).length(&mut noise);
            assert!(r.is_finite() && r > 0.0, "{r}");
            let mut z = [0.0; 3];
            VectorNoise::new(3, 1.0).draw(&mut z, &mut noise);
            assert!(z.iter().all(|x| x.is_finite()), "{z:?}");
        }
    }
}

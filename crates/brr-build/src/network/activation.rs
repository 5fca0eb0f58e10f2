//! Activations made of exactly defined operations only.
//!
//! The standard library's `exp` and `tanh` may differ in the last bit between
//! platforms. These use +, *, / and bit patterns, are accurate to about 1e-15
//! and, having no branches, vectorize.

/// 1 / 13!, 1 / 12!, ... 1 / 0!
const FACTORIALS: [f64; 14] = {
    let mut inverse = [1.0; 14];
    let mut i = 13;
    while i > 0 {
        // inverse[13 - k] = 1 / k!
        inverse[i - 1] = inverse[i] / (14 - i) as f64;
        i -= 1;
    }
    inverse
};

/// e^x, for x clamped to [-700, 700].
pub fn exp(x: f64) -> f64 {
    // x = k ln 2 + r with |r| <= ln 2 / 2; e^x = 2^k e^r.
    const SHIFT: f64 = 6_755_399_441_055_744.0; // 1.5 * 2^52: adding it rounds
    const LN2_HIGH: f64 = 0.693_147_180_369_123_8;
    const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;
    let x = if x > 700.0 { 700.0 } else { x };
    let x = if x < -700.0 { -700.0 } else { x };
    let shifted = x * std::f64::consts::LOG2_E + SHIFT;
    let k = shifted - SHIFT;
    let r = (x - k * LN2_HIGH) - k * LN2_LOW;
    // Taylor's polynomial of degree 13: the rest is below 1e-17.
    let sum = FACTORIALS.iter().fold(0.0, |sum, c| sum * r + c);
    // The low bits of `shifted` hold k as an integer.
    let power = f64::from_bits((shifted.to_bits().wrapping_add(1023)) << 52);
    sum * power
}

/// Hyperbolic tangent.
pub fn tanh(x: f64) -> f64 {
    1.0 - 2.0 / (exp(2.0 * x) + 1.0)
}

/// 1 / (1 + e^-x).
pub fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + exp(-x))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn close_to_the_standard_library() {
        for i in -4000..=4000 {
            let x = f64::from(i) * 0.01;
            assert!((exp(x) / x.exp() - 1.0).abs() < 1e-14, "exp {x}");
            assert!((tanh(x) - x.tanh()).abs() < 1e-15, "tanh {x}");
        }
        assert_eq!(exp(0.0), 1.0);
        assert_eq!(tanh(0.0), 0.0);
        assert_eq!(sigmoid(0.0), 0.5);
        assert_eq!((tanh(1e9), tanh(-1e9)), (1.0, -1.0));
        assert!(exp(f64::INFINITY).is_finite());
    }
}

//! Privacy budgets, and the outward rounding that keeps reported numbers honest.

use crate::error::{Error, Result};

/// A privacy parameter: positive and finite. There is no other way to hold one.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Epsilon(f64);

impl Epsilon {
    /// Fails unless `value` is positive and finite.
    pub fn new(value: f64) -> Result<Epsilon> {
        if value.is_finite() && value > 0.0 {
            Ok(Epsilon(value))
        } else {
            Err(Error::InvalidEpsilon { value })
        }
    }

    /// The number.
    pub fn get(self) -> f64 {
        self.0
    }
}

impl TryFrom<f64> for Epsilon {
    type Error = Error;

    fn try_from(value: f64) -> Result<Epsilon> {
        Epsilon::new(value)
    }
}

/// Relative error that a short chain of f64 operations cannot exceed.
///
/// Each of `+ - * /` is within 2^-53 and each of libm's `exp`, `expm1`, `log`,
/// `log1p` within 2^-52 of the true value; sixteen of them stay below 2^-48.
const SLACK: f64 = 1.0 / (1u64 << 48) as f64;

/// A number at least as large as the real value that `x >= 0` approximates.
pub fn round_up(x: f64) -> f64 {
    x + x * SLACK + f64::MIN_POSITIVE
}

/// A number at most as large as the real value that `x >= 0` approximates.
pub(crate) fn round_down(x: f64) -> f64 {
    (x - x * SLACK).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_positive_finite_numbers_are_budgets() {
        for bad in [0.0, -0.0, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(Epsilon::new(bad).is_err(), "{bad}");
        }
        for good in [f64::MIN_POSITIVE, 0.5, 1e9] {
            assert_eq!(Epsilon::new(good).unwrap().get(), good);
        }
    }

    #[test]
    fn rounding_moves_outward() {
        for x in [1e-300, 1e-9, 0.1, 1.0, 44.0, 1e12] {
            assert!(round_down(x) < x && x < round_up(x));
        }
        assert!(round_up(0.0) >= 0.0 && round_down(0.0) == 0.0);
    }
}

//! How many words stay as they are, by epsilon: the table behind `keep`.
//!
//! Made by simulation when the model is built (`brr build`); on the device it
//! is only looked up.

use super::fields::Fields;
use crate::epsilon::Epsilon;
use crate::error::{Error, Result};

/// The expected share of words that a mechanism leaves unchanged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Keep {
    /// Words counted by how often they are used (Zipf's law over word ids).
    pub weighted: f64,
    /// Every word of the vocabulary counted once.
    pub plain: f64,
}

/// One line of the table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CalibrationPoint {
    /// Epsilon per bit.
    pub epsilon: f64,
    /// What it keeps.
    pub keep: Keep,
}

/// Points in ascending order of epsilon.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Calibration(Vec<CalibrationPoint>);

impl Calibration {
    /// Sorts by epsilon and irons out simulation noise, so that keeping more
    /// always takes a larger epsilon.
    pub fn new(mut points: Vec<CalibrationPoint>) -> Calibration {
        points.sort_by(|a, b| a.epsilon.total_cmp(&b.epsilon));
        for i in 1..points.len() {
            let before = points[i - 1].keep;
            let keep = &mut points[i].keep;
            keep.weighted = keep.weighted.max(before.weighted);
            keep.plain = keep.plain.max(before.plain);
        }
        Calibration(points)
    }

    /// The points.
    pub fn points(&self) -> &[CalibrationPoint] {
        &self.0
    }

    /// The epsilon that keeps this share of words (by use), between the points
    /// of the table.
    pub fn epsilon_for(&self, keep: f64) -> Result<Epsilon> {
        let (Some(first), Some(last)) = (self.0.first(), self.0.last()) else {
            return Err(Error::NoCalibration { mechanism: "brr" });
        };
        let above = self.0.iter().position(|p| p.keep.weighted >= keep);
        match above {
            Some(i) if i > 0 => {
                let (a, b) = (&self.0[i - 1], &self.0[i]);
                let share = (keep - a.keep.weighted) / (b.keep.weighted - a.keep.weighted);
                Epsilon::new(a.epsilon + share * (b.epsilon - a.epsilon))
            }
            Some(0) if first.keep.weighted == keep => Epsilon::new(first.epsilon),
            _ => Err(Error::KeepOutOfReach {
                asked: keep,
                lowest: first.keep.weighted,
                highest: last.keep.weighted,
            }),
        }
    }

    /// What is kept at this epsilon, between the points; the end points beyond.
    pub fn keep_at(&self, epsilon: f64) -> Option<Keep> {
        let (first, last) = (self.0.first()?, self.0.last()?);
        match self.0.iter().position(|p| p.epsilon >= epsilon) {
            None => Some(last.keep),
            Some(0) => Some(first.keep),
            Some(i) => {
                let (a, b) = (&self.0[i - 1], &self.0[i]);
                let share = (epsilon - a.epsilon) / (b.epsilon - a.epsilon);
                let mix = |x: f64, y: f64| x + share * (y - x);
                Some(Keep {
                    weighted: mix(a.keep.weighted, b.keep.weighted),
                    plain: mix(a.keep.plain, b.keep.plain),
                })
            }
        }
    }

    pub(super) fn read(bytes: &[u8]) -> Result<Calibration> {
        let mut fields = Fields::new("calibration", bytes);
        let mut points: Vec<CalibrationPoint> = Vec::new();
        while !fields.is_empty() {
            let point = CalibrationPoint {
                epsilon: fields.number()?,
                keep: read_keep(&mut fields)?,
            };
            let falls = |before: &CalibrationPoint| {
                point.epsilon <= before.epsilon || point.keep.weighted < before.keep.weighted
            };
            if points.last().is_some_and(falls) {
                return Err(fields.invalid("its points are not in ascending order"));
            }
            points.push(point);
        }
        Ok(Calibration(points))
    }

    pub(super) fn write(&self) -> Vec<u8> {
        let mut out = Vec::new();
        for point in &self.0 {
            out.extend(point.epsilon.to_le_bytes());
            write_keep(point.keep, &mut out);
        }
        out
    }
}

pub(super) fn read_keep(fields: &mut Fields<'_>) -> Result<Keep> {
    let keep = Keep {
        weighted: fields.number()?,
        plain: fields.number()?,
    };
    if keep.weighted > 1.0 || keep.plain > 1.0 {
        return Err(fields.invalid("a share is above 1"));
    }
    Ok(keep)
}

pub(super) fn write_keep(keep: Keep, out: &mut Vec<u8>) {
    out.extend(keep.weighted.to_le_bytes());
    out.extend(keep.plain.to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Calibration {
        let point = |epsilon, weighted| CalibrationPoint {
            epsilon,
            keep: Keep {
                weighted,
                plain: weighted / 2.0,
            },
        };
        Calibration::new(vec![
            point(1.0, 0.8),
            point(0.5, 0.2),
            point(0.75, 0.19),
            point(2.0, 1.0),
        ])
    }

    #[test]
    fn noise_is_ironed_out_and_shares_are_interpolated() {
        let t = table();
        assert_eq!(t.points()[1].keep.weighted, 0.2);
        assert!((t.epsilon_for(0.5).unwrap().get() - 0.875).abs() < 1e-12);
        assert!((t.keep_at(0.875).unwrap().weighted - 0.5).abs() < 1e-12);
        assert_eq!(t.keep_at(9.0).unwrap().weighted, 1.0);
        assert_eq!(Calibration::read(&t.write()).unwrap(), t);
    }

    #[test]
    fn shares_that_the_table_does_not_reach_are_an_error() {
        let message = table().epsilon_for(0.1).unwrap_err().to_string();
        assert!(message.contains("0.2000 to 1.0000"), "{message}");
        let none = Calibration::default().epsilon_for(0.5).unwrap_err();
        assert!(matches!(none, Error::NoCalibration { .. }));
    }
}

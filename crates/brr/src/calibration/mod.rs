//! How many words BRR leaves as they are, by epsilon: the table behind `keep`.
//!
//! Made by simulation when a model is built ([`simulate()`]); on the device it is looked up.
//! A share that is asked for is met from below: the shares of the table are estimates, and
//! between its points the curve may bend, so an epsilon is taken whose share is at most
//! what was asked less [`MARGIN`].
//!
//! **More epsilon never keeps fewer words**, so that the table's ends bound what lies beyond them. Let
//! a word w come out for a noisy code y. Undoing some of the flips that led from w's code to y brings the
//! code nearer to w by their number, and to no other word by more: w still comes out, ties
//! included. So the flips that keep w are closed under taking flips away, and the probability of
//! such a set falls as every bit flips more often.

mod simulate;
pub(crate) mod stored;

use std::ops::RangeInclusive;

use simulate::shares;
pub use simulate::simulate;

use crate::codes::CodeBlocks;
use crate::epsilon::Epsilon;
use crate::error::{Error, Result};
use crate::frequency::Keep;
use crate::guarantee::Budget;

/// More than the error of a share between two points of the table: what a check lets pass
/// ([`Calibration::holds`]), and as much as the curve bends.
pub(crate) const MARGIN: f64 = 0.0325;

/// Five standard errors of the draws that check a point.
const TOLERANCE: f64 = 0.025;
/// Points whose shares differ by more have no epsilon between them: nobody knows the curve there.
const LARGEST_STEP: f64 = 0.12;

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

    /// The largest epsilon known to keep at most this share of words (by use).
    pub fn epsilon_for(&self, keep: f64) -> Result<Epsilon> {
        Budget::Keep(keep).validate()?;
        let (Some(first), Some(last)) = (self.0.first(), self.0.last()) else {
            return Err(Error::NoCalibration { mechanism: "brr" });
        };
        let safe = keep - MARGIN;
        if safe < first.keep.weighted {
            return Err(Error::KeepOutOfReach {
                asked: keep,
                lowest: (first.keep.weighted + MARGIN).min(1.0),
                highest: (last.keep.weighted + MARGIN).min(1.0),
            });
        }
        let Some(i) = self.0.iter().position(|p| p.keep.weighted > safe) else {
            return Epsilon::new(last.epsilon);
        };
        let (a, b) = (&self.0[i - 1], &self.0[i]);
        if b.keep.weighted - a.keep.weighted > LARGEST_STEP {
            return Epsilon::new(a.epsilon);
        }
        let share = (safe - a.keep.weighted) / (b.keep.weighted - a.keep.weighted);
        Epsilon::new(a.epsilon + share * (b.epsilon - a.epsilon))
    }

    /// Whether simulation on these codes finds that no more words stay than the table says,
    /// within its error.
    pub fn holds(&self, codes: CodeBlocks<'_>, threads: usize) -> bool {
        let points = self.0.iter();
        let epsilons: Vec<f64> = points.clone().map(|p| p.epsilon).collect();
        let found = shares(codes, &epsilons, threads);
        let mut pairs = points.zip(found);
        pairs.all(|(point, found)| found <= point.keep.weighted + TOLERANCE)
    }

    /// What is kept at this epsilon, between the points. Beyond them nobody looked.
    pub fn keep_at(&self, epsilon: f64) -> Option<Keep> {
        let i = self.0.iter().position(|p| p.epsilon >= epsilon)?;
        let (a, b) = (&self.0[i.saturating_sub(1)], &self.0[i]);
        if epsilon < a.epsilon {
            return None;
        }
        let width = (b.epsilon - a.epsilon).max(f64::MIN_POSITIVE);
        let share = (epsilon - a.epsilon) / width;
        let mix = |x: f64, y: f64| x + share * (y - x);
        Some(Keep {
            weighted: mix(a.keep.weighted, b.keep.weighted),
            plain: mix(a.keep.plain, b.keep.plain),
        })
    }

    /// Between which shares of words (by use) lies what is kept at this epsilon, wherever it is.
    pub fn keep_within(&self, epsilon: f64) -> RangeInclusive<f64> {
        let share = |p: &CalibrationPoint| p.keep.weighted;
        let below = self.0.iter().rfind(|p| p.epsilon <= epsilon);
        let above = self.0.iter().find(|p| p.epsilon >= epsilon);
        let low = below.map_or(0.0, |p| (share(p) - MARGIN).max(0.0));
        low..=above.map_or(1.0, |p| (share(p) + MARGIN).min(1.0))
    }
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
            point(1.0, 0.3),
            point(0.5, 0.2),
            point(0.75, 0.19),
            point(2.0, 1.0),
        ])
    }

    #[test]
    fn noise_is_ironed_out_and_shares_are_interpolated() {
        let t = table();
        assert_eq!(t.points()[1].keep.weighted, 0.2);
        assert!((t.epsilon_for(0.25 + MARGIN).unwrap().get() - 0.875).abs() < 1e-12);
        assert!((t.keep_at(0.875).unwrap().weighted - 0.25).abs() < 1e-12);
    }

    #[test]
    fn beyond_the_table_nothing_is_claimed_but_what_its_ends_bound() {
        let t = table();
        assert_eq!(t.keep_at(0.5).unwrap().weighted, 0.2);
        assert_eq!(t.keep_at(2.0).unwrap().weighted, 1.0);
        assert_eq!((t.keep_at(1e-9), t.keep_at(9.0)), (None, None));
        assert_eq!(t.keep_within(1e-9), 0.0..=0.2 + MARGIN);
        assert_eq!(t.keep_within(9.0), 1.0 - MARGIN..=1.0);
        assert_eq!(t.keep_within(0.9), 0.2 - MARGIN..=0.3 + MARGIN);
        assert_eq!(Calibration::default().keep_within(1.0), 0.0..=1.0);
    }

    #[test]
    fn shares_that_the_table_does_not_reach_are_an_error() {
        let message = table().epsilon_for(0.2).unwrap_err().to_string();
        assert!(message.contains("from 0.2325 to 1.0000"), "{message}");
        // Nobody knows the curve between points that lie far apart.
        assert_eq!(table().epsilon_for(0.9).unwrap().get(), 1.0);
        let none = Calibration::default().epsilon_for(0.5).unwrap_err();
        assert!(matches!(none, Error::NoCalibration { .. }));
        for none in [0.0, 1.0, 2.0, f64::NAN] {
            let error = table().epsilon_for(none).unwrap_err();
            assert!(matches!(error, Error::InvalidKeep { .. }));
        }
    }
}

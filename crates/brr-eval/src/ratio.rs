//! Comparing epsilons of different metrics (Sec. 5 and App. A of the paper).
//!
//! P_avg is the mean distance over all ordered pairs of words and P_max the
//! largest. With R = P_A / P_B, epsilon_B = R * epsilon_A makes epsilon * P equal
//! for both: the same loss at the average (or at the farthest) pair.

use brr::Metric;
use brr::parts::distances::PairDistances;
use serde::Serialize;

/// One side of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Side {
    /// Its name, for display.
    pub name: String,
    /// Its metric.
    pub metric: String,
    /// Number of words.
    pub words: usize,
    /// P_avg.
    pub average: f64,
    /// P_max.
    pub maximum: f64,
    /// Mean distance to the nearest other word.
    pub nearest: f64,
}

impl Side {
    /// Of a vocabulary in some metric.
    pub fn new(name: &str, metric: Metric, words: usize, distances: &PairDistances) -> Side {
        Side {
            name: name.to_owned(),
            metric: metric.to_string(),
            words,
            average: distances.average,
            maximum: distances.maximum,
            nearest: distances.nearest_mean,
        }
    }
}

/// The epsilon of B that equals an epsilon of A by one aggregate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Equivalent {
    /// R = P_A / P_B.
    pub ratio: f64,
    /// epsilon_B = R * epsilon_A.
    pub epsilon: f64,
    /// epsilon * P, the same for both.
    pub loss: f64,
}

/// A and B side by side.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// The side whose epsilon is given.
    pub a: Side,
    /// The side whose epsilon is sought.
    pub b: Side,
    /// The epsilon given, for A.
    pub epsilon: f64,
    /// By P_avg: equal privacy-loss bounds.
    pub by_average: Option<Equivalent>,
    /// By P_max: equal worst cases.
    pub by_maximum: Option<Equivalent>,
    /// By the mean distance to the nearest word: equal loss between neighbours.
    /// Not in the paper; it often tells another story than the two above.
    pub by_nearest: Option<Equivalent>,
}

/// Converts an epsilon for `a` to one for `b`. An aggregate that is 0 on either
/// side compares nothing.
pub fn compare(a: Side, b: Side, epsilon: brr::parts::epsilon::Epsilon) -> Comparison {
    let epsilon = epsilon.get();
    let by = |pa: f64, pb: f64| {
        (pa > 0.0 && pb > 0.0).then(|| Equivalent {
            ratio: pa / pb,
            epsilon: pa / pb * epsilon,
            loss: pa * epsilon,
        })
    };
    Comparison {
        by_average: by(a.average, b.average),
        by_maximum: by(a.maximum, b.maximum),
        by_nearest: by(a.nearest, b.nearest),
        a,
        b,
        epsilon,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(average: f64, maximum: f64, nearest_mean: f64) -> Side {
        let distances = PairDistances {
            average,
            maximum,
            nearest_mean,
            nearest_min: 0.0,
        };
        Side::new("x", Metric::Discrete, 3, &distances)
    }

    #[test]
    fn losses_are_equal() {
        let epsilon = brr::parts::epsilon::Epsilon::new(8.0).unwrap();
        let (a, b) = (side(9.0, 20.0, 4.0), side(128.0, 190.0, 57.0));
        let c = compare(a.clone(), b.clone(), epsilon);
        let average = c.by_average.unwrap();
        assert!((average.epsilon * 128.0 - 72.0).abs() < 1e-9 && average.loss == 72.0);
        assert!((c.by_maximum.unwrap().epsilon * 190.0 - 160.0).abs() < 1e-9);
        // There and back again.
        let back = compare(
            b,
            a,
            brr::parts::epsilon::Epsilon::new(average.epsilon).unwrap(),
        );
        assert!((back.by_average.unwrap().epsilon - 8.0).abs() < 1e-12);
    }

    #[test]
    fn nothing_to_compare() {
        let c = compare(
            side(0.0, 0.0, 0.0),
            side(1.0, 1.0, 1.0),
            brr::parts::epsilon::Epsilon::new(1.0).unwrap(),
        );
        assert_eq!((c.by_average, c.by_maximum), (None, None));
    }
}

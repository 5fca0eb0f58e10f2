//! What is promised, as Python sees it.

use pyo3::prelude::*;

/// Distances between the words of a vocabulary, over all ordered pairs.
#[pyclass(frozen, get_all, eq, module = "brr")]
#[derive(Clone, PartialEq)]
pub struct PairDistances {
    /// P_avg: the mean over all ordered pairs; the diagonal counts.
    average: f64,
    /// P_max: the largest.
    maximum: f64,
    /// Mean distance of a word to its nearest other word.
    nearest_mean: f64,
    /// The smallest distance between two different words.
    nearest_min: f64,
}

impl From<brr::parts::distances::PairDistances> for PairDistances {
    fn from(d: brr::parts::distances::PairDistances) -> PairDistances {
        PairDistances {
            average: d.average,
            maximum: d.maximum,
            nearest_mean: d.nearest_mean,
            nearest_min: d.nearest_min,
        }
    }
}

#[pymethods]
impl PairDistances {
    fn __repr__(&self) -> String {
        format!(
            "PairDistances(average={}, maximum={}, nearest_mean={}, nearest_min={})",
            self.average, self.maximum, self.nearest_mean, self.nearest_min
        )
    }
}

/// A mechanism's promise, per token: an epsilon and the metric it is measured in.
#[pyclass(frozen, eq, module = "brr")]
#[derive(PartialEq)]
pub struct Guarantee(pub brr::Guarantee);

#[pymethods]
impl Guarantee {
    /// Loss per unit of distance, rounded up.
    #[getter]
    fn epsilon(&self) -> f64 {
        self.0.epsilon
    }

    /// The distance in which epsilon is measured, such as `hamming-256`.
    #[getter]
    fn metric(&self) -> String {
        self.0.metric.to_string()
    }

    /// How far the vocabulary's words lie apart.
    #[getter]
    fn distances(&self) -> PairDistances {
        self.0.distances.into()
    }

    /// The privacy-loss bound: epsilon times the average distance of two words.
    #[getter]
    fn bound(&self) -> f64 {
        self.0.bound()
    }

    /// The mean loss between a word and its nearest neighbour.
    #[getter]
    fn nearest(&self) -> f64 {
        self.0.nearest()
    }

    /// The loss at the two words farthest apart: no two words exceed it.
    #[getter]
    fn worst(&self) -> f64 {
        self.0.worst()
    }

    /// The largest loss between a token without a code and a word.
    #[getter]
    fn unknown_loss(&self) -> f64 {
        self.0.unknown_loss
    }

    /// The largest loss between any two tokens, words or not.
    #[getter]
    fn worst_token(&self) -> f64 {
        self.0.worst_token()
    }

    /// The largest loss between two words at this distance.
    fn loss_at(&self, distance: f64) -> f64 {
        self.0.loss_at(distance)
    }

    /// The largest loss between two texts of this number of tokens each.
    fn total(&self, tokens: u64) -> f64 {
        self.0.total(tokens)
    }

    fn __repr__(&self) -> String {
        format!(
            "Guarantee(epsilon={}, metric='{}', bound={}, worst={})",
            self.0.epsilon,
            self.0.metric,
            self.0.bound(),
            self.0.worst()
        )
    }
}

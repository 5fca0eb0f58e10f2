//! What is promised, as Python sees it.

use brr::Metric;
use brr::parts::distances::PairDistances;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::choices::{Number, Whole};
use crate::{failure, record};

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
    fn distances<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        record::distances(py, self.0.distances)
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

    /// The largest loss between two words at each level of the tree, from 0 on; empty for
    /// mechanisms without one.
    #[getter]
    fn losses(&self) -> Vec<f64> {
        self.0.losses.clone()
    }

    /// The largest loss between two words at this distance.
    fn loss_at(&self, distance: Number) -> f64 {
        self.0.loss_at(distance.0)
    }

    /// The largest loss between two texts of this number of tokens each.
    fn total(&self, tokens: Whole) -> f64 {
        self.0.total(tokens.0 as u64)
    }

    /// Its numbers by their names, the metric and the distances.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let facts = PyDict::new(py);
        for (name, number) in self.0.numbers() {
            facts.set_item(name, number)?;
        }
        facts.set_item("metric", self.metric())?;
        facts.set_item("losses", self.losses())?;
        facts.set_item("distances", self.distances(py)?.call_method0("to_dict")?)?;
        Ok(facts)
    }

    fn __hash__(&self) -> u64 {
        self.0.epsilon.to_bits()
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let (g, d) = (&self.0, self.0.distances);
        let distances = (d.average, d.maximum, d.nearest_mean, d.nearest_min);
        let losses = g.losses.clone();
        let args = (g.epsilon, self.metric(), distances, g.unknown_loss, losses);
        let class = py.get_type::<Guarantee>();
        Ok((class.getattr("_stated")?, args.into_pyobject(py)?))
    }

    /// What a pickle says. No privatizer is made from it.
    #[staticmethod]
    #[pyo3(signature = (epsilon, metric, distances, unknown_loss, losses=Vec::new()))]
    fn _stated(
        py: Python<'_>,
        epsilon: f64,
        metric: &str,
        distances: (f64, f64, f64, f64),
        unknown_loss: f64,
        losses: Vec<f64>,
    ) -> PyResult<Guarantee> {
        let (average, maximum, nearest_mean, nearest_min) = distances;
        let distances = PairDistances {
            average,
            maximum,
            nearest_mean,
            nearest_min,
        };
        let metric = Metric::parse(metric);
        let metric = metric.ok_or_else(|| failure::argument(py, "there is no such metric"))?;
        let stated = brr::Guarantee::new(epsilon, metric, distances, unknown_loss);
        Ok(Guarantee(stated.with_losses(losses)))
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

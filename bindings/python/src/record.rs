//! What is told, as records of Python.
//!
//! The classes are written in Python (`brr/records.py`): there a frozen dataclass compares,
//! pickles and shows itself without a line for each.

use pyo3::call::PyCallArgs;
use pyo3::prelude::*;
use pyo3::types::PyList;

/// A record of the class `name`, with its fields in order.
pub fn new<'py>(
    py: Python<'py>,
    name: &str,
    fields: impl PyCallArgs<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    py.import("brr.records")?.getattr(name)?.call1(fields)
}

/// A record for each item.
pub fn list<'py, T, A: PyCallArgs<'py>>(
    py: Python<'py>,
    name: &str,
    items: impl IntoIterator<Item = T>,
    fields: impl Fn(T) -> A,
) -> PyResult<Bound<'py, PyList>> {
    let class = py.import("brr.records")?.getattr(name)?;
    let records = PyList::empty(py);
    for item in items {
        records.append(class.call1(fields(item))?)?;
    }
    Ok(records)
}

/// The distances between the words of a vocabulary.
pub fn distances(
    py: Python<'_>,
    d: brr::parts::distances::PairDistances,
) -> PyResult<Bound<'_, PyAny>> {
    let fields = (d.average, d.maximum, d.nearest_mean, d.nearest_min);
    new(py, "PairDistances", fields)
}

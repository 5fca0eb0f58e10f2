//! Names, defaults and help of what can be chosen: the core's table, for Python.

use brr::{Budget, Choice, Layout, MechanismKind, Search, Unknown};
use brr_corpus::{Document, Format, OnBadRow};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The default's name.
pub fn default<T: Choice>() -> &'static str {
    T::default().name()
}

/// For each option its names, the default first, and what they mean.
pub fn table(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let all = PyDict::new(py);
    all.set_item("mechanism", names::<MechanismKind>(py)?)?;
    all.set_item("layout", names::<Layout>(py)?)?;
    all.set_item("unknown", names::<Unknown>(py)?)?;
    all.set_item("search", names::<Search>(py)?)?;
    all.set_item("format", names::<Format>(py)?)?;
    all.set_item("document", names::<Document>(py)?)?;
    all.set_item("on_bad_row", names::<OnBadRow>(py)?)?;
    Ok(all)
}

fn names<T: Choice>(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let names = PyDict::new(py);
    for (name, _, help) in T::ALL {
        names.set_item(name, help)?;
    }
    Ok(names)
}

/// The keyword for a budget, and its value.
pub fn keyword(budget: Budget) -> (&'static str, f64) {
    let (kind, value) = budget.parts();
    (Budget::NAMES[kind], value)
}

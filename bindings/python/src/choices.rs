//! Names, defaults and help of what can be chosen: the core's table, for Python; and numbers, for
//! which a wrong argument is an error of this package.

use brr::{Budget, Case, Choice, Layout, MechanismKind, Search, Unknown};
use brr_corpus::{Document, Format, OnBadRow};
use pyo3::Borrowed;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::failure;

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
    all.set_item("case", names::<Case>(py)?)?;
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

/// A number of things.
pub struct Whole(pub usize);

/// A number.
pub struct Number(pub f64);

/// What is told of progress.
pub struct Callback(pub Py<PyAny>);

impl<'py> FromPyObject<'_, 'py> for Callback {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Callback> {
        if !given.is_callable() {
            return Err(unlike(&given, "a function for progress"));
        }
        Ok(Callback(given.to_owned().unbind()))
    }
}

impl<'py> FromPyObject<'_, 'py> for Whole {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Whole> {
        let wrong = |_| unlike(&given, "a whole number, not negative");
        given.extract().map(Whole).map_err(wrong)
    }
}

impl<'py> FromPyObject<'_, 'py> for Number {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Number> {
        let wrong = |_| unlike(&given, "a number");
        given.extract().map(Number).map_err(wrong)
    }
}

/// The error for an argument that is not what was expected: its type is told, not itself.
pub fn unlike(given: &Bound<'_, PyAny>, expected: &str) -> PyErr {
    let found = given
        .get_type()
        .name()
        .map_or(String::new(), |found| found.to_string());
    failure::argument(given.py(), &format!("expected {expected}; found {found}"))
}

//! The privatizer, as Python sees it.

use std::sync::Arc;

use brr::{Budget, Choice, Layout, MechanismKind, Options, Search, Unknown};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyList, PyString, PyTuple};

use crate::batch::{self, PrivatizedRows, Stopped};
use crate::choices;
use crate::column::{ArrowColumn, Column};
use crate::explain::{self, Outcomes, Posterior};
use crate::failure;
use crate::guarantee::Guarantee;
use crate::model::{Model, ModelSource};

/// A privatized text, and what may be said about it.
#[pyclass(frozen, get_all, eq, module = "brr")]
#[derive(PartialEq)]
pub struct Privatized {
    /// The text.
    text: String,
    /// How many tokens it had.
    tokens: u64,
    /// How many of them had no code. Not private: for the user's own eyes.
    unknown: u64,
}

#[pymethods]
impl Privatized {
    fn __repr__(&self) -> String {
        format!(
            "Privatized(tokens={}, unknown={})",
            self.tokens, self.unknown
        )
    }
}

/// The part of `brr.Privatizer` that is written in Rust.
#[pyclass(frozen, subclass, module = "brr._native")]
pub struct Privatizer {
    inner: Arc<brr::Privatizer>,
    model: Py<Model>,
}

#[pymethods]
impl Privatizer {
    #[new]
    #[pyo3(signature = (model=None, mechanism=choices::default::<MechanismKind>(), epsilon=None,
                        bound=None, keep=None, layout=choices::default::<Layout>(),
                        unknown=choices::default::<Unknown>(),
                        search=choices::default::<Search>()))]
    #[allow(clippy::too_many_arguments)] // Python's keyword arguments
    fn new(
        py: Python<'_>,
        model: Option<ModelSource>,
        mechanism: &str,
        epsilon: Option<f64>,
        bound: Option<f64>,
        keep: Option<f64>,
        layout: &str,
        unknown: &str,
        search: &str,
    ) -> PyResult<Privatizer> {
        let options = Options::default()
            .with_mechanism(parse(py, mechanism)?)
            .with_budget(budget(py, epsilon, bound, keep)?)
            .with_layout(parse(py, layout)?)
            .with_unknown(parse(py, unknown)?)
            .with_search(parse(py, search)?);
        let model = ModelSource::open(model, py)?;
        let core = model.get().inner.clone();
        let inner = py
            .detach(|| brr::Privatizer::new(core, options))
            .map_err(|error| failure::to_py(py, &error))?;
        Ok(Privatizer {
            inner: Arc::new(inner),
            model,
        })
    }

    /// The model in use.
    #[getter]
    fn model(&self, py: Python<'_>) -> Py<Model> {
        self.model.clone_ref(py)
    }

    /// Name of the mechanism in use.
    #[getter]
    fn mechanism(&self) -> &'static str {
        self.inner.mechanism().name()
    }

    /// What of a text's structure is kept.
    #[getter]
    fn layout(&self) -> &'static str {
        self.inner.options().layout.name()
    }

    /// What becomes of tokens without a code.
    #[getter]
    fn unknown(&self) -> &'static str {
        self.inner.options().unknown.name()
    }

    /// How the nearest word is found.
    #[getter]
    fn search(&self) -> &'static str {
        self.inner.options().search.name()
    }

    /// What is promised, per token.
    #[getter]
    fn guarantee(&self) -> Guarantee {
        Guarantee(self.inner.guarantee())
    }

    /// The expected share of words that stay as they are, if it is known.
    #[getter]
    fn expected_keep(&self) -> Option<f64> {
        self.inner.expected_keep().map(|keep| keep.weighted)
    }

    /// Which texts are neighbours: what the guarantee is about, and so what is public.
    #[getter]
    fn adjacency(&self) -> String {
        self.inner.adjacency().to_string()
    }

    /// The largest loss between two neighbouring texts of this number of tokens; `math.inf`
    /// if the `unknown` rule tells some neighbours apart.
    fn total_loss(&self, tokens: u64) -> f64 {
        self.inner.total_loss(tokens)
    }

    /// Privatizes a text.
    fn privatize(&self, py: Python<'_>, text: &Bound<'_, PyAny>) -> PyResult<String> {
        Ok(self.privatize_counted(py, text)?.text)
    }

    /// Privatizes a text, and tells how many tokens it had.
    fn privatize_counted(&self, py: Python<'_>, text: &Bound<'_, PyAny>) -> PyResult<Privatized> {
        let text = row_text(text, None)?
            .ok_or_else(|| PyTypeError::new_err("expected a string, found None"))?;
        let private = failure::detached(py, || self.inner.privatize(&text))?
            .map_err(|error| failure::to_py(py, &error))?;
        Ok(Privatized {
            text: private.text,
            tokens: private.tokens,
            unknown: private.unknown,
        })
    }

    /// Privatizes a list of strings and `None`s.
    fn _privatize_list<'py>(
        &self,
        texts: &Bound<'py, PyList>,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyList>> {
        let py = texts.py();
        let rows: PyResult<Vec<_>> = texts
            .iter()
            .enumerate()
            .map(|(row, text)| row_text(&text, Some(row)))
            .collect();
        let private = self.run(py, &rows?, threads)?;
        PyList::new(py, private.iter().collect::<Vec<_>>())
    }

    /// Privatizes an Arrow column, chunk by chunk or into one.
    fn _privatize_arrow(
        &self,
        column: &Bound<'_, PyAny>,
        threads: Option<usize>,
        combine: bool,
    ) -> PyResult<Vec<ArrowColumn>> {
        let py = column.py();
        let column = Column::import(column)?;
        let private = self.run(py, &column.rows(), threads)?;
        failure::detached(py, || column.rebuild(private.iter(), combine))?.map_err(|_| {
            let message = "the privatized column exceeds 2 GiB, the most that Arrow's \
                           string type holds: use large_string, or smaller batches";
            failure::input(py, message.to_owned(), None)
        })
    }

    /// What comes out when this word goes in: the `top` most likely outputs.
    /// Computed where the mechanism's probabilities are known, else estimated
    /// from `draws` outputs.
    #[pyo3(signature = (word, top=brr::explain::TOP, draws=brr::explain::DRAWS))]
    fn outcomes(&self, py: Python<'_>, word: &str, top: usize, draws: usize) -> PyResult<Outcomes> {
        explain::outcomes(py, self, word, top, draws)
    }

    /// What may have gone in when this word came out, for an observer who holds
    /// every word for equally likely beforehand.
    #[pyo3(signature = (word, top=brr::explain::TOP, draws=brr::explain::DRAWS))]
    fn posterior(
        &self,
        py: Python<'_>,
        word: &str,
        top: usize,
        draws: usize,
    ) -> PyResult<Posterior> {
        explain::posterior(py, self, word, top, draws)
    }

    /// Pickles as its arguments: no state, and above all no generator.
    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let (py, this) = (slf.py(), slf.get());
        let (kind, value) = this.inner.options().budget.parts();
        let [epsilon, bound, keep] = [0, 1, 2].map(|place| (place == kind).then_some(value));
        let args = (
            this.model(py),
            this.mechanism(),
            epsilon,
            bound,
            keep,
            this.layout(),
            this.unknown(),
            this.search(),
        );
        Ok((slf.get_type().into_any(), args.into_pyobject(py)?))
    }

    fn __repr__(&self) -> String {
        let guarantee = self.inner.guarantee();
        format!(
            "<brr.Privatizer {} with epsilon {:.4} on {}, bound {:.1}>",
            self.mechanism(),
            guarantee.epsilon,
            guarantee.metric,
            guarantee.bound(),
        )
    }
}

impl Privatizer {
    /// The core's privatizer.
    pub fn core(&self) -> &brr::Privatizer {
        &self.inner
    }

    /// The core's privatizer, to be taken along to another thread.
    pub fn share(&self) -> Arc<brr::Privatizer> {
        self.inner.clone()
    }

    /// All rows, with the interpreter free for other threads.
    fn run<T>(
        &self,
        py: Python<'_>,
        rows: &[Option<T>],
        threads: Option<usize>,
    ) -> PyResult<PrivatizedRows>
    where
        T: AsRef<str> + Sync,
    {
        let threads = batch::threads(py, threads)?;
        let interrupted = || Python::attach(|py| py.check_signals());
        failure::detached(py, || batch::run(&self.inner, rows, threads, interrupted))?.map_err(
            |stopped| match stopped {
                Stopped::Failed(error) => failure::to_py(py, &error),
                Stopped::Asked(error) => error,
            },
        )
    }
}

/// The text of a cell. What is wrong with it is said without showing it.
fn row_text(cell: &Bound<'_, PyAny>, row: Option<usize>) -> PyResult<Option<PyBackedStr>> {
    if cell.is_none() {
        return Ok(None);
    }
    let py = cell.py();
    let place = row.map_or(String::new(), |row| format!("row {row}: "));
    let Ok(text) = cell.cast::<PyString>() else {
        let found = cell.get_type().name()?;
        let message = format!("{place}expected a string or None, found {found}");
        return Err(failure::input(py, message, row));
    };
    PyBackedStr::try_from(text.clone()).map(Some).map_err(|_| {
        let message = format!(
            "{place}the string holds a lone surrogate, which is no Unicode text: \
             replace it with text.encode('utf-8', 'replace').decode()"
        );
        failure::input(py, message, row)
    })
}

/// The choice with this name.
pub fn parse<T: Choice>(py: Python<'_>, name: &str) -> PyResult<T> {
    T::parse(name).map_err(|error| failure::to_py(py, &error))
}

fn budget(
    py: Python<'_>,
    epsilon: Option<f64>,
    bound: Option<f64>,
    keep: Option<f64>,
) -> PyResult<Budget> {
    match (epsilon, bound, keep) {
        (None, None, None) => Ok(Budget::DEFAULT),
        (Some(value), None, None) => Ok(Budget::Epsilon(value)),
        (None, Some(value), None) => Ok(Budget::Bound(value)),
        (None, None, Some(value)) => Ok(Budget::Keep(value)),
        _ => Err(failure::budget(
            py,
            "give one of epsilon, bound and keep, not several",
        )),
    }
}

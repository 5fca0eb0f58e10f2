//! The privatizer, as Python sees it.

use std::sync::Arc;

use brr::parts::parallel::cores;
use brr::{Budget, Case, Choice, Layout, MechanismKind, Options, Search, Unknown};
use pyo3::Borrowed;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};

use crate::batch::{self, PrivatizedRows, Row, Stopped};
use crate::choices::{self, Callback, Whole, unlike};
use crate::column::{ArrowColumn, Column};
use crate::file::read_json;
use crate::guarantee::Guarantee;
use crate::language::Language;
use crate::model::Model;
use crate::session::{Given, Last, Sources};
use crate::words::Words;
use crate::{explain, failure, record, session};

/// The part of `brr.Privatizer` that is written in Rust.
#[pyclass(frozen, subclass, module = "brr._native")]
pub struct Privatizer {
    inner: Arc<brr::Privatizer>,
    model: Py<Model>,
    context: Option<Py<Language>>,
    public: Option<Words>,
    private: Option<Words>,
    spanned: Last,
}

#[pymethods]
impl Privatizer {
    #[new]
    #[pyo3(signature = (model=None, mechanism=Name::default::<MechanismKind>(), epsilon=None,
                        bound=None, keep=None, layout=Name::default::<Layout>(),
                        unknown=Name::default::<Unknown>(),
                        search=Name::default::<Search>(), context=None, public=None, private=None,
                        case=Name::default::<Case>()))]
    #[allow(clippy::too_many_arguments)] // Python's keyword arguments
    fn new(
        py: Python<'_>,
        model: Option<Bound<'_, PyAny>>,
        mechanism: Name<'_>,
        epsilon: Option<Bound<'_, PyAny>>,
        bound: Option<Bound<'_, PyAny>>,
        keep: Option<Bound<'_, PyAny>>,
        layout: Name<'_>,
        unknown: Name<'_>,
        search: Name<'_>,
        context: Option<Bound<'_, PyAny>>,
        public: Option<Words>,
        private: Option<Words>,
        case: Name<'_>,
    ) -> PyResult<Privatizer> {
        let context = context
            .as_ref()
            .map(Language::wanted)
            .transpose()?
            .flatten();
        let options = Options::default()
            .with_mechanism(mechanism.parse(py)?)
            .with_budget(budget(py, [epsilon, bound, keep])?)
            .with_layout(layout.parse(py)?)
            .with_unknown(unknown.parse(py)?)
            .with_search(search.parse(py)?)
            .with_context(
                context
                    .as_ref()
                    .map(|language| language.get().inner.clone()),
            );
        let model = Model::wanted(py, model.as_ref())?;
        let core = model.get().inner.clone();
        let case = case.parse(py)?;
        let made = || {
            let lists = [&public, &private].map(|words| words.as_ref().map(Words::stated));
            let policy = brr_english::policy(lists[0], lists[1], &core)?;
            let options = brr_english::with_case(options.with_policy(policy), case, &core);
            brr::Privatizer::certified(core.clone(), options, cores(), &|_| {})
        };
        let inner = py
            .detach(made)
            .map_err(|error| failure::to_py(py, &error))?;
        Ok(Privatizer {
            inner: Arc::new(inner),
            model,
            context,
            public,
            private,
            spanned: Last::default(),
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

    /// The language model that draws are decoded with, if they are.
    #[getter]
    fn context(&self, py: Python<'_>) -> Option<Py<Language>> {
        self.context.as_ref().map(|language| language.clone_ref(py))
    }

    /// The words that stay as they are: the name of a built-in list, or words.
    #[getter]
    fn public(&self) -> Option<&Words> {
        self.public.as_ref()
    }

    /// The only words that are private: the name of a built-in list, or words.
    #[getter]
    fn private(&self) -> Option<&Words> {
        self.private.as_ref()
    }

    /// Whether capital letters are written.
    #[getter]
    fn case(&self) -> &'static str {
        self.inner.options().case.name()
    }

    /// What is promised, per token.
    #[getter]
    fn guarantee(&self) -> Guarantee {
        Guarantee(self.inner.guarantee())
    }

    /// The expected share of words that stay as they are, if it is known; `kept_words` says of which.
    #[getter]
    fn expected_keep(&self) -> Option<f64> {
        self.inner.expected_keep()
    }

    /// What `keep` and `expected_keep` are shares of: the rest of a sentence that begins "half of".
    #[getter]
    fn kept_words(&self) -> String {
        self.inner.kept_words().to_string()
    }

    /// Which texts are neighbours: what the guarantee is about, and so what is public.
    #[getter]
    fn adjacency(&self) -> String {
        self.inner.adjacency().to_string()
    }

    /// The largest loss between two neighbouring texts of this number of private tokens; `math.inf`
    /// if the `unknown` rule tells some neighbours apart.
    fn total_loss(&self, tokens: Whole) -> f64 {
        self.inner.total_loss(tokens.0 as u64)
    }

    /// Privatizes a text.
    #[pyo3(signature = (text, *, threads=None))]
    fn privatize(&self, text: &Bound<'_, PyAny>, threads: Option<Whole>) -> PyResult<String> {
        let rows = [Some(one_text(text)?)];
        let private = self.run(text.py(), &rows, threads, None)?;
        Ok(private.texts().flatten().collect())
    }

    /// Privatizes a text, and tells how many tokens it had.
    #[pyo3(signature = (text, *, threads=None))]
    fn privatize_counted<'py>(
        &self,
        text: &Bound<'py, PyAny>,
        threads: Option<Whole>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let rows = [Some(one_text(text)?)];
        let private = self.run(text.py(), &rows, threads, None)?;
        self.counted(text.py(), &private)?.get_item(0)
    }

    /// Privatizes these parts of a text, and leaves the rest as it is.
    #[pyo3(signature = (text, spans, *, lists=None, numbers=None))]
    fn privatize_spans<'py>(
        &self,
        text: &Bound<'py, PyAny>,
        spans: Vec<Given>,
        lists: Option<Bound<'py, PyDict>>,
        numbers: Option<(i64, i64, u32)>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let privatizer = self.for_spans(text.py(), &Sources::new(lists, numbers)?)?;
        session::with_spans(text, &spans, |text, spans| {
            privatizer.privatize_spans(text, spans)
        })
    }

    /// Which texts with marked spans are neighbours.
    #[getter]
    fn spans_adjacency(&self) -> String {
        self.inner.spans_adjacency().to_string()
    }

    /// Privatizes a list of strings and `None`s; into records `Privatized` if `counted`.
    fn _privatize_list<'py>(
        &self,
        texts: &Bound<'py, PyList>,
        threads: Option<Whole>,
        progress: Option<Callback>,
        counted: bool,
    ) -> PyResult<Bound<'py, PyList>> {
        let py = texts.py();
        let rows: PyResult<Vec<_>> = texts
            .iter()
            .enumerate()
            .map(|(row, text)| row_text(&text, Some(row)))
            .collect();
        let private = self.run(py, &rows?, threads, progress)?;
        match counted {
            true => self.counted(py, &private),
            false => PyList::new(py, private.texts().collect::<Vec<_>>()),
        }
    }

    /// Privatizes an Arrow column, chunk by chunk or into one.
    fn _privatize_arrow(
        &self,
        column: &Bound<'_, PyAny>,
        threads: Option<Whole>,
        progress: Option<Callback>,
        combine: bool,
    ) -> PyResult<Vec<ArrowColumn>> {
        let py = column.py();
        let column = Column::import(column)?;
        let private = self.run(py, &column.rows(), threads, progress)?;
        failure::detached(py, || column.rebuild(private.texts(), combine))?.map_err(|_| {
            let message = "the privatized column exceeds 2 GiB, the most that Arrow's \
                           string type holds: use large_string, or smaller batches";
            failure::input(py, message.to_owned(), None)
        })
    }

    /// The record of texts that were privatized, from the tokens, unknown tokens and public words of each.
    fn _manifest<'py>(
        &self,
        py: Python<'py>,
        texts: Vec<(u64, u64, u64)>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let counted = |(tokens, unknown, public)| {
            let mut text = brr::Privatized::default();
            (text.tokens, text.unknown, text.public) = (tokens, unknown, public);
            text
        };
        let texts: Vec<_> = texts.into_iter().map(counted).collect();
        let counts = brr_corpus::Counts::of(&texts);
        let record = brr_corpus::manifest::of_texts(&self.inner, &counts, None);
        read_json(py, &record)
    }

    /// What comes out when this word goes in: the `top` most likely outputs.
    /// Computed where the mechanism's probabilities are known, else estimated
    /// from `draws` outputs.
    #[pyo3(signature = (word, top=Whole(brr::explain::TOP), draws=Whole(brr::explain::DRAWS)))]
    fn outcomes<'py>(
        &self,
        word: &Bound<'py, PyAny>,
        top: Whole,
        draws: Whole,
    ) -> PyResult<Bound<'py, PyAny>> {
        explain::outcomes(word.py(), self, &one_text(word)?, top.0, draws.0)
    }

    /// What may have gone in when this word came out, for an observer who
    /// holds every word for equally likely beforehand.
    #[pyo3(signature = (word, top=Whole(brr::explain::TOP), draws=Whole(brr::explain::DRAWS)))]
    fn posterior<'py>(
        &self,
        word: &Bound<'py, PyAny>,
        top: Whole,
        draws: Whole,
    ) -> PyResult<Bound<'py, PyAny>> {
        explain::posterior(word.py(), self, &one_text(word)?, top.0, draws.0)
    }

    /// A privatized text beside the words it was made from. Not private.
    fn trace<'py>(&self, text: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        explain::trace(text.py(), self, one_text(text)?.to_string())
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
            this.context(py),
            this.public(),
            this.private(),
            this.case(),
        );
        Ok((slf.get_type().into_any(), args.into_pyobject(py)?))
    }

    fn __repr__(&self) -> String {
        let guarantee = self.inner.guarantee();
        format!(
            "<brr.Privatizer {} with epsilon {:.4} on {}, bound {:.1}{}{}>",
            self.mechanism(),
            guarantee.epsilon,
            guarantee.metric,
            guarantee.bound(),
            self.context.as_ref().map_or("", |_| ", with context"),
            self.inner
                .options()
                .policy
                .list()
                .map_or(String::new(), |list| format!(", list {}", list.name())),
        )
    }
}

impl Privatizer {
    /// The core's privatizer, to be taken along to another thread.
    pub fn share(&self) -> Arc<brr::Privatizer> {
        self.inner.clone()
    }

    /// The core's privatizer with lists for spans. The last one is kept.
    pub fn for_spans(&self, py: Python<'_>, sources: &Sources) -> PyResult<Arc<brr::Privatizer>> {
        let made = failure::detached(py, || self.spanned.get(sources, &self.inner))?;
        made.map_err(|error| failure::to_py(py, &error))
    }

    /// All rows, with the interpreter free for other threads. `progress` is called with the rows
    /// done and their number, by the calling thread; an exception of it ends the work.
    fn run<T>(
        &self,
        py: Python<'_>,
        rows: &[Option<T>],
        threads: Option<Whole>,
        progress: Option<Callback>,
    ) -> PyResult<PrivatizedRows>
    where
        T: AsRef<str> + Sync,
    {
        let threads = batch::threads(py, threads)?;
        let look = |done: usize| {
            Python::attach(|py| {
                py.check_signals()?;
                let call = progress.as_ref();
                call.map_or(Ok(()), |p| p.0.call1(py, (done, rows.len())).map(drop))
            })
        };
        failure::detached(py, || batch::run(&self.inner, rows, threads, look))?.map_err(|stopped| {
            match stopped {
                Stopped::Failed(error) => failure::to_py(py, &error),
                Stopped::Asked(error) => error,
            }
        })
    }

    /// Rows as records `Privatized`.
    fn counted<'py>(&self, py: Python<'py>, rows: &PrivatizedRows) -> PyResult<Bound<'py, PyList>> {
        let records = PyList::empty(py);
        for row in rows.iter() {
            let told = |row: Row<'_>| {
                let loss = self.inner.total_loss(row.tokens - row.public);
                let told = (row.text, row.tokens, row.unknown, loss, row.public);
                record::new(py, "Privatized", told)
            };
            records.append(row.map(told).transpose()?)?;
        }
        Ok(records)
    }
}

/// A text that must be there.
pub fn one_text(text: &Bound<'_, PyAny>) -> PyResult<PyBackedStr> {
    let none = || failure::input(text.py(), "expected a string, found None".to_owned(), None);
    row_text(text, None)?.ok_or_else(none)
}

/// The text of a cell. What is wrong with it is said without showing it.
pub fn row_text(cell: &Bound<'_, PyAny>, row: Option<usize>) -> PyResult<Option<PyBackedStr>> {
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

/// The name of a choice, or what was given in its place.
pub enum Name<'py> {
    Default(&'static str),
    Given(Bound<'py, PyAny>),
}

impl<'py> FromPyObject<'_, 'py> for Name<'py> {
    type Error = PyErr;

    fn extract(name: Borrowed<'_, 'py, PyAny>) -> PyResult<Name<'py>> {
        Ok(Name::Given(name.to_owned()))
    }
}

impl Name<'_> {
    fn default<T: Choice>() -> Name<'static> {
        Name::Default(choices::default::<T>())
    }

    pub fn parse<T: Choice>(&self, py: Python<'_>) -> PyResult<T> {
        match self {
            Name::Default(name) => parse(py, name),
            // What is no string is no name either.
            Name::Given(name) => parse(py, name.extract::<PyBackedStr>().as_deref().unwrap_or("")),
        }
    }
}

/// The budget stated, or the default.
fn budget(py: Python<'_>, stated: [Option<Bound<'_, PyAny>>; 3]) -> PyResult<Budget> {
    let mut budgets = Budget::NAMES.into_iter().zip(stated);
    let mut stated = budgets
        .by_ref()
        .filter_map(|(name, value)| Some((name, value?)));
    let Some((name, value)) = stated.next() else {
        return Ok(Budget::DEFAULT);
    };
    if stated.next().is_some() {
        let message = "give one of epsilon, bound and keep, not several";
        return Err(failure::budget(py, message));
    }
    let number = value.extract::<f64>();
    let number = number.map_err(|_| unlike(&value, &format!("a number for {name}")))?;
    Ok(Budget::named(name, number).expect("a name of the table"))
}

//! Spans and sessions, as Python sees them. Offsets are code points.

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use brr::{Numbers, PrivatizedSpans, Span};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::choices::unlike;
use crate::privatizer::{Privatizer, one_text};
use crate::words::Words;
use crate::{failure, record};

/// What spans draw from besides all private words: lists by name, and a range and a scale for integers.
#[derive(Default)]
pub struct Sources {
    lists: Vec<(String, Words)>,
    numbers: Option<(i64, i64, u32)>,
}

impl Sources {
    /// As they are given: without lists, the built-in ones of names and places.
    pub fn new(
        lists: Option<Bound<'_, PyDict>>,
        numbers: Option<(i64, i64, u32)>,
    ) -> PyResult<Sources> {
        let Some(given) = lists else {
            let names = ["names", "places"].map(|name| (name.to_owned(), Words::named(name)));
            let lists = names.into();
            return Ok(Sources { lists, numbers });
        };
        let mut lists = Vec::new();
        for (name, words) in given {
            let named = name.extract();
            let named = named.map_err(|_| unlike(&name, "the name of a list"))?;
            lists.push((named, words.extract()?));
        }
        Ok(Sources { lists, numbers })
    }

    /// Equal for equal sources.
    pub fn key(&self) -> String {
        let lists = self
            .lists
            .iter()
            .map(|(name, words)| (name, words.stated()));
        format!("{:?} {:?}", lists.collect::<Vec<_>>(), self.numbers)
    }

    /// A privatizer like this one that has them.
    pub fn given_to(&self, privatizer: &brr::Privatizer) -> brr::Result<brr::Privatizer> {
        let (model, options) = (privatizer.model().clone(), privatizer.options().clone());
        let cores = brr::parts::parallel::cores();
        let privatizer = brr::Privatizer::certified(model, options, cores, &|_| {})?;
        let lists = self
            .lists
            .iter()
            .map(|(name, words)| (name.as_str(), words.stated()));
        let privatizer = brr_english::with_lists(privatizer, lists)?;
        Ok(match self.numbers {
            Some((low, high, scale)) => privatizer.with_numbers(Numbers::new(low..=high, scale)?),
            None => privatizer,
        })
    }
}

/// A span as Python gives it: start, end and perhaps a list.
#[derive(FromPyObject)]
pub enum Given {
    Listed(i64, i64, Option<String>),
    Plain(i64, i64),
}

/// Between code points and bytes.
struct Places(Vec<usize>);

impl Places {
    fn of(text: &str) -> Places {
        let starts = text.char_indices().map(|(at, _)| at);
        Places(starts.chain([text.len()]).collect())
    }

    /// The byte at which a code point begins; none that a text can have if there is no such.
    fn byte(&self, point: i64) -> usize {
        let found = usize::try_from(point)
            .ok()
            .and_then(|point| self.0.get(point));
        found.copied().unwrap_or(usize::MAX)
    }

    fn point(&self, byte: usize) -> usize {
        self.0.partition_point(|&at| at < byte)
    }

    fn spans(&self, given: &[Given]) -> Vec<Span> {
        let span = |given: &Given| {
            let (start, end, list) = match given {
                Given::Listed(start, end, list) => (start, end, list.as_deref()),
                Given::Plain(start, end) => (start, end, None),
            };
            let range = self.byte(*start)..self.byte(*end);
            list.map_or(Span::new(range.clone()), |list| Span::of(range, list))
        };
        given.iter().map(span).collect()
    }
}

/// Runs a call on the spans of a text, and tells what came of it.
pub fn with_spans<'py>(
    text: &Bound<'py, PyAny>,
    given: &[Given],
    call: impl FnOnce(&str, &[Span]) -> brr::Result<PrivatizedSpans> + Send,
) -> PyResult<Bound<'py, PyAny>> {
    let py = text.py();
    let text = one_text(text)?;
    let spans = Places::of(&text).spans(given);
    let private = failure::detached(py, || call(&text, &spans))?;
    let private = private.map_err(|error| failure::to_py(py, &error))?;
    let places = Places::of(&private.text);
    let point = |range: &Range<usize>| (places.point(range.start), places.point(range.end));
    let spans: Vec<(usize, usize)> = private.spans.iter().map(point).collect();
    record::new(
        py,
        "PrivatizedSpans",
        (private.text, spans, private.tokens, private.loss),
    )
}

/// A conversation in which each distinct word has one surrogate.
#[pyclass(frozen, module = "brr._native")]
pub struct Session(Mutex<brr::Session>);

impl Session {
    fn lock(&self) -> MutexGuard<'_, brr::Session> {
        // A call that panicked has changed nothing that the next one relies on.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Session {
    #[new]
    #[pyo3(signature = (privatizer, *, lists=None, numbers=None))]
    fn new(
        py: Python<'_>,
        privatizer: &Privatizer,
        lists: Option<Bound<'_, PyDict>>,
        numbers: Option<(i64, i64, u32)>,
    ) -> PyResult<Session> {
        let privatizer = privatizer.for_spans(py, &Sources::new(lists, numbers)?)?;
        let session = brr::Session::new(privatizer);
        let session = session.map_err(|error| failure::to_py(py, &error))?;
        Ok(Session(Mutex::new(session)))
    }

    /// A session that was exported, with a privatizer like the one that it had.
    #[staticmethod]
    #[pyo3(signature = (privatizer, data, *, lists=None, numbers=None))]
    fn from_bytes(
        py: Python<'_>,
        privatizer: &Privatizer,
        data: &[u8],
        lists: Option<Bound<'_, PyDict>>,
        numbers: Option<(i64, i64, u32)>,
    ) -> PyResult<Session> {
        let privatizer = privatizer.for_spans(py, &Sources::new(lists, numbers)?)?;
        let session = brr::Session::import(privatizer, data);
        let session = session.map_err(|error| failure::to_py(py, &error))?;
        Ok(Session(Mutex::new(session)))
    }

    /// The session as bytes: they hold the originals.
    fn export<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.lock().export())
    }

    /// Privatizes a whole text, under the privatizer's policy.
    fn privatize(&self, text: &Bound<'_, PyAny>) -> PyResult<String> {
        let py = text.py();
        let text = one_text(text)?;
        let private = failure::detached(py, || self.lock().privatize(&text))?;
        let private = private.map_err(|error| failure::to_py(py, &error))?;
        Ok(private.text)
    }

    /// Privatizes these parts of a text.
    fn privatize_spans<'py>(
        &self,
        text: &Bound<'py, PyAny>,
        spans: Vec<Given>,
    ) -> PyResult<Bound<'py, PyAny>> {
        with_spans(text, &spans, |text, spans| {
            self.lock().privatize_spans(text, spans)
        })
    }

    /// Text that leaves in clear beside what the session privatizes.
    fn add_public(&self, text: &Bound<'_, PyAny>) -> PyResult<()> {
        let text = one_text(text)?;
        self.lock().add_public(&text);
        Ok(())
    }

    /// Puts the originals back into a text.
    fn restore<'py>(&self, text: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = text.py();
        let text = one_text(text)?;
        let restored = failure::detached(py, || self.lock().restore(&text))?;
        record::new(
            py,
            "Restored",
            (restored.text, restored.restored, restored.ambiguous),
        )
    }

    /// The same for a text that comes in parts.
    fn restorer(&self) -> Restorer {
        Restorer(Mutex::new(self.lock().restorer()))
    }

    /// Which conversations are neighbours.
    #[getter]
    fn adjacency(&self) -> String {
        self.lock().adjacency().to_string()
    }

    /// The largest loss between neighbouring conversations so far.
    #[getter]
    fn loss(&self) -> f64 {
        self.lock().loss()
    }

    /// How many distinct words were drawn.
    #[getter]
    fn words(&self) -> u64 {
        self.lock().words()
    }

    /// How many surrogates stand for more than one word.
    #[getter]
    fn collisions(&self) -> u64 {
        self.lock().collisions()
    }

    fn __repr__(&self) -> String {
        let session = self.lock();
        format!(
            "<brr.Session of {} words, loss {:.1}>",
            session.words(),
            session.loss()
        )
    }
}

/// Restores a text that comes in parts.
#[pyclass(frozen, module = "brr._native")]
pub struct Restorer(Mutex<brr::Restorer>);

impl Restorer {
    fn lock(&self) -> MutexGuard<'_, brr::Restorer> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Restorer {
    /// The next part of a text; what can be told of the text now.
    fn push(&self, part: &Bound<'_, PyAny>) -> PyResult<String> {
        let text = one_text(part)?;
        failure::detached(part.py(), || self.lock().push(&text))
    }

    /// The text has ended: the rest of it.
    fn finish(&self, py: Python<'_>) -> PyResult<String> {
        failure::detached(py, || self.lock().finish())
    }

    /// How many surrogates became originals so far.
    #[getter]
    fn restored(&self) -> u64 {
        self.lock().restored()
    }

    /// How many were left so far, as it is not certain what they stand for.
    #[getter]
    fn ambiguous(&self) -> u64 {
        self.lock().ambiguous()
    }
}

/// Privatizers with sources, as they were last asked for.
#[derive(Default)]
pub struct Last(Mutex<Option<(String, Arc<brr::Privatizer>)>>);

impl Last {
    /// The privatizer with these sources, made unless it is the last one.
    pub fn get(
        &self,
        sources: &Sources,
        privatizer: &brr::Privatizer,
    ) -> brr::Result<Arc<brr::Privatizer>> {
        let key = sources.key();
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, made)) = last.as_ref().filter(|(known, _)| *known == key) {
            return Ok(made.clone());
        }
        let made = Arc::new(sources.given_to(privatizer)?);
        *last = Some((key, made.clone()));
        Ok(made)
    }
}

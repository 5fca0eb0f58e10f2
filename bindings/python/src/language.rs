//! Language models, as Python sees them.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use brr_build::language::TextCounter;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict, PyIterator, PyString, PyTuple};

use crate::choices::{Whole, unlike};
use crate::failure;
use crate::model::{self, Model};
use crate::privatizer::row_text;

/// Which words follow which, to decode draws with. Read-only.
#[pyclass(frozen, module = "brr")]
pub struct Language {
    pub inner: Arc<brr::Language>,
    /// The file, if it is not the built-in one.
    own: Option<Vec<u8>>,
}

static ENGLISH: OnceLock<Arc<brr::Language>> = OnceLock::new();

impl Language {
    fn builtin(py: Python<'_>) -> PyResult<Language> {
        let inner = model::once(py, &ENGLISH, brr_english::language)?;
        Ok(Language { inner, own: None })
    }

    fn read(
        py: Python<'_>,
        bytes: impl FnOnce() -> brr::Result<Vec<u8>> + Send,
    ) -> PyResult<Language> {
        let read = || bytes().and_then(|bytes| Ok((brr::Language::new(&bytes)?, bytes)));
        let (language, bytes) = py
            .detach(read)
            .map_err(|error| failure::to_py(py, &error))?;
        Ok(Language {
            inner: Arc::new(language),
            own: Some(bytes),
        })
    }

    /// The language model meant by `context`: a language model, a file, the built-in one for true,
    /// none for false.
    pub fn wanted(context: &Bound<'_, PyAny>) -> PyResult<Option<Py<Language>>> {
        let py = context.py();
        if let Ok(language) = context.cast::<Language>() {
            return Ok(Some(language.clone().unbind()));
        }
        let language = match context.extract::<bool>() {
            Ok(false) => return Ok(None),
            Ok(true) => Language::builtin(py)?,
            Err(_) => Language::load(context)?,
        };
        Py::new(py, language).map(Some)
    }
}

#[pymethods]
impl Language {
    /// Reads a language model file.
    #[staticmethod]
    fn load(path: &Bound<'_, PyAny>) -> PyResult<Language> {
        let expected = "a language model, the path of its file, True or False";
        let file: PathBuf = path.extract().map_err(|_| unlike(path, expected))?;
        Language::read(path.py(), move || brr::Language::read(file))
    }

    /// Reads a language model from the bytes of its file.
    #[staticmethod]
    fn from_bytes(data: &Bound<'_, PyAny>) -> PyResult<Language> {
        let bytes = data.extract::<PyBackedBytes>();
        let bytes = bytes.map_err(|_| unlike(data, "the bytes of a language model file"))?;
        Language::read(data.py(), move || Ok(bytes.to_vec()))
    }

    /// The built-in language model, for the words of the built-in model.
    #[staticmethod]
    fn english(py: Python<'_>) -> PyResult<Language> {
        Language::builtin(py)
    }

    /// The bytes of the file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.own.as_deref().unwrap_or(brr_english::LANGUAGE))
    }

    /// Number of words.
    #[getter]
    fn words(&self) -> usize {
        self.inner.words()
    }

    /// Number of pairs of words that are listed with their probability.
    #[getter]
    fn pairs(&self) -> usize {
        self.inner.pairs()
    }

    /// Which file this is, every byte of it: a SHA-256 of all sections.
    #[getter]
    fn identity(&self) -> String {
        self.inner.file_identity().to_string()
    }

    /// Provenance and licence.
    #[getter]
    fn meta<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        model::dict(py, self.inner.meta())
    }

    fn __repr__(&self) -> String {
        let mut meta = self.inner.meta().iter();
        let name = meta.find(|(key, _)| key == "name");
        let name = name.map_or("unnamed language model", |(_, name)| name);
        let (pairs, words) = (self.pairs(), self.words());
        format!("<brr.Language {name}: {pairs} pairs of {words} words>")
    }

    /// The built-in language model travels by name, any other as its bytes.
    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let class = py.get_type::<Language>();
        if self.own.is_none() {
            let args = PyTuple::new(py, [self.identity()])?;
            return Ok((class.getattr("_english_as")?, args));
        }
        let args = PyTuple::new(py, [self.to_bytes(py)])?;
        Ok((class.getattr("from_bytes")?, args))
    }

    /// The built-in language model, if it is the one with this identity.
    #[staticmethod]
    fn _english_as(py: Python<'_>, identity: &str) -> PyResult<Language> {
        let language = Language::builtin(py)?;
        match language.identity() == identity {
            true => Ok(language),
            false => Err(failure::other_version(py, "language model")),
        }
    }
}

/// Builds a language model from documents and files with a document on each line.
#[pyfunction(name = "_build_language")]
pub fn build_language(
    texts: &Bound<'_, PyIterator>,
    model: Option<Bound<'_, PyAny>>,
    size: Whole,
    meta: Vec<(String, String)>,
) -> PyResult<Language> {
    let py = texts.py();
    let model = Model::wanted(py, model.as_ref())?.get().inner.clone();
    let mut counter = TextCounter::new(&model);
    for (row, item) in texts.try_iter()?.enumerate() {
        add(&mut counter, &item?, row)?;
        py.check_signals()?;
    }
    if counter.tokens() == 0 {
        let message = "there is no word in these texts: nothing to learn from";
        return Err(failure::build(py, message.to_owned()));
    }
    let bytes = py.detach(|| counter.pairs().write(&model, size.0, &[], &meta));
    let bytes = bytes.map_err(|error| failure::train(py, &error))?;
    Language::read(py, || Ok(bytes))
}

/// Counts a document, or those of a file.
fn add(counter: &mut TextCounter<'_>, item: &Bound<'_, PyAny>, row: usize) -> PyResult<()> {
    let py = item.py();
    if item.is_instance_of::<PyString>() {
        let text = row_text(item, Some(row))?;
        py.detach(|| text.iter().for_each(|text| counter.add(text)));
        return Ok(());
    }
    let path: PathBuf = item
        .extract()
        .map_err(|_| unlike(item, "a text or the path of a text file"))?;
    let count = || {
        for line in BufReader::new(File::open(&path)?).lines() {
            counter.add(&line?);
        }
        Ok(())
    };
    py.detach(count)
        .map_err(|source| failure::to_py(py, &brr::Error::Io { path, source }))
}

//! Models, as Python sees them.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use brr::{MechanismKind, Standing};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBool, PyBytes, PyDict, PyList, PyTuple};

use crate::choices::{Callback, Number, Whole, unlike};
use crate::words::Words;
use crate::{batch, failure, interruptible, record};

/// Words, their codes, and what was measured about them. Read-only.
#[pyclass(frozen, module = "brr")]
pub struct Model {
    pub inner: Arc<brr::Model>,
    builtin: bool,
}

static ENGLISH: OnceLock<Arc<brr::Model>> = OnceLock::new();

/// What is built in, read once. Never a lock held while reading: a process
/// that forks in that moment would leave its child a lock nobody opens.
pub fn once<T: Send + Sync>(
    py: Python<'_>,
    read: &OnceLock<Arc<T>>,
    reading: fn() -> brr::Result<T>,
) -> PyResult<Arc<T>> {
    if let Some(done) = read.get() {
        return Ok(done.clone());
    }
    let done = py.detach(reading);
    let done = Arc::new(done.map_err(|error| failure::to_py(py, &error))?);
    let _ = read.set(done.clone());
    Ok(done)
}

impl Model {
    fn builtin(py: Python<'_>) -> PyResult<Model> {
        Ok(Model {
            inner: once(py, &ENGLISH, brr_english::model)?,
            builtin: true,
        })
    }

    fn read(
        py: Python<'_>,
        read: impl FnOnce() -> brr::Result<brr::Model> + Send,
    ) -> PyResult<Model> {
        let model = py
            .detach(read)
            .map_err(|error| failure::to_py(py, &error))?;
        Ok(Model::own(model))
    }

    /// The model meant: a model, a file, or the built-in one for nothing.
    pub fn wanted(py: Python<'_>, source: Option<&Bound<'_, PyAny>>) -> PyResult<Py<Model>> {
        let Some(source) = source else {
            return Py::new(py, Model::builtin(py)?);
        };
        if let Ok(model) = source.cast::<Model>() {
            return Ok(model.clone().unbind());
        }
        Py::new(py, Model::load(source)?)
    }

    /// A model other than the built-in one.
    pub fn own(model: brr::Model) -> Model {
        Model {
            inner: Arc::new(model),
            builtin: false,
        }
    }
}

#[pymethods]
impl Model {
    /// Reads a model file.
    #[staticmethod]
    fn load(path: &Bound<'_, PyAny>) -> PyResult<Model> {
        let file: PathBuf = path.extract().map_err(|_| no_model(path))?;
        Model::read(path.py(), move || brr::Model::open(file))
    }

    /// Reads a model from the bytes of a model file.
    #[staticmethod]
    fn from_bytes(data: &Bound<'_, PyAny>) -> PyResult<Model> {
        let bytes = data.extract::<PyBackedBytes>();
        let bytes = bytes.map_err(|_| unlike(data, "the bytes of a model file"))?;
        Model::read(data.py(), move || brr::Model::new(bytes.to_vec()))
    }

    /// The built-in English model.
    #[staticmethod]
    fn english(py: Python<'_>) -> PyResult<Model> {
        Model::builtin(py)
    }

    /// The bytes of the model file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.inner.bytes())
    }

    /// Code length.
    #[getter]
    fn bits(&self) -> usize {
        self.inner.bits().get()
    }

    /// Whether words are looked up in lower case.
    #[getter]
    fn lowercase(&self) -> bool {
        self.inner.lowercase()
    }

    /// All words, the most frequent first.
    #[getter]
    fn words<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let words: Vec<&str> = self.inner.vocabulary().iter().collect();
        PyList::new(py, words)
    }

    /// How far the words lie apart: P_avg, P_max and the nearest neighbours. Bounds for
    /// all but P_avg if unchecked.
    #[getter]
    fn distances<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        record::distances(py, self.inner.pair_distances())
    }

    /// Share of kept words by epsilon, for randomized response; empty if unchecked.
    #[getter]
    fn calibration<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let points = self.inner.calibration().map_or(&[][..], |t| t.points());
        let fields = |p: &brr::parts::calibration::CalibrationPoint| {
            (p.epsilon, p.keep.weighted, p.keep.plain)
        };
        record::list(py, "CalibrationPoint", points, fields)
    }

    /// Certificates of the exponential mechanism, in ascending order of epsilon; none if
    /// unchecked.
    #[getter]
    fn certificates<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let certificates = self.inner.certificates().iter();
        let fields =
            |c: &brr::parts::certify::Certificate| (c.epsilon(), c.scale(), c.keep().weighted);
        record::list(py, "Certificate", certificates, fields)
    }

    /// Provenance, licence, quality.
    #[getter]
    fn meta<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        dict(py, self.inner.meta())
    }

    /// SHA-256 of numbers, words and codes: what certificates name.
    #[getter]
    fn identity(&self) -> String {
        self.inner.identity().to_string()
    }

    /// Which file this is, every byte of it: a SHA-256 of all sections.
    #[getter]
    fn file_identity(&self) -> String {
        self.inner.file_identity().to_string()
    }

    /// Why what the file says about itself is believed: `pinned` if it is one that this
    /// package was released with, `checked` after `check()`; or `unchecked`, and then only
    /// what holds for any codes is used.
    #[getter]
    fn standing(&self) -> &'static str {
        self.inner.standing().name()
    }

    /// A model of these words alone. Fix them before any private text is seen. Near words may be at a higher level of
    /// its tree, and have a larger loss under tree response.
    fn subset(&self, py: Python<'_>, words: Words) -> PyResult<Model> {
        let model = self.inner.clone();
        Model::read(py, move || {
            let list = brr_english::policy(None, Some(words.stated()), &model)?;
            let ids = list.list().map_or(&[][..], |list| list.words());
            let words: Vec<&str> = ids.iter().map(|&id| model.vocabulary().word(id)).collect();
            model.subset(&words)
        })
    }

    /// Checks what the file says about itself, unless it is known to hold: looks at all pairs
    /// of words, which takes seconds for some ten thousand words.
    #[pyo3(signature = (*, threads=None, progress=None))]
    fn check(
        &self,
        py: Python<'_>,
        threads: Option<Whole>,
        progress: Option<Callback>,
    ) -> PyResult<()> {
        let (model, threads) = (self.inner.clone(), batch::threads(py, threads)?);
        let tell = move |share: f64| interruptible::tell(progress.as_ref(), (share,));
        interruptible::run(py, move || model.check(threads, &tell), || {})?
            .map_err(|error| failure::to_py(py, &error))
    }

    /// The epsilon at which randomized response keeps this share of words.
    fn epsilon_for(&self, py: Python<'_>, keep: Number) -> PyResult<f64> {
        let table = self.inner.calibration();
        let epsilon = match table {
            Some(table) => table.epsilon_for(keep.0),
            None => Err(brr::Error::UncheckedModel),
        };
        epsilon
            .map(brr::parts::epsilon::Epsilon::get)
            .map_err(|error| failure::to_py(py, &error))
    }

    /// The share of words that randomized response keeps at this epsilon; `None` if the
    /// model does not tell, or is unchecked.
    fn keep_at(&self, epsilon: Number) -> Option<f64> {
        let table = self.inner.calibration();
        let keep = table.and_then(|table| table.keep_at(epsilon.0));
        keep.map(|keep| keep.weighted)
    }

    /// Everything known about the model, as `brr inspect --json` prints it.
    fn inspect<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (model, facts) = (&self.inner, PyDict::new(py));
        let (d, p, words) = (
            model.code_distances(),
            model.pair_distances(),
            model.vocabulary().len(),
        );
        facts.set_item("words", words)?;
        facts.set_item("bits", model.bits().get())?;
        facts.set_item("bytes", model.bytes().len())?;
        facts.set_item("bytes_per_word", model.bytes().len() as f64 / words as f64)?;
        facts.set_item("lowercase", model.lowercase())?;
        facts.set_item("language", language(py, model)?)?;
        facts.set_item("p_avg", p.average)?;
        facts.set_item("p_max", d.maximum)?;
        facts.set_item("nearest_mean", p.nearest_mean)?;
        facts.set_item("nearest_min", d.nearest_min)?;
        facts.set_item("duplicate_codes", d.duplicates)?;
        facts.set_item("identity", self.identity())?;
        facts.set_item("file_identity", self.file_identity())?;
        facts.set_item("standing", self.standing())?;
        facts.set_item("meta", self.meta(py)?)?;
        facts.set_item("certificates", dicts(self.certificates(py)?)?)?;
        facts.set_item("calibration", dicts(self.calibration(py)?)?)?;
        facts.set_item("tree_levels", model.tree().map(|tree| tree.levels()))?;
        facts.set_item("mechanisms", MechanismKind::offered_by(model))?;
        Ok(facts)
    }

    fn __len__(&self) -> usize {
        self.inner.vocabulary().len()
    }

    fn __contains__(&self, word: &str) -> bool {
        self.inner.find(word).is_some()
    }

    fn __repr__(&self) -> String {
        let name = self.inner.meta_value("name").unwrap_or("unnamed model");
        let (words, bits) = (self.inner.vocabulary().len(), self.inner.bits());
        format!("<brr.Model {name}: {words} words of {bits} bits>")
    }

    /// The built-in model travels by name, any other as its bytes. Anyone who gets the bytes
    /// of a checked model checks it again: a claim is believed where it was checked.
    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let class = py.get_type::<Model>();
        if self.builtin {
            let args = PyTuple::new(py, [self.file_identity()])?;
            return Ok((class.getattr("_english_as")?, args));
        }
        let make = match self.inner.standing() {
            Standing::Checked => "_checked_from_bytes",
            _ => "from_bytes",
        };
        Ok((class.getattr(make)?, PyTuple::new(py, [self.to_bytes(py)])?))
    }

    /// A model from bytes, checked.
    #[staticmethod]
    fn _checked_from_bytes(data: &Bound<'_, PyAny>) -> PyResult<Model> {
        let model = Model::from_bytes(data)?;
        model.check(data.py(), None, None)?;
        Ok(model)
    }

    /// The built-in model, if it is the one with this identity.
    #[staticmethod]
    fn _english_as(py: Python<'_>, file_identity: &str) -> PyResult<Model> {
        let model = Model::builtin(py)?;
        if model.file_identity() != file_identity {
            return Err(failure::other_version(py, "model"));
        }
        Ok(model)
    }
}

/// What was given is no model; a number may have been meant as a budget.
fn no_model(source: &Bound<'_, PyAny>) -> PyErr {
    let py = source.py();
    let number = source.extract::<f64>().ok();
    let message = match number.filter(|_| !source.is_instance_of::<PyBool>()) {
        Some(share) if 0.0 < share && share < 1.0 => {
            format!("the first argument is a model: did you mean keep={share}?")
        }
        Some(_) => "the first argument is a model: give a budget by its name, \
                    epsilon=, bound= or keep="
            .to_owned(),
        None => return unlike(source, "a model or the path of a model file"),
    };
    failure::argument(py, &message)
}

/// Remarks as a dictionary.
pub fn dict<'py>(py: Python<'py>, meta: &[(String, String)]) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (key, value) in meta {
        dict.set_item(key, value)?;
    }
    Ok(dict)
}

/// Records as dictionaries.
fn dicts(records: Bound<'_, PyList>) -> PyResult<Vec<Bound<'_, PyAny>>> {
    records
        .iter()
        .map(|record| record.call_method0("to_dict"))
        .collect()
}

/// Bytes in hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

/// What the file says of how its language is written, as `brr inspect --json` has it; nothing of English.
fn language<'py>(py: Python<'py>, model: &brr::Model) -> PyResult<Option<Bound<'py, PyDict>>> {
    if !model.has_orthography() {
        return Ok(None);
    }
    let (table, facts) = (model.orthography(), PyDict::new(py));
    facts.set_item("code", table.code())?;
    facts.set_item("name", table.name())?;
    facts.set_item("script", table.script())?;
    facts.set_item("words", table.words_name())?;
    facts.set_item("contractions", table.contractions())?;
    facts.set_item("function_words", table.function_words().len())?;
    Ok(Some(facts))
}

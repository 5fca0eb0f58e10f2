//! Lists of words, as Python gives them.

use std::path::PathBuf;

use pyo3::Borrowed;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};

use crate::choices::unlike;
use crate::failure;
use crate::privatizer::row_text;

/// The name of a built-in list, or words each with a line feed after it.
pub struct Words(String);

impl Words {
    /// A built-in list.
    pub fn named(name: &str) -> Words {
        Words(name.to_owned())
    }

    /// As the core reads it.
    pub fn stated(&self) -> &str {
        &self.0
    }
}

/// A string is a name, a path is that of a file with a word on each line, and anything else that can be
/// iterated over has words.
impl<'py> FromPyObject<'_, 'py> for Words {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Words> {
        if let Ok(name) = given.cast::<PyString>() {
            // What has a line feed is no name.
            return Ok(Words(name.to_str()?.replace('\n', " ")));
        }
        let py = given.py();
        if given.hasattr("__fspath__")? {
            let path: PathBuf = given.extract()?;
            let text = std::fs::read_to_string(&path);
            let text =
                text.map_err(|source| failure::to_py(py, &brr::Error::Io { path, source }))?;
            return Ok(Words(text + "\n"));
        }
        let expected = "the name of a list of words, the path of its file, or words";
        let words = given.try_iter().map_err(|_| unlike(&given, expected))?;
        let mut text = String::new();
        for (row, word) in words.enumerate() {
            let word = row_text(&word?, Some(row))?;
            text.push_str(word.as_deref().unwrap_or_default());
            text.push('\n');
        }
        // No word at all is no name either.
        Ok(Words(if text.is_empty() { "\n".into() } else { text }))
    }
}

impl<'py> IntoPyObject<'py> for &Words {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self.0.contains('\n') {
            false => Ok(PyString::new(py, &self.0).into_any()),
            true => {
                let words = self.0.lines().filter(|line| !line.is_empty());
                Ok(PyList::new(py, words)?.into_any())
            }
        }
    }
}

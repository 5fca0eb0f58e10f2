//! Errors as Python exceptions.
//!
//! The classes are written in Python (`brr/errors.py`), where they can have two
//! bases: a missing model file is a `BrrError` and an `OSError`. Messages are the
//! core's; none contains the user's text, and no exception is chained to one
//! that does (a `UnicodeEncodeError` carries the whole string).

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use brr::{Error, ErrorKind};
use pyo3::prelude::*;
use pyo3::types::PyType;

/// Runs a call that sees texts, with the interpreter free for other threads. Of a panic
/// only the fact is reported: its message could quote a text.
pub fn detached<T: Send>(py: Python<'_>, call: impl FnOnce() -> T + Send) -> PyResult<T> {
    let done = py.detach(|| catch_unwind(AssertUnwindSafe(call)).ok());
    done.ok_or_else(|| internal(py))
}

/// A fault of this package.
pub fn internal(py: Python<'_>) -> PyErr {
    of_kind(py, ErrorKind::Internal, ErrorKind::INTERNAL.to_owned())
}

/// The way out, in Python's words.
const UNCHECKED: &str = "what this model's file says about the share of kept words has not been \
    checked on this machine: load it with brr.Model.load, call its check(), and give that model; \
    or give epsilon= or bound=";

const MISMATCH: &str = "the language model is for other words than this model's (the built-in one \
    for those of the built-in model): make one from public text with \
    brr.build_language(texts, model=model), and give that one";

/// The exception for an error of the core.
pub fn to_py(py: Python<'_>, error: &Error) -> PyErr {
    match error {
        Error::UncheckedModel => of_kind(py, error.kind(), UNCHECKED.to_owned()),
        Error::LanguageMismatch => of_kind(py, error.kind(), MISMATCH.to_owned()),
        Error::Io { source, path } => {
            let number = source.raw_os_error();
            file(py, "FileError", number, error.to_string(), Some(path))
        }
        error => of_kind(py, error.kind(), error.to_string()),
    }
}

/// The exception for a kind of error: `unchecked-model` is an `UncheckedModelError`.
pub fn of_kind(py: Python<'_>, kind: ErrorKind, message: String) -> PyErr {
    let capital = |part: &str| part[..1].to_uppercase() + &part[1..];
    let class: String = kind.name().split('-').map(capital).collect();
    new(py, &format!("{class}Error"), message)
}

/// The exception for an error of model building. Vectors are public: a message
/// may name a file and a line in it.
pub fn train(py: Python<'_>, error: &brr_build::Error) -> PyErr {
    match error {
        brr_build::Error::Model(error) => to_py(py, error),
        brr_build::Error::Read { source, path, .. } => {
            let number = source.raw_os_error();
            file(py, "BuildFileError", number, error.to_string(), Some(path))
        }
        _ => build(py, error.to_string()),
    }
}

/// Something that nothing can be built from.
pub fn build(py: Python<'_>, message: String) -> PyErr {
    new(py, "BuildError", message)
}

/// An argument that makes no sense.
pub fn argument(py: Python<'_>, message: &str) -> PyErr {
    of_kind(py, ErrorKind::Argument, message.to_owned())
}

/// A budget that was not stated as it should be.
pub fn budget(py: Python<'_>, message: &str) -> PyErr {
    of_kind(py, ErrorKind::Budget, message.to_owned())
}

/// What is built in here is not what was meant where an object was pickled.
pub fn other_version(py: Python<'_>, what: &str) -> PyErr {
    let message = format!(
        "the built-in {what} here is another one than where this object was pickled: \
         install the same version of brr on both sides"
    );
    of_kind(py, ErrorKind::Model, message)
}

/// A file that cannot be read or written. With the system's number it also is Python's own kind of
/// error, such as `FileNotFoundError`, and has the file's name.
pub fn file(
    py: Python<'_>,
    class: &str,
    number: Option<i32>,
    message: String,
    path: Option<&Path>,
) -> PyErr {
    match (number, path.map(Path::to_owned)) {
        (Some(number), Some(path)) => new(py, class, (number, message, path.into_os_string())),
        (Some(number), None) => new(py, class, (number, message)),
        (None, _) => new(py, class, message),
    }
}

/// Something about the texts handed in; `row` counts from 0.
pub fn input(py: Python<'_>, message: String, row: Option<usize>) -> PyErr {
    new(py, "InputError", (message, row))
}

/// An exception of the class `name` in `brr.errors`.
fn new<A>(py: Python<'_>, name: &str, args: A) -> PyErr
where
    A: pyo3::PyErrArguments + Send + Sync + 'static,
{
    let class = py
        .import("brr.errors")
        .and_then(|module| module.getattr(name))
        .and_then(|class| Ok(class.cast_into::<PyType>()?));
    match class {
        Ok(class) => PyErr::from_type(class, args),
        Err(error) => error,
    }
}

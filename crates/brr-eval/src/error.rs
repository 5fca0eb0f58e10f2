//! What can go wrong in an evaluation. Messages name files, rows and settings,
//! never texts.

use std::io;
use std::path::{Path, PathBuf};

/// Why an evaluation stopped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be read or written.
    #[error("cannot {doing} {}: {source}", path.display())]
    File {
        /// What was tried.
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// A data file is not as it should be.
    #[error("{}: {problem}", path.display())]
    Data {
        /// The file.
        path: PathBuf,
        /// What is wrong, where, and the way out.
        problem: String,
    },
    /// The experiment's definition makes no sense.
    #[error("{0}")]
    Settings(String),
    /// The classifier could not be trained.
    #[error("the classifier: {0}")]
    Classifier(String),
    /// From the core.
    #[error(transparent)]
    Core(#[from] brr::Error),
    /// From building models.
    #[error(transparent)]
    Train(#[from] brr_build::Error),
}

/// An evaluation's result.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub(crate) fn file(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
        let path = path.to_owned();
        move |source| Error::File {
            doing,
            path,
            source,
        }
    }

    pub(crate) fn data(path: &Path, problem: impl Into<String>) -> Error {
        Error::Data {
            path: path.to_owned(),
            problem: problem.into(),
        }
    }
}

//! Failures: a kind for the program, the core's message for its user.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

use brr::Error;

/// What went wrong. The message says it, and the way out; it never contains the
/// user's text.
#[derive(Debug, uniffi::Error)]
#[uniffi(flat_error)]
pub enum BrrError {
    /// A budget that is out of range, or that the model cannot solve.
    InvalidBudget(Error),
    /// Not a model, or a damaged one.
    InvalidModel(Error),
    /// A file could not be read.
    Io(Error),
    /// The operating system gave no randomness; nothing was privatized.
    NoEntropy(Error),
    /// The model does not have this word.
    UnknownWord,
    /// A bug in brr. Nothing was privatized.
    Internal,
    /// A share of kept words was asked of a model whose file was not checked.
    UncheckedModel,
}

/// The way out, in the words of this library.
const UNCHECKED: &str = "what this model's file says about the share of kept words has not been \
    checked on this machine: call the model's check() first, or give Budget.Epsilon or Budget.Bound";

impl fmt::Display for BrrError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BrrError::InvalidBudget(error)
            | BrrError::InvalidModel(error)
            | BrrError::Io(error)
            | BrrError::NoEntropy(error) => error.fmt(f),
            BrrError::UnknownWord => f.write_str("the model does not have this word"),
            BrrError::UncheckedModel => f.write_str(UNCHECKED),
            BrrError::Internal => f.write_str("an internal error in brr; please report it"),
        }
    }
}

impl From<Error> for BrrError {
    fn from(error: Error) -> BrrError {
        match error {
            Error::InvalidEpsilon { .. }
            | Error::InvalidBound { .. }
            | Error::InvalidKeep { .. }
            | Error::KeepOutOfReach { .. }
            | Error::NoCalibration { .. } => BrrError::InvalidBudget(error),
            Error::UncheckedModel => BrrError::UncheckedModel,
            Error::Io { .. } => BrrError::Io(error),
            Error::NoEntropy(_) => BrrError::NoEntropy(error),
            _ => BrrError::InvalidModel(error),
        }
    }
}

/// This crate's result.
pub type Result<T> = std::result::Result<T, BrrError>;

/// Runs a call that sees the user's text. UniFFI would hand a panic's message
/// on, and the message could quote the text.
pub fn guard<T>(call: impl FnOnce() -> Result<T>) -> Result<T> {
    static SILENCE: Once = Once::new();
    SILENCE.call_once(|| std::panic::set_hook(Box::new(|_| {})));
    catch_unwind(AssertUnwindSafe(call)).unwrap_or(Err(BrrError::Internal))
}

//! Failures: a kind for the program, the core's message for its user.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

use brr::{Error, ErrorKind};

/// What went wrong, one for each kind of the core's errors. The message says it, and the way
/// out; it never contains the user's text.
#[derive(Debug, uniffi::Error)]
#[uniffi(flat_error)]
pub enum BrrError {
    /// An argument that makes no sense.
    Argument(String),
    /// The model does not have this word.
    Input(String),
    /// A budget that is out of range, or that the model cannot solve.
    Budget(String),
    /// Not a model, or a damaged one; or a language model for the words of another.
    Model(String),
    /// A share of kept words was asked of a model whose file was not checked.
    UncheckedModel(String),
    /// A file could not be read.
    File(String),
    /// The operating system gave no randomness; nothing was privatized.
    Entropy(String),
    /// A bug in brr. Nothing was privatized.
    Internal(String),
}

/// The way out, in the words of this library.
const UNCHECKED: &str = "what this model's file says about the share of kept words has not been \
    checked on this machine: call the model's check() first, or give Budget.Epsilon or Budget.Bound";

impl BrrError {
    fn new(kind: ErrorKind, message: String) -> BrrError {
        let make = match kind {
            ErrorKind::Argument => BrrError::Argument,
            ErrorKind::Input => BrrError::Input,
            ErrorKind::Budget => BrrError::Budget,
            ErrorKind::Model => BrrError::Model,
            ErrorKind::UncheckedModel => BrrError::UncheckedModel,
            ErrorKind::File => BrrError::File,
            ErrorKind::Entropy => BrrError::Entropy,
            ErrorKind::Internal => BrrError::Internal,
        };
        make(message)
    }
}

impl fmt::Display for BrrError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (BrrError::Argument(message)
        | BrrError::Input(message)
        | BrrError::Budget(message)
        | BrrError::Model(message)
        | BrrError::UncheckedModel(message)
        | BrrError::File(message)
        | BrrError::Entropy(message)
        | BrrError::Internal(message)) = self;
        f.write_str(message)
    }
}

impl From<Error> for BrrError {
    fn from(error: Error) -> BrrError {
        let message = match error {
            Error::UncheckedModel => UNCHECKED.to_owned(),
            _ => error.to_string(),
        };
        BrrError::new(error.kind(), message)
    }
}

/// This crate's result.
pub type Result<T> = std::result::Result<T, BrrError>;

/// Runs a call that sees the user's text. UniFFI would hand a panic's message
/// on, and the message could quote the text.
pub fn guard<T>(call: impl FnOnce() -> Result<T>) -> Result<T> {
    static SILENCE: Once = Once::new();
    SILENCE.call_once(|| std::panic::set_hook(Box::new(|_| {})));
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|_| {
        Err(BrrError::new(
            ErrorKind::Internal,
            ErrorKind::INTERNAL.to_owned(),
        ))
    })
}

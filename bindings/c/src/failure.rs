//! Failures: a status for the program, a message for its user, no unwinding.

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

use brr::{Error, ErrorKind};

/// What a call came to.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum brr_status {
    /// Done.
    BRR_OK = 0,
    /// A null pointer, or a choice that does not exist.
    BRR_INVALID_ARGUMENT = 1,
    /// The text is not UTF-8, or the model does not have the word.
    BRR_INVALID_INPUT = 2,
    /// A budget that is out of range, or that the model cannot solve.
    BRR_INVALID_BUDGET = 3,
    /// Not a model, or a damaged one; or a language model for the words of another.
    BRR_INVALID_MODEL = 4,
    /// A file could not be read.
    BRR_IO = 5,
    /// The operating system gave no randomness; nothing was privatized.
    BRR_NO_ENTROPY = 6,
    /// The caller's buffer is too small; nothing was written to it.
    BRR_BUFFER_TOO_SMALL = 7,
    /// A bug in brr. Nothing was privatized.
    BRR_INTERNAL = 9,
    /// A share of kept words was asked of a model whose file was not checked.
    BRR_UNCHECKED_MODEL = 10,
}

impl From<ErrorKind> for brr_status {
    fn from(kind: ErrorKind) -> brr_status {
        match kind {
            ErrorKind::Argument => brr_status::BRR_INVALID_ARGUMENT,
            ErrorKind::Input => brr_status::BRR_INVALID_INPUT,
            ErrorKind::Budget => brr_status::BRR_INVALID_BUDGET,
            ErrorKind::Model => brr_status::BRR_INVALID_MODEL,
            ErrorKind::UncheckedModel => brr_status::BRR_UNCHECKED_MODEL,
            ErrorKind::File => brr_status::BRR_IO,
            ErrorKind::Entropy => brr_status::BRR_NO_ENTROPY,
            ErrorKind::Internal => brr_status::BRR_INTERNAL,
        }
    }
}

/// The way out, in the words of this library.
const UNCHECKED: &str = "what this model's file says about the share of kept words has not been \
    checked on this machine: call brr_model_check() first, or give BRR_BUDGET_EPSILON or \
    BRR_BUDGET_BOUND";

/// A failed call.
pub struct Failure {
    status: brr_status,
    message: String,
}

impl Failure {
    /// With a status and a message; never the user's text.
    pub fn new(status: brr_status, message: impl Into<String>) -> Failure {
        Failure {
            status,
            message: message.into(),
        }
    }

    /// An argument that makes no sense.
    pub fn argument(message: &str) -> Failure {
        Failure::new(brr_status::BRR_INVALID_ARGUMENT, message)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        let message = match error {
            Error::UncheckedModel => UNCHECKED.to_owned(),
            _ => error.to_string(),
        };
        Failure::new(error.kind().into(), message)
    }
}

thread_local! {
    static MESSAGE: RefCell<CString> = RefCell::default();
}

/// What the last failed call of this thread says, for people; "" before the
/// first. Valid until the thread's next call that fails.
#[unsafe(no_mangle)]
pub extern "C" fn brr_error_message() -> *const c_char {
    MESSAGE
        .try_with(|message| message.borrow().as_ptr())
        .unwrap_or(c"".as_ptr())
}

fn report(failure: Failure) -> brr_status {
    let message = CString::new(failure.message).unwrap_or_default();
    // No room for a message while a thread ends; the status still tells.
    let _ = MESSAGE.try_with(|slot| *slot.borrow_mut() = message);
    failure.status
}

/// Runs a call and turns whatever happens into a status.
pub fn guard(call: impl FnOnce() -> Result<(), Failure>) -> brr_status {
    // A panic's message could quote a text, and would go to standard error.
    static SILENCE: Once = Once::new();
    SILENCE.call_once(|| std::panic::set_hook(Box::new(|_| {})));
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(())) => brr_status::BRR_OK,
        Ok(Err(failure)) => report(failure),
        Err(_) => report(Failure::new(
            ErrorKind::Internal.into(),
            ErrorKind::INTERNAL,
        )),
    }
}

/// The bytes, or other elements, of a C argument; an empty one may be null.
///
/// # Safety
/// `data` is null or readable for `len` elements while the result is used.
pub unsafe fn elements<'a, T>(data: *const T, len: usize) -> Result<&'a [T], Failure> {
    if len == 0 {
        return Ok(&[]);
    }
    let size = len.checked_mul(size_of::<T>());
    if data.is_null() || size.is_none_or(|size| isize::try_from(size).is_err()) {
        return Err(Failure::argument("a null pointer with a length"));
    }
    // SAFETY: not null, a possible length, and the caller's promise.
    Ok(unsafe { std::slice::from_raw_parts(data, len) })
}

/// The bytes of a text, checked to be UTF-8.
///
/// # Safety
/// As for [`elements`].
pub unsafe fn text<'a>(data: *const c_char, len: usize) -> Result<&'a str, Failure> {
    // SAFETY: the caller's promise.
    let bytes = unsafe { elements(data.cast(), len) }?;
    std::str::from_utf8(bytes)
        .map_err(|_| Failure::new(brr_status::BRR_INVALID_INPUT, "the text is not UTF-8"))
}

/// A pointer argument that must be there.
///
/// # Safety
/// `pointer` is null or valid for reads while the result is used.
pub unsafe fn needed<'a, T>(pointer: *const T, name: &str) -> Result<&'a T, Failure> {
    // SAFETY: the caller's promise.
    unsafe { pointer.as_ref() }.ok_or_else(|| Failure::argument(&format!("{name} is null")))
}

/// A result pointer that must be there.
///
/// # Safety
/// `pointer` is null or valid for writes while the result is used.
pub unsafe fn target<'a, T>(pointer: *mut T, name: &str) -> Result<&'a mut T, Failure> {
    // SAFETY: the caller's promise.
    unsafe { pointer.as_mut() }.ok_or_else(|| Failure::argument(&format!("{name} is null")))
}

/// The path in a C argument.
///
/// # Safety
/// `path` is null or a NUL-terminated string while the result is used.
pub unsafe fn path<'a>(path: *const c_char) -> Result<&'a str, Failure> {
    // SAFETY: the caller's promise.
    unsafe { needed(path, "path") }?;
    // SAFETY: not null, and the caller's promise.
    let path = unsafe { CStr::from_ptr(path) };
    path.to_str()
        .map_err(|_| Failure::argument("the path is not UTF-8"))
}

/// Hands what was made to the caller, who frees it; null if it could not be made.
///
/// # Safety
/// `out` is null or writable.
pub unsafe fn put<T>(
    out: *mut *mut T,
    make: impl FnOnce() -> Result<T, Failure>,
) -> Result<(), Failure> {
    // SAFETY: the caller's promise.
    let out = unsafe { target(out, "out") }?;
    *out = std::ptr::null_mut();
    *out = Box::into_raw(Box::new(make()?));
    Ok(())
}

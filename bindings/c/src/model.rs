//! Models.

use std::ffi::{CStr, c_char};
use std::sync::Arc;

use brr::Model;

use crate::failure::{Failure, brr_status, bytes, guard, needed, target};

/// A model: words and their codes. Read-only; threads may share it.
pub struct brr_model(pub(crate) Arc<Model>);

fn put(
    out: *mut *mut brr_model,
    open: impl FnOnce() -> Result<Model, Failure>,
) -> Result<(), Failure> {
    // SAFETY: every caller of `put` hands on its own caller's promise.
    let out = unsafe { target(out, "out") }?;
    *out = std::ptr::null_mut();
    *out = Box::into_raw(Box::new(brr_model(Arc::new(open()?))));
    Ok(())
}

/// Opens the English model that is built into this library.
///
/// # Safety
/// `out` is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn brr_model_english(out: *mut *mut brr_model) -> brr_status {
    guard(|| put(out, || Ok(brr_english::model()?)))
}

/// Opens a model file. `path` ends with NUL.
///
/// # Safety
/// `path` is a NUL-terminated string and `out` writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn brr_model_open(
    path: *const c_char,
    out: *mut *mut brr_model,
) -> brr_status {
    guard(|| {
        put(out, || {
            // SAFETY: the caller's promise.
            unsafe { needed(path, "path") }?;
            // SAFETY: not null, and the caller's promise.
            let path = unsafe { CStr::from_ptr(path) };
            let invalid = |_| Failure::argument("the path is not UTF-8");
            Ok(Model::open(path.to_str().map_err(invalid)?)?)
        })
    })
}

/// Opens a model from memory, which is copied.
///
/// # Safety
/// `data` is readable for `len` bytes and `out` writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn brr_model_from_memory(
    data: *const u8,
    len: usize,
    out: *mut *mut brr_model,
) -> brr_status {
    guard(|| {
        put(out, || {
            // SAFETY: the caller's promise.
            let bytes = unsafe { bytes(data, len) }?;
            Ok(Model::new(bytes.to_vec())?)
        })
    })
}

/// Lets go of a model; null is fine. Privatizers made from it live on.
///
/// # Safety
/// `model` is null or came from this library and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn brr_model_free(model: *mut brr_model) {
    if !model.is_null() {
        // SAFETY: the caller's promise; `put` made it.
        drop(unsafe { Box::from_raw(model) });
    }
}

/// How many words a model has; 0 for null.
///
/// # Safety
/// `model` is null or a living model.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn brr_model_words(model: *const brr_model) -> usize {
    // SAFETY: the caller's promise.
    unsafe { model.as_ref() }.map_or(0, |model| model.0.vocabulary().len())
}

/// How many bits its codes have; 0 for null.
///
/// # Safety
/// `model` is null or a living model.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn brr_model_bits(model: *const brr_model) -> usize {
    // SAFETY: the caller's promise.
    unsafe { model.as_ref() }.map_or(0, |model| model.0.bits().get())
}

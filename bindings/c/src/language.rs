//! Language models, for the option `context`.

use std::ffi::c_char;
use std::sync::Arc;

use brr::Language;

use crate::failure::{Failure, brr_status, elements, guard, path as path_of, put};

/// A language model: which words follow which, in public text. Read-only;
/// threads may share it.
pub struct brr_language(pub(crate) Arc<Language>);

fn share(opened: brr::Result<Language>) -> Result<brr_language, Failure> {
    Ok(brr_language(Arc::new(opened?)))
}

/// Opens the English language model that is built into this library, for the
/// words of brr_model_english().
///
/// # Safety
/// `out` is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn brr_language_english(out: *mut *mut brr_language) -> brr_status {
    // SAFETY: the caller's promise.
    guard(|| unsafe { put(out, || share(brr_english::language())) })
}

/// Opens a language model file, as `brr language build` makes them. `path`
/// ends with NUL.
///
/// # Safety
/// `path` is a NUL-terminated string and `out` writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn brr_language_open(
    path: *const c_char,
    out: *mut *mut brr_language,
) -> brr_status {
    // SAFETY: the caller's promise, for both.
    guard(|| unsafe { put(out, || share(Language::open(path_of(path)?))) })
}

/// Opens a language model from memory, which is copied.
///
/// # Safety
/// `data` is readable for `len` bytes and `out` writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn brr_language_from_bytes(
    data: *const u8,
    len: usize,
    out: *mut *mut brr_language,
) -> brr_status {
    // SAFETY: the caller's promise, for both.
    guard(|| unsafe { put(out, || share(Language::new(elements(data, len)?))) })
}

/// Lets go of a language model; null is fine. Privatizers made with it live on.
///
/// # Safety
/// `language` is null or came from this library and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn brr_language_free(language: *mut brr_language) {
    if !language.is_null() {
        // SAFETY: the caller's promise; `put` made it.
        drop(unsafe { Box::from_raw(language) });
    }
}

//! Models.

use std::ffi::c_char;
use std::sync::Arc;

use brr::parts::parallel::cores;
use brr::{Model, Standing};

use crate::failure::{Failure, brr_status, elements, guard, needed, path as path_of, put};

/// Why what a model file says about itself is believed, or is not. What is not
/// believed is not used: what holds for any codes stands in for it.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum brr_standing {
    /// Nobody has looked at it yet: brr_model_check() does.
    BRR_STANDING_UNCHECKED = 0,
    /// The file is one that this library was released with.
    BRR_STANDING_PINNED = 1,
    /// brr_model_check() has looked at all pairs of words.
    BRR_STANDING_CHECKED = 2,
}

/// A model: words and their codes. Read-only; threads may share it.
pub struct brr_model(pub(crate) Arc<Model>);

fn share(opened: brr::Result<Model>) -> Result<brr_model, Failure> {
    Ok(brr_model(Arc::new(opened?)))
}

/// Opens the English model that is built into this library.
///
/// # Safety
/// `out` is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn brr_model_english(out: *mut *mut brr_model) -> brr_status {
    // SAFETY: the caller's promise.
    guard(|| unsafe { put(out, || share(brr_english::model())) })
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
    // SAFETY: the caller's promise, for both.
    guard(|| unsafe { put(out, || share(Model::open(path_of(path)?))) })
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
    // SAFETY: the caller's promise, for both.
    guard(|| unsafe { put(out, || share(Model::new(elements(data, len)?.to_vec()))) })
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

/// Checks what a model's file says about itself, if it is not known to hold: looks at
/// all pairs of words, with this number of threads (0 for all cores). Takes seconds for some ten
/// thousand words. BRR_INVALID_MODEL if it does not hold.
///
/// Privatizers made afterwards use its certificates, and can be asked for a share of
/// kept words.
///
/// # Safety
/// `model` is a living model.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn brr_model_check(model: *const brr_model, threads: usize) -> brr_status {
    guard(|| {
        // SAFETY: the caller's promise.
        let model = unsafe { needed(model, "model") }?;
        let threads = if threads == 0 { cores() } else { threads };
        Ok(model.0.check(threads, &|_| {})?)
    })
}

/// Why what the model's file says is believed, or is not; unchecked for null.
///
/// # Safety
/// `model` is null or a living model.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn brr_model_standing(model: *const brr_model) -> brr_standing {
    // SAFETY: the caller's promise.
    let standing = unsafe { model.as_ref() }.map(|model| model.0.standing());
    match standing {
        Some(Standing::Pinned) => brr_standing::BRR_STANDING_PINNED,
        Some(Standing::Checked) => brr_standing::BRR_STANDING_CHECKED,
        Some(Standing::Unchecked) | None => brr_standing::BRR_STANDING_UNCHECKED,
    }
}

//! The C library. `include/brr.h` is generated from this crate by
//! `bindings/c/header`, comments included; `scripts/test-c` checks that it is
//! up to date.
//!
//! Conventions, for every function:
//!
//! - It returns a [`brr_status`]; results go through pointers. On failure
//!   [`brr_error_message`] tells this thread what happened.
//! - No panic crosses the boundary, and no message holds the user's text.
//! - Models, language models and privatizers are read-only: threads may share them. Freeing one
//!   while another thread uses it is the caller's error, as ever in C.
//! - A privatizer keeps its model and its language model alive; free them in any order.
#![allow(
    non_camel_case_types,
    reason = "these are the names that C programs see"
)]

mod choices;
mod explain;
mod failure;
mod language;
mod model;
mod privatizer;

pub use explain::{brr_chance, brr_outcomes, brr_posterior};
pub use failure::{brr_error_message, brr_status};
pub use language::{
    brr_language, brr_language_english, brr_language_free, brr_language_from_bytes,
    brr_language_open,
};
pub use model::{
    brr_model, brr_model_bits, brr_model_check, brr_model_english, brr_model_free,
    brr_model_from_memory, brr_model_open, brr_model_standing, brr_model_words, brr_standing,
};
pub use privatizer::{
    brr_guarantee, brr_options, brr_options_default, brr_privatize, brr_privatize_batch,
    brr_privatize_into, brr_privatizer, brr_privatizer_adjacency, brr_privatizer_free,
    brr_privatizer_guarantee, brr_privatizer_kept_words, brr_privatizer_new,
    brr_privatizer_total_loss, brr_text, brr_text_free,
};

use std::ffi::c_char;

/// The library's version, such as "0.1.0".
#[unsafe(no_mangle)]
pub extern "C" fn brr_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

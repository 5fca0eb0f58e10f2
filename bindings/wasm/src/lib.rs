//! `crates/brr` as a raw WebAssembly module. js/brr.js is its one caller and
//! the API for everyone else; this file is what the two agree on.
//!
//! Text and JSON cross as UTF-8 bytes in the module's memory. Handles are
//! addresses of boxes. A call leaves its answer where [`answer_pointer`] and
//! [`answer_len`] find it, and returns [`FAILED`] if the answer is an error: its
//! kind, and its message on the next line. Nothing is kept between calls but that answer, and it is wiped
//! before the next.
//!
//! The module has one import, the platform's randomness, and no seed.

mod answers;
mod choices;
mod json;
mod random;
mod session;

use std::borrow::Cow;
use std::cell::RefCell;
use std::sync::Arc;

use brr::parts::vocabulary::WordId;
use brr::{Error, Language, Model, Privatizer, explain};

/// Returned when the answer is an error.
const FAILED: u32 = 0;
/// Returned when the answer is a result.
const DONE: u32 = 1;

thread_local! {
    static ANSWER: RefCell<String> = const { RefCell::new(String::new()) };
}

fn answer(result: Result<String, Error>) -> u32 {
    match result {
        Ok(text) => {
            ANSWER.set(text);
            DONE
        }
        Err(error) => fail(&error),
    }
}

fn set_answer(text: String) {
    ANSWER.set(text);
}

/// There is nothing to call here: a check takes minutes on one thread without wide vectors.
const UNCHECKED: &str = "what this model's file says about the share of kept words is not known \
    to hold, and WebAssembly does not check it: give epsilon or bound, or use the model that \
    came with this package";

fn fail(error: &Error) -> u32 {
    let message = match error {
        Error::UncheckedModel => UNCHECKED.to_owned(),
        error => error.to_string(),
    };
    ANSWER.set(format!("{}\n{message}", error.kind().name()));
    FAILED
}

/// What can be chosen.
#[unsafe(no_mangle)]
pub extern "C" fn choices_all() -> u32 {
    answer(Ok(choices::all()))
}

/// Where the last answer begins.
#[unsafe(no_mangle)]
pub extern "C" fn answer_pointer() -> *const u8 {
    ANSWER.with_borrow(|text| text.as_ptr())
}

/// Length of the last answer in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn answer_len() -> usize {
    ANSWER.with_borrow(String::len)
}

/// Overwrites and forgets the last answer: it may hold the user's text.
#[unsafe(no_mangle)]
pub extern "C" fn wipe_answer() {
    let mut bytes = ANSWER.take().into_bytes();
    bytes.fill(0);
    std::hint::black_box(&bytes);
}

/// Memory for `len` bytes of input.
#[unsafe(no_mangle)]
pub extern "C" fn input_new(len: usize) -> *mut u8 {
    Box::into_raw(vec![0u8; len].into_boxed_slice()).cast()
}

/// Takes input back from the caller.
///
/// # Safety
/// `pointer` came from [`input_new`] with this `len`, and is not used again.
unsafe fn input(pointer: *mut u8, len: usize) -> Box<[u8]> {
    // SAFETY: the caller's promise; this is how `input_new` made it.
    unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(pointer, len)) }
}

/// Runs `f` on input that is text, and wipes it.
///
/// # Safety
/// As for [`input`].
unsafe fn with_text(pointer: *mut u8, len: usize, f: impl FnOnce(&str) -> u32) -> u32 {
    // SAFETY: the caller's promise.
    let mut bytes = unsafe { input(pointer, len) };
    // The caller encodes with TextEncoder, which writes nothing but UTF-8.
    let result = f(&String::from_utf8_lossy(&bytes));
    bytes.fill(0);
    std::hint::black_box(&bytes);
    result
}

/// Opens a model; 0 if that fails. Takes the input.
///
/// # Safety
/// As for [`input`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn model_new(pointer: *mut u8, len: usize) -> *const Model {
    // SAFETY: the caller's promise.
    let bytes = unsafe { input(pointer, len) };
    match Model::new(bytes.into_vec()) {
        Ok(model) => {
            ANSWER.set(answers::model(&model));
            Arc::into_raw(Arc::new(model))
        }
        Err(error) => {
            fail(&error);
            std::ptr::null()
        }
    }
}

/// Lets go of a model.
///
/// # Safety
/// `model` came from [`model_new`] and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn model_free(model: *const Model) {
    // SAFETY: the caller's promise.
    drop(unsafe { Arc::from_raw(model) });
}

/// Opens a language model for a model's words; 0 if that fails. Takes the input.
///
/// # Safety
/// As for [`input`]; `model` came from [`model_new`] and was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn language_new(
    model: &Model,
    pointer: *mut u8,
    len: usize,
) -> *const Language {
    // SAFETY: the caller's promise.
    let language = Language::new(&unsafe { input(pointer, len) });
    let checked = language.and_then(|language| {
        language.check_vocabulary(model.vocabulary())?;
        Ok(language)
    });
    match checked {
        Ok(language) => Arc::into_raw(Arc::new(language)),
        Err(error) => {
            fail(&error);
            std::ptr::null()
        }
    }
}

/// One more owner of what a handle stands for.
///
/// # Safety
/// `handle` came from [`Arc::into_raw`] and was not freed.
unsafe fn share<T>(handle: *const T) -> Arc<T> {
    // SAFETY: the caller's promise; the count is raised for the new owner.
    unsafe {
        Arc::increment_strong_count(handle);
        Arc::from_raw(handle)
    }
}

/// Sets a privatizer up; 0 if that fails. The answer is its guarantee. Takes the input, which
/// holds the names of [`choices::options`]; `value` is as there. `language` is null for draws that
/// are not decoded.
///
/// # Safety
/// As for [`input`]; `model` came from [`model_new`] and was not freed, and `language`, if not
/// null, from [`language_new`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn privatizer_new(
    model: *const Model,
    language: *const Language,
    pointer: *mut u8,
    len: usize,
    value: f64,
) -> *mut Privatizer {
    // SAFETY: the caller's promise, for all three.
    let (model, context, names) = unsafe {
        let context = (!language.is_null()).then(|| share(language));
        (share(model), context, input(pointer, len))
    };
    let options = choices::options(&String::from_utf8_lossy(&names), value, &model);
    let options = options.map(|options| options.with_context(context));
    match options.and_then(|options| Privatizer::new(model, options)) {
        Ok(privatizer) => {
            ANSWER.set(answers::guarantee(&privatizer));
            Box::into_raw(Box::new(privatizer))
        }
        Err(error) => {
            fail(&error);
            std::ptr::null_mut()
        }
    }
}

/// Lets go of a privatizer.
///
/// # Safety
/// `privatizer` came from [`privatizer_new`] and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn privatizer_free(privatizer: *mut Privatizer) {
    // SAFETY: the caller's promise.
    drop(unsafe { Box::from_raw(privatizer) });
}

/// Privatizes the input, which it takes.
///
/// # Safety
/// As for [`input`]; `privatizer` came from [`privatizer_new`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn privatize(privatizer: &Privatizer, pointer: *mut u8, len: usize) -> u32 {
    let run = |text: &str| {
        let private = privatizer.privatize(text);
        answer(private.map(|p| answers::privatized(privatizer, &p)))
    };
    // SAFETY: the caller's promise.
    unsafe { with_text(pointer, len, run) }
}

/// Privatizes many texts at once. The input, which it takes, holds their number,
/// their lengths (little-endian 32-bit numbers all) and then their bytes.
///
/// # Safety
/// As for [`privatize`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn privatize_batch(
    privatizer: &Privatizer,
    pointer: *mut u8,
    len: usize,
) -> u32 {
    // SAFETY: the caller's promise.
    let mut bytes = unsafe { input(pointer, len) };
    let private = privatizer.privatize_batch(&batch(&bytes));
    bytes.fill(0);
    std::hint::black_box(&bytes);
    answer(private.map(|p| answers::all(privatizer, &p)))
}

/// Takes a batch apart. js/brr.js is the one that puts them together: a batch
/// that does not add up is a bug there, and traps.
fn batch(bytes: &[u8]) -> Vec<Cow<'_, str>> {
    let (words, _) = bytes.as_chunks::<4>();
    let number = |i: usize| u32::from_le_bytes(words[i]) as usize;
    let mut start = 4 * (number(0) + 1);
    let text = |i| {
        let end = start + number(i);
        let text = String::from_utf8_lossy(&bytes[start..end]);
        start = end;
        text
    };
    (1..=number(0)).map(text).collect()
}

/// Privatizes the input, which it takes, and tells what became of what.
///
/// # Safety
/// As for [`privatize`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trace(privatizer: &Privatizer, pointer: *mut u8, len: usize) -> u32 {
    let run = |text: &str| {
        let trace = explain::trace(privatizer, text);
        answer(trace.map(|t| answers::trace(privatizer, &t)))
    };
    // SAFETY: the caller's promise.
    unsafe { with_text(pointer, len, run) }
}

/// Finds the word in the input and explains it. 0 stands for the default of `top` and `draws`.
///
/// # Safety
/// As for [`privatize`].
unsafe fn with_word(
    privatizer: &Privatizer,
    (pointer, len): (*mut u8, usize),
    [top, draws]: [usize; 2],
    explained: impl FnOnce(WordId, usize, usize) -> Result<String, Error>,
) -> u32 {
    let top = if top == 0 { explain::TOP } else { top };
    let draws = if draws == 0 { explain::DRAWS } else { draws };
    let run = |text: &str| {
        let word = explain::find(privatizer, text);
        answer(word.and_then(|word| explained(word, top, draws)))
    };
    // SAFETY: the caller's promise.
    unsafe { with_text(pointer, len, run) }
}

/// What comes out when the input, a word, goes in.
///
/// # Safety
/// As for [`privatize`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn outcomes(
    privatizer: &Privatizer,
    pointer: *mut u8,
    len: usize,
    top: usize,
    draws: usize,
) -> u32 {
    let explained = |word, top, draws| {
        let found = explain::outcomes(privatizer, word, top, draws)?;
        Ok(answers::outcomes(privatizer.model(), &found))
    };
    // SAFETY: the caller's promise.
    unsafe { with_word(privatizer, (pointer, len), [top, draws], explained) }
}

/// What may have gone in when the input, a word, came out.
///
/// # Safety
/// As for [`privatize`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posterior(
    privatizer: &Privatizer,
    pointer: *mut u8,
    len: usize,
    top: usize,
    draws: usize,
) -> u32 {
    let explained = |word, top, draws| {
        let found = explain::posterior(privatizer, word, top, draws)?;
        Ok(answers::posterior(privatizer.model(), &found))
    };
    // SAFETY: the caller's promise.
    unsafe { with_word(privatizer, (pointer, len), [top, draws], explained) }
}

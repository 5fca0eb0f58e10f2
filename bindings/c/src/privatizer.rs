//! Privatizers: options in, private text out.

use std::ffi::{CStr, CString, c_char};
use std::mem::ManuallyDrop;

use brr::parts::parallel::cores;
use brr::{Case, Layout, MechanismKind, Model, Options, Privatized, Privatizer, Search, Unknown};

use crate::choices::{Numbered, budget_number, budget_numbered};
use crate::failure::{Failure, brr_status, elements, guard, needed, put, target, text as text_of};
use crate::language::brr_language;
use crate::model::brr_model;

/// Everything that can be chosen. Begin with brr_options_default().
#[repr(C)]
#[derive(Clone, Copy)]
pub struct brr_options {
    /// BRR_MECHANISM_...
    pub mechanism: u32,
    /// BRR_BUDGET_...: what `value` means.
    pub budget: u32,
    /// How much privacy.
    pub value: f64,
    /// BRR_LAYOUT_...
    pub layout: u32,
    /// BRR_UNKNOWN_...
    pub unknown: u32,
    /// BRR_SEARCH_...: how BRR_MECHANISM_BRR finds the nearest word.
    pub search: u32,
    /// The language model with which the draws of a text are decoded together,
    /// which costs no privacy; null for none. The text reads then: it is a
    /// plausible text, not what was written.
    pub context: *const brr_language,
    /// Words that stay as they are, all others being private; null for none. The name of
    /// a built-in list ("function-words", "names", "places", or several with '+' between
    /// them), or words with a line feed after each, in UTF-8. Fix them before any text is
    /// seen: which of them stand where is then public, and brr_privatizer_adjacency() says so.
    pub public_words: *const c_char,
    /// Instead: the only words that are private, beside those that the model does not
    /// know. Null if all are.
    pub private_words: *const c_char,
    /// BRR_CASE_...: whether capital letters are written.
    pub letter_case: u32,
}

/// What is promised, per token. All losses are rounded up.
#[repr(C)]
pub struct brr_guarantee {
    /// Loss per unit of the mechanism's distance, which brr_privatizer_metric() names.
    pub epsilon: f64,
    /// Mean loss between a word and its nearest neighbour.
    pub nearest: f64,
    /// Loss at the average pair of words: the privacy-loss bound.
    pub bound: f64,
    /// Loss at the farthest pair: no two words exceed it.
    pub worst: f64,
    /// Largest loss between a token without a code and a word.
    pub unknown_loss: f64,
    /// Largest loss between any two tokens, words or not.
    pub worst_token: f64,
    /// Expected share of words that stay; negative if not known.
    pub expected_keep: f64,
}

/// A privatized text, to be freed with brr_text_free().
#[repr(C)]
pub struct brr_text {
    /// UTF-8, with a NUL after its end.
    pub data: *mut c_char,
    /// Length in bytes, the NUL not counted.
    pub len: usize,
    /// How many tokens the text had.
    pub tokens: u64,
    /// How many of them the model does not know. (Not private: for the user's
    /// own eyes.)
    pub unknown: u64,
    /// How many of them are public words, by a list of public or private words.
    pub public_tokens: u64,
}

/// Privatizes texts. Read-only; threads may share it.
pub struct brr_privatizer {
    pub(crate) core: Privatizer,
    adjacency: CString,
    kept_words: CString,
    metric: CString,
    losses: Vec<f64>,
}

/// The defaults: the exponential mechanism with the budget at which at most half of
/// the words stay, layout kept, unknown tokens replaced at random.
#[unsafe(no_mangle)]
pub extern "C" fn brr_options_default() -> brr_options {
    let core = Options::default();
    let (budget, value) = budget_number(core.budget);
    brr_options {
        mechanism: core.mechanism.number(),
        budget,
        value,
        layout: core.layout.number(),
        unknown: core.unknown.number(),
        search: core.search.number(),
        context: std::ptr::null(),
        public_words: std::ptr::null(),
        private_words: std::ptr::null(),
        letter_case: core.case.number(),
    }
}

/// A list of words.
///
/// # Safety
/// It is null or ends with a NUL.
unsafe fn words<'a>(list: *const c_char) -> Result<Option<&'a str>, Failure> {
    if list.is_null() {
        return Ok(None);
    }
    // SAFETY: the caller's promise.
    let list = unsafe { CStr::from_ptr(list) };
    let words = list.to_str();
    let words = words.map_err(|_| Failure::argument("a list of words is not UTF-8"))?;
    Ok(Some(words))
}

/// # Safety
/// The language model is null or alive, and lists of words are null or end with a NUL.
unsafe fn options_of(options: &brr_options, model: &Model) -> Result<Options, Failure> {
    // SAFETY: the caller's promise, for all three.
    let (context, public, private) = unsafe {
        (
            options.context.as_ref(),
            words(options.public_words)?,
            words(options.private_words)?,
        )
    };
    let core = Options::default()
        .with_mechanism(MechanismKind::numbered(options.mechanism)?)
        .with_budget(budget_numbered(options.budget, options.value)?)
        .with_layout(Layout::numbered(options.layout)?)
        .with_unknown(Unknown::numbered(options.unknown)?)
        .with_search(Search::numbered(options.search)?)
        .with_context(context.map(|language| language.0.clone()))
        .with_policy(brr_english::policy(public, private, model)?);
    let case = Case::numbered(options.letter_case)?;
    Ok(brr_english::with_case(core, case, model))
}

/// Sets a privatizer up. Null `options` are the defaults. With a list of words, the exponential
/// mechanism is certified on the private words, which takes seconds.
///
/// # Safety
/// `model` is a living model, `options` null or readable, with a language model
/// that is null or alive and lists of words that are null or end with a NUL, `out` writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn brr_privatizer_new(
    model: *const brr_model,
    options: *const brr_options,
    out: *mut *mut brr_privatizer,
) -> brr_status {
    guard(|| {
        let make = || {
            // SAFETY: the caller's promise, for both.
            let (model, options) = unsafe { (needed(model, "model")?, options.as_ref()) };
            let options = options.copied().unwrap_or(brr_options_default());
            // SAFETY: the caller's promise.
            let options = unsafe { options_of(&options, &model.0) }?;
            let core = Privatizer::certified(model.0.clone(), options, cores(), &|_| {})?;
            let guarantee = core.guarantee();
            let c_string = |text: String| CString::new(text).unwrap_or_default();
            Ok(brr_privatizer {
                adjacency: c_string(core.adjacency().to_string()),
                kept_words: c_string(core.kept_words().to_string()),
                metric: c_string(guarantee.metric.to_string()),
                losses: guarantee.losses,
                core,
            })
        };
        // SAFETY: the caller's promise.
        unsafe { put(out, make) }
    })
}

/// Lets go of a privatizer; null is fine.
///
/// # Safety
/// `privatizer` is null or came from this library and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn brr_privatizer_free(privatizer: *mut brr_privatizer) {
    if !privatizer.is_null() {
        // SAFETY: the caller's promise; `brr_privatizer_new` made it.
        drop(unsafe { Box::from_raw(privatizer) });
    }
}

/// What a privatizer promises.
///
/// # Safety
/// `privatizer` is alive and `out` writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn brr_privatizer_guarantee(
    privatizer: *const brr_privatizer,
    out: *mut brr_guarantee,
) -> brr_status {
    guard(|| {
        // SAFETY: the caller's promise, for both.
        let (privatizer, out) = unsafe { (needed(privatizer, "privatizer")?, target(out, "out")?) };
        let guarantee = privatizer.core.guarantee();
        *out = brr_guarantee {
            epsilon: guarantee.epsilon,
            nearest: guarantee.nearest(),
            bound: guarantee.bound(),
            worst: guarantee.worst(),
            unknown_loss: guarantee.unknown_loss,
            worst_token: guarantee.worst_token(),
            expected_keep: privatizer.core.expected_keep().unwrap_or(-1.0),
        };
        Ok(())
    })
}

/// Which texts are neighbours, in a sentence: the relation that the guarantee is
/// about. It says what is public. Valid while the privatizer lives; null for null.
///
/// # Safety
/// `privatizer` is null or alive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn brr_privatizer_adjacency(
    privatizer: *const brr_privatizer,
) -> *const c_char {
    // SAFETY: the caller's promise.
    unsafe { privatizer.as_ref() }.map_or(std::ptr::null(), |p| p.adjacency.as_ptr())
}

/// What `expected_keep` and a budget by share are shares of, as the rest of a sentence that begins
/// "half of": "words stay as they are", or what holds of private words where some are public. Valid
/// while the privatizer lives; null for null.
///
/// # Safety
/// `privatizer` is null or alive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn brr_privatizer_kept_words(
    privatizer: *const brr_privatizer,
) -> *const c_char {
    // SAFETY: the caller's promise.
    unsafe { privatizer.as_ref() }.map_or(std::ptr::null(), |p| p.kept_words.as_ptr())
}

/// The distance in which the guarantee is stated: "hamming-256" counts bits in which two codes
/// differ, "tree-15" levels of a tree, and "discrete" is 1 between any two words. Valid while the
/// privatizer lives; null for null.
///
/// # Safety
/// `privatizer` is null or alive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn brr_privatizer_metric(privatizer: *const brr_privatizer) -> *const c_char {
    // SAFETY: the caller's promise.
    unsafe { privatizer.as_ref() }.map_or(std::ptr::null(), |p| p.metric.as_ptr())
}

/// The largest loss between two words at each whole distance from 0 on, such as the level in a
/// tree; `count` gets how many there are. None, and null, if it is epsilon times the distance,
/// and for null. Valid while the privatizer lives.
///
/// # Safety
/// `privatizer` is null or alive, `count` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn brr_privatizer_losses(
    privatizer: *const brr_privatizer,
    count: *mut usize,
) -> *const f64 {
    // SAFETY: the caller's promise, for both.
    let (privatizer, count) = unsafe { (privatizer.as_ref(), count.as_mut()) };
    let losses = privatizer.map_or(&[][..], |p| &p.losses);
    if let Some(count) = count {
        *count = losses.len();
    }
    match losses {
        [] => std::ptr::null(),
        _ => losses.as_ptr(),
    }
}

/// The largest loss between two neighbouring texts of `tokens` tokens each: losses
/// add up. INFINITY if the rule for unknown tokens tells neighbours apart; NaN for
/// null.
///
/// # Safety
/// `privatizer` is null or alive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn brr_privatizer_total_loss(
    privatizer: *const brr_privatizer,
    tokens: u64,
) -> f64 {
    // SAFETY: the caller's promise.
    unsafe { privatizer.as_ref() }.map_or(f64::NAN, |p| p.core.total_loss(tokens))
}

/// Privatizes `len` bytes of UTF-8 into a text that the caller frees.
///
/// # Safety
/// `privatizer` is alive, `text` readable for `len` bytes, `out` writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn brr_privatize(
    privatizer: *const brr_privatizer,
    text: *const c_char,
    len: usize,
    out: *mut brr_text,
) -> brr_status {
    guard(|| {
        // SAFETY: the caller's promise.
        let out = unsafe { target(out, "out") }?;
        *out = EMPTY;
        // SAFETY: the caller's promise, for both.
        let (privatizer, text) =
            unsafe { (needed(privatizer, "privatizer")?, text_of(text, len)?) };
        *out = brr_text::from(privatizer.core.privatize(text)?);
        Ok(())
    })
}

/// Privatizes `count` texts of UTF-8 at once, which is faster than one by one: `texts[i]`
/// has `lens[i]` bytes, or ends with NUL if `lens` is null. Fills `count` texts at `out`, and
/// the caller frees each; on failure all of them are empty.
///
/// # Safety
/// `privatizer` is alive, `texts` and `lens`, if not null, readable for `count` elements,
/// every text readable for its length, and `out` writable for `count` elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn brr_privatize_batch(
    privatizer: *const brr_privatizer,
    texts: *const *const c_char,
    lens: *const usize,
    count: usize,
    out: *mut brr_text,
) -> brr_status {
    guard(|| {
        if out.is_null() && count > 0 {
            return Err(Failure::argument("out is null"));
        }
        for i in 0..count {
            // SAFETY: the caller's promise. Written, not assigned: there need be no text yet.
            unsafe { out.add(i).write(EMPTY) };
        }
        // SAFETY: the caller's promise, for both.
        let (privatizer, texts) = unsafe {
            (
                needed(privatizer, "privatizer")?,
                texts_of(texts, lens, count)?,
            )
        };
        let private = privatizer.core.privatize_batch(&texts)?;
        for (i, private) in private.into_iter().enumerate() {
            // SAFETY: as above; there is one answer for each text.
            unsafe { out.add(i).write(brr_text::from(private)) };
        }
        Ok(())
    })
}

/// The texts of a batch.
///
/// # Safety
/// As for [`brr_privatize_batch`], while the result is used.
unsafe fn texts_of<'a>(
    texts: *const *const c_char,
    lens: *const usize,
    count: usize,
) -> Result<Vec<&'a str>, Failure> {
    let lens_there = if lens.is_null() { 0 } else { count };
    // SAFETY: the caller's promise, for both.
    let (texts, lens) = unsafe { (elements(texts, count)?, elements(lens, lens_there)?) };
    let text = |(i, text): (usize, &*const c_char)| {
        let len = match lens.get(i) {
            Some(len) => *len,
            None if text.is_null() => return Err(Failure::argument("a text is null")),
            // SAFETY: the caller's promise: without lengths, texts end with NUL.
            None => unsafe { CStr::from_ptr(*text) }.count_bytes(),
        };
        // SAFETY: the caller's promise.
        unsafe { text_of(*text, len) }
    };
    texts.iter().enumerate().map(text).collect()
}

impl From<Privatized> for brr_text {
    fn from(private: Privatized) -> brr_text {
        let len = private.text.len();
        let mut bytes = private.text.into_bytes();
        bytes.push(0);
        brr_text {
            data: ManuallyDrop::new(bytes.into_boxed_slice())
                .as_mut_ptr()
                .cast(),
            len,
            tokens: private.tokens,
            unknown: private.unknown,
            public_tokens: private.public,
        }
    }
}

const EMPTY: brr_text = brr_text {
    data: std::ptr::null_mut(),
    len: 0,
    tokens: 0,
    unknown: 0,
    public_tokens: 0,
};

/// Frees a text and empties it; null and empty ones are fine.
///
/// # Safety
/// `text` is null, or was filled by brr_privatize() or brr_privatize_batch() and not changed since.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn brr_text_free(text: *mut brr_text) {
    // SAFETY: the caller's promise.
    let Some(text) = (unsafe { text.as_mut() }) else {
        return;
    };
    if !text.data.is_null() {
        let bytes = std::ptr::slice_from_raw_parts_mut(text.data.cast::<u8>(), text.len + 1);
        // SAFETY: the caller's promise; `brr_privatize` made it, NUL included.
        drop(unsafe { Box::from_raw(bytes) });
    }
    *text = EMPTY;
}

/// Privatizes `len` bytes of UTF-8 into the caller's buffer, with a NUL after
/// its end. `written` becomes the length without the NUL.
///
/// If `capacity` does not do, the status is BRR_BUFFER_TOO_SMALL, the buffer
/// is left alone and `written` is what this draw would have taken. The next
/// call draws anew and may take more: leave some room.
///
/// # Safety
/// `privatizer` is alive, `text` readable for `len` bytes, `buffer` writable
/// for `capacity` bytes, `written` writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn brr_privatize_into(
    privatizer: *const brr_privatizer,
    text: *const c_char,
    len: usize,
    buffer: *mut c_char,
    capacity: usize,
    written: *mut usize,
) -> brr_status {
    guard(|| {
        // SAFETY: the caller's promise.
        let written = unsafe { target(written, "written") }?;
        *written = 0;
        if buffer.is_null() && capacity > 0 {
            return Err(Failure::argument("buffer is null"));
        }
        // SAFETY: the caller's promise, for both.
        let (privatizer, text) =
            unsafe { (needed(privatizer, "privatizer")?, text_of(text, len)?) };
        let private = privatizer.core.privatize(text)?.text;
        *written = private.len();
        if capacity <= private.len() {
            return Err(Failure::new(
                brr_status::BRR_BUFFER_TOO_SMALL,
                format!(
                    "the buffer has {capacity} bytes, {} are needed",
                    private.len() + 1
                ),
            ));
        }
        // SAFETY: `buffer` is writable for more than `private.len()` bytes, and
        // a string of ours does not overlap it.
        unsafe {
            std::ptr::copy_nonoverlapping(private.as_ptr(), buffer.cast(), private.len());
            buffer.add(private.len()).write(0);
        }
        Ok(())
    })
}

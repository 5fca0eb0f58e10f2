//! What a privatizer does to a word, and what an output gives away.

use std::ffi::c_char;

use brr::explain::{DRAWS, Likely, find, outcomes, posterior};
use brr::parts::vocabulary::{MAX_WORD_BYTES, WordId};

use crate::failure::{Failure, brr_status, guard, needed, target, text};
use crate::privatizer::brr_privatizer;

/// Bytes of a word, its NUL included.
pub const BRR_WORD_BYTES: usize = 256;
const _: () = assert!(BRR_WORD_BYTES > MAX_WORD_BYTES);

/// A word, and how likely it is.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct brr_chance {
    /// The word: UTF-8 with a NUL after its end.
    pub word: [c_char; BRR_WORD_BYTES],
    /// How likely.
    pub probability: f64,
    /// Not below this: equal to `probability` if that is exact, else the lower
    /// end of a 95 % interval.
    pub low: f64,
    /// Not above this, likewise.
    pub high: f64,
}

type Explain = fn(&brr::Privatizer, WordId, usize, usize) -> brr::Result<Vec<Likely>>;

/// # Safety
/// As for [`brr_outcomes`].
unsafe fn explain(
    privatizer: *const brr_privatizer,
    word: (*const c_char, usize),
    draws: usize,
    out: (*mut brr_chance, usize),
    count: *mut usize,
    explain: Explain,
) -> Result<(), Failure> {
    // SAFETY: the caller's promise.
    let count = unsafe { target(count, "count") }?;
    *count = 0;
    // SAFETY: the caller's promise, for both.
    let (privatizer, word) = unsafe { (needed(privatizer, "privatizer")?, text(word.0, word.1)?) };
    let (out, capacity) = out;
    if out.is_null() && capacity > 0 {
        return Err(Failure::argument("out is null"));
    }
    let model = privatizer.core.model();
    let id = find(&privatizer.core, word)?;
    let draws = if draws == 0 { DRAWS } else { draws };
    for (i, likely) in explain(&privatizer.core, id, capacity, draws)?
        .iter()
        .enumerate()
    {
        // SAFETY: at most `capacity` are asked for, and `out` holds as many.
        unsafe {
            out.add(i)
                .write(chance(model.vocabulary().word(likely.word), likely))
        };
        *count = i + 1;
    }
    Ok(())
}

fn chance(word: &str, likely: &Likely) -> brr_chance {
    let mut bytes = [0; BRR_WORD_BYTES];
    for (to, from) in bytes.iter_mut().zip(word.bytes()) {
        *to = from as c_char;
    }
    brr_chance {
        word: bytes,
        probability: likely.chance.probability,
        low: likely.chance.low,
        high: likely.chance.high,
    }
}

/// The most likely outputs when `word` goes in, itself among them: exact for
/// the exponential mechanism, else estimated from `draws` draws (0 for the default, 10,000).
/// BRR_INVALID_INPUT if the model does not have the word.
///
/// # Safety
/// `privatizer` is alive, `word` readable for `len` bytes, `out` writable for
/// `capacity` elements, `count` writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn brr_outcomes(
    privatizer: *const brr_privatizer,
    word: *const c_char,
    len: usize,
    draws: usize,
    out: *mut brr_chance,
    capacity: usize,
    count: *mut usize,
) -> brr_status {
    let by: Explain = |p, id, top, n| Ok(outcomes(p, id, top, n)?.likely);
    // SAFETY: the caller's promise.
    guard(|| unsafe { explain(privatizer, (word, len), draws, (out, capacity), count, by) })
}

/// The most likely inputs behind the output `word`, for an observer who holds
/// every word for equally likely beforehand. None if there were too few draws
/// to tell.
///
/// # Safety
/// As for brr_outcomes().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn brr_posterior(
    privatizer: *const brr_privatizer,
    word: *const c_char,
    len: usize,
    draws: usize,
    out: *mut brr_chance,
    capacity: usize,
    count: *mut usize,
) -> brr_status {
    let by: Explain = |p, id, top, n| Ok(posterior(p, id, top, n)?.likely);
    // SAFETY: the caller's promise.
    guard(|| unsafe { explain(privatizer, (word, len), draws, (out, capacity), count, by) })
}

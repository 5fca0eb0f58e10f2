//! Randomness: the platform's `crypto.getRandomValues`, and nothing else.

use getrandom::Error;

#[link(wasm_import_module = "platform")]
unsafe extern "C" {
    /// Fills `len` bytes with randomness; anything but 0 is a failure.
    fn fill_random(pointer: *mut u8, len: usize) -> u32;
}

/// What `getrandom` calls (its `custom` backend, chosen by scripts/build-web).
///
/// # Safety
/// `pointer` must be writable for `len` bytes.
#[unsafe(no_mangle)]
unsafe extern "Rust" fn __getrandom_v03_custom(pointer: *mut u8, len: usize) -> Result<(), Error> {
    // SAFETY: the caller's promise is what the import asks for.
    match unsafe { fill_random(pointer, len) } {
        0 => Ok(()),
        _ => Err(Error::UNSUPPORTED),
    }
}

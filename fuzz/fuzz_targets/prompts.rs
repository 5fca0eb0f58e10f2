//! Fuzzes `brr_fuzz::prompts`.

#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| brr_fuzz::prompts(data));

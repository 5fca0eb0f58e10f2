//! Fuzzes `brr_fuzz::vocabulary`.

#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| brr_fuzz::vocabulary(data));

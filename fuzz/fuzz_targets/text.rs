//! Fuzzes `brr_fuzz::text`.

#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| brr_fuzz::text(data));

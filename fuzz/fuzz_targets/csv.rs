//! Fuzzes `brr_fuzz::csv`.

#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| brr_fuzz::csv(data));

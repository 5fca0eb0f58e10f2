//! Fuzzes `brr_fuzz::model`.

#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| brr_fuzz::model(data));

//! Fuzzes `brr_fuzz::jsonl`.

#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| brr_fuzz::jsonl(data));

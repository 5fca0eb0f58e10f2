//! Fuzzes `brr_fuzz::parquet`.

#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| brr_fuzz::parquet(data));

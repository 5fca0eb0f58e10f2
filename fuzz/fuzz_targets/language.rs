//! Fuzzes `brr_fuzz::language`.

#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| brr_fuzz::language(data));

//! Fuzzes `brr_fuzz::vectors_spacy`.

#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| brr_fuzz::vectors_spacy(data));

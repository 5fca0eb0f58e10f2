//! What each fuzz target does with its bytes, as plain functions.
//!
//! Two ways to run them: cargo-fuzz looks for new inputs (`scripts/fuzz`), and a
//! test on the stable compiler replays `seeds/` with fixed mutations
//! (`scripts/fuzz-smoke`). A target panics if brr does, or if a property that
//! every input must have does not hold; `docs/fuzzing.md` has the list.

mod corpus;
mod language;
mod model;
mod prompts;
mod text;
mod vectors;
mod vocabulary;

pub use corpus::{csv, jsonl, parquet};
pub use language::language;
pub use model::model;
pub use prompts::prompts;
pub use text::text;
pub use vectors::{
    vectors_fasttext, vectors_navec, vectors_npy, vectors_packed, vectors_spacy, vectors_text,
    vectors_word2vec,
};
pub use vocabulary::vocabulary;

use brr::parts::random::Noise;

/// What a target does with an input.
pub type Body = fn(&[u8]);

/// All targets by name.
pub const TARGETS: [(&str, Body); 15] = [
    ("model", model),
    ("language", language),
    ("vocabulary", vocabulary),
    ("text", text),
    ("prompts", prompts),
    ("vectors_text", vectors_text),
    ("vectors_word2vec", vectors_word2vec),
    ("vectors_fasttext", vectors_fasttext),
    ("vectors_npy", vectors_npy),
    ("vectors_spacy", vectors_spacy),
    ("vectors_navec", vectors_navec),
    ("vectors_packed", vectors_packed),
    ("csv", csv),
    ("jsonl", jsonl),
    ("parquet", parquet),
];

/// Noise that is the same in every run.
fn noise() -> Noise {
    Noise::numbered(1)
}

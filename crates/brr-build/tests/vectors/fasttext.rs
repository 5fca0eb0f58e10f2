//! fastText `.bin`: models that fastText itself wrote, and models put together here.

use std::path::{Path, PathBuf};

use brr_build::error::Error;
use brr_build::vectors::{Defect, LoadOptions, VectorFormat, load};
use proptest::prelude::*;
use sha2::{Digest, Sha256};

use crate::files::*;
use crate::models::*;

fn without_ngrams() -> Model {
    Model {
        table: three(),
        labels: 2,
        buckets: 0,
        ngrams: (0, 0),
    }
}

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures/fasttext")
        .join(name)
}

/// The same words, and the same vectors but for the last bits.
fn assert_like_fasttext(name: &str, words: usize) {
    let ours = load(&fixture(&format!("{name}.bin")), &fail()).unwrap();
    let theirs = load(&fixture(&format!("{name}.vec")), &fail()).unwrap();
    assert_eq!(ours.report.format, VectorFormat::FastText);
    assert_eq!(ours.vectors.words, theirs.vectors.words);
    assert_eq!(ours.vectors.words.len(), words);
    for (ours, theirs) in ours.vectors.data.iter().zip(&theirs.vectors.data) {
        assert!((ours - theirs).abs() <= 1e-6, "{ours} {theirs}");
    }
}

#[test]
fn vectors_are_those_that_fasttext_computes() {
    assert_like_fasttext("subwords", 13);
    assert_like_fasttext("supervised", 6);
}

#[test]
fn quantized_models_are_refused_with_a_way_out() {
    let result = load(&fixture("quantized.ftz"), &skip());
    assert!(
        matches!(result, Err(Error::Unsupported { .. })),
        "{result:?}"
    );
    assert!(result.unwrap_err().to_string().contains(".bin"));
}

proptest! {
    #[test]
    fn what_is_written_is_read(table in tables(), labels in 0..3i32) {
        let model = Model { table, labels, buckets: 0, ngrams: (0, 0) };
        assert_same(&load_bytes("m.bin", model.bytes(), &fail()).unwrap(), &model.table);
    }

    #[test]
    fn any_damage_is_reported_not_a_panic(
        model in models(1), at: prop::sample::Index, junk: [u8; 3], insert: bool,
    ) {
        let mut file = model.bytes();
        let at = at.index(file.len() - 3);
        file.splice(at..at + if insert { 0 } else { 3 }, junk);
        let _ = load_bytes("m.bin", file, &skip());
    }

    /// Of the first words the vectors are the same as of all, packed or not.
    #[test]
    fn reading_stops_at_the_wanted_words(model in models(1), wanted in 1..12usize) {
        let all = load_bytes("m.bin", model.bytes(), &fail()).unwrap();
        let wanted = wanted.min(all.vectors.words.len());
        let some = load_bytes("m.bin", model.bytes(), &first(wanted)).unwrap();
        prop_assert_eq!(&some.vectors.words[..], &all.vectors.words[..wanted]);
        prop_assert_eq!(&some.vectors.data[..], &all.vectors.data[..wanted * all.vectors.dim]);
        prop_assert_eq!(some.report.stopped_early, wanted < model.table.words.len());
    }
}

#[test]
fn defective_vectors_are_dropped_with_their_words() {
    let mut model = without_ngrams();
    model.table.data[4] = f32::INFINITY;
    let loaded = load_bytes("m.bin", model.bytes(), &skip()).unwrap();
    assert_eq!(loaded.vectors.words, ["the", "sat"]);
    assert_eq!(loaded.vectors.row(1), three().data[6..].to_vec());
    assert_eq!(defects(&loaded), [(Defect::NotFinite, (1, 2))].into());
    let strict = load_bytes("m.bin", model.bytes(), &fail());
    assert!(
        matches!(strict, Err(Error::Defective { at: 2, .. })),
        "{strict:?}"
    );
}

#[test]
fn lengths_that_cannot_be_are_damage() {
    let model = without_ngrams();
    let matrix = model.dictionary_end() + 1;
    let lies = [
        ("dimension", 8, 4),
        ("entries", 64, 4),
        ("rows", matrix, 8),
        ("columns", matrix + 8, 8),
    ];
    for (what, at, len) in lies {
        for byte in [0xff, 0x7f] {
            let mut file = model.bytes();
            file[at..at + len].fill(byte);
            let result = load_bytes("m.bin", file, &skip());
            assert!(
                matches!(result, Err(Error::Damaged { .. })),
                "{what}: {result:?}"
            );
        }
    }
}

#[test]
fn a_matrix_without_rows_for_ngrams_is_damage() {
    let model = Model {
        buckets: 1000,
        ngrams: (3, 3),
        ..without_ngrams()
    };
    let result = load_bytes("m.bin", model.bytes(), &skip());
    assert!(matches!(result, Err(Error::Damaged { .. })), "{result:?}");
}

#[test]
fn a_cut_model_is_an_error() {
    let file = without_ngrams().bytes();
    for len in 4..file.len() {
        assert!(load_bytes("m.bin", &file[..len], &skip()).is_err(), "{len}");
    }
}

#[test]
fn supervised_models_of_version_11_have_no_ngrams() {
    let mut table = three();
    table.data.extend([1.0; 30]);
    let mut file = Model {
        table,
        labels: 1,
        buckets: 10,
        ngrams: (2, 3),
    }
    .bytes();
    let with_ngrams = load_bytes("m.bin", &file, &fail()).unwrap();
    assert_ne!(with_ngrams.vectors.data, three().data);
    file[4] = 11;
    file[8 + 7 * 4] = 3;
    assert_same(&load_bytes("m.bin", &file, &fail()).unwrap(), &three());
}

/// Rows that no word needs are jumped over. A digest of the rest would be a wrong one.
#[test]
fn a_digest_is_of_the_whole_file_or_there_is_none() {
    for buckets in 20_000..20_020 {
        let dim = 100;
        let data = vec![1.0; (1 + buckets as usize) * dim];
        let table = Table {
            words: vec!["international".to_owned()],
            dim,
            data,
        };
        let file = Model {
            table,
            labels: 0,
            buckets,
            ngrams: (6, 6),
        }
        .bytes();
        let digest = load_bytes("m.bin", &file, &fail()).unwrap().report.sha256;
        assert!(digest.is_none_or(|digest| digest[..] == Sha256::digest(&file)[..]));
    }
}

#[test]
fn other_versions_and_kinds_are_refused() {
    let mut file = without_ngrams().bytes();
    file[4] = 13;
    assert!(matches!(
        load_bytes("m.bin", &file, &skip()),
        Err(Error::Unsupported { .. })
    ));
    let imposed = LoadOptions {
        format: Some(VectorFormat::FastText),
        ..skip()
    };
    let result = load_bytes("m.bin", three().text(true), &imposed);
    assert!(
        matches!(result, Err(Error::WrongFormat { .. })),
        "{result:?}"
    );
}

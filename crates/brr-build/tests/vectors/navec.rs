//! navec's vectors: order, decompression, and files that are damaged.

use brr_build::error::{Error, Result};
use brr_build::vectors::{Defect, LoadOptions, Loaded, load};
use brr_build::vocabulary_rule::Rejection;
use proptest::prelude::*;

use crate::files::*;
use crate::parts::*;

fn load_files(files: &Files, options: &LoadOptions) -> Result<Loaded> {
    load_bytes("navec.tar", tar(files), options)
}

fn damage(files: &Files) -> String {
    match load_files(files, &partial()) {
        Err(error @ (Error::Damaged { .. } | Error::Read { .. })) => error.to_string(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_most_frequent_words_come_first() {
    let loaded = load_files(&QUANTIZED.files(), &fail()).unwrap();
    assert_eq!(loaded.vectors.words, quantized_table().words);
    assert_eq!(loaded.vectors.data, quantized_table().data);
    // What stands for unknown words is no word.
    let tally = loaded.report.left_out[&Rejection::NotOneWord];
    assert_eq!((tally.count, tally.first), (1, 4));
    let two = load_files(&QUANTIZED.files(), &first(2)).unwrap();
    assert_eq!(two.vectors.words, ["the", "cat"]);
    assert_eq!(two.vectors.data, quantized_table().data[..8]);
    assert!(two.report.stopped_early);
}

#[test]
fn bad_words_and_numbers_are_counted() {
    let quantized = Quantized {
        words: &[
            ("cat", 1, [0, 0]),
            ("", 2, [0, 0]),
            ("cat", 3, [0, 0]),
            ("sat", 4, [1, 0]),
            ("the", 5, [0, 1]),
        ],
        centroids: [1.0, 2.0, f32::INFINITY, 3.0, 4.0, 5.0, 6.0, 7.0],
    };
    let loaded = load_files(&quantized.files(), &skip()).unwrap();
    assert_eq!(loaded.vectors.words, ["the", "cat"]);
    assert_eq!(
        defects(&loaded),
        [
            (Defect::EmptyWord, (1, 2)),
            (Defect::Duplicate, (1, 1)),
            (Defect::NotFinite, (1, 4)),
        ]
        .into()
    );
}

#[test]
fn files_must_fit_each_other() {
    let files = QUANTIZED.files();
    let vocabulary = QUANTIZED.vocabulary();
    let pq = content(&files, "pq.bin");
    let changed = |at: usize, number: u32| {
        let mut pq = pq.to_vec();
        pq[at..at + 4].copy_from_slice(&number.to_le_bytes());
        pq
    };
    let mut overflowing = changed(4, u32::MAX);
    overflowing[..4].fill(0xff);
    overflowing[8..16].fill(0xff);
    let mut wild = pq.to_vec();
    wild[17] = 2;
    for (name, wrong, what) in [
        ("pq.bin", changed(0, 5), "4 words"),
        ("pq.bin", changed(0, 0), "0 vectors"),
        ("pq.bin", changed(0, u32::MAX), "4294967295 vectors"),
        ("pq.bin", changed(4, 0), "0 numbers"),
        ("pq.bin", changed(4, 1 << 30), "1073741824 numbers"),
        ("pq.bin", changed(8, 3), "3 parts"),
        ("pq.bin", changed(12, 257), "parts of 257"),
        ("pq.bin", overflowing, "4294967295 parts"),
        ("pq.bin", wild, "centroid 2 of 2"),
        ("pq.bin", pq[..pq.len() - 1].to_vec(), "47 bytes where"),
        ("pq.bin", [pq, b"x"].concat(), "49 bytes where"),
        ("vocab.bin", vocabulary.clone(), "invalid gzip"),
        (
            "vocab.bin",
            gz(&vocabulary[..vocabulary.len() - 6]),
            "not as many words",
        ),
        (
            "vocab.bin",
            gz(&[&vocabulary[..], b"\nx"].concat()),
            "not as many words",
        ),
        ("vocab.bin", gz(&vocabulary[..10]), "cut short"),
        ("vocab.bin", gz(&[1, 0, 0, 0]), "1 words for 4"),
    ] {
        // The tar archive says the true size, so a shape that is too large is seen there.
        let message = damage(&with(files.clone(), name, wrong));
        let of_size = message.contains("bytes where there should be");
        assert!(
            message.contains(what) || (name == "pq.bin" && of_size),
            "{what}: {message}"
        );
    }
    for meta in ["{\"id\": \"x\"}", "{\"protocol\": 0}", "{\"protocol\": 11}"] {
        let files = with(files.clone(), "meta.json", meta);
        let error = load_files(&files, &skip()).unwrap_err();
        assert!(matches!(error, Error::Unsupported { .. }), "{error}");
    }
}

/// In a zip archive the sizes of files are not believed, so that their ends tell.
#[test]
fn files_in_a_zip_archive_must_fit_each_other_too() {
    let files = QUANTIZED.files();
    let pq = content(&files, "pq.bin");
    for wrong in [
        pq[..pq.len() - 1].to_vec(),
        [pq, b"x"].concat(),
        pq[..20].to_vec(),
    ] {
        let files = with(files.clone(), "pq.bin", wrong);
        let error = load_bytes("n.zip", zip(&files), &partial()).unwrap_err();
        assert!(
            matches!(error, Error::Damaged { .. } | Error::Read { .. }),
            "{error}"
        );
    }
}

#[test]
fn an_endless_list_of_words_ends() {
    let mut list = 4u32.to_le_bytes().to_vec();
    list.resize(20 + (1 << 22), b'x');
    let files = with(QUANTIZED.files(), "vocab.bin", gz(&list));
    assert!(damage(&files).contains("bytes"));
    list[20..].fill(b'\n');
    let files = with(QUANTIZED.files(), "vocab.bin", gz(&list));
    assert!(damage(&files).contains("not as many words"));
}

proptest! {
    #[test]
    fn any_damage_is_reported_not_a_panic(part in 0..3usize, at: prop::sample::Index, junk: [u8; 3]) {
        let mut files = QUANTIZED.files();
        let file = &mut files[part].1;
        let at = at.index(file.len());
        file.splice(at..at, junk);
        let _ = load_files(&files, &skip());
        let folder = Folder::new();
        let _ = load(&folder.write("n.zip", zip(&files)), &skip());
    }
}

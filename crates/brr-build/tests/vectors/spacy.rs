//! spaCy's vectors: which words own their rows, and files that are damaged.

use std::path::Path;

use brr_build::error::{Error, Result};
use brr_build::vectors::{Defect, LoadOptions, Loaded, load};
use brr_build::vocabulary_rule::Rejection;
use proptest::prelude::*;

use crate::files::*;
use crate::parts::*;

fn write(folder: &Folder, files: &Files) -> std::path::PathBuf {
    for (name, content) in files {
        folder.write(name, content);
    }
    folder.path("")
}

fn load_files(files: &Files, options: &LoadOptions) -> Result<Loaded> {
    let folder = Folder::new();
    let loaded = load(&write(&folder, files), options);
    if let Ok(loaded) = &loaded {
        assert_balanced(loaded);
    }
    loaded
}

fn shared() -> LoadOptions {
    LoadOptions {
        shared_vectors: true,
        ..skip()
    }
}

fn damage(files: &Files) -> String {
    match load_files(files, &skip()) {
        Err(error @ (Error::Damaged { .. } | Error::Read { .. })) => error.to_string(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn keys_are_those_of_spacy() {
    let words: Vec<(&str, u64)> = (0..)
        .zip(KEYS)
        .map(|(row, (word, _))| (word, row))
        .collect();
    let table = Table {
        words: Vec::new(),
        dim: 2,
        data: (1..=2 * KEYS.len()).map(|i| i as f32).collect(),
    };
    let npy = [
        npy_header("<f4", "(9, 2)"),
        table.npy()[table.npy().len() - 72..].to_vec(),
    ]
    .concat();
    let files = with(spacy(&words, &table), "vectors", npy);
    let loaded = load_files(&files, &fail()).unwrap();
    // An emoji is no word.
    let admitted = KEYS
        .map(|(word, _)| word)
        .into_iter()
        .filter(|word| *word != "🧿");
    assert!(
        loaded.vectors.words.iter().eq(admitted),
        "{:?}",
        loaded.vectors.words
    );
    assert_eq!(loaded.vectors.row(7), [17.0, 18.0]);
}

#[test]
fn a_row_belongs_to_the_first_word_that_has_it() {
    let words = [
        ("cat", 2),
        ("sat", 0),
        ("extraordinaire", 2),
        ("the", 1),
        ("été", 0),
    ];
    let files = spacy(&words, &three());
    let own = load_files(&files, &skip()).unwrap();
    assert_eq!(own.vectors.words, ["cat", "sat", "the"]);
    assert_eq!(own.vectors.row(0), [1e-3, -7.5, 42.0]);
    assert_eq!(own.vectors.row(1), [0.5, -1.25, 3.0]);
    let tally = own.report.left_out[&Rejection::SharedVector];
    assert_eq!((tally.count, tally.first), (2, 3));
    let all = load_files(&files, &shared()).unwrap();
    assert_eq!(all.vectors.words, words.map(|(word, _)| word));
    assert_eq!(all.vectors.row(4), all.vectors.row(1));
    // The rest is left unread once there are enough.
    let two = LoadOptions {
        words: Some(2),
        ..skip()
    };
    let some = load_files(&files, &two).unwrap();
    assert_eq!(some.vectors.words, ["cat", "sat"]);
    assert!(some.report.stopped_early);
}

#[test]
fn an_owner_that_stays_out_leaves_no_heir() {
    let loaded = load_files(
        &spacy(&[("🧿", 0), ("cat", 0), ("the", 1)], &three()),
        &skip(),
    );
    assert_eq!(loaded.unwrap().vectors.words, ["the"]);
}

#[test]
fn words_without_names_twice_or_with_bad_rows_are_counted() {
    let mut table = three();
    table.data[4] = f32::NAN;
    table.data[6..].fill(0.0);
    let files = spacy(&[("the", 0), ("cat", 1), ("sat", 2)], &table);
    let entries = [("the", 0), ("cat", 1), ("sat", 2), ("the", 0)].map(|(w, row)| (key(w), row));
    let entries = [&entries[..], &[(12345, 0)]].concat();
    let files = with(files, "key2row", key2row(5, &entries));
    let loaded = load_files(&files, &shared()).unwrap();
    assert_eq!(loaded.vectors.words, ["the"]);
    assert_eq!(
        defects(&loaded),
        [
            (Defect::NotFinite, (1, 2)),
            (Defect::AllZero, (1, 3)),
            (Defect::Duplicate, (1, 4)),
            (Defect::EmptyWord, (1, 5)),
        ]
        .into()
    );
    assert!(matches!(
        load_files(&files, &fail()),
        Err(Error::Defective { .. })
    ));
}

#[test]
fn strings_are_json() {
    let escaped = r#" ["\u0074he" , "\uD83E\uDDFF", "c\u0061t","sat\/\"\\\b\f\n\r\t"] "#;
    let files = with(spacy_three(), "strings.json", escaped);
    let loaded = load_files(&files, &skip()).unwrap();
    assert_eq!(loaded.vectors.words, ["the", "cat"]);
    assert_eq!(defects(&loaded), [(Defect::EmptyWord, (1, 3))].into());
    for (wrong, what) in [
        ("{\"the\": 1}", "no JSON array of strings"),
        ("[1]", "no JSON array of strings"),
        ("[\"the\"", "no JSON array of strings"),
        ("[\"the\",]", "no JSON array of strings"),
        ("[\"the\"] x", "something after"),
        ("[\"the", "without an end"),
        ("[\"a\nb\"]", "without an end"),
        (r#"["\ud83e"]"#, "half a character"),
        (r#"["\ud83ex"]"#, "half a character"),
        (r#"["\udDFF"]"#, "half a character"),
        (r#"["\ud83e\u0041"]"#, "half a character"),
        (r#"["\u+041"]"#, "unknown escape"),
        (r#"["\x41"]"#, "unknown escape"),
    ] {
        let message = damage(&with(spacy_three(), "strings.json", wrong));
        assert!(message.contains(what), "{wrong}: {message}");
    }
    let not_text = [&b"[\""[..], b"\xff", b"\"]"].concat();
    assert!(damage(&with(spacy_three(), "strings.json", not_text)).contains("UTF-8"));
    let endless = [&b"[\""[..], &b"x".repeat(1 << 17), b"\"]"].concat();
    assert!(damage(&with(spacy_three(), "strings.json", endless)).contains("bytes"));
}

#[test]
fn keys_are_whole_numbers_of_rows_that_are_there() {
    let the = key("the");
    for (wrong, what) in [
        (b"\x93\x01\x02\x03".to_vec(), "no MessagePack map"),
        (key2row(u32::MAX, &[(the, 0)]), "4294967295 words"),
        (key2row(1, &[(the, 3)]), "row 3 of 3"),
        (key2row(1, &[(the, u64::MAX)]), "of 3"),
        (key2row(1, &[(the, 0), (the, 1)]), "more than the map"),
        (b"\x81\xa3the\x00".to_vec(), "whole number"),
        (b"\x81\x05\xff".to_vec(), "whole number"),
        (b"\xde\x00".to_vec(), "cut short"),
    ] {
        let message = damage(&with(spacy_three(), "key2row", wrong));
        assert!(message.contains(what), "{message}");
    }
}

#[test]
fn a_package_without_vectors_says_so() {
    let small = with(spacy_three(), "key2row", *b"\x80");
    let small = with(small, "vectors", npy_header("<f4", "(0, 0)"));
    let message = load_files(&small, &skip()).unwrap_err().to_string();
    assert!(message.contains("_md or _lg"), "{message}");
}

#[test]
fn a_cut_file_is_an_error_unless_that_is_allowed() {
    let files = spacy_three();
    let (keys, matrix) = (content(&files, "key2row"), content(&files, "vectors"));
    for (cut, words) in [
        (
            with(files.clone(), "key2row", &keys[..keys.len() - 1]),
            &["the", "cat"][..],
        ),
        (
            with(files.clone(), "key2row", &keys[..keys.len() - 10]),
            &["the", "cat"],
        ),
        (
            with(files.clone(), "vectors", &matrix[..matrix.len() - 1]),
            &["the", "cat"],
        ),
        (
            with(files.clone(), "vectors", &matrix[..matrix.len() - 13]),
            &["the"],
        ),
    ] {
        let error = load_files(&cut, &skip()).unwrap_err();
        assert!(matches!(error, Error::CutShort { .. }), "{error}");
        let loaded = load_files(&cut, &partial()).unwrap();
        assert_eq!(loaded.vectors.words, words);
        assert!(loaded.report.is_cut_short());
    }
    // Words are in no order there: half of them would be anybody's.
    let strings = content(&files, "strings.json");
    let cut = with(files.clone(), "strings.json", &strings[..strings.len() - 4]);
    assert!(matches!(
        load_files(&cut, &partial()),
        Err(Error::Damaged { .. })
    ));
}

#[test]
fn errors_name_the_file_in_the_archive() {
    let files = with(spacy_three(), "key2row", *b"\x90");
    let folder = Folder::new();
    let path = folder.write("p.whl", zip(&under("a/vocab", &files)));
    let message = load(&path, &skip()).unwrap_err().to_string();
    assert!(message.contains("p.whl#a/vocab/key2row"), "{message}");
}

proptest! {
    #[test]
    fn any_damage_is_reported_not_a_panic(part in 0..3usize, at: prop::sample::Index, junk: [u8; 3]) {
        let mut files = spacy(&[("the", 0), ("cat", 1), ("sat", 0)], &three());
        let file = &mut files[part].1;
        let at = at.index(file.len());
        file.splice(at..at, junk);
        let _ = load_files(&files, &skip());
        let _ = load_files(&files, &shared());
    }
}

/// A folder is found by any of its names.
#[test]
fn the_path_may_end_in_a_slash() {
    let folder = Folder::new();
    let path = write(&folder, &spacy_three());
    let with_slash = format!("{}/", path.display());
    assert!(load(Path::new(&with_slash), &skip()).is_ok());
}

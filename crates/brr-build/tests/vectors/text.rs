//! GloVe text, word2vec text, fastText `.vec`.

use brr_build::error::Error;
use brr_build::vectors::{Defect, Header, LoadOptions, Unit, VectorFormat};
use brr_build::vocabulary_rule::Rejection;
use proptest::prelude::*;

use crate::files::*;

/// Rows of 3 numbers around the line under test, which is line 3.
fn among_rows(line: &[u8]) -> Vec<u8> {
    [b"the 1 2 3\ncat 4 5 6\n", line, b"\nsat 7 8 9\non 1 1 1\n"].concat()
}

fn assert_defect(line: &[u8], defect: Defect) {
    let loaded = load_bytes("v.txt", among_rows(line), &skip()).unwrap();
    assert_eq!(loaded.vectors.words, ["the", "cat", "sat", "on"]);
    assert_eq!(defects(&loaded), [(defect, (1, 3))].into());
    match load_bytes("v.txt", among_rows(line), &fail()) {
        Err(Error::Defective {
            unit: Unit::Line,
            at: 3,
            defect: found,
            ..
        }) => {
            assert_eq!(found, defect);
        }
        other => panic!("{other:?}"),
    }
}

proptest! {
    #[test]
    fn what_is_written_is_read(table in tables(), header: bool) {
        let loaded = load_bytes("v.txt", table.text(header), &fail()).unwrap();
        assert_same(&loaded, &table);
        let format = if header { VectorFormat::Word2vecText } else { VectorFormat::GloveText };
        prop_assert_eq!(loaded.report.format, format);
    }

    /// Line ends, tabs, trailing separators and a missing last line end change nothing.
    #[test]
    fn layout_does_not_matter(table in tables(), header: bool, mark: bool, crlf: bool, tabs: bool) {
        let mut text = String::from_utf8(table.text(header)).unwrap();
        if crlf { text = text.replace('\n', " \r\n"); }
        if tabs { text = text.replace(' ', "\t"); }
        let mark = if mark { "\u{feff}" } else { "" };
        let text = format!("{mark}{}", text.trim_end_matches(['\r', '\n']));
        assert_same(&load_bytes("v.txt", text, &fail()).unwrap(), &table);
    }

    #[test]
    fn any_damage_is_reported_not_a_panic(table in tables(), at: prop::sample::Index, junk: [u8; 3]) {
        let mut text = table.text(true);
        let at = at.index(text.len());
        text.splice(at..at, junk);
        let _ = load_bytes("v.txt", text, &skip());
    }
}

#[test]
fn every_defect_is_counted_or_an_error() {
    assert_defect(b"dog 1 2", Defect::Ragged);
    assert_defect(b"dog 1 2 3 4", Defect::Ragged);
    assert_defect(b"dog", Defect::Ragged);
    assert_defect(b"dog 1 2,5 3", Defect::BadNumber);
    assert_defect(b"dog 1 nan 3", Defect::NotFinite);
    assert_defect(b"dog 1 -inf 3", Defect::NotFinite);
    assert_defect(b"dog 1 1e99 3", Defect::NotFinite);
    assert_defect(b"dog 0 -0 0.0", Defect::AllZero);
    assert_defect(b" 1 2 3", Defect::EmptyWord);
    assert_defect(b"d\xf6g 1 2 3", Defect::NotUtf8);
    assert_defect(b"cat 1 2 3", Defect::Duplicate);
}

#[test]
fn the_last_line_may_be_cut_short() {
    let cut = "the 1 2 3\ncat 4 5 6\nsat 7 8";
    let refused = load_bytes("v.txt", cut, &skip());
    assert!(matches!(refused, Err(Error::CutShort { rows: 3, .. })));
    let loaded = load_bytes("v.txt", cut, &partial()).unwrap();
    assert_eq!(defects(&loaded), [(Defect::CutShort, (1, 3))].into());
}

#[test]
fn defects_of_a_kind_are_counted_and_the_first_is_named() {
    let text = "the 1 2\ncat 1\nsat 1 2\nmat 1\non 2 2\n";
    let loaded = load_bytes("v.txt", text, &skip()).unwrap();
    assert_eq!(defects(&loaded), [(Defect::Ragged, (2, 2))].into());
    let report = loaded.report.to_string();
    assert!(
        report.contains("2 rows: not as many numbers") && report.contains("line 2"),
        "{report}"
    );
}

#[test]
fn a_ragged_first_line_does_not_decide() {
    let loaded = load_bytes("v.txt", "x 1\nthe 1 2 3\ncat 1 2 3\n", &skip()).unwrap();
    assert_eq!(loaded.vectors.dim, 3);
    assert_eq!(defects(&loaded), [(Defect::Ragged, (1, 1))].into());
    // If nothing else decides, the longer line is the whole one.
    let loaded = load_bytes("v.txt", "of 1\nthe 1 2 3\n", &skip()).unwrap();
    assert_eq!(loaded.vectors.words, ["the"]);
}

#[test]
fn a_defective_row_does_not_take_its_word() {
    let loaded = load_bytes("v.txt", "the 1 nan\nthe 1 2\nof 3 4\n", &skip()).unwrap();
    assert_eq!(loaded.vectors.words, ["the", "of"]);
    assert_eq!(loaded.vectors.row(0), [1.0, 2.0]);
}

#[test]
fn words_with_spaces_are_told_from_numbers() {
    let text = "the 1 2 3\n. . . 4 5 6\nat name@domain.com 1 1 1\nto\u{a0}you 1 2 3\nof 7 8 9\n";
    let loaded = load_bytes("v.txt", text, &fail()).unwrap();
    assert_eq!(loaded.vectors.words, ["the", "of"]);
    let spaced = loaded.report.left_out[&Rejection::WhiteSpace];
    assert_eq!((spaced.count, spaced.first), (3, 2));
}

#[test]
fn case_variants_are_folded_onto_the_first() {
    let text = "The 1 1\nthe 2 2\nTHE 3 3\nof 4 4\nThe 5 5\nthe 6 6\n";
    let loaded = load_bytes("v.txt", text, &skip()).unwrap();
    assert_eq!(loaded.vectors.words, ["the", "of"]);
    assert_eq!(loaded.vectors.row(0), [1.0, 1.0]);
    assert_eq!(loaded.report.left_out[&Rejection::Variant].count, 2);
    assert_eq!(defects(&loaded), [(Defect::Duplicate, (2, 5))].into());
}

#[test]
fn stray_letters_go_with_their_vectors() {
    let loaded = load_bytes("v.txt", "the 1 1\nʂ 2 2\nof 3 3\nв 4 4\nas 5 5\n", &fail()).unwrap();
    assert_eq!(loaded.vectors.words, ["the", "of", "as"]);
    assert_eq!(loaded.vectors.data, [1.0, 1.0, 3.0, 3.0, 5.0, 5.0]);
    assert_eq!(loaded.report.left_out[&Rejection::LoneLetter].first, 2);
}

#[test]
fn a_header_is_not_a_row() {
    let loaded = load_bytes("v.txt", three().text(true), &fail()).unwrap();
    assert_eq!(loaded.report.header, Some(Header { rows: 3, dim: 3 }));
    assert_eq!(loaded.report.broken_promise(), None);
    // Numbers as words look a bit like one.
    let loaded = load_bytes("v.txt", "12 300 5\nthe 1 2\nof 3 4\n", &skip()).unwrap();
    assert_eq!(loaded.report.header, None);
}

#[test]
fn a_header_that_lies_about_rows_is_told() {
    for promised in ["2 3", "1000000000000 3"] {
        let text = [promised.as_bytes(), b"\n", &three().text(false)].concat();
        let loaded = load_bytes("v.txt", &text, &partial()).unwrap();
        assert_eq!(loaded.vectors.words.len(), 3);
        assert!(loaded.report.broken_promise().is_some());
        let strict = load_bytes("v.txt", &text, &fail());
        assert!(
            matches!(strict, Err(Error::RowCount { found: 3, .. })),
            "{strict:?}"
        );
    }
}

#[test]
fn a_header_that_lies_about_columns_is_an_error() {
    let text = [b"3 50\n", &three().text(false)[..]].concat();
    let result = load_bytes("v.txt", text, &skip());
    assert!(matches!(
        result,
        Err(Error::HeaderDimension {
            promised: 50,
            found: 3,
            ..
        })
    ));
}

#[test]
fn reading_stops_at_the_wanted_words() {
    // The tail must never be looked at: strict loading would end with an error.
    let text = [
        &three().text(false)[..],
        b"bad 1\nworse x y z\n\xff 1 2 3\n",
    ]
    .concat();
    let options = LoadOptions {
        words: Some(3),
        ..fail()
    };
    let loaded = load_bytes("v.txt", &text, &options).unwrap();
    assert!(loaded.report.stopped_early);
    assert_eq!((loaded.report.rows, loaded.report.sha256), (3, None));
    assert!(
        load_bytes(
            "v.txt",
            &text,
            &LoadOptions {
                words: Some(4),
                ..fail()
            }
        )
        .is_err()
    );
}

#[test]
fn the_end_of_the_file_is_no_early_stop() {
    let loaded = load_bytes("v.txt", three().text(true), &first(3)).unwrap();
    assert!(!loaded.report.stopped_early);
    assert!(loaded.report.sha256.is_some());
    let loaded = load_bytes("v.txt", three().text(true), &first(9)).unwrap();
    assert!(!loaded.report.stopped_early);
}

#[test]
fn the_format_can_be_imposed() {
    let glove = LoadOptions {
        format: Some("glove".parse().unwrap()),
        ..skip()
    };
    let loaded = load_bytes("v.txt", three().text(true), &glove).unwrap();
    assert_eq!(loaded.report.header, None);
    assert_eq!(defects(&loaded), [(Defect::Ragged, (1, 1))].into());

    let word2vec = LoadOptions {
        format: Some("word2vec-text".parse().unwrap()),
        ..skip()
    };
    let result = load_bytes("v.txt", three().text(false), &word2vec);
    assert!(matches!(result, Err(Error::WrongFormat { .. })));
    assert!(
        "glvoe"
            .parse::<VectorFormat>()
            .unwrap_err()
            .contains("word2vec-binary")
    );
}

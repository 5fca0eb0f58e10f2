//! word2vec binary.

use brr_build::error::Error;
use brr_build::vectors::{Defect, LoadOptions, Unit, VectorFormat};
use proptest::prelude::*;

use crate::files::*;

proptest! {
    #[test]
    fn what_is_written_is_read(table in tables(), line_ends: bool) {
        let options = LoadOptions { format: Some(VectorFormat::Word2vecBinary), ..fail() };
        let file = table.word2vec(line_ends);
        assert_same(&load_bytes("v.bin", &file, &options).unwrap(), &table);
    }

    #[test]
    fn any_damage_is_reported_not_a_panic(table in tables(), at: prop::sample::Index, junk: [u8; 3]) {
        let options = LoadOptions { format: Some(VectorFormat::Word2vecBinary), ..skip() };
        let mut file = table.word2vec(true);
        let at = at.index(file.len());
        file.splice(at..at, junk);
        let _ = load_bytes("v.bin", file, &options);
    }
}

#[test]
fn it_is_recognized() {
    for line_ends in [false, true] {
        let loaded = load_bytes("v", three().word2vec(line_ends), &fail()).unwrap();
        assert_eq!(loaded.report.format, VectorFormat::Word2vecBinary);
        assert_same(&loaded, &three());
    }
}

#[test]
fn defects_are_counted_by_row() {
    let mut table = three();
    table.words[1] = "the".to_owned();
    table.data[8] = f32::NAN;
    let loaded = load_bytes("v.bin", table.word2vec(true), &skip()).unwrap();
    assert_eq!(
        defects(&loaded),
        [(Defect::NotFinite, (1, 3)), (Defect::Duplicate, (1, 2))].into()
    );
    let strict = load_bytes("v.bin", table.word2vec(true), &fail());
    assert!(
        matches!(
            strict,
            Err(Error::Defective {
                unit: Unit::Row,
                at: 2,
                ..
            })
        ),
        "{strict:?}"
    );
}

#[test]
fn words_that_are_not_utf8_are_skipped() {
    let mut file = three().word2vec(true);
    file[4] = 0xff;
    let loaded = load_bytes("v.bin", file, &skip()).unwrap();
    assert_eq!(loaded.vectors.words, ["cat", "sat"]);
    assert_eq!(defects(&loaded), [(Defect::NotUtf8, (1, 1))].into());
}

#[test]
fn a_cut_file_gives_the_rows_it_has() {
    let file = three().word2vec(true);
    let cut = &file[..file.len() - 3];
    let refused = load_bytes("v.bin", cut, &skip());
    assert!(matches!(refused, Err(Error::CutShort { .. })));
    let loaded = load_bytes("v.bin", cut, &partial()).unwrap();
    assert_eq!(loaded.vectors.words, ["the", "cat"]);
    assert_eq!(defects(&loaded), [(Defect::CutShort, (1, 3))].into());
    assert!(load_bytes("v.bin", cut, &fail()).is_err());
}

#[test]
fn the_header_is_not_believed() {
    let rows = &three().word2vec(true)[4..];
    let file = [b"1000000000000 3\n", rows].concat();
    let loaded = load_bytes("v.bin", file, &partial()).unwrap();
    assert_eq!(loaded.report.broken_promise(), Some(1_000_000_000_000));

    let file = [b"3 1000000000000\n", rows].concat();
    let result = load_bytes("v.bin", file, &skip());
    assert!(matches!(result, Err(Error::Damaged { .. })), "{result:?}");
}

#[test]
fn reading_stops_at_the_wanted_words() {
    let tail = vec![b'x'; 100_000];
    let file = [&three().word2vec(true)[..], &tail].concat();
    let file = [b"9 3", &file[3..]].concat();
    let loaded = load_bytes("v.bin", &file, &first(3)).unwrap();
    assert!(loaded.report.stopped_early);
    assert_same(&loaded, &three());
    assert!(matches!(
        load_bytes("v.bin", &file, &first(4)),
        Err(Error::Damaged { .. })
    ));
}

//! NumPy `.npy` with a word list.

use brr_build::error::{Error, Result};
use brr_build::vectors::{Defect, LoadOptions, Loaded, OnDefect, VectorFormat, load};
use proptest::prelude::*;

use crate::files::*;

fn load_npy(matrix: &[u8], list: &[u8]) -> Result<Loaded> {
    let folder = Folder::new();
    let matrix = folder.write("v.npy", matrix);
    load(&matrix, &with_list(&folder.write("words.txt", list)))
}

/// A matrix of two rows and two columns, of this type.
fn typed(kind: &str, numbers: [&[u8]; 4]) -> Vec<f32> {
    let file = [npy_header(kind, "(2, 2)"), numbers.concat()].concat();
    load_npy(&file, b"the\nof\n").unwrap().vectors.data
}

proptest! {
    #[test]
    fn what_is_written_is_read(table in tables()) {
        let loaded = load_npy(&table.npy(), &table.word_list()).unwrap();
        prop_assert_eq!(loaded.report.format, VectorFormat::Npy);
        assert_same(&loaded, &table);
        assert_balanced(&loaded);
    }

    #[test]
    fn any_damage_is_reported_not_a_panic(table in tables(), at: prop::sample::Index, junk: [u8; 3]) {
        let mut file = table.npy();
        let at = at.index(file.len());
        file.splice(at..at, junk);
        let _ = load_npy(&file, &table.word_list());
    }
}

#[test]
fn half_single_and_double_precision_of_either_order() {
    // 1, -2, 65504 and 2^-24: the extremes of half precision.
    let half: [u16; 4] = [0x3c00, 0xc000, 0x7bff, 0x0001];
    let expected = [1.0, -2.0, 65504.0, 2f32.powi(-24)];
    assert_eq!(
        typed("<f2", half.map(u16::to_le_bytes).each_ref().map(|b| &b[..])),
        expected
    );
    assert_eq!(
        typed(">f2", half.map(u16::to_be_bytes).each_ref().map(|b| &b[..])),
        expected
    );
    assert_eq!(
        typed(
            "<f4",
            expected.map(f32::to_le_bytes).each_ref().map(|b| &b[..])
        ),
        expected
    );
    assert_eq!(
        typed(
            ">f4",
            expected.map(f32::to_be_bytes).each_ref().map(|b| &b[..])
        ),
        expected
    );
    let double = expected.map(f64::from);
    assert_eq!(
        typed(
            "<f8",
            double.map(f64::to_le_bytes).each_ref().map(|b| &b[..])
        ),
        expected
    );
    assert_eq!(
        typed(
            ">f8",
            double.map(f64::to_be_bytes).each_ref().map(|b| &b[..])
        ),
        expected
    );
}

#[test]
fn infinities_and_nan_of_half_precision_are_defects() {
    for bits in [0x7c00u16, 0xfc00, 0x7e00] {
        let numbers = [0x3c00, bits, 0x3c00, 0x3c00]
            .map(u16::to_le_bytes)
            .concat();
        let file = [npy_header("<f2", "(2, 2)"), numbers].concat();
        let loaded = load_npy(&file, b"the\nof\n").unwrap();
        assert_eq!(defects(&loaded), [(Defect::NotFinite, (1, 1))].into());
    }
}

#[test]
fn versions_2_and_3_have_longer_headers() {
    for version in [2, 3] {
        let mut file = three().npy();
        file[6] = version;
        file.splice(10..10, [0, 0]);
        assert_same(&load_npy(&file, &three().word_list()).unwrap(), &three());
    }
}

#[test]
fn the_word_list_must_be_there_and_fit() {
    let npy = three().npy();
    let alone = load_bytes("v.npy", &npy, &skip());
    assert!(matches!(alone, Err(Error::WordListMissing { .. })));
    for list in [&b"the\ncat\n"[..], b"the\ncat\nsat\non\n", b""] {
        let result = load_npy(&npy, list);
        assert!(
            matches!(result, Err(Error::WordListLength { rows: 3, .. })),
            "{result:?}"
        );
    }
    // A list that is too long is not taken for a matrix that is cut short.
    let folder = Folder::new();
    let strict = LoadOptions {
        on_defect: OnDefect::Fail,
        ..with_list(&folder.write("words.txt", "the\ncat\nsat\non\n"))
    };
    let result = load(&folder.write("v.npy", &npy), &strict);
    assert!(
        matches!(result, Err(Error::WordListLength { words: 4, .. })),
        "{result:?}"
    );
    // Even if only the first words are wanted.
    let folder = Folder::new();
    let mut options = with_list(&folder.write("words.txt", "the\ncat\n"));
    options.words = Some(1);
    let result = load(&folder.write("v.npy", &npy), &options);
    assert!(
        matches!(result, Err(Error::WordListLength { words: 2, .. })),
        "{result:?}"
    );
    // And a list makes no sense where the file has words.
    let result = load(&folder.write("v.txt", three().text(false)), &options);
    assert!(matches!(result, Err(Error::WordListUnused { .. })));
}

#[test]
fn a_cut_matrix_gives_the_rows_it_has() {
    let npy = three().npy();
    let folder = Folder::new();
    let mut options = with_list(&folder.write("words.txt", three().word_list()));
    let cut = folder.write("v.npy", &npy[..npy.len() - 1]);
    assert!(matches!(load(&cut, &options), Err(Error::CutShort { .. })));
    options.partial = true;
    let loaded = load(&cut, &options).unwrap();
    assert_eq!(loaded.vectors.words, ["the", "cat"]);
    assert_eq!(defects(&loaded), [(Defect::CutShort, (1, 3))].into());
}

#[test]
fn reading_stops_at_the_wanted_words() {
    let folder = Folder::new();
    let list = folder.write("words.txt", "\u{feff}the\r\n2012\r\ncat\r\nsat\r\n");
    let mut table = three();
    table.data.splice(3..3, [9.0; 3]);
    table.words.push("sat".to_owned());
    let npy = table.npy();
    let cut = folder.write("v.npy", &npy[..npy.len() - 12]);
    let mut options = with_list(&list);
    options.words = Some(2);
    let loaded = load(&cut, &options).unwrap();
    assert_eq!(loaded.vectors.words, ["the", "cat"]);
    assert!(loaded.report.stopped_early);
    assert_eq!(loaded.vectors.row(1), [0.1, 0.2, 0.3]);
}

#[test]
fn other_arrays_are_refused_with_a_way_out() {
    let refused = [
        npy_header("<i4", "(2, 2)"),
        npy_header("<f4", "(4,)"),
        npy_header("<f4", "(2, 2, 2)"),
        npy_header("<f4", "(2, 0)"),
        npy_header("<f4", "(2, 1000000000000)"),
        npy_preamble("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2), }"),
        npy_preamble("{}"),
    ];
    for (i, header) in refused.into_iter().enumerate() {
        let result = load_npy(&header, b"the\nof\n");
        assert!(
            matches!(result, Err(Error::Unsupported { .. })),
            "{i}: {result:?}"
        );
    }
}

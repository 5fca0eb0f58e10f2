//! Writes vector files in every format.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use brr_build::error::Error;
use brr_build::vectors::{Defect, LoadOptions, LoadReport, Loaded, OnDefect, Tally, load};
use proptest::prelude::*;

/// Words and vectors to write.
#[derive(Clone, Debug)]
pub struct Table {
    pub words: Vec<String>,
    pub dim: usize,
    pub data: Vec<f32>,
}

impl Table {
    pub fn rows(&self) -> impl Iterator<Item = (&str, &[f32])> {
        self.words
            .iter()
            .map(String::as_str)
            .zip(self.data.chunks(self.dim))
    }

    pub fn text(&self, header: bool) -> Vec<u8> {
        let mut file = String::new();
        if header {
            file += &format!("{} {}\n", self.words.len(), self.dim);
        }
        for (word, row) in self.rows() {
            let numbers: Vec<String> = row.iter().map(f32::to_string).collect();
            file += &format!("{word} {}\n", numbers.join(" "));
        }
        file.into_bytes()
    }

    pub fn word2vec(&self, line_ends: bool) -> Vec<u8> {
        let mut file = format!("{} {}\n", self.words.len(), self.dim).into_bytes();
        for (word, row) in self.rows() {
            file.extend(word.as_bytes());
            file.push(b' ');
            row.iter().for_each(|x| file.extend(x.to_le_bytes()));
            file.extend(line_ends.then_some(b'\n'));
        }
        file
    }

    pub fn npy(&self) -> Vec<u8> {
        let mut file = npy_header("<f4", &format!("({}, {})", self.words.len(), self.dim));
        self.data.iter().for_each(|x| file.extend(x.to_le_bytes()));
        file
    }

    pub fn word_list(&self) -> Vec<u8> {
        self.words
            .iter()
            .flat_map(|word| format!("{word}\n").into_bytes())
            .collect()
    }
}

pub fn npy_header(kind: &str, shape: &str) -> Vec<u8> {
    npy_preamble(&format!(
        "{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}\n"
    ))
}

pub fn npy_preamble(header: &str) -> Vec<u8> {
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((header.len() as u16).to_le_bytes());
    file.extend(header.as_bytes());
    file
}

/// Three words of three numbers.
pub fn three() -> Table {
    Table {
        words: ["the", "cat", "sat"].map(str::to_owned).to_vec(),
        dim: 3,
        data: vec![0.5, -1.25, 3.0, 0.1, 0.2, 0.3, 1e-3, -7.5, 42.0],
    }
}

/// Distinct admissible words with finite vectors that are not zero.
pub fn tables() -> impl Strategy<Value = Table> {
    let words = prop::collection::btree_set("[a-zéß]{2,6}|[а-я]{2,6}|[a-z]{1,3}'[e-l]", 1..12);
    (words, 2..7usize).prop_flat_map(|(words, dim)| {
        let number = (-1e6f32..1e6).prop_filter("a zero vector is a defect", |x| *x != 0.0);
        let words: Vec<String> = words.into_iter().collect();
        let data = prop::collection::vec(number, words.len() * dim);
        data.prop_map(move |data| Table {
            words: words.clone(),
            dim,
            data,
        })
    })
}

/// A folder of files for one test.
pub struct Folder(tempfile::TempDir);

impl Folder {
    pub fn new() -> Self {
        Folder(tempfile::tempdir().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        fs::write(self.path(name), content).unwrap();
        self.path(name)
    }
}

/// Loads a file of this content and name with the options.
pub fn load_bytes(
    name: &str,
    content: impl AsRef<[u8]>,
    options: &LoadOptions,
) -> Result<Loaded, Error> {
    let folder = Folder::new();
    let loaded = load(&folder.write(name, content), options);
    if let Ok(loaded) = &loaded {
        assert_balanced(loaded);
    }
    loaded
}

/// The defaults, and the same but strict.
pub fn skip() -> LoadOptions {
    LoadOptions::default()
}

pub fn partial() -> LoadOptions {
    LoadOptions {
        partial: true,
        ..skip()
    }
}

pub fn fail() -> LoadOptions {
    LoadOptions {
        on_defect: OnDefect::Fail,
        ..skip()
    }
}

pub fn first(words: usize) -> LoadOptions {
    LoadOptions {
        words: Some(words),
        ..skip()
    }
}

pub fn with_list(list: &Path) -> LoadOptions {
    LoadOptions {
        word_list: Some(list.to_owned()),
        ..skip()
    }
}

/// Every row is a word, a defect or left out.
pub fn assert_balanced(loaded: &Loaded) {
    let LoadReport {
        rows,
        words,
        defects,
        left_out,
        ..
    } = &loaded.report;
    let lost: u64 = defects
        .values()
        .chain(left_out.values())
        .map(|tally| tally.count)
        .sum();
    assert_eq!(*rows, words + lost, "{}", loaded.report);
    assert_eq!(*words, loaded.vectors.words.len() as u64);
    assert_eq!(
        loaded.vectors.data.len(),
        loaded.vectors.words.len() * loaded.vectors.dim
    );
}

pub fn assert_same(loaded: &Loaded, table: &Table) {
    assert_eq!(loaded.vectors.words, table.words);
    assert_eq!(loaded.vectors.dim, table.dim);
    assert_eq!(loaded.vectors.data, table.data);
    assert!(loaded.report.defects.is_empty(), "{}", loaded.report);
    assert_eq!(loaded.report.rows, table.words.len() as u64);
}

pub fn defects(loaded: &Loaded) -> BTreeMap<Defect, (u64, u64)> {
    let pair = |(defect, tally): (&Defect, &Tally)| (*defect, (tally.count, tally.first));
    loaded.report.defects.iter().map(pair).collect()
}

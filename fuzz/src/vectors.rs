//! The loaders of word vectors.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use brr_build::vectors::{LoadOptions, Loaded, OnDefect, VectorFormat, load};
use tempfile::TempDir;

thread_local! {
    /// The loaders read files, so the bytes go through one. (`scripts/fuzz` puts
    /// it in memory.)
    static FOLDER: RefCell<TempDir> =
        RefCell::new(tempfile::tempdir().expect("a folder for temporary files"));
}

fn file(name: &str, content: &[u8]) -> PathBuf {
    FOLDER.with_borrow(|folder| {
        let path = folder.path().join(name);
        std::fs::write(&path, content).expect("room for a small file");
        path
    })
}

/// Loads all, then some, then strictly; checks what came.
fn try_all(path: &Path, format: Option<VectorFormat>, word_list: Option<PathBuf>) {
    let all = LoadOptions {
        format,
        word_list,
        ..LoadOptions::default()
    };
    let some = LoadOptions {
        words: Some(2),
        ..all.clone()
    };
    let strict = LoadOptions {
        on_defect: OnDefect::Fail,
        ..all.clone()
    };
    let all = load(path, &all);
    if let Ok(loaded) = &all {
        check(loaded);
    }
    if let Ok(loaded) = load(path, &some) {
        check(&loaded);
        assert!(loaded.vectors.words.len() <= 2);
    }
    if let Ok(loaded) = load(path, &strict) {
        check(&loaded);
        let all = all.expect("without defects there is nothing to fail at");
        assert_eq!(loaded.vectors.words, all.vectors.words);
    }
}

/// As many numbers as words ask for, all of them usable, no word twice.
fn check(loaded: &Loaded) {
    let vectors = &loaded.vectors;
    assert!(!vectors.words.is_empty() && vectors.dim > 0);
    assert_eq!(vectors.data.len(), vectors.words.len() * vectors.dim);
    assert!(vectors.data.iter().all(|x| x.is_finite()));
    let mut words: Vec<&String> = vectors.words.iter().collect();
    words.sort_unstable();
    assert!(words.windows(2).all(|pair| pair[0] != pair[1]), "twice");
    assert_eq!(loaded.report.words, vectors.words.len() as u64);
}

/// GloVe text, word2vec text, fastText `.vec`: recognized, and by force.
pub fn vectors_text(data: &[u8]) {
    let path = file("vectors.txt", data);
    try_all(&path, None, None);
    try_all(&path, Some(VectorFormat::GloveText), None);
    try_all(&path, Some(VectorFormat::Word2vecText), None);
}

/// word2vec binary.
pub fn vectors_word2vec(data: &[u8]) {
    let path = file("vectors.bin", data);
    try_all(&path, Some(VectorFormat::Word2vecBinary), None);
}

/// fastText models.
pub fn vectors_fasttext(data: &[u8]) {
    let path = file("vectors.bin", data);
    try_all(&path, Some(VectorFormat::FastText), None);
}

/// The first two bytes are the length of the word list, which comes next; the
/// rest is the matrix.
pub fn vectors_npy(data: &[u8]) {
    let Some((length, rest)) = data.split_first_chunk() else {
        return;
    };
    let length = usize::from(u16::from_le_bytes(*length)).min(rest.len());
    let (words, matrix) = rest.split_at(length);
    let list = file("words.txt", words);
    try_all(&file("vectors.npy", matrix), None, Some(list));
}

/// gzip, Zstandard and zip, recognized by their first bytes.
pub fn vectors_packed(data: &[u8]) {
    let path = file("vectors.packed", data);
    try_all(&path, None, None);
    let mut member = path.clone().into_os_string();
    member.push("#glove.txt");
    let _ = load(Path::new(&member), &LoadOptions::default());
}

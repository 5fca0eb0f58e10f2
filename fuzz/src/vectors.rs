//! The loaders of word vectors.

use std::cell::RefCell;
use std::io::Write;
use std::path::{Path, PathBuf};

use brr_build::vectors::{LoadOptions, Loaded, OnDefect, VectorFormat, load};
use flate2::Compression;
use flate2::write::GzEncoder;
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

/// Two lengths of two bytes each, then three files, of which these are the lengths of the first two.
fn three_files(data: &[u8]) -> Option<[&[u8]; 3]> {
    let ([a, b, c, d], rest) = data.split_first_chunk()?;
    let lengths = [[*a, *b], [*c, *d]].map(|length| usize::from(u16::from_le_bytes(length)));
    let (first, rest) = rest.split_at(lengths[0].min(rest.len()));
    let (second, third) = rest.split_at(lengths[1].min(rest.len()));
    Some([first, second, third])
}

/// `files` in a folder of their own, which is one for all inputs.
fn folder(name: &str, files: [(&str, &[u8]); 3]) -> PathBuf {
    FOLDER.with_borrow(|all| {
        let folder = all.path().join(name);
        std::fs::create_dir_all(&folder).expect("a folder for small files");
        for (name, content) in files {
            std::fs::write(folder.join(name), content).expect("room for a small file");
        }
        folder
    })
}

/// A package of spaCy: `key2row`, `strings.json`, `vectors`.
pub fn vectors_spacy(data: &[u8]) {
    let Some([keys, strings, matrix]) = three_files(data) else {
        return;
    };
    let files = [
        ("key2row", keys),
        ("strings.json", strings),
        ("vectors", matrix),
    ];
    let path = folder("spacy", files);
    try_all(&path, None, None);
    let shared = LoadOptions {
        shared_vectors: true,
        partial: true,
        ..LoadOptions::default()
    };
    if let Ok(loaded) = load(&path, &shared) {
        check(&loaded);
    }
}

/// A package of navec: `meta.json`, `vocab.bin`, which is packed here, and `pq.bin`.
pub fn vectors_navec(data: &[u8]) {
    let Some([meta, words, matrix]) = three_files(data) else {
        return;
    };
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(words).expect("memory");
    let packed = packed.finish().expect("memory");
    let files = [
        ("meta.json", meta),
        ("vocab.bin", &packed),
        ("pq.bin", matrix),
    ];
    try_all(&folder("navec", files), None, None);
}

/// gzip, Zstandard, zip and tar, recognized by their first bytes.
pub fn vectors_packed(data: &[u8]) {
    let path = file("vectors.packed", data);
    try_all(&path, None, None);
    let mut member = path.clone().into_os_string();
    member.push("#glove.txt");
    let _ = load(Path::new(&member), &LoadOptions::default());
}

//! Files that are no word vectors, and targets that cannot be met.

use brr_build::error::Error;
use brr_build::vectors::{LoadOptions, Progress, load, load_with_progress};

use crate::files::*;

fn message(name: &str, content: impl AsRef<[u8]>) -> String {
    let message = load_bytes(name, content, &skip()).unwrap_err().to_string();
    assert!(message.contains(name), "the file is not named: {message}");
    message
}

#[test]
fn an_empty_file() {
    for content in ["", "0 50\n", "12 50\n", "\u{feff}", "\n\n"] {
        let result = load_bytes("v.txt", content, &skip());
        assert!(
            matches!(result, Err(Error::EmptyFile { .. })),
            "{content:?}: {result:?}"
        );
    }
}

#[test]
fn files_of_other_kinds_are_named() {
    assert!(message("v.txt", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR").contains("PNG"));
    assert!(message("v.bin", b"\x7fELF\x02\x01\x01\0\0\0\0\0").contains("ELF"));
    assert!(message("v.kv", b"\x80\x04\x95\0\0\0\0").contains("save_word2vec_format"));
    assert!(message("v.txt", b"\xff\xfet\0h\0e\0 \x001\0").contains("UTF-16"));
    assert!(message("v.bin", [7u8, 0, 1, 9, 200, 3].repeat(50)).contains("unknown kind"));
    assert!(
        message("README.md", "# Vectors\n\nThese are vectors.\n")
            .contains("without rows of numbers")
    );
    assert!(message("v.csv", "word,1.5,2.5\nother,2.5,1.5\n").contains("without rows of numbers"));
    assert!(message("counts.txt", "the 1061396\nof 593677\n").contains("one number each"));
}

#[test]
fn a_text_that_begins_like_a_program_is_still_a_text() {
    let loaded = load_bytes("v.txt", "MZ 1 2\nof 3 4\n", &fail()).unwrap();
    assert_eq!(loaded.vectors.words, ["mz", "of"]);
}

#[test]
fn a_file_that_is_not_there_or_is_a_folder() {
    let folder = Folder::new();
    let missing = load(&folder.path("none.txt"), &skip());
    assert!(matches!(missing, Err(Error::Read { .. })));
    assert!(load(&folder.path(""), &skip()).is_err());
}

#[test]
fn no_usable_words_says_why() {
    let message = message("v.txt", "2012 1 2\n... 3 4\n2013 nan nan\nthe 0 0\n");
    assert!(message.contains("none of its 4 rows"), "{message}");
    assert!(
        message.contains("2 rows: contains a digit (first: line 1)"),
        "{message}"
    );
    assert!(
        message.contains("1 rows: a vector of zeros (first: line 4)"),
        "{message}"
    );
}

#[test]
fn no_words_wanted() {
    let result = load_bytes("v.txt", three().text(false), &first(0));
    assert!(matches!(result, Err(Error::NoWordsWanted)));
    // Even before the file is looked for.
    let result = load("/nonexistent".as_ref(), &first(0));
    assert!(matches!(result, Err(Error::NoWordsWanted)));
}

#[test]
fn a_line_without_end_is_an_error() {
    let text = [&three().text(false)[..], &b"x".repeat(3 << 20)].concat();
    let result = load_bytes("v.txt", text, &skip());
    assert!(matches!(result, Err(Error::Damaged { .. })), "{result:?}");
}

#[test]
fn progress_reaches_the_end() {
    let folder = Folder::new();
    let text: String = (0..9000)
        .map(|i| format!("w{} {i} 1\n", "x".repeat(i % 50)))
        .collect();
    let path = folder.write("v.txt", &text);
    let mut told: Vec<Progress> = Vec::new();
    let options = LoadOptions {
        words: Some(60),
        ..skip()
    };
    load_with_progress(&path, &options, &mut |progress| told.push(progress)).unwrap();
    assert!(told.len() >= 3, "{told:?}");
    assert!(told.is_sorted_by_key(|progress| progress.bytes));
    let last = told.last().unwrap();
    assert_eq!((last.words, last.words_wanted), (50, Some(60)));
    assert_eq!(
        (last.bytes, last.bytes_total),
        (Some(text.len() as u64), Some(text.len() as u64))
    );
}

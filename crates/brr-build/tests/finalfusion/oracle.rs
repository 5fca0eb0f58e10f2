//! On clean files our readers agree with `finalfusion`, the field's own crate.
#![cfg(test)]

#[path = "../vectors/files.rs"]
#[allow(dead_code)]
mod files;
#[path = "../vectors/models.rs"]
#[allow(dead_code)]
mod models;

use std::io::Cursor;

use brr_build::vectors::{LoadOptions, Loaded, VectorFormat};
use finalfusion::compat::fasttext::ReadFastText;
use finalfusion::compat::text::{ReadText, ReadTextDims};
use finalfusion::compat::word2vec::ReadWord2Vec;
use finalfusion::prelude::Embeddings;
use finalfusion::storage::{NdArray, Storage};
use finalfusion::vocab::{FastTextSubwordVocab, SimpleVocab, Vocab};
use proptest::prelude::*;

use crate::files::*;
use crate::models::models;

/// They scale vectors to unit length and keep the length apart, so the last bits may differ.
fn assert_agree<V: Vocab, S: Storage>(ours: &Loaded, theirs: &Embeddings<V, S>) {
    assert_eq!(ours.vectors.words, theirs.vocab().words());
    for (i, word) in ours.vectors.words.iter().enumerate() {
        let theirs = theirs.embedding_with_norm(word).unwrap();
        for (x, y) in ours.vectors.row(i).iter().zip(&theirs.embedding) {
            let y = y * theirs.norm;
            assert!((x - y).abs() <= 1e-5 * theirs.norm, "{word}: {x} {y}");
        }
    }
}

proptest! {
    #[test]
    fn on_text(table in tables()) {
        let file = table.text(false);
        let theirs = Embeddings::<SimpleVocab, NdArray>::read_text(&mut Cursor::new(&file)).unwrap();
        assert_agree(&load_bytes("v.txt", file, &fail()).unwrap(), &theirs);

        let file = table.text(true);
        let theirs = Embeddings::<SimpleVocab, NdArray>::read_text_dims(&mut Cursor::new(&file));
        assert_agree(&load_bytes("v.vec", file, &fail()).unwrap(), &theirs.unwrap());
    }

    #[test]
    fn on_word2vec_binary(table in tables()) {
        let file = table.word2vec(true);
        let theirs = Embeddings::<SimpleVocab, NdArray>::read_word2vec_binary(&mut Cursor::new(&file));
        let options = LoadOptions { format: Some(VectorFormat::Word2vecBinary), ..fail() };
        assert_agree(&load_bytes("v.bin", file, &options).unwrap(), &theirs.unwrap());
    }

    /// (n-grams of one character they take to include the brackets around the word; fastText does
    /// not, as its fixture shows.)
    #[test]
    fn on_fasttext_with_ngrams(model in models(2)) {
        let file = model.bytes();
        let theirs = Embeddings::<FastTextSubwordVocab, NdArray>::read_fasttext(&mut Cursor::new(&file));
        assert_agree(&load_bytes("m.bin", file, &fail()).unwrap(), &theirs.unwrap());
    }
}

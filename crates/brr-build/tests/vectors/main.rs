//! Loading word vectors from files that the tests write, as programs and people do.

mod bad_input;
mod fasttext;
mod files;
mod models;
mod npy;
mod packed;
mod text;
mod word2vec;

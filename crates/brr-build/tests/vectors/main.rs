//! Loading word vectors from files that the tests write, as programs and people do.

mod bad_input;
mod fasttext;
mod files;
mod models;
mod navec;
mod npy;
mod packages;
mod packed;
mod parts;
mod spacy;
mod text;
mod word2vec;

//! Loading word vectors from files that the tests write, as programs and people do.

mod bad_input;
mod fasttext;
mod files;
mod npy;
mod oracle;
mod packed;
mod text;
mod word2vec;

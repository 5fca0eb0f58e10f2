//! Writes the vectors that brr reads in a file as word2vec binary: what the oracles of the readers look at, and a way to
//! have the vectors of a package in a format that other programs read.
//!
//!     cargo run --release -p brr-build --example read_vectors -- PACKAGE OUT [--language CODE] [--shared-vectors]
//!
//! Numbers enter, and upper case stays as it is.

use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

use brr_build::orthography;
use brr_build::vectors::{LoadOptions, load};
use brr_build::vocabulary_rule::{Case, Numbers, VocabularyRule};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [vectors, out, more @ ..] = &arguments[..] else {
        return Err("expected PACKAGE OUT [--language CODE] [--shared-vectors]".into());
    };
    let language = more.iter().skip_while(|a| *a != "--language").nth(1);
    let table = language.map(|code| orthography::find(code)).transpose()?;
    let options = LoadOptions {
        shared_vectors: more.iter().any(|a| a == "--shared-vectors"),
        filter: VocabularyRule {
            numbers: Numbers::Keep,
            case: Case::Keep,
            orthography: table.flatten().map(Arc::new),
        },
        ..LoadOptions::default()
    };
    let loaded = load(Path::new(vectors), &options)?;
    eprintln!("{}", loaded.report);
    let mut out = BufWriter::new(File::create(out)?);
    let (words, dim) = (&loaded.vectors.words, loaded.vectors.dim);
    writeln!(out, "{} {dim}", words.len())?;
    for (i, word) in words.iter().enumerate() {
        write!(out, "{word} ")?;
        for number in loaded.vectors.row(i) {
            out.write_all(&number.to_le_bytes())?;
        }
        writeln!(out)?;
    }
    Ok(out.flush()?)
}

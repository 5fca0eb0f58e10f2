//! Builds a model from word vectors, writes it, opens it again and privatizes with it.
//!
//!     cargo run --release -p brr-build --example build_model -- VECTORS MODEL
//!
//! VECTORS is a file of word2vec, GloVe or fastText; MODEL is written.

use std::error::Error;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use brr::parts::{codes::CodeBits, parallel::cores};
use brr::{Budget, Model, Options, Privatizer};
use brr_build::build::{Recipe, build, usual_min_distance};
use brr_build::vectors::{LoadOptions, load};

fn main() -> Result<(), Box<dyn Error>> {
    let paths: Vec<String> = std::env::args().skip(1).collect();
    match &paths[..] {
        [vectors, model] => run(Path::new(vectors), Path::new(model)),
        _ => Err("expected the paths VECTORS and MODEL".into()),
    }
}

fn run(vectors: &Path, path: &Path) -> Result<(), Box<dyn Error>> {
    let vectors = load(vectors, &LoadOptions::default())?.vectors;
    let bits = CodeBits::new(256).expect("a length that codes may have");
    let recipe = Recipe {
        bits,
        binarizer: "hyperplane".into(),
        min_distance: usual_min_distance(bits),
        seed: 1,
        threads: cores(),
        lowercase: true,
        certificates: None,
        tree: true,
        tags: None,
        meta: vec![("name".into(), "example".into())],
        orthography: None,
    };
    let built = build(&vectors, &recipe, &[], &|_| ControlFlow::Continue(()))?;
    println!("neighbours kept: {:.2}", built.quality.neighbor_overlap);
    std::fs::write(path, built.model.bytes())?;

    // On the device the file is only a claim, until this machine has checked it.
    let model = Arc::new(Model::open(path)?);
    model.check(cores(), &|_| {})?;
    let options = Options::default().with_budget(Budget::Keep(0.5));
    let privatizer = Privatizer::new(model, options)?;
    let text = vectors.words[..vectors.words.len().min(8)].join(" ");
    println!("{text}\n{}", privatizer.privatize(&text)?.text);
    Ok(())
}

#[test]
fn runs() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("vectors.txt");
    // Points on a spiral, so that neighbours have similar codes.
    let line = |i: u32| {
        let at = f64::from(i);
        let numbers = (1..=8).map(|k| format!("{:.4}", (at * f64::from(k) / 20.0).sin()));
        let letters = [i / 26, i % 26].map(|l| char::from(b'a' + l as u8));
        let word = String::from_iter(letters);
        format!("{word} {}\n", numbers.collect::<Vec<_>>().join(" "))
    };
    std::fs::write(&file, (0..200).map(line).collect::<String>()).unwrap();
    run(&file, &folder.path().join("model.brr")).unwrap();
}

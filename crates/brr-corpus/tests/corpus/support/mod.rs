//! A privatizer that changes nothing but case, and files in a folder.

use std::sync::Arc;

use brr::{Budget, Layout, MechanismKind, Options, Privatizer};
use brr_corpus::{Input, Output, Report, Result, Run};
use tempfile::TempDir;

/// At this epsilon every word stays: what changes, changes for another reason.
pub fn privatizer(layout: Layout) -> Privatizer {
    // A flipped bit leads back to the word. The exponential mechanism's smallest weights would
    // change one word in some hundred thousand at any epsilon.
    let options = Options::default()
        .with_mechanism(MechanismKind::Brr)
        .with_budget(Budget::Epsilon(30.0))
        .with_layout(layout);
    let model = brr_english::model().unwrap();
    Privatizer::new(Arc::new(model), options).unwrap()
}

/// A run from one file of a folder to another.
pub fn privatize(folder: &TempDir, run: &Run<'_>, input: &str, output: &str) -> Result<Report> {
    let path = |name| folder.path().join(name);
    let output = Output::File(path(output));
    run.clone().run(Input::File(path(input)), output)
}

/// The names in a folder.
pub fn listing(folder: &TempDir) -> Vec<String> {
    let entries = std::fs::read_dir(folder.path()).unwrap();
    let names = entries.map(|e| e.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

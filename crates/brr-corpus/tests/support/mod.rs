//! A privatizer that changes nothing but case, and a folder to work in.

use std::path::PathBuf;
use std::sync::Arc;

use brr::{Budget, Layout, Options, Privatizer};
use brr_corpus::{Input, Output, Report, Result, Run};

/// At this epsilon every word stays: what changes, changes for another reason.
pub fn privatizer(layout: Layout) -> Privatizer {
    let options = Options {
        budget: Budget::Epsilon(30.0),
        layout,
        ..Options::default()
    };
    let model = brr_english::model().unwrap();
    Privatizer::new(Arc::new(model), options).unwrap()
}

pub struct Folder(tempfile::TempDir);

impl Folder {
    pub fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// A run from one file of the folder to another.
    pub fn run(&self, run: &Run<'_>, input: &str, output: &str) -> Result<Report> {
        let input = Input::File(self.path(input));
        run.clone().run(input, Output::File(self.path(output)))
    }

    pub fn listing(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).unwrap();
        let names = entries.map(|e| e.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }
}

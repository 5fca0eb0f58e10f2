//! Word vectors to a model: `brr build` from Python.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use brr::parts::codes::CodeBits;
use brr::parts::epsilon::Epsilon;
use brr_build::build::{BuildStage, Recipe, build as build_model, usual_min_distance};
use brr_build::exclusion::{Excluded, ExclusionList};
use brr_build::orthography;
use brr_build::quality::SimilaritySet;
use brr_build::vectors::{LoadOptions, OnDefect, VectorFormat, load_with_progress, sha256_of_file};
use brr_build::vocabulary_rule::{Case, Numbers, VocabularyRule};
use pyo3::prelude::*;

use crate::choices::{Callback, Whole};
use crate::model::Model;
use crate::{batch, failure, interruptible};

/// Builds a model from a file of word vectors.
#[pyfunction(name = "_build")]
#[pyo3(signature = (vectors, *, bits, words, binarizer, min_distance, seed, format, word_list,
                    language, cased, numbers, exclude, strict, partial, shared_vectors, similarity, certify, meta, threads,
                    progress))]
#[allow(clippy::too_many_arguments)] // Python's keyword arguments
pub fn build(
    py: Python<'_>,
    vectors: PathBuf,
    bits: usize,
    words: Option<usize>,
    binarizer: String,
    min_distance: Option<u32>,
    seed: u64,
    format: Option<&str>,
    word_list: Option<PathBuf>,
    language: &str,
    cased: bool,
    numbers: bool,
    exclude: Vec<PathBuf>,
    strict: bool,
    partial: bool,
    shared_vectors: bool,
    similarity: Vec<PathBuf>,
    certify: Option<Vec<f64>>,
    meta: Vec<(String, String)>,
    threads: Option<Whole>,
    progress: Option<Callback>,
) -> PyResult<Model> {
    let bits = CodeBits::new(bits)
        .ok_or_else(|| failure::argument(py, "bits must be a multiple of 64 from 64 to 1024"))?;
    let table = orthography::find(language).map_err(|error| failure::train(py, &error))?;
    let table = table.map(Arc::new);
    let format = format.map(str::parse::<VectorFormat>).transpose();
    let options = LoadOptions {
        partial,
        shared_vectors,
        words,
        format: format.map_err(|message| failure::argument(py, &message))?,
        word_list,
        on_defect: if strict {
            OnDefect::Fail
        } else {
            OnDefect::Skip
        },
        filter: VocabularyRule {
            numbers: if numbers {
                Numbers::Keep
            } else {
                Numbers::Drop
            },
            case: if cased { Case::Keep } else { Case::Fold },
            orthography: table.clone(),
        },
        exclude: Vec::new(),
    };
    let certificates = certify
        .map(|epsilons| epsilons.into_iter().map(Epsilon::new).collect())
        .transpose()
        .map_err(|error| failure::to_py(py, &error))?;
    let recipe = Recipe {
        bits,
        binarizer,
        min_distance: min_distance.unwrap_or_else(|| usual_min_distance(bits)),
        seed,
        threads: batch::threads(py, threads)?,
        lowercase: !cased,
        certificates,
        tree: true,
        tags: None,
        meta,
        orthography: table,
    };
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = stop.clone();
    let work = move || {
        let tell = |name: &str, share: f64| {
            if stopped.load(Ordering::Relaxed) {
                return ControlFlow::Break(());
            }
            interruptible::tell(progress.as_ref(), (name, share));
            ControlFlow::Continue(())
        };
        run(&vectors, options, &exclude, recipe, &similarity, &tell)
    };
    interruptible::run(py, work, || stop.store(true, Ordering::Relaxed))?
        .map_err(|error| failure::train(py, &error))
}

fn run(
    path: &Path,
    mut options: LoadOptions,
    exclude: &[PathBuf],
    mut recipe: Recipe,
    similarity: &[PathBuf],
    tell: &(dyn Fn(&str, f64) -> ControlFlow<()> + Sync),
) -> brr_build::Result<Model> {
    let read = |file: &PathBuf| SimilaritySet::read(file).map_err(brr_build::Error::from);
    let similarity: Vec<_> = similarity.iter().map(read).collect::<Result<_, _>>()?;
    let lists = exclude.iter().map(|file| ExclusionList::read(file));
    options.exclude = lists.collect::<brr_build::Result<_>>()?;
    let loaded = load_with_progress(path, &options, &mut |p| {
        let by_words = p.words_wanted.map(|n| p.words as f64 / n as f64);
        let _ = tell("vectors", by_words.unwrap_or(0.0));
    })?;
    let digest = loaded.report.sha256.or_else(|| sha256_of_file(path).ok());
    let digest = digest.map(|d| ("vectors-sha256".to_owned(), crate::model::hex(&d)));
    recipe.meta.extend(digest);
    recipe.meta.extend(Excluded::meta(&loaded.report.excluded));
    let built = build_model(&loaded.vectors, &recipe, &similarity, &|stage| {
        let (name, share) = named(stage);
        tell(name, share)
    })?;
    Ok(Model::own(built.model))
}

fn named(stage: BuildStage) -> (&'static str, f64) {
    match stage {
        BuildStage::Binarize(p) => ("codes", p.step as f64 / p.steps.max(1) as f64),
        BuildStage::Separate(share) => ("separation", share),
        BuildStage::Distances(share) => ("distances", share),
        BuildStage::Calibrate(share) => ("calibration", share),
        BuildStage::Tree(share) => ("tree", share),
        BuildStage::Certify(share) => ("certificates", share),
        BuildStage::Check(share) => ("check", share),
        BuildStage::Quality => ("quality", 0.0),
        _ => ("other", 0.0),
    }
}

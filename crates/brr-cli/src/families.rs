//! Mechanisms by name, for the verbs that compare and explain them.

use std::path::Path;
use std::sync::Arc;

use brr::parts::parallel::cores;
use brr::{MechanismKind, Model};
use brr_build::vectors::{self, LoadOptions, Vectors};
use brr_eval::channel::Similarity;
use brr_eval::mechanisms::{Family, MadlibFamily, ShippedFamily, Space};
use clap::ValueEnum;

use crate::failure::{Failure, Result};
use crate::input;
use crate::progress::Stages;

/// Mechanisms on equal footing.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FamilyArg {
    /// Randomized response on the bits of a word's code, then the nearest word (the paper's)
    Brr,
    /// The exponential mechanism over the same codes, certified over all pairs of words
    Exponential,
    /// Tree response: mostly a word of the same small group of the model's tree
    Tree,
    /// Noise on real word vectors, then the nearest word (the paper's baseline); needs --vectors
    Madlib,
    /// Keeps the word with a fixed probability, otherwise draws any word uniformly
    KAry,
}

impl FamilyArg {
    /// The mechanism of the core, if it is one.
    pub fn shipped(self) -> Option<MechanismKind> {
        match self {
            FamilyArg::Brr => Some(MechanismKind::Brr),
            FamilyArg::Exponential => Some(MechanismKind::Exponential),
            FamilyArg::Tree => Some(MechanismKind::Tree),
            FamilyArg::KAry => Some(MechanismKind::KAry),
            FamilyArg::Madlib => None,
        }
    }
}

/// A mechanism whose epsilon is still open, and what is known about its words.
pub struct Subject {
    /// The mechanism.
    pub family: Box<dyn Family>,
    /// Codes and vectors.
    pub similarity: Similarity,
}

/// Sets a mechanism up over a model's words.
pub fn subject(
    arg: FamilyArg,
    model: &Arc<Model>,
    real: Option<&Path>,
    stages: &Stages,
) -> Result<Subject> {
    let space = real
        .map(|path| space(model, path, stages))
        .transpose()?
        .map(Arc::new);
    let family: Box<dyn Family> = match arg.shipped() {
        Some(kind) => Box::new(ShippedFamily {
            model: model.clone(),
            kind,
        }),
        None => {
            let needed = || {
                Failure::Usage(
                    "--mechanism madlib needs the real vectors: give --vectors FILE".into(),
                )
            };
            Box::new(MadlibFamily::exact(space.clone().ok_or_else(needed)?))
        }
    };
    let similarity = Similarity {
        model: Some(model.clone()),
        space,
    };
    Ok(Subject { family, similarity })
}

/// The real vectors of a model's words, in the model's order.
fn space(model: &Model, path: &Path, stages: &Stages) -> Result<Space> {
    let words = || model.vocabulary().iter();
    let aligned = match load(path)?.of_words(words()) {
        Some(aligned) => aligned,
        // The model may have words without vectors of their own.
        None => load_shared(path)?.of_words(words()).ok_or_else(|| {
            Failure::Failed(format!(
                "{}: words of the model are missing; give the vectors that the model was built from",
                path.display()
            ))
        })?,
    };
    Ok(Space::new(aligned, cores(), |share| {
        stages.show("distances of vectors", share)
    }))
}

/// Vectors with all the words that may enter a model.
pub fn load(path: &Path) -> Result<Vectors> {
    let path = input::on_disk(path)?;
    Ok(vectors::load(&path, &LoadOptions::default())?.vectors)
}

fn load_shared(path: &Path) -> Result<Vectors> {
    let options = LoadOptions {
        shared_vectors: true,
        ..LoadOptions::default()
    };
    Ok(vectors::load(path, &options)?.vectors)
}

/// A model, or vectors: whatever the file is.
pub enum Words {
    /// A model.
    Model(Box<Model>),
    /// Vectors with their distances.
    Vectors(Box<Space>),
}

/// Opens a file as a model, whose distances are checked, or, if it is none, as vectors.
pub fn open(path: &Path, stages: &Stages) -> Result<Words> {
    let path = &*input::on_disk(path)?;
    let checked = Model::open(path).and_then(|model| {
        model.check(cores(), &|share| stages.show("checking the model", share))?;
        Ok(model)
    });
    match checked {
        Ok(model) => Ok(Words::Model(Box::new(model))),
        Err(brr::Error::NotAModel) => {
            let share = |share| stages.show("distances of vectors", share);
            Ok(Words::Vectors(Box::new(Space::new(
                load(path)?,
                cores(),
                share,
            ))))
        }
        Err(brr::Error::Io { path, source }) => Err(Failure::file("read", &path, &source)),
        Err(error) => Err(Failure::Failed(format!("{}: {error}", path.display()))),
    }
}

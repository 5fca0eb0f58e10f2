//! The mechanisms of an experiment, over one and the same vocabulary.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use brr::parts::codes::CodeBits;
use brr::parts::tree::WordTree;
use brr::{Language, MechanismKind, Model, WordList};
use brr_build::binarize;
use brr_build::build::{self, Recipe, build, usual_min_distance};
use brr_build::vectors::{LoadOptions, Vectors, load};
use sha2::{Digest, Sha256};

use super::definition::{Definition, Entry};
use super::{ExperimentStage, OnExperimentStage};
use crate::error::{Error, Result};
use crate::mechanisms::{CertifiedFamily, Family, KaryFamily, MadlibFamily, ShippedFamily, Space};

/// A mechanism whose epsilon is open, with its name in the report.
pub struct NamedFamily {
    /// What the report calls it.
    pub label: String,
    /// The mechanism.
    pub family: Box<dyn Family>,
    /// Tells its codes or vectors from others.
    pub identity: String,
    /// What its draws are decoded with, if they are.
    pub language: Option<Arc<Language>>,
}

/// The model and the language model that an experiment has if it names none.
#[derive(Clone, Copy)]
pub struct BuiltIn {
    /// The model.
    pub model: fn() -> brr::Result<Model>,
    /// The language model.
    pub language: fn() -> brr::Result<Language>,
    /// Function words, and names and places, as far as a model has any: by which attacks are told apart.
    pub lists: fn(&Model) -> [Option<WordList>; 2],
}

/// All of them, in the definition's order.
pub struct NamedFamilies {
    all: Vec<NamedFamily>,
    vocabulary: Arc<Model>,
    space: Option<Arc<Space>>,
}

impl NamedFamilies {
    /// Loads or builds what the mechanisms need. Models built from vectors are
    /// kept in `folder` for the next time.
    pub fn prepare(
        definition: &Definition,
        folder: &Path,
        built_in: BuiltIn,
        threads: usize,
        progress: OnExperimentStage<'_>,
    ) -> Result<NamedFamilies> {
        let words = match (&definition.words.vectors, &definition.words.model) {
            (Some(path), _) => {
                let options = LoadOptions {
                    words: definition.words.limit,
                    ..LoadOptions::default()
                };
                progress(ExperimentStage::Preparing("reading vectors", 0.0));
                WordsFrom::Vectors(Box::new(load(path, &options)?.vectors))
            }
            (None, Some(path)) => {
                let model = Model::open(path)?;
                let share =
                    |share| progress(ExperimentStage::Preparing("checking the model", share));
                model.check(threads, &share)?;
                WordsFrom::Model(Arc::new(model))
            }
            (None, None) => WordsFrom::Model(Arc::new((built_in.model)()?)),
        };
        let mut models = BTreeMap::new();
        for entry in &definition.mechanism {
            let (bits, binarizer) = codes_of(entry)?;
            if let std::collections::btree_map::Entry::Vacant(place) =
                models.entry((bits, binarizer.clone()))
            {
                let model = match &words {
                    WordsFrom::Model(model) => model.clone(),
                    WordsFrom::Vectors(vectors) => {
                        cached(vectors, bits, &binarizer, folder, threads, progress)?
                    }
                };
                place.insert(model);
            }
        }
        let vocabulary = models
            .values()
            .next()
            .cloned()
            .ok_or_else(|| Error::Settings("there is no mechanism".into()))?;
        let space = match words {
            WordsFrom::Vectors(vectors) => {
                let share =
                    |share| progress(ExperimentStage::Preparing("distances of vectors", share));
                Some(Arc::new(Space::new(*vectors, threads, share)))
            }
            WordsFrom::Model(_) => None,
        };
        let language = match definition.mechanism.iter().any(|entry| entry.context) {
            true => Some(language(definition, built_in, &vocabulary)?),
            false => None,
        };
        let mut families = Vec::new();
        for entry in &definition.mechanism {
            let model = models[&codes_of(entry)?].clone();
            let mut family = subject(entry, model, space.as_ref(), threads, progress)?;
            if entry.context {
                family.language = language.clone();
                family.label += if entry.label.is_none() {
                    ", decoded"
                } else {
                    ""
                };
            }
            families.push(family);
        }
        Ok(NamedFamilies {
            all: families,
            vocabulary,
            space,
        })
    }

    /// In the definition's order.
    pub fn iter(&self) -> std::slice::Iter<'_, NamedFamily> {
        self.all.iter()
    }

    /// A model with the words of all of them.
    pub fn vocabulary(&self) -> &Arc<Model> {
        &self.vocabulary
    }

    /// The vectors, if there are any.
    pub fn space(&self) -> Option<&Arc<Space>> {
        self.space.as_ref()
    }

    pub(super) fn words_fingerprint(&self) -> String {
        let mut hash = Sha256::new();
        for word in self.vocabulary.vocabulary().iter() {
            hash.update(word.as_bytes());
            hash.update([0]);
        }
        hex(&hash.finalize()[..8])
    }
}

/// The language model that the experiment names or the built-in one, which must be for its words.
fn language(definition: &Definition, built_in: BuiltIn, words: &Model) -> Result<Arc<Language>> {
    let found = public_language(definition, built_in, words)?;
    Ok(Arc::new(found.ok_or(brr::Error::LanguageMismatch)?))
}

/// The same; none if the built-in one is for other words.
pub(super) fn public_language(
    definition: &Definition,
    built_in: BuiltIn,
    words: &Model,
) -> Result<Option<Language>> {
    let named = definition.words.language.as_ref();
    let language = match named {
        Some(path) => Language::open(path)?,
        None => (built_in.language)()?,
    };
    match (language.check_vocabulary(words.vocabulary()), named) {
        (Ok(()), _) => Ok(Some(language)),
        (Err(_), None) => Ok(None),
        (Err(error), Some(_)) => Err(error.into()),
    }
}

enum WordsFrom {
    Vectors(Box<Vectors>),
    Model(Arc<Model>),
}

fn codes_of(entry: &Entry) -> Result<(usize, String)> {
    let binarizer = entry
        .binarizer
        .clone()
        .unwrap_or_else(|| binarize::NAMES[0].to_owned());
    if CodeBits::new(entry.bits).is_none() {
        return Err(Error::Settings(format!(
            "bits = {}: must be a multiple of 64 from 64 to 1024",
            entry.bits
        )));
    }
    // Mechanisms without codes need none of their own.
    let has_codes = matches!(entry.name.as_str(), "brr" | "exponential");
    Ok((if has_codes { entry.bits } else { 64 }, binarizer))
}

/// A model of these vectors, from the last time if it is there and is theirs.
fn cached(
    vectors: &Vectors,
    bits: usize,
    binarizer: &str,
    folder: &Path,
    threads: usize,
    progress: OnExperimentStage<'_>,
) -> Result<Arc<Model>> {
    let bits = CodeBits::new(bits).expect("checked above");
    let stamp = vectors_fingerprint(vectors);
    let path = folder
        .join("models")
        .join(format!("{binarizer}-{}.brr", bits.get()));
    if let Ok(model) = Model::open(&path)
        && model.meta_value("vectors-fingerprint") == Some(&stamp)
    {
        let share = |share| progress(ExperimentStage::Preparing("checking the model", share));
        model.check(threads, &share)?;
        return Ok(Arc::new(model));
    }
    let recipe = Recipe {
        bits,
        binarizer: binarizer.to_owned(),
        min_distance: usual_min_distance(bits),
        seed: 1,
        threads,
        lowercase: true,
        certificates: Some(Vec::new()),
        tree: true,
        tags: None,
        meta: vec![("vectors-fingerprint".into(), stamp)],
        orthography: None,
    };
    let what = format!("building {} bits", bits.get());
    let share = |stage: build::BuildStage| {
        let share = match stage {
            build::BuildStage::Binarize(_) => 0.1,
            build::BuildStage::Distances(share) => 0.4 + 0.1 * share,
            build::BuildStage::Calibrate(share) => 0.5 + 0.4 * share,
            _ => 0.9,
        };
        progress(ExperimentStage::Preparing(&what, share));
        ControlFlow::Continue(())
    };
    let model = build(vectors, &recipe, &[], &share)?.model;
    // Kept for the next time; if that fails, the next time takes longer.
    let _ = std::fs::create_dir_all(folder.join("models"))
        .and_then(|()| std::fs::write(&path, model.bytes()));
    Ok(Arc::new(model))
}

fn vectors_fingerprint(vectors: &Vectors) -> String {
    let mut hash = Sha256::new();
    vectors.words.iter().for_each(|w| hash.update(w.as_bytes()));
    vectors
        .data
        .iter()
        .for_each(|x| hash.update(x.to_le_bytes()));
    hex(&hash.finalize()[..8])
}

fn tree_fingerprint(tree: &WordTree) -> String {
    let mut hash = Sha256::new();
    let places = tree.places().iter();
    places.for_each(|place| hash.update(place.to_le_bytes()));
    hex(&hash.finalize()[..8])
}

fn subject(
    entry: &Entry,
    model: Arc<Model>,
    space: Option<&Arc<Space>>,
    threads: usize,
    progress: OnExperimentStage<'_>,
) -> Result<NamedFamily> {
    let bits = model.bits().get();
    let identity = model.identity().to_string()[..16].to_owned();
    let words = model.vocabulary().len();
    let (family, identity): (Box<dyn Family>, String) = match entry.name.as_str() {
        "brr" => (
            Box::new(ShippedFamily {
                model,
                kind: MechanismKind::Brr,
            }),
            identity,
        ),
        "exponential" => {
            let share = |share| progress(ExperimentStage::Preparing("looking at all pairs", share));
            let certifier = model.certifier(threads, &share);
            (Box::new(CertifiedFamily { model, certifier }), identity)
        }
        "madlib" => {
            let space = space.ok_or_else(|| Error::Settings("madlib needs word vectors".into()))?;
            (
                Box::new(MadlibFamily::exact(space.clone())),
                vectors_fingerprint(space.vectors()),
            )
        }
        "tree" => {
            let tree = model.tree().ok_or(brr::Error::NoTree)?;
            let identity = tree_fingerprint(tree);
            let kind = MechanismKind::Tree;
            (Box::new(ShippedFamily { model, kind }), identity)
        }
        _ => (Box::new(KaryFamily(words)), String::new()),
    };
    let usual = match (entry.name.as_str(), &entry.binarizer) {
        ("tree" | "madlib" | "k-ary", _) => entry.name.clone(),
        (name, None) => format!("{name} {bits}"),
        (name, Some(binarizer)) => format!("{name} {bits} {binarizer}"),
    };
    Ok(NamedFamily {
        label: entry.label.clone().unwrap_or(usual),
        family,
        identity,
        language: None,
    })
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

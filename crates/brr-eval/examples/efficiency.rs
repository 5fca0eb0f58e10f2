//! What a word costs: time, size and memory of one mechanism, in a process of its
//! own so that its memory is its own. `experiments/efficiency/run` calls it.
//!
//! `efficiency MECHANISM FILE WORDS TOKENS BOUND`: MECHANISM is brr, brr-multi-index
//! or exponential over a model file, madlib or (feature `approximate`) madlib-hnsw
//! over vectors. Prints one JSON object. One thread; noise is seeded.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use brr::parts::distances::PairDistances;
use brr::parts::epsilon::Epsilon;
use brr::parts::frequency::Sampler;
use brr::parts::mechanism::{Brr, Exponential, Mechanism};
use brr::parts::random::Noise;
use brr::parts::vocabulary::WordId;
use brr::{Model, Search};
use brr_build::seeded::{generator, uniform};
use brr_build::vectors::{LoadOptions, load};
use brr_eval::mechanisms::{Madlib, Space};
use serde_json::json;

type Failure = Box<dyn std::error::Error>;

/// A mechanism, ready, with the bytes that its search needs in memory.
struct Ready {
    mechanism: Box<dyn Mechanism>,
    words: usize,
    index_bytes: usize,
    /// Share of noisy vectors whose nearest word the search finds.
    recall: Option<f64>,
}

fn main() -> Result<(), Failure> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [name, file, words, tokens, bound] = &args[..] else {
        return Err("MECHANISM FILE WORDS TOKENS BOUND".into());
    };
    let (words, tokens): (usize, usize) = (words.parse()?, tokens.parse()?);
    let bound: f64 = bound.parse()?;
    let started = Instant::now();
    let ready = match name.as_str() {
        "madlib" | "madlib-hnsw" => over_vectors(name, file.as_ref(), words, bound)?,
        _ => over_model(name, file.as_ref(), bound)?,
    };
    let start_up = started.elapsed().as_secs_f64();
    let sampler = Sampler::new(ready.words);
    let mut draws = generator(1, 0);
    let text: Vec<Option<WordId>> = (0..tokens)
        .map(|_| Some(sampler.word(uniform(&mut draws))))
        .collect();
    let mut noise = Noise::numbered(1);
    // Tables and caches are warm after the first words.
    ready
        .mechanism
        .privatize(&text[..tokens.min(256)], &mut noise);
    let started = Instant::now();
    let out = ready.mechanism.privatize(&text, &mut noise);
    let seconds = started.elapsed().as_secs_f64();
    let kept = out.iter().zip(&text).filter(|(y, w)| Some(**y) == **w);
    println!(
        "{}",
        json!({
            "mechanism": name,
            "words": ready.words,
            "tokens": tokens,
            "microseconds_per_word": 1e6 * seconds / tokens as f64,
            "kept": kept.count() as f64 / tokens as f64,
            "index_bytes": ready.index_bytes,
            "file_bytes": std::fs::metadata(file)?.len(),
            "peak_bytes": peak_bytes(),
            "start_up_seconds": start_up,
            "recall": ready.recall,
        })
    );
    Ok(())
}

fn over_model(name: &str, file: &Path, bound: f64) -> Result<Ready, Failure> {
    let model = Arc::new(Model::open(file)?);
    let epsilon = Epsilon::new(bound / model.pair_distances().average)?;
    let words = model.vocabulary().len();
    let index_bytes = words * model.bits().get() / 8;
    let mechanism: Box<dyn Mechanism> = match name {
        "brr" => Box::new(Brr::new(model, epsilon)),
        "brr-multi-index" => Box::new(Brr::new(model, epsilon).with_search(Search::MultiIndex)),
        "exponential" => Box::new(Exponential::new(model, epsilon)),
        _ => return Err(format!("unknown mechanism {name}").into()),
    };
    Ok(Ready {
        mechanism,
        words,
        index_bytes,
        recall: None,
    })
}

fn over_vectors(name: &str, file: &Path, words: usize, bound: f64) -> Result<Ready, Failure> {
    let options = LoadOptions {
        words: Some(words),
        ..LoadOptions::default()
    };
    let vectors = load(file, &options)?.vectors;
    // The distances decide what is promised, not what a word costs: a sample will do.
    let sample = brr_build::vectors::Vectors {
        words: vectors.words.iter().take(1000).cloned().collect(),
        dim: vectors.dim,
        data: vectors.data[..vectors.words.len().min(1000) * vectors.dim].to_vec(),
    };
    let average = brr_build::quality::euclidean(&sample, 1, |_| {}).average;
    let distances = PairDistances {
        average,
        maximum: average,
        nearest_mean: average,
        nearest_min: average,
    };
    let index_bytes = vectors.data.len() * 4;
    let space = Arc::new(Space::with_distances(vectors, distances));
    let epsilon = Epsilon::new(bound / average)?;
    let (mechanism, recall) = searched(name, &space, epsilon)?;
    Ok(Ready {
        mechanism: Box::new(mechanism),
        words: space.len(),
        index_bytes,
        recall,
    })
}

#[cfg(feature = "approximate")]
fn searched(
    name: &str,
    space: &Arc<Space>,
    epsilon: Epsilon,
) -> Result<(Madlib, Option<f64>), Failure> {
    use brr_eval::mechanisms::{Graph, GraphOptions};
    if name == "madlib" {
        return Ok((Madlib::new(space.clone(), epsilon), None));
    }
    let graph = Graph::build(space, GraphOptions::default());
    let exact = Madlib::new(space.clone(), epsilon);
    let words: Vec<Option<WordId>> = (0..500.min(space.len() as WordId)).map(Some).collect();
    let queries = exact.noisy_vectors(&words, &mut Noise::numbered(2));
    let recall = graph.recall(space, &queries);
    let madlib = Madlib::with_search(space.clone(), epsilon, Arc::new(graph));
    Ok((madlib, Some(recall)))
}

#[cfg(not(feature = "approximate"))]
fn searched(
    name: &str,
    space: &Arc<Space>,
    epsilon: Epsilon,
) -> Result<(Madlib, Option<f64>), Failure> {
    match name {
        "madlib" => Ok((Madlib::new(space.clone(), epsilon), None)),
        _ => Err("madlib-hnsw needs --features approximate".into()),
    }
}

/// The most memory that this process held, on Linux.
fn peak_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|l| l.starts_with("VmHWM:"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes * 1024)
}

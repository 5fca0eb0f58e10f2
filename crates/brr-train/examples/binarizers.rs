//! Makes the table of `experiments/binarizers/README.md`: every binarizer at
//! every length.
//!
//! ```text
//! cargo run --release -p brr-train --example binarizers -- VECTORS SIMILARITY... \
//!     [--binarizers affinity,itq] [--bits 64,128]
//! ```

use brr::codes::{CodeBits, CodeRows};
use brr_train::binarize::{self, Options};
use brr_train::parallel;
use brr_train::quality::{self, CodeStats, SimilaritySet};
use brr_train::vectors::{self, LoadOptions, Vectors};
use std::error::Error;
use std::path::Path;
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let mut paths = Vec::new();
    let mut names = binarize::NAMES.join(",");
    let mut lengths = "64,128,256,512".to_string();
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--binarizers" => names = args.next().ok_or("--binarizers needs names")?,
            "--bits" => lengths = args.next().ok_or("--bits needs lengths")?,
            _ => paths.push(arg),
        }
    }
    let (vectors, sets) = paths.split_first().ok_or("name a vector file")?;
    let vectors = read(vectors)?;
    let sets = sets
        .iter()
        .map(|path| SimilaritySet::read(Path::new(path)))
        .collect::<Result<Vec<_>, _>>()?;
    print_header(&sets);
    for name in names.split(',') {
        for bits in lengths.split(',') {
            row(&vectors, &sets, name, bits.parse()?)?;
        }
    }
    Ok(())
}

fn print_header(sets: &[SimilaritySet]) {
    print!("| binarizer | bits |");
    sets.iter().for_each(|set| print!(" {} |", set.name));
    println!(" mean | 10-NN | duplicates | closest | P_avg | P_max | ones per bit | seconds |");
    println!("|---|---|{}", "---|".repeat(sets.len() + 8));
}

fn row(
    vectors: &Vectors,
    sets: &[SimilaritySet],
    name: &str,
    bits: usize,
) -> Result<(), Box<dyn Error>> {
    let binarizer = binarize::by_name(name).ok_or("unknown binarizer")?;
    let bits = CodeBits::new(bits).ok_or("bits: a multiple of 64 from 64 to 1024")?;
    let threads = parallel::cores();
    let options = Options {
        bits,
        seed: 1,
        threads,
    };
    let start = Instant::now();
    let codes = binarizer.binarize(vectors, &options, &mut |p| {
        eprintln!("{name} {bits}: {p:?}")
    })?;
    let seconds = start.elapsed().as_secs_f64();
    report(vectors, sets, name, &codes, seconds);
    Ok(())
}

fn report(vectors: &Vectors, sets: &[SimilaritySet], name: &str, codes: &CodeRows, seconds: f64) {
    let threads = parallel::cores();
    let ratios: Vec<f64> = quality::retention(vectors, codes, sets)
        .iter()
        .map(|set| set.ratio().unwrap_or(f64::NAN))
        .collect();
    let overlap = quality::neighbor_overlap(vectors, codes, 10, 2000, threads);
    let stats = CodeStats::measure(codes, 1, threads, |_| {});
    print!("| {name} | {} |", codes.bits());
    ratios.iter().for_each(|ratio| print!(" {ratio:.3} |"));
    println!(
        " {:.3} | {overlap:.3} | {} | {} | {:.2} | {} | {:.2}-{:.2} | {seconds:.1} |",
        ratios.iter().sum::<f64>() / ratios.len() as f64,
        stats.duplicates,
        stats.closest.first().map_or(0, |pair| pair.distance),
        stats.average.value(),
        stats.max,
        stats.balance.min,
        stats.balance.max,
    );
}

/// The words that a model would be built from.
pub fn read(path: &str) -> Result<Vectors, Box<dyn Error>> {
    Ok(vectors::load(Path::new(path), &LoadOptions::default())?.vectors)
}

//! Makes the table of `experiments/binarizers/README.md`: every binarizer at
//! every length.
//!
//! ```text
//! cargo run --release -p brr-build --example binarizers -- VECTORS SIMILARITY... \
//!     [--binarizers affinity,itq] [--bits 64,128]
//! ```

use brr::parts::codes::{CodeBits, CodeBlocks, CodeRows, to_blocks};
use brr::parts::distances::CodeStats;
use brr::parts::parallel;
use brr_build::binarize::{self, BinarizeOptions};
use brr_build::quality::{self, SimilaritySet};
use brr_build::vectors::{self, LoadOptions, Vectors};
use std::error::Error;
use std::path::Path;

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
    println!(" mean | 10-NN | duplicates | closest | P_avg | P_max | ones per bit | CPU seconds |");
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
    let options = BinarizeOptions {
        bits,
        seed: 1,
        threads,
    };
    let start = cpu_seconds();
    let codes = binarizer.binarize(vectors, &options, &mut |p| {
        eprintln!("{name} {bits}: {p:?}")
    })?;
    let seconds = cpu_seconds() - start;
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
    let stats = code_stats(codes, threads);
    print!("| {name} | {} |", codes.bits());
    ratios.iter().for_each(|ratio| print!(" {ratio:.3} |"));
    println!(
        " {:.3} | {overlap:.3} | {} | {} | {:.2} | {} | {:.2}-{:.2} | {seconds:.1} |",
        ratios.iter().sum::<f64>() / ratios.len() as f64,
        stats.distances.duplicates,
        stats.closest.first().map_or(0, |pair| pair.distance),
        stats.distances.sum as f64 / (codes.len() as f64).powi(2),
        stats.distances.maximum,
        stats.balance.min,
        stats.balance.max,
    );
}

/// Distances, balance, and the closest pair.
pub fn code_stats(codes: &CodeRows, threads: usize) -> CodeStats {
    let blocks = to_blocks(codes);
    let table = CodeBlocks::new(codes.bits(), codes.len(), &blocks).expect("some codes");
    CodeStats::measure(table, 1, threads, &|_| {})
}

/// Processor time of this process so far, over all threads: unlike the clock, it
/// does not tell what else the machine was doing. 0 where there is no `/proc`.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // After the name in brackets, user and system time are fields 12 and 13,
    // in hundredths of a second.
    let fields = stat.rsplit(')').next().unwrap_or_default();
    let ticks = fields.split_whitespace().skip(11).take(2);
    ticks.filter_map(|t| t.parse::<f64>().ok()).sum::<f64>() / 100.0
}

/// The words that a model would be built from.
pub fn read(path: &str) -> Result<Vectors, Box<dyn Error>> {
    Ok(vectors::load(Path::new(path), &LoadOptions::default())?.vectors)
}

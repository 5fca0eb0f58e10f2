//! Makes the second table of `experiments/binarizers/README.md`: what a minimum
//! distance between codes costs in quality and gains in the certificate of the
//! exponential mechanism.
//!
//! ```text
//! cargo run --release -p brr-build --example separation -- VECTORS SIMILARITY... \
//!     [--binarizer affinity] [--bits 256] [--minimum 0,1,8,16]
//! ```

#[path = "binarizers.rs"]
#[allow(dead_code)]
mod binarizers;

use brr::parts::codes::{CodeBits, CodeRows, hamming};
use brr::parts::parallel;
use brr_build::binarize::{self, BinarizeOptions, separate};
use brr_build::quality::{self, SimilaritySet};
use brr_build::vectors::Vectors;
use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let mut paths = Vec::new();
    let (mut name, mut bits) = ("affinity".to_string(), 256);
    let mut minimums = "0,1,8,16".to_string();
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--binarizer" => name = args.next().ok_or("--binarizer needs a name")?,
            "--bits" => bits = args.next().ok_or("--bits needs a length")?.parse()?,
            "--minimum" => minimums = args.next().ok_or("--minimum needs distances")?,
            _ => paths.push(arg),
        }
    }
    let (vectors, sets) = paths.split_first().ok_or("name a vector file")?;
    let vectors = binarizers::read(vectors)?;
    let sets = sets
        .iter()
        .map(|path| SimilaritySet::read(Path::new(path)))
        .collect::<Result<Vec<_>, _>>()?;
    let bits = CodeBits::new(bits).ok_or("bits: a multiple of 64 from 64 to 1024")?;
    let (seed, threads) = (1, parallel::cores());
    let options = BinarizeOptions {
        bits,
        seed,
        threads,
    };
    let binarizer = binarize::by_name(&name).ok_or("unknown binarizer")?;
    let codes = binarizer.binarize(&vectors, &options, &mut |_| {})?;
    println!(
        "| codes | minimum | moved | bits flipped | stuck | closest | mean retention | 10-NN | certified / a | decided by |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for minimum in minimums.split(',') {
        row(
            &vectors,
            &sets,
            &format!("{name} {bits}"),
            &codes,
            minimum.parse()?,
        )?;
    }
    Ok(())
}

fn row(
    vectors: &Vectors,
    sets: &[SimilaritySet],
    name: &str,
    codes: &CodeRows,
    minimum: u32,
) -> Result<(), Box<dyn Error>> {
    let threads = parallel::cores();
    let mut separated = separate(vectors, codes, minimum, threads, &|_| {})?;
    if minimum == 0 {
        separated.codes = codes.clone();
        (separated.moved, separated.flipped) = (0, 0);
    }
    let codes = &separated.codes;
    let ratios: Vec<f64> = quality::retention(vectors, codes, sets)
        .iter()
        .map(|set| set.ratio().unwrap_or(f64::NAN))
        .collect();
    let stats = binarizers::code_stats(codes, threads);
    // The weights of design.md, a = 0.1 at 256 bits, at the same a * P_avg.
    let a = 25.6 / codes.bits().get() as f64;
    let (certified, (from, to)) = certify(codes, a, threads);
    println!(
        "| {name} | {minimum} | {} | {} | {} | {} | {:.4} | {:.4} | {:.3} | {} / {} at {} |",
        separated.moved,
        separated.flipped,
        separated.stuck,
        stats.closest[0].distance,
        ratios.iter().sum::<f64>() / ratios.len() as f64,
        quality::neighbor_overlap(vectors, codes, 10, 2000, threads),
        certified / a,
        vectors.words[from],
        vectors.words[to],
        hamming(codes.row(from), codes.row(to)),
    );
    Ok(())
}

/// The smallest epsilon that weights exp(-a d) satisfy, and the pair that decides:
/// a + max (ln Z(w') - ln Z(w)) / d(w, w'). Equal codes have equal Z.
fn certify(codes: &CodeRows, a: f64, threads: usize) -> (f64, (usize, usize)) {
    let weights: Vec<f64> = (0..=codes.bits().get())
        .map(|d| (-a * d as f64).exp())
        .collect();
    let z = parallel::map(threads, codes.len(), |i| {
        let weight = |other: &[u64]| weights[hamming(codes.row(i), other) as usize];
        codes.iter().map(weight).sum::<f64>().ln()
    });
    let worst = parallel::map(threads, codes.len(), |i| {
        let mut worst = (0.0, (i, i));
        for j in 0..i {
            let distance = hamming(codes.row(i), codes.row(j));
            let slope = (z[i] - z[j]).abs() / f64::from(distance.max(1));
            if slope > worst.0 {
                worst = (slope, (i, j));
            }
        }
        worst
    });
    let (slope, pair) = worst
        .into_iter()
        .max_by(|x, y| x.0.total_cmp(&y.0))
        .unwrap_or((0.0, (0, 0)));
    (a + slope, pair)
}

//! What codes keep of the vectors' similarity, by binarizer and length, and what a minimum
//! distance between codes costs and gains. `experiments/binarizers/run` makes the tables.
//!
//! ```text
//! cargo run --release -p brr-build --example binarizers -- VECTORS SIMILARITY... \
//!     [--binarizers affinity,itq] [--bits 64,128] [--minimum 0,1,8,16]
//! ```
//!
//! Prints a JSON object per line: one for each binarizer and length or, with `--minimum`, one for
//! each minimum distance, with the certificate of the exponential mechanism.

use brr::parts::codes::{CodeBits, CodeBlocks, CodeRows, hamming, to_blocks};
use brr::parts::distances::CodeStats;
use brr::parts::parallel::{self, cores};
use brr_build::binarize::{self, BinarizeOptions, separate};
use brr_build::quality::{self, SimilaritySet};
use brr_build::vectors::{self, LoadOptions, Vectors};
use std::error::Error;
use std::path::Path;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The words that a model would be built from, and people's judgements of similarity.
struct Subject {
    vectors: Vectors,
    sets: Vec<SimilaritySet>,
}

fn main() -> Result<()> {
    let mut paths = Vec::new();
    let mut names = binarize::NAMES.join(",");
    let mut lengths = "64,128,256,512".to_string();
    let mut minimums = None;
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--binarizers" => names = args.next().ok_or("--binarizers needs names")?,
            "--bits" => lengths = args.next().ok_or("--bits needs lengths")?,
            "--minimum" => minimums = Some(args.next().ok_or("--minimum needs distances")?),
            _ => paths.push(arg),
        }
    }
    let (path, sets) = paths.split_first().ok_or("name a vector file")?;
    let sets = sets.iter().map(|path| SimilaritySet::read(Path::new(path)));
    let subject = Subject {
        vectors: vectors::load(Path::new(path), &LoadOptions::default())?.vectors,
        sets: sets.collect::<std::result::Result<_, _>>()?,
    };
    for name in names.split(',') {
        for bits in lengths.split(',') {
            let (codes, seconds) = subject.binarize(name, bits.parse()?)?;
            match &minimums {
                None => subject.report(name, &codes, seconds),
                Some(minimums) => {
                    for minimum in minimums.split(',') {
                        subject.report_separated(name, &codes, minimum.parse()?)?;
                    }
                }
            }
        }
    }
    Ok(())
}

impl Subject {
    /// Codes, and the processor time they took.
    fn binarize(&self, name: &str, bits: usize) -> Result<(CodeRows, f64)> {
        let binarizer = binarize::by_name(name).ok_or("unknown binarizer")?;
        let options = BinarizeOptions {
            bits: CodeBits::new(bits).ok_or("bits: a multiple of 64 from 64 to 1024")?,
            seed: 1,
            threads: cores(),
        };
        let start = cpu_seconds();
        let codes = binarizer.binarize(&self.vectors, &options, &mut |_| {})?;
        Ok((codes, cpu_seconds() - start))
    }

    /// What codes keep: retention by set and neighbours, as members of a JSON object.
    fn quality(&self, codes: &CodeRows) -> String {
        let kept = quality::retention(&self.vectors, codes, &self.sets);
        let ratios = kept.iter().map(|set| set.ratio().unwrap_or(f64::NAN));
        let sets = self.sets.iter().zip(ratios);
        let sets: Vec<_> = sets.map(|(s, r)| format!("{:?}: {r}", s.name)).collect();
        let overlap = quality::neighbor_overlap(&self.vectors, codes, 10, 2000, cores());
        format!(
            "\"retention\": {{{}}}, \"neighbors\": {overlap}",
            sets.join(", ")
        )
    }

    fn report(&self, name: &str, codes: &CodeRows, seconds: f64) {
        let stats = code_stats(codes);
        println!(
            "{{\"binarizer\": {name:?}, \"bits\": {}, {}, \"duplicates\": {}, \"closest\": {}, \
             \"p_avg\": {}, \"p_max\": {}, \"ones\": [{}, {}], \"cpu_seconds\": {seconds}}}",
            codes.bits(),
            self.quality(codes),
            stats.distances.duplicates,
            stats.closest.first().map_or(0, |pair| pair.distance),
            stats.distances.sum as f64 / (codes.len() as f64).powi(2),
            stats.distances.maximum,
            stats.balance.min,
            stats.balance.max,
        );
    }

    fn report_separated(&self, name: &str, codes: &CodeRows, minimum: u32) -> Result<()> {
        let mut separated = separate(&self.vectors, codes, minimum, cores(), &|_| {})?;
        if minimum == 0 {
            separated.codes = codes.clone();
            (separated.moved, separated.flipped) = (0, 0);
        }
        let codes = &separated.codes;
        // a = 0.1 at 256 bits, at the same a * P_avg for other lengths.
        let a = 25.6 / codes.bits().get() as f64;
        let (certified, (from, to)) = certify(codes, a);
        println!(
            "{{\"binarizer\": {name:?}, \"bits\": {}, \"minimum\": {minimum}, \"moved\": {}, \
             \"flipped\": {}, \"stuck\": {}, \"closest\": {}, {}, \"certified\": {}, \
             \"decided_by\": [{:?}, {:?}, {}]}}",
            codes.bits(),
            separated.moved,
            separated.flipped,
            separated.stuck,
            code_stats(codes).closest[0].distance,
            self.quality(codes),
            certified / a,
            self.vectors.words[from],
            self.vectors.words[to],
            hamming(codes.row(from), codes.row(to)),
        );
        Ok(())
    }
}

/// Distances, balance, and the closest pair.
fn code_stats(codes: &CodeRows) -> CodeStats {
    let blocks = to_blocks(codes);
    let table = CodeBlocks::new(codes.bits(), codes.len(), &blocks).expect("some codes");
    CodeStats::measure(table, 1, cores(), &|_| {})
}

/// The smallest epsilon that weights exp(-a d) satisfy, and the pair that decides:
/// a + max (ln Z(w') - ln Z(w)) / d(w, w'). Equal codes have equal Z.
fn certify(codes: &CodeRows, a: f64) -> (f64, (usize, usize)) {
    let weights: Vec<f64> = (0..=codes.bits().get())
        .map(|d| (-a * d as f64).exp())
        .collect();
    let z = parallel::map(cores(), codes.len(), |i| {
        let weight = |other: &[u64]| weights[hamming(codes.row(i), other) as usize];
        codes.iter().map(weight).sum::<f64>().ln()
    });
    let worst = parallel::map(cores(), codes.len(), |i| {
        let slope = |j: usize| {
            let distance = hamming(codes.row(i), codes.row(j));
            (z[i] - z[j]).abs() / f64::from(distance.max(1))
        };
        let slopes = (0..i).map(|j| (slope(j), (i, j)));
        slopes.fold(
            (0.0, (i, i)),
            |worst, next| {
                if next.0 > worst.0 { next } else { worst }
            },
        )
    });
    let worst = worst.into_iter().max_by(|x, y| x.0.total_cmp(&y.0));
    let (slope, pair) = worst.unwrap_or((0.0, (0, 0)));
    (a + slope, pair)
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

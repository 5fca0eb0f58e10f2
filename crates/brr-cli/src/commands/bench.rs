//! `brr bench`: how fast this machine is.

use std::hint::black_box;
use std::path::PathBuf;
use std::time::Instant;

use brr::Model;
use brr::parts::codes::CodeRows;
use brr::parts::epsilon::Epsilon;
use brr::parts::nearest::{Neighbor, Scan};
use brr::parts::random::Noise;
use brr::parts::response::FlipThreshold;
use clap::Subcommand;
use serde_json::json;

use crate::failure::{Failure, Result};
use crate::output::write_whole;
use crate::usage::whole;
use crate::{model_source, npy};

/// Measure how fast this machine searches
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    Search(SearchArgs),
}

/// Time the search for the nearest code, one query at a time and many at once
#[derive(clap::Args)]
struct SearchArgs {
    /// Model file [default: built-in English]
    #[arg(short, long, value_name = "FILE")]
    model: Option<PathBuf>,
    /// NumPy file with the queries: unsigned bytes, bits/8 of them in each row
    /// [default: noisy codes of random words]
    #[arg(long, value_name = "FILE.npy")]
    queries: Option<PathBuf>,
    /// Number of queries to make when none are given
    #[arg(long, value_name = "N", default_value_t = 4096, value_parser = whole::<u32, 1, 1_000_000_000>)]
    count: u32,
    /// Write the ids of the nearest words to this file (NumPy, 32-bit unsigned)
    #[arg(long, value_name = "OUT.npy")]
    ids: Option<PathBuf>,
    /// Number of threads for many queries at once
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = whole::<u16, 1, 65_535>)]
    threads: u16,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

pub fn run(args: Args) -> Result {
    let What::Search(args) = args.what;
    let model = model_source::open(args.model.as_deref())?;
    let queries = match &args.queries {
        Some(path) => read_queries(path, &model)?,
        None => noisy_queries(&model, args.count as usize)?,
    };
    let scan = Scan::new(model.codes());
    let single = best_of(3, || {
        let some = queries.iter().take(512);
        let count = some.len();
        for query in some {
            black_box(scan.nearest_one(black_box(query)));
        }
        count
    });
    let threads = usize::from(args.threads);
    let parts = split(&queries, threads);
    let mut found = Vec::new();
    let batch = best_of(3, || {
        found = nearest_in_threads(&scan, &parts);
        queries.len()
    });
    if let Some(path) = &args.ids {
        let bytes: Vec<u8> = found.iter().flat_map(|n| n.id.to_le_bytes()).collect();
        write_whole(path, &npy::encode("<u4", found.len(), None, &bytes), true)?;
    }
    let (words, bits, backend) = (
        model.vocabulary().len(),
        model.bits().get(),
        scan.backend().name(),
    );
    if args.json {
        let result = json!({
            "single_ns_per_query": single,
            "batch_ns_per_query": batch,
            "queries": queries.len(),
            "words": words,
            "bits": bits,
            "backend": backend,
            "threads": threads,
        });
        println!("{result}");
    } else {
        println!(
            "{words} words of {bits} bits, backend {backend}, {} queries",
            queries.len()
        );
        println!(
            "one query at a time  {:>10.0} ns/query  {:.3} ns/code",
            single,
            single / words as f64
        );
        println!(
            "many at once         {:>10.0} ns/query  {:.3} ns/code  ({threads} threads)",
            batch,
            batch / words as f64
        );
    }
    Ok(())
}

fn read_queries(path: &std::path::Path, model: &Model) -> Result<CodeRows> {
    let (columns, data) = npy::read_bytes(path)?;
    if columns != model.bits().bytes() {
        return Err(Failure::Usage(format!(
            "--queries {}: rows of {columns} bytes, but this model's codes have {}",
            path.display(),
            model.bits().bytes()
        )));
    }
    let mut rows = CodeRows::new(model.bits());
    for row in data.chunks_exact(columns) {
        let limbs = row
            .chunks_exact(8)
            .map(|b| u64::from_le_bytes(b.try_into().expect("eight bytes")));
        rows.push(&limbs.collect::<Vec<_>>());
    }
    if rows.is_empty() {
        return Err(Failure::Usage(format!(
            "--queries {}: there is no row",
            path.display()
        )));
    }
    Ok(rows)
}

/// Codes of random words with about a third of the bits flipped.
fn noisy_queries(model: &Model, count: usize) -> Result<CodeRows> {
    let mut noise = Noise::from_os()?;
    let threshold = FlipThreshold::new(Epsilon::new(0.6)?);
    let mut rows = CodeRows::zeros(model.bits(), count);
    for i in 0..count {
        let id = noise.uniform_below(model.vocabulary().len() as u128);
        model.codes().read(id as usize, rows.row_mut(i));
        threshold.apply(rows.row_mut(i), &mut noise);
    }
    Ok(rows)
}

/// The shortest time per item of several runs, in nanoseconds.
fn best_of(runs: usize, mut run: impl FnMut() -> usize) -> f64 {
    let mut one = || {
        let start = Instant::now();
        let items = run();
        start.elapsed().as_nanos() as f64 / items as f64
    };
    (0..runs).map(|_| one()).fold(f64::INFINITY, f64::min)
}

fn split(queries: &CodeRows, parts: usize) -> Vec<CodeRows> {
    let each = queries.len().div_ceil(parts);
    let rows: Vec<&[u64]> = queries.iter().collect();
    rows.chunks(each)
        .map(|chunk| {
            let mut part = CodeRows::new(queries.bits());
            chunk.iter().for_each(|row| part.push(row));
            part
        })
        .collect()
}

fn nearest_in_threads(scan: &Scan<'_>, parts: &[CodeRows]) -> Vec<Neighbor> {
    std::thread::scope(|scope| {
        let running: Vec<_> = parts
            .iter()
            .map(|part| scope.spawn(|| scan.nearest(part)))
            .collect();
        let done = running
            .into_iter()
            .map(|thread| thread.join().expect("a search does not panic"));
        done.flatten().collect()
    })
}

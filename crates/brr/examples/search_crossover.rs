//! Where multi-index hashing overtakes the scan: nanoseconds a query by flip
//! probability, one thread, the best of `--repeat` runs, as a Markdown table.
//!
//! ```text
//! cargo run --release -p brr --example search_crossover -- [--words 34000] [--bits 256]
//! ```
//!
//! `many` is 128 queries at once. Codes are random; a query is a code with each bit flipped with the given
//! probability, which is that of `epsilon = ln((1 - p) / p)` a bit.

use brr::parts::codes::{CodeBits, CodeBlocks, CodeRows, to_blocks};
use brr::parts::nearest::{MultiIndex, Neighbor, Scan};
use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};
use std::time::Instant;
use std::{env, hint::black_box};

const FLIPS: [f64; 8] = [0.01, 0.02, 0.05, 0.08, 0.1, 0.12, 0.15, 0.2];
/// Short batches, so that some run undisturbed; several, so that their buckets
/// are not all in cache.
const QUERIES: usize = 128;
const BATCHES: usize = 8;

fn option(name: &str, default: usize) -> usize {
    let args: Vec<String> = env::args().collect();
    let at = args.iter().position(|a| a == name);
    let value = at.and_then(|at| args.get(at + 1));
    value.map_or(default, |v| v.parse().expect("a number"))
}

fn main() {
    let bits = CodeBits::new(option("--bits", 256)).expect("a multiple of 64 up to 1024");
    let words = option("--words", 34_000);
    let repeat = option("--repeat", 7);
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut rows = CodeRows::zeros(bits, words);
    for id in 0..words {
        rows.row_mut(id).fill_with(|| rng.next_u64());
    }
    let bytes = to_blocks(&rows);
    let codes = CodeBlocks::new(bits, words, &bytes).expect("codes");
    let scan = Scan::new(codes);
    let start = Instant::now();
    let index = MultiIndex::new(codes);
    let built = start.elapsed().as_millis();

    let (substring, radii) = index.shape();
    println!(
        "{words} words of {bits} bits, {} backend; substrings of up to {substring} bits, \
         {radii} radii, built in {built} ms\n",
        scan.backend()
    );
    println!("| flip probability | epsilon | scan, one | scan, many | index, one | index, many |");
    println!("|---:|---:|---:|---:|---:|---:|");
    for flip in FLIPS {
        let mut total = [0.0; 4];
        for _ in 0..BATCHES {
            let queries = noisy(&rows, flip, &mut rng);
            assert_eq!(scan.nearest(&queries), index.nearest(&scan, &queries));
            let best = measure(&scan, &index, &queries, repeat);
            total.iter_mut().zip(best).for_each(|(t, b)| *t += b);
        }
        let epsilon = ((1.0 - flip) / flip).ln();
        let cells = total
            .map(|t| format!("{:.0}", t / (BATCHES * QUERIES) as f64))
            .join(" | ");
        println!("| {flip} | {epsilon:.2} | {cells} |");
    }
}

/// Nanoseconds for all queries: scan and index, one by one and all at once.
fn measure(scan: &Scan<'_>, index: &MultiIndex, queries: &CodeRows, repeat: usize) -> [f64; 4] {
    let mut best = [f64::INFINITY; 4];
    // In turns, so that a busy machine slows all alike.
    for _ in 0..repeat {
        let times = [
            time(|| queries.iter().map(|q| scan.nearest_one(q)).collect()),
            time(|| scan.nearest(queries)),
            time(|| queries.iter().map(|q| index.nearest_one(scan, q)).collect()),
            time(|| index.nearest(scan, queries)),
        ];
        for (best, time) in best.iter_mut().zip(times) {
            *best = best.min(time);
        }
    }
    best
}

fn time(run: impl FnOnce() -> Vec<Neighbor>) -> f64 {
    let start = Instant::now();
    black_box(run());
    start.elapsed().as_nanos() as f64
}

fn noisy(rows: &CodeRows, flip: f64, rng: &mut ChaCha8Rng) -> CodeRows {
    let mut queries = CodeRows::new(rows.bits());
    let threshold = (flip * 2f64.powi(32)) as u32;
    for _ in 0..QUERIES {
        let mut query = rows.row(rng.next_u32() as usize % rows.len()).to_vec();
        for bit in 0..rows.bits().get() {
            query[bit / 64] ^= u64::from(rng.next_u32() < threshold) << (bit % 64);
        }
        queries.push(&query);
    }
    queries
}

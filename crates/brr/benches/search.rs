//! The search for the nearest code, timed on one thread: processor time, the best of
//! `--repeat` runs.
//!
//! ```text
//! cargo bench -p brr --bench search -- scan [--words 34000] [--bits 256] [--flip 0.1]
//! cargo bench -p brr --bench search -- scan --model FILE.brr
//! cargo bench -p brr --bench search -- scan --codes FILE --queries FILE [--bits 256] [--ids OUT]
//! cargo bench -p brr --bench search -- crossover [--words 34000] [--bits 256]
//! ```
//!
//! `scan` prints a JSON object: nanoseconds per query for queries asked one at a time and all at
//! once, and for all distances from a query. `--backend` chooses one of this machine's. Codes come
//! from a model or from a file of `bits / 8` bytes per row, or they are random; queries are codes
//! with each bit flipped with the probability `--flip`. `--ids` writes what was found as 32-bit
//! little-endian integers.
//!
//! `crossover` prints a Markdown table: where multi-index hashing overtakes the scan, by the
//! probability of a flip, which is that of `epsilon = ln((1 - p) / p)` per bit. *Many* is 128
//! queries at once.

use brr::Model;
use brr::parts::codes::{CodeBits, CodeBlocks, CodeRows, to_blocks};
use brr::parts::nearest::{Backend, MultiIndex, Neighbor, Scan};
use chacha20::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};
use std::path::Path;
use std::str::FromStr;
use std::time::Duration;
use std::{env, error::Error, fs, hint::black_box};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const FLIPS: [f64; 8] = [0.01, 0.02, 0.05, 0.08, 0.1, 0.12, 0.15, 0.2];
/// Short batches, so that some run undisturbed; several, so that their buckets are not all in
/// cache.
const BATCH: usize = 128;
const BATCHES: usize = 8;

struct Options(Vec<String>);

impl Options {
    fn get(&self, name: &str) -> Option<&str> {
        let at = self.0.iter().position(|a| a == name)?;
        self.0.get(at + 1).map(String::as_str)
    }

    fn number<T: FromStr<Err: Error + 'static>>(&self, name: &str, default: T) -> Result<T> {
        Ok(self.get(name).map_or(Ok(default), str::parse)?)
    }

    fn bits(&self) -> Result<CodeBits> {
        let bits = CodeBits::new(self.number("--bits", 256)?);
        Ok(bits.ok_or("--bits: a multiple of 64 from 64 to 1024")?)
    }
}

fn main() -> Result<()> {
    // Cargo adds `--bench`.
    let options = Options(env::args().skip(1).filter(|a| a != "--bench").collect());
    match options.0.first().map(String::as_str) {
        Some("scan") | None => scan(&options),
        Some("crossover") => crossover(&options),
        Some(_) => Err("expected `scan` or `crossover`".into()),
    }
}

fn scan(options: &Options) -> Result<()> {
    let (rows, queries) = inputs(options)?;
    let bytes = to_blocks(&rows);
    let codes = CodeBlocks::new(rows.bits(), rows.len(), &bytes).ok_or("no codes")?;
    let scan = match options.get("--backend") {
        None => Scan::new(codes),
        Some(name) => Backend::from_name(name)
            .and_then(|backend| Scan::with_backend(codes, backend))
            .ok_or("no such backend on this machine")?,
    };
    let repeat = options.number("--repeat", 5)?;
    let singles = queries.len().min(options.number("--singles", 200)?);
    let one_by_one = || queries.iter().take(singles);
    let single = best_of(repeat, || {
        one_by_one().for_each(|query| {
            black_box(scan.nearest_one(black_box(query)));
        });
    });
    let mut found = Vec::new();
    let batch = best_of(repeat, || found = scan.nearest(black_box(&queries)));
    let mut all = vec![0; rows.len()];
    let distances = best_of(repeat, || {
        one_by_one().for_each(|query| scan.distances(black_box(query), &mut all));
    });
    if let Some(path) = options.get("--ids") {
        let ids: Vec<u8> = found.iter().flat_map(|n| n.id.to_le_bytes()).collect();
        fs::write(path, ids)?;
    }
    println!(
        "{{\"words\": {}, \"bits\": {}, \"queries\": {}, \"backend\": \"{}\", \
         \"single_ns_per_query\": {:.0}, \"batch_ns_per_query\": {:.0}, \
         \"distances_ns_per_query\": {:.0}}}",
        rows.len(),
        rows.bits(),
        queries.len(),
        scan.backend(),
        single / singles as f64,
        batch / queries.len() as f64,
        distances / singles as f64,
    );
    Ok(())
}

fn crossover(options: &Options) -> Result<()> {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let rows = random_codes(options, &mut rng)?;
    let repeat = options.number("--repeat", 7)?;
    let bytes = to_blocks(&rows);
    let codes = CodeBlocks::new(rows.bits(), rows.len(), &bytes).ok_or("no codes")?;
    let scan = Scan::new(codes);
    let index = MultiIndex::new(codes);
    let (substring, radii) = index.shape();
    println!(
        "{} words of {} bits, {} backend; substrings of up to {substring} bits, {radii} radii\n",
        rows.len(),
        rows.bits(),
        scan.backend()
    );
    println!("| flip probability | epsilon | scan, one | scan, many | index, one | index, many |");
    println!("|---:|---:|---:|---:|---:|---:|");
    for flip in FLIPS {
        let mut total = [0.0; 4];
        for _ in 0..BATCHES {
            let queries = noisy(&rows, BATCH, flip, &mut rng);
            assert_eq!(scan.nearest(&queries), index.nearest(&scan, &queries));
            let best = side_by_side(&scan, &index, &queries, repeat);
            total.iter_mut().zip(best).for_each(|(t, b)| *t += b);
        }
        let epsilon = ((1.0 - flip) / flip).ln();
        let cells = total.map(|t| format!("{:.0}", t / (BATCHES * BATCH) as f64));
        println!("| {flip} | {epsilon:.2} | {} |", cells.join(" | "));
    }
    Ok(())
}

/// Nanoseconds for all queries: scan and index, one by one and all at once. In turns, so that a
/// busy machine slows all alike.
fn side_by_side(
    scan: &Scan<'_>,
    index: &MultiIndex,
    queries: &CodeRows,
    repeat: usize,
) -> [f64; 4] {
    let ways: [&dyn Fn() -> Vec<Neighbor>; 4] = [
        &|| queries.iter().map(|q| scan.nearest_one(q)).collect(),
        &|| scan.nearest(queries),
        &|| queries.iter().map(|q| index.nearest_one(scan, q)).collect(),
        &|| index.nearest(scan, queries),
    ];
    let mut best = [f64::INFINITY; 4];
    for _ in 0..repeat {
        for (best, way) in best.iter_mut().zip(ways) {
            *best = best.min(best_of(1, || drop(black_box(way()))));
        }
    }
    best
}

/// Nanoseconds of the fastest of `repeat` runs.
fn best_of(repeat: usize, mut run: impl FnMut()) -> f64 {
    let times = (0..repeat).map(|_| {
        let start = now();
        run();
        (now() - start).as_nanos() as f64
    });
    times.fold(f64::INFINITY, f64::min)
}

/// Processor time of this thread, so that other programs do not count.
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
fn now() -> Duration {
    const CLOCK_THREAD_CPUTIME_ID: i32 = 3;
    unsafe extern "C" {
        fn clock_gettime(clock: i32, time: *mut [i64; 2]) -> i32;
    }
    let mut time = [0; 2];
    // SAFETY: on 64-bit Linux a `timespec` is two 64-bit integers.
    let failed = unsafe { clock_gettime(CLOCK_THREAD_CPUTIME_ID, &mut time) };
    assert_eq!(failed, 0, "this clock is always there");
    Duration::new(time[0] as u64, time[1] as u32)
}

#[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
fn now() -> Duration {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    START.get_or_init(std::time::Instant::now).elapsed()
}

/// Codes and queries, as the options say.
fn inputs(options: &Options) -> Result<(CodeRows, CodeRows)> {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let rows = if let Some(path) = options.get("--model") {
        let model = Model::open(Path::new(path))?;
        let mut rows = CodeRows::zeros(model.bits(), model.vocabulary().len());
        (0..rows.len()).for_each(|id| model.codes().read(id, rows.row_mut(id)));
        rows
    } else if let Some(path) = options.get("--codes") {
        read_rows(path, options.bits()?)?
    } else {
        random_codes(options, &mut rng)?
    };
    let queries = match options.get("--queries") {
        Some(path) => read_rows(path, rows.bits())?,
        None => {
            let count = options.number("--count", 1000)?;
            noisy(&rows, count, options.number("--flip", 0.1)?, &mut rng)
        }
    };
    Ok((rows, queries))
}

fn random_codes(options: &Options, rng: &mut ChaCha8Rng) -> Result<CodeRows> {
    let mut rows = CodeRows::zeros(options.bits()?, options.number("--words", 34_000)?);
    for id in 0..rows.len() {
        rows.row_mut(id).fill_with(|| rng.next_u64());
    }
    Ok(rows)
}

/// Codes of random words, each bit flipped with probability `flip`.
fn noisy(rows: &CodeRows, count: usize, flip: f64, rng: &mut ChaCha8Rng) -> CodeRows {
    let mut queries = CodeRows::new(rows.bits());
    let threshold = (flip * 2f64.powi(32)) as u32;
    for _ in 0..count {
        let mut query = rows.row(rng.next_u32() as usize % rows.len()).to_vec();
        for bit in 0..rows.bits().get() {
            query[bit / 64] ^= u64::from(rng.next_u32() < threshold) << (bit % 64);
        }
        queries.push(&query);
    }
    queries
}

fn read_rows(path: &str, bits: CodeBits) -> Result<CodeRows> {
    let bytes = fs::read(path)?;
    if bytes.is_empty() || bytes.len() % bits.bytes() != 0 {
        return Err(format!("{path}: expected rows of {} bytes", bits.bytes()).into());
    }
    let mut rows = CodeRows::new(bits);
    for row in bytes.chunks_exact(bits.bytes()) {
        let limbs = row.as_chunks::<8>().0.iter();
        rows.push(&limbs.map(|l| u64::from_le_bytes(*l)).collect::<Vec<_>>());
    }
    Ok(rows)
}

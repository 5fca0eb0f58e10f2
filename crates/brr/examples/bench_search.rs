//! Times the exact scan: `single_ns_per_query` one query at a time,
//! `batch_ns_per_query` all at once, processor time of one thread, the best of
//! `--repeat` runs.
//!
//! ```text
//! cargo run --release -p brr --example bench_search -- \
//!     --codes codes.npy --queries queries.npy [--ids out.npy] [--backend avx2]
//! cargo run --release -p brr --example bench_search -- --words 34000 --bits 256
//! ```
//!
//! The .npy files hold unsigned bytes, a row of `bits / 8` per code. Without
//! them codes are random, and queries are codes with a tenth of the bits
//! flipped.

use brr::parts::codes::{CodeBits, CodeBlocks, CodeRows, to_blocks};
use brr::parts::nearest::{Backend, Neighbor, Scan};
use std::time::Duration;
use std::{env, error::Error, fs, hint::black_box};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

struct Options(Vec<String>);

impl Options {
    fn get(&self, name: &str) -> Option<&str> {
        let at = self.0.iter().position(|a| a == name)?;
        self.0.get(at + 1).map(String::as_str)
    }

    fn number(&self, name: &str, default: usize) -> Result<usize> {
        Ok(self.get(name).map_or(Ok(default), str::parse)?)
    }
}

fn main() -> Result<()> {
    let options = Options(env::args().skip(1).collect());
    let (rows, queries) = inputs(&options)?;
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
    let single = best_of(repeat, || {
        for query in queries.iter().take(singles) {
            black_box(scan.nearest_one(black_box(query)));
        }
    }) / singles as f64;
    let mut found = Vec::new();
    let batch = best_of(repeat, || found = scan.nearest(black_box(&queries)));
    let mut all = vec![0; rows.len()];
    let distances = best_of(repeat, || {
        for query in queries.iter().take(singles) {
            scan.distances(black_box(query), &mut all);
        }
    }) / singles as f64;

    if let Some(path) = options.get("--ids") {
        fs::write(path, npy_of_ids(&found))?;
    }
    println!(
        "{{\"words\": {}, \"bits\": {}, \"queries\": {}, \"backend\": \"{}\", \
         \"single_ns_per_query\": {single:.0}, \"batch_ns_per_query\": {:.0}, \
         \"distances_ns_per_query\": {distances:.0}}}",
        rows.len(),
        rows.bits(),
        queries.len(),
        scan.backend(),
        batch / queries.len() as f64,
    );
    Ok(())
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

fn inputs(options: &Options) -> Result<(CodeRows, CodeRows)> {
    if let (Some(codes), Some(queries)) = (options.get("--codes"), options.get("--queries")) {
        return Ok((read_npy(codes)?, read_npy(queries)?));
    }
    let bits = CodeBits::new(options.number("--bits", 256)?).ok_or("bad --bits")?;
    let words = options.number("--words", 34_000)?;
    let mut state = 1u64;
    let mut random = move || {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        state.rotate_left(29) ^ state
    };
    let mut rows = CodeRows::zeros(bits, words);
    for i in 0..words {
        rows.row_mut(i).iter_mut().for_each(|limb| *limb = random());
    }
    let mut queries = CodeRows::new(bits);
    for _ in 0..options.number("--count", 1000)? {
        let mut query = rows.row(random() as usize % words).to_vec();
        for _ in 0..bits.get() / 10 {
            let bit = random() as usize % bits.get();
            query[bit / 64] ^= 1 << (bit % 64);
        }
        queries.push(&query);
    }
    Ok((rows, queries))
}

/// Reads a two-dimensional .npy file of unsigned bytes.
fn read_npy(path: &str) -> Result<CodeRows> {
    let file = fs::read(path)?;
    if file.get(..8) != Some(b"\x93NUMPY\x01\x00") || file.len() < 10 {
        return Err("not an .npy file of version 1.0".into());
    }
    let header_len = usize::from(u16::from_le_bytes([file[8], file[9]]));
    let (header, data) = file[10..].split_at_checked(header_len).ok_or("cut short")?;
    let header = std::str::from_utf8(header)?;
    if !header.contains("'|u1'") || !header.contains("'fortran_order': False") {
        return Err("expected rows of uint8".into());
    }
    let shape = header.split(['(', ')']).nth(1).ok_or("no shape")?;
    let columns = shape.split(',').nth(1).ok_or("expected two dimensions")?;
    let bits = CodeBits::new(columns.trim().parse::<usize>()? * 8).ok_or("bad code length")?;
    let mut rows = CodeRows::new(bits);
    for row in data.chunks_exact(bits.bytes()) {
        let limbs = row
            .as_chunks::<8>()
            .0
            .iter()
            .map(|l| u64::from_le_bytes(*l));
        rows.push(&limbs.collect::<Vec<_>>());
    }
    Ok(rows)
}

/// The ids as a one-dimensional .npy file of 32-bit integers.
fn npy_of_ids(found: &[Neighbor]) -> Vec<u8> {
    let shape = found.len();
    let header = format!("{{'descr': '<u4', 'fortran_order': False, 'shape': ({shape},), }}");
    let header = format!("{header:<117}\n");
    let mut out = b"\x93NUMPY\x01\x00".to_vec();
    out.extend((header.len() as u16).to_le_bytes());
    out.extend(header.bytes());
    out.extend(found.iter().flat_map(|n| n.id.to_le_bytes()));
    out
}

//! Times the Rust core on command, so that another program can measure itself
//! in turn with it: `core-speed TEXTS EPSILON`, then for every line `THREADS` on
//! standard input a line with the seconds taken, by the clock and
//! of CPU, on standard output.
//!
//! TEXTS has a document per line. Threads take jobs of 256 documents.

use std::io::{BufRead, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use brr::{Budget, MechanismKind, Options, Privatizer};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let (Some(path), Some(epsilon)) = (args.next(), args.next()) else {
        return Err("usage: core-speed TEXTS EPSILON".into());
    };
    let texts = std::fs::read_to_string(path)?;
    let texts: Vec<&str> = texts.lines().collect();
    let options = Options::default()
        .with_mechanism(MechanismKind::Brr)
        .with_budget(Budget::Epsilon(epsilon.parse()?));
    let privatizer = Privatizer::new(Arc::new(brr_english::model()?), options)?;
    for line in std::io::stdin().lock().lines() {
        let threads: usize = line?.trim().parse()?;
        let (start, cpu) = (Instant::now(), cpu_seconds());
        run(&privatizer, &texts, threads);
        let taken = start.elapsed().as_secs_f64();
        println!("{taken} {}", cpu_seconds() - cpu);
        std::io::stdout().flush()?;
    }
    Ok(())
}

/// CPU time of this process, ended threads included.
fn cpu_seconds() -> f64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is a valid place for the answer.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

fn run(privatizer: &Privatizer, texts: &[&str], threads: usize) {
    let jobs: Vec<_> = texts.chunks(256).collect();
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    privatizer.privatize_batch(job).expect("entropy");
                }
            });
        }
    });
}

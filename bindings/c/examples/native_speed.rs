//! Words per second (of processor time) through the Rust API, on one thread:
//! what tests/speed.c and the WebAssembly package are compared with.
//!
//! `native_speed ROUNDS`, with a text on standard input.

use std::io::Read;
use std::sync::Arc;

/// Seconds of processor time: other work on the machine does not count.
fn seconds() -> f64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is writable.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 + 1e-9 * time.tv_nsec as f64
}

fn main() {
    let mut text = String::new();
    std::io::stdin()
        .read_to_string(&mut text)
        .expect("text on standard input");
    let rounds = std::env::args()
        .nth(1)
        .map_or(5, |n| n.parse().expect("a number"));
    let model = Arc::new(brr_english::model().expect("the built-in model"));
    let options = brr::Options::default().with_mechanism(brr::MechanismKind::Brr);
    let privatizer = brr::Privatizer::new(model, options).expect("sound options");
    let run = |texts: u32| -> u64 {
        let texts = (0..texts).map(|_| privatizer.privatize(&text).expect("randomness"));
        texts.map(|private| private.tokens).sum()
    };
    run(20); // warm
    let start = seconds();
    let words = run(20 * rounds);
    println!("{:.0}", words as f64 / (seconds() - start));
}

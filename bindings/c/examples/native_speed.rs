//! Words per second through the Rust API, on one thread: what tests/speed.c
//! and the WebAssembly package are compared with.
//!
//! `native_speed ROUNDS`, with a text on standard input.

use std::io::Read;
use std::sync::Arc;
use std::time::Instant;

fn main() {
    let mut text = String::new();
    std::io::stdin()
        .read_to_string(&mut text)
        .expect("text on standard input");
    let rounds = std::env::args()
        .nth(1)
        .map_or(5, |n| n.parse().expect("a number"));
    let model = Arc::new(brr_english::model().expect("the built-in model"));
    let privatizer = brr::Privatizer::new(model, brr::Options::default()).expect("the defaults");
    let speed = |_| {
        let start = Instant::now();
        let words: u64 = (0..20)
            .map(|_| privatizer.privatize(&text).expect("randomness").tokens)
            .sum();
        words as f64 / start.elapsed().as_secs_f64()
    };
    let best = (0..rounds).map(speed).fold(0.0, f64::max);
    println!("{best:.0}");
}

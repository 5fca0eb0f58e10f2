//! How many words Madlib keeps, and how fast, exact and approximate.
//!
//! `cargo run --release -p brr-eval --features approximate --example madlib -- VECTORS.txt [SAMPLE]`
//! (a word2vec text file; seeded, so that a run can be repeated)

use std::sync::Arc;
use std::time::Instant;

use brr::parts::epsilon::Epsilon;
use brr::parts::mechanism::Mechanism;
use brr::parts::parallel;
use brr::parts::random::Noise;
use brr_build::vectors::Vectors;
use brr_eval::interval::Binomial;
use brr_eval::mechanisms::{Madlib, Space};

fn load(path: &str) -> Vectors {
    let text = std::fs::read_to_string(path).expect("a file of vectors");
    let mut vectors = Vectors::default();
    for line in text.lines().skip(1) {
        let mut fields = line.split(' ');
        vectors
            .words
            .push(fields.next().unwrap_or_default().to_owned());
        vectors
            .data
            .extend(fields.map(|x| x.parse::<f32>().expect("a number")));
    }
    vectors.dim = vectors.data.len() / vectors.words.len();
    vectors
}

fn main() {
    let mut args = std::env::args().skip(1);
    let path = args.next().expect("a file of vectors");
    let sample: usize = args
        .next()
        .map_or(2000, |n| n.parse().expect("a number of words"));
    let start = Instant::now();
    let space = Arc::new(Space::new(load(&path), parallel::cores(), |_| {}));
    let d = space.pair_distances();
    println!(
        "{} words, {} dimensions; P_avg {:.4}, P_max {:.4}, nearest {:.4} (least {:.4}); {:.1} s",
        space.len(),
        space.vectors().dim,
        d.average,
        d.maximum,
        d.nearest_mean,
        d.nearest_min,
        start.elapsed().as_secs_f64()
    );
    #[cfg(feature = "approximate")]
    let graph = {
        let start = Instant::now();
        let options = brr_eval::mechanisms::GraphOptions::default();
        let graph = Arc::new(brr_eval::mechanisms::Graph::build(&space, options));
        println!("graph {options:?}: {:.1} s", start.elapsed().as_secs_f64());
        graph
    };
    let step = (space.len() / sample).max(1);
    let words: Vec<_> = (0..space.len())
        .step_by(step)
        .map(|w| Some(w as u32))
        .collect();
    let frequent: Vec<_> = (0..sample.min(space.len()))
        .map(|w| Some(w as u32))
        .collect();
    for epsilon in [1.0, 5.0, 8.0, 10.0, 12.0, 16.0, 20.0] {
        let epsilon = Epsilon::new(epsilon).expect("positive");
        let exact = Madlib::new(space.clone(), epsilon);
        let start = Instant::now();
        let kept = keep(&exact, &words);
        let speed = words.len() as f64 / start.elapsed().as_secs_f64();
        print!(
            "epsilon {:4}: N_w {kept}, of frequent words {}; {speed:.0} words/s",
            epsilon.get(),
            keep(&exact, &frequent),
        );
        #[cfg(feature = "approximate")]
        {
            let approximate = Madlib::with_search(space.clone(), epsilon, graph.clone());
            let start = Instant::now();
            let kept = keep(&approximate, &words);
            let speed = words.len() as f64 / start.elapsed().as_secs_f64();
            let queries = exact.noisy_vectors(&words, &mut Noise::numbered(2));
            let recall = graph.recall(&space, &queries);
            print!("; approximate {speed:.0} words/s, recall {recall:.3}, N_w {kept}");
        }
        println!();
    }
}

/// Share of words kept, with its 95 % interval.
fn keep(mechanism: &dyn Mechanism, words: &[Option<u32>]) -> String {
    let out = mechanism.privatize(words, &mut Noise::numbered(1));
    let kept = out
        .iter()
        .zip(words)
        .filter(|(y, w)| Some(**y) == **w)
        .count();
    let e = Binomial::new(kept as u64, words.len() as u64).estimate();
    format!("{:.4} ({:.4} to {:.4})", e.value, e.low, e.high)
}

use super::*;
use crate::quality::neighbor_overlap;
use crate::seeded::{generator, normal};

/// `clusters` clusters of `size` words around random centres.
pub fn clusters(clusters: usize, size: usize, dim: usize) -> Vectors {
    let mut rng = generator(9, 0);
    let mut data = Vec::new();
    for _ in 0..clusters {
        let center: Vec<f64> = (0..dim).map(|_| normal(&mut rng)).collect();
        for _ in 0..size {
            data.extend(center.iter().map(|c| (c + 0.4 * normal(&mut rng)) as f32));
        }
    }
    let words = (0..clusters * size).map(|i| format!("w{i}")).collect();
    Vectors { words, dim, data }
}

fn options(bits: usize, threads: usize) -> BinarizeOptions {
    BinarizeOptions {
        bits: CodeBits::new(bits).unwrap(),
        seed: 5,
        threads,
    }
}

fn run(name: &str, vectors: &Vectors, options: &BinarizeOptions) -> CodeRows {
    by_name(name)
        .unwrap()
        .binarize(vectors, options, &mut |_| {})
        .unwrap()
}

#[test]
fn threads_do_not_show() {
    let vectors = clusters(40, 15, 24);
    for name in NAMES {
        let one = run(name, &vectors, &options(64, 1));
        assert_eq!(one.len(), 600);
        for threads in [2, 5] {
            assert_eq!(one, run(name, &vectors, &options(64, threads)), "{name}");
        }
    }
}

#[test]
fn the_seed_shows() {
    let vectors = clusters(10, 10, 16);
    for name in NAMES {
        let other = BinarizeOptions {
            seed: 6,
            ..options(64, 1)
        };
        assert_ne!(
            run(name, &vectors, &options(64, 1)),
            run(name, &vectors, &other),
            "{name}"
        );
    }
}

#[test]
fn clusters_stay_together() {
    let vectors = clusters(30, 11, 24);
    for name in NAMES {
        for bits in [64, 128] {
            let codes = run(name, &vectors, &options(bits, 2));
            let overlap = neighbor_overlap(&vectors, &codes, 10, 330, 2);
            assert!(overlap > 0.85, "{name}, {bits} bits: {overlap}");
        }
    }
}

#[test]
fn more_bits_than_words_or_dimensions() {
    let vectors = clusters(3, 4, 5);
    for name in NAMES {
        let codes = run(name, &vectors, &options(512, 2));
        assert_eq!((codes.len(), codes.bits().get()), (12, 512), "{name}");
    }
}

#[test]
fn progress_starts_at_nothing_and_ends_at_everything() {
    let vectors = clusters(5, 5, 8);
    for name in NAMES {
        let mut seen = Vec::new();
        let binarizer = by_name(name).unwrap();
        assert_eq!(binarizer.name(), name);
        binarizer
            .binarize(&vectors, &options(64, 1), &mut |p| seen.push(p))
            .unwrap();
        assert_eq!(seen.first().unwrap().step, 0, "{name}");
        let last = seen.last().unwrap();
        assert_eq!(last.step, last.steps, "{name}");
        for pair in seen.windows(2) {
            if pair[0].unit == pair[1].unit {
                assert_eq!(pair[1].step, pair[0].step + 1, "{name}");
            } else {
                assert_eq!(pair[0].step, pair[0].steps, "{name}");
            }
        }
    }
    assert!(by_name("nonsense").is_none());
}

#[test]
fn unusable_vectors_are_refused() {
    let good = clusters(2, 3, 4);
    let mut nan = good.clone();
    nan.data[9] = f32::NAN;
    let mut short = good.clone();
    short.data.pop();
    let one = Vectors {
        words: vec!["a".into()],
        dim: 2,
        data: vec![1.0, 2.0],
    };
    let equal = Vectors {
        words: vec!["a".into(), "b".into()],
        dim: 2,
        data: vec![1.0; 4],
    };
    for name in NAMES {
        let fails = |v: &Vectors| {
            by_name(name)
                .unwrap()
                .binarize(v, &options(64, 1), &mut |_| {})
                .unwrap_err()
        };
        assert_eq!(fails(&nan), BinarizeError::NotFinite { word: 2 });
        assert!(matches!(fails(&short), BinarizeError::Shape { .. }));
        assert_eq!(fails(&one), BinarizeError::TooFewWords { found: 1 });
        assert_eq!(fails(&equal), BinarizeError::AllEqual);
        assert!(matches!(
            fails(&Vectors::default()),
            BinarizeError::Shape { .. }
        ));
    }
}

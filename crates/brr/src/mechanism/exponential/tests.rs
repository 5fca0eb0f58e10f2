//! The sampler against the distribution it promises, number by number and by
//! statistics, and the numbers of the guarantee against their definition.

use super::*;
use crate::calibration::Calibration;
use crate::certify::{Claim, WorstPair};
use crate::codes::{CodeBits, CodeBlocks, hamming, to_blocks};
use crate::distances::code_distances;
use crate::model::ModelParts;
use proptest::prelude::*;

/// Probability that a statistical test fails on a sampler that is right.
const ALPHA: f64 = 1e-6;
/// The normal distribution's quantile at 1 - ALPHA.
const QUANTILE: f64 = 4.7534;

fn bits() -> CodeBits {
    CodeBits::new(64).unwrap()
}

/// Codes near a few centres, so that all distances occur; some twice.
fn rows(words: usize, seed: u64) -> CodeRows {
    let mut noise = Noise::numbered(seed);
    let mut rows = CodeRows::new(bits());
    for i in 0..words {
        let centre = (i as u64 % 3).wrapping_mul(0x5555_1234_abcd_0f0f);
        let flips = noise.limb() & noise.limb() & noise.limb();
        rows.push(&[centre ^ flips & (noise.limb() | 0xff << 20)]);
    }
    if words > 3 {
        let first = rows.row(0).to_vec();
        rows.row_mut(words / 2).copy_from_slice(&first);
    }
    rows
}

fn model(rows: &CodeRows) -> Arc<Model> {
    let blocks = to_blocks(rows);
    let table = CodeBlocks::new(rows.bits(), rows.len(), &blocks).unwrap();
    let parts = ModelParts {
        words: &(0..rows.len()).map(|i| format!("w{i}")).collect::<Vec<_>>(),
        codes: rows,
        lowercase: true,
        distances: code_distances(table, 1, &|_| {}),
        calibration: Calibration::default(),
        meta: Vec::new(),
        orthography: None,
    };
    let model = parts.write().unwrap();
    model.check(1, &|_| {}).unwrap();
    Arc::new(model)
}

fn normalizers(rows: &CodeRows, weights: &[u64]) -> Vec<u128> {
    let weight = |a: &[u64], b: &[u64]| u128::from(weights[hamming(a, b) as usize]);
    let z = |w: &[u64]| rows.iter().map(|y| weight(w, y)).sum();
    rows.iter().map(z).collect()
}

/// A certificate with an epsilon of one's choice: its weights and normalizers
/// are right.
fn certificate(model: &Model, rows: &CodeRows, scale: f64, epsilon: f64) -> Certificate {
    let weights = Weights::exponential(bits(), scale, None).table().to_vec();
    let z = normalizers(rows, &weights);
    let stays = z.iter().map(|&z| weights[0] as f64 / z as f64);
    let keep = stays.sum::<f64>() / z.len() as f64;
    Certificate::of_true(Claim {
        identity: model.identity(),
        epsilon,
        asked: epsilon,
        scale,
        keep: Keep {
            weighted: keep,
            plain: keep,
        },
        normalizers: *z.iter().min().unwrap()..=*z.iter().max().unwrap(),
        worst_pair: WorstPair {
            words: (0, 0),
            distance: 0,
        },
        weights,
    })
}

/// A table of small weights, so that all numbers below Z can be gone through.
fn small_weights() -> Vec<u64> {
    (0..=64)
        .map(|d| 40u64.saturating_sub(2 * d).max(1))
        .collect()
}

#[test]
fn every_number_below_z_falls_to_a_word_as_often_as_its_weight_says() {
    for words in [1, 5, 64, 65, 130] {
        let rows = rows(words, 3);
        let model = model(&rows);
        let mut sampler = Sampler::new(Scan::new(model.codes()), words);
        for weights in [small_weights(), vec![1; 65]] {
            let table = WeightTable::new(&weights);
            sampler.add_up(&rows, &vec![&table; words]);
            for (i, code) in rows.iter().enumerate().step_by(17) {
                let z = sampler.normalizer(i);
                let mut counts = vec![0u64; words];
                (0..z).for_each(|u| counts[sampler.word_at(u, i, code, &table) as usize] += 1);
                let expected = rows.iter().map(|y| weights[hamming(code, y) as usize]);
                assert!(expected.eq(counts), "{words} words");
            }
        }
    }
}

#[test]
fn the_first_and_the_last_number_fall_to_the_first_and_the_last_word() {
    for words in [1, 2, 63, 64, 129] {
        let rows = rows(words, 5);
        let model = model(&rows);
        let mut sampler = Sampler::new(Scan::new(model.codes()), words);
        for scale in [0.0, 0.1, 1.0, Weights::MAX_SCALE] {
            let weights = Weights::exponential(bits(), scale, None);
            let table = WeightTable::new(weights.table());
            sampler.add_up(&rows, &vec![&table; words]);
            for (i, z) in normalizers(&rows, weights.table()).into_iter().enumerate() {
                assert_eq!(sampler.normalizer(i), z);
                assert_eq!(sampler.word_at(0, i, rows.row(i), &table), 0);
                let last = sampler.word_at(z - 1, i, rows.row(i), &table);
                assert_eq!(last as usize, words - 1);
            }
        }
    }
}

/// Pearson's statistic stays below the quantile of its distribution
/// (Wilson and Hilferty's approximation).
fn is_plausible(counts: &[u64], probabilities: &[f64]) -> bool {
    let draws = counts.iter().sum::<u64>() as f64;
    // Cells that expect fewer than 20 are taken together.
    let (mut cells, mut rest) = (Vec::new(), (0.0, 0.0));
    for (&count, p) in counts.iter().zip(probabilities) {
        let cell = (count as f64, p * draws);
        if cell.1 < 20.0 {
            rest = (rest.0 + cell.0, rest.1 + cell.1);
        } else {
            cells.push(cell);
        }
    }
    if rest.1 >= 20.0 {
        cells.push(rest);
    }
    let statistic: f64 = cells.iter().map(|(n, e)| (n - e) * (n - e) / e).sum();
    let df = (cells.len() - 1) as f64;
    let spread = 2.0 / (9.0 * df);
    statistic < df * (1.0 - spread + QUANTILE * spread.sqrt()).powi(3)
}

#[test]
fn draws_follow_the_distribution() {
    const { assert!(ALPHA <= 1e-6) };
    let rows = rows(100, 8);
    let weights = Weights::exponential(bits(), 0.15, None);
    let z = normalizers(&rows, weights.table());
    let mechanism = Exponential::textbook(model(&rows), weights.clone());
    let mut noise = Noise::numbered(11);
    for word in [Some(0), Some(50), Some(99), None] {
        let mut counts = vec![0; 100];
        for y in mechanism.privatize(&vec![word; 20_000], &mut noise) {
            counts[y as usize] += 1;
        }
        let probability = |y: &[u64]| match word {
            None => 0.01,
            Some(w) => {
                let d = hamming(rows.row(w as usize), y) as usize;
                weights.table()[d] as f64 / z[w as usize] as f64
            }
        };
        let probabilities: Vec<f64> = rows.iter().map(probability).collect();
        assert!(is_plausible(&counts, &probabilities), "{word:?}");
        // The test has teeth: it tells a neighbouring distribution apart.
        let tilted = |(i, p): (usize, &f64)| p * if i % 2 == 0 { 1.08 } else { 0.92 };
        let tilted: Vec<f64> = probabilities.iter().enumerate().map(tilted).collect();
        assert!(!is_plausible(&counts, &tilted), "{word:?}");
    }
}

proptest! {
    #[test]
    fn unknown_tokens_lose_no_more_than_is_said(
        words in 1usize..30, seed in 0u64..1000, scale in 0.0f64..3.0,
    ) {
        let rows = rows(words, seed);
        let model = model(&rows);
        let weights = Weights::exponential(bits(), scale, None);
        let z = normalizers(&rows, weights.table());
        let mut worst: f64 = 0.0;
        for (w, z) in rows.iter().zip(z) {
            for y in rows.iter() {
                let p = weights.table()[hamming(w, y) as usize] as f64 / z as f64;
                worst = worst.max((p * words as f64).ln().abs());
            }
        }
        let textbook = Exponential::textbook(model.clone(), weights);
        let c = certificate(&model, &rows, scale, 1.0);
        let certified = Exponential::certified(model, &c).unwrap();
        let [loose, tight] = [textbook, certified].map(|m| m.guarantee().unknown_loss);
        prop_assert!(worst <= tight + 1e-12, "{worst} {tight}");
        prop_assert!(tight <= loose + 1e-12, "{tight} {loose}");
    }

    #[test]
    fn textbook_weights_are_within_what_was_asked(
        epsilon in prop_oneof![1e-300f64..1e-12, 1e-9f64..1e-3, 0.001f64..3.0, 3.0f64..1e9],
        radius in prop::option::of(0usize..65),
    ) {
        let weights = Weights::textbook(bits(), Epsilon::new(epsilon).unwrap(), radius);
        prop_assert!(weights.textbook_epsilon() <= epsilon);
        prop_assert!(epsilon < 1e-3 || weights.textbook_epsilon() > 0.999 * epsilon.min(22.0)
            || radius == Some(0));
    }
}

#[test]
fn a_certificate_for_another_model_is_refused() {
    let (a, b) = (rows(20, 1), rows(20, 2));
    let c = certificate(&model(&a), &a, 0.2, 0.3);
    let other = model(&b);
    let refused = Exponential::certified(other.clone(), &c);
    assert!(matches!(refused, Err(Error::CertificateMismatch)));
    let stored = other.with_certificates(&[c]);
    assert!(matches!(stored, Err(Error::CertificateMismatch)));
}

#[test]
fn the_mechanism_that_keeps_most_within_epsilon_is_chosen() {
    let rows = rows(40, 9);
    let plain = model(&rows);
    let certifier = plain.certifier(1, &|_| {});
    // The last has a larger epsilon, and keeps less, as its weights are level early.
    let certificates = [(0.25, None), (0.4, None), (0.45, Some(1))]
        .map(|(epsilon, radius)| certifier.certify(Epsilon::new(epsilon).unwrap(), radius));
    let model = Arc::new(plain.with_certificates(&certificates).unwrap());
    let chosen = |epsilon| {
        let m = Exponential::new(model.clone(), Epsilon::new(epsilon).unwrap());
        assert!(m.guarantee().epsilon <= epsilon);
        (m.keep.is_some(), m.weights)
    };
    // What a file says is not used before it is checked.
    assert!(!chosen(0.4).0);
    let refused = Exponential::for_budget(model.clone(), Budget::Keep(0.5));
    assert!(matches!(refused, Err(Error::UncheckedModel)));
    model.check(1, &|_| {}).unwrap();

    let [low, high, level] = certificates;
    assert!(level.keep().weighted < high.keep().weighted);
    assert_eq!(chosen(0.25), (true, low.weights().to_vec()));
    assert_eq!(chosen(0.27), (true, low.weights().to_vec()));
    assert_eq!(chosen(0.4), (true, high.weights().to_vec()));
    assert_eq!(chosen(0.46), (true, high.weights().to_vec()));
    // Below all certificates, and far above them.
    assert!(!chosen(0.24).0);
    assert!(!chosen(3.0).0);
    let keeping = |keep| Exponential::for_budget(model.clone(), Budget::Keep(keep));
    let share = |m: Exponential| m.keep().unwrap().weighted;
    // From below, never above.
    assert_eq!(share(keeping(0.9999).unwrap()), high.keep().weighted);
    let (a, b) = (low.keep().weighted, high.keep().weighted);
    let most = a.max(level.keep().weighted);
    assert_eq!(share(keeping(b - 1e-9).unwrap()), most);
    let least = a.min(level.keep().weighted);
    let refused = keeping(least - 1e-9);
    assert!(matches!(refused, Err(Error::KeepOutOfReach { .. })));
    let none = Exponential::for_budget(plain, Budget::Keep(0.5));
    assert!(matches!(none, Err(Error::NoCalibration { .. })));
}

#[test]
fn beyond_the_radius_weights_are_level() {
    let weights = Weights::exponential(bits(), 0.2, Some(12));
    let table = weights.table();
    assert!(table[..=12].windows(2).all(|pair| pair[0] > pair[1]));
    assert!(table[12..].iter().all(|&w| w == table[12]));
    let rows = rows(30, 4);
    let mechanism = Exponential::textbook(model(&rows), weights.clone());
    assert_eq!(mechanism.guarantee().epsilon, weights.textbook_epsilon());
}

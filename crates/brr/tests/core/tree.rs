//! Tree response draws what its tree and its losses say, as a simulation that shares nothing with
//! it finds. False-alarm rates are at most 1e-6, and seeds are fixed.

use std::sync::Arc;

use crate::support::{Mix, chi_square_limit, random_model};
use brr::parts::random::Noise;
use brr::parts::tree::WordTree;
use brr::{Budget, MechanismKind, Model, Options, Privatizer};

/// The places of some words: 3 of them are taken twice, others are empty.
fn places() -> Vec<u32> {
    let mut places: Vec<u32> = (0..24).map(|i| i * 7 % 32).collect();
    places[20] = places[3];
    places[21] = places[8];
    places[22] = places[0];
    places
}

fn model(places: &[u32]) -> Arc<Model> {
    let model = random_model(64, places.len(), 5);
    let tree = WordTree::new(5, places.to_vec()).unwrap();
    Arc::new(model.with_tree(&tree).unwrap())
}

fn draws(model: &Arc<Model>, word: Option<u32>, epsilon: f64, runs: usize) -> Vec<u64> {
    let options = Options::default()
        .with_mechanism(MechanismKind::Tree)
        .with_budget(Budget::Epsilon(epsilon));
    let tree = Privatizer::new(model.clone(), options).unwrap();
    let mut counts = vec![0; model.vocabulary().len()];
    let mut noise = Noise::numbered(21);
    for drawn in tree.mechanism().privatize(&vec![word; runs], &mut noise) {
        counts[drawn as usize] += 1;
    }
    counts
}

fn below(n: usize, mix: &mut Mix) -> usize {
    ((mix.unit() * n as f64) as usize).min(n - 1)
}

/// From the definition alone: walk up the tree, choose a level by its losses, then a place of it; without a
/// word, any place. If nobody is there, widen the subtree until somebody is.
fn simulated(places: &[u32], word: Option<u32>, epsilon: f64, mix: &mut Mix) -> usize {
    let place = match word {
        Some(word) => simulated_place(places[word as usize], epsilon, mix),
        None => below(32, mix) as u32,
    };
    for height in 0..=5 {
        let there: Vec<usize> = (0..places.len())
            .filter(|&w| places[w] >> height == place >> height)
            .collect();
        if !there.is_empty() {
            return there[below(there.len(), mix)];
        }
    }
    unreachable!("the root has words")
}

fn simulated_place(own: u32, epsilon: f64, mix: &mut Mix) -> u32 {
    let size = |level: i32| {
        if level == 0 {
            1.0
        } else {
            f64::from(1 << (level - 1))
        }
    };
    let weight = |level: i32| size(level) * (-epsilon * f64::from(level)).exp();
    let mut rest = mix.unit() * (0..=5).map(weight).sum::<f64>();
    let mut level = 0;
    while level < 5 && rest >= weight(level) {
        rest -= weight(level);
        level += 1;
    }
    if level == 0 {
        return own;
    }
    let first = (own >> (level - 1) ^ 1) << (level - 1);
    first + below(1 << (level - 1), mix) as u32
}

/// Whether two samples of equal size are of one distribution.
fn agree(a: &[u64], b: &[u64]) -> bool {
    let pairs = a.iter().zip(b).map(|(&a, &b)| (a as f64, b as f64));
    let cells: Vec<(f64, f64)> = pairs.filter(|(a, b)| a + b > 20.0).collect();
    let statistic: f64 = cells.iter().map(|(a, b)| (a - b) * (a - b) / (a + b)).sum();
    statistic < chi_square_limit(cells.len().max(2) - 1)
}

const RUNS: usize = 40_000;

fn reference(places: &[u32], word: Option<u32>, epsilon: f64) -> Vec<u64> {
    let (mut mix, mut counts) = (Mix(3), vec![0; places.len()]);
    for _ in 0..RUNS {
        counts[simulated(places, word, epsilon, &mut mix)] += 1;
    }
    counts
}

#[test]
fn words_come_out_as_an_independent_simulation_says() {
    let places = places();
    let model = model(&places);
    for epsilon in [0.2, 0.85] {
        for word in [Some(0), Some(3), Some(11), Some(21), None] {
            let (ours, naive) = (
                draws(&model, word, epsilon, RUNS),
                reference(&places, word, epsilon),
            );
            assert!(agree(&ours, &naive), "word {word:?} at {epsilon}");
        }
    }
}

/// What the comparison above must notice.
#[test]
fn planted_faults_are_found() {
    let places = places();
    let naive = reference(&places, Some(11), 0.85);
    // A word at the wrong level.
    let mut wrong = places.clone();
    wrong[11] ^= 2;
    let ours = draws(&model(&wrong), Some(11), 0.85, RUNS);
    assert!(!agree(&ours, &naive), "wrong level");
    // Weights that are off by a tenth.
    let ours = draws(&model(&places), Some(11), 0.85 * 1.1, RUNS);
    assert!(!agree(&ours, &naive), "too little noise");
    // A draw that prefers the first word of a place.
    let mut biased = draws(&model(&places), Some(3), 0.85, RUNS);
    let moved = biased[20] / 10;
    biased[3] += moved;
    biased[20] -= moved;
    assert!(!agree(&biased, &reference(&places, Some(3), 0.85)), "bias");
    // An unknown token that becomes any word, and one that stays near some place.
    let unknown = reference(&places, None, 0.85);
    let (mut mix, mut any) = (Mix(8), vec![0; places.len()]);
    (0..RUNS).for_each(|_| any[below(places.len(), &mut mix)] += 1);
    assert!(!agree(&any, &unknown), "a random word");
    let near = draws(&model(&places), Some(0), 0.85, RUNS);
    assert!(!agree(&near, &unknown), "the path of a word");
}

#[test]
fn a_tree_stays_with_its_model_and_changes_no_codes() {
    let plain = random_model(64, 24, 5);
    let model = model(&places());
    assert_eq!(model.identity(), plain.identity());
    assert_ne!(model.file_identity(), plain.file_identity());
    let again = model.with_certificates(&[]).unwrap();
    assert_eq!(again.tree().map(WordTree::places), Some(&places()[..]));
    assert!(
        plain
            .with_tree(&WordTree::new(3, vec![0; 2]).unwrap())
            .is_err()
    );
}

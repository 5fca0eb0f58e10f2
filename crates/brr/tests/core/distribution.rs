//! What is sampled is what is promised. Every statistical test here has a
//! false-alarm rate of at most 1e-6, and its seed is fixed.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::support::{Mix, chi_square_limit, model_of, random_codes, random_model};
use brr::Model;
use brr::parts::codes::{CodeRows, hamming};
use brr::parts::epsilon::Epsilon;
use brr::parts::mechanism::{Brr, Mechanism};
use brr::parts::random::Noise;
use brr::parts::response::FlipThreshold;

/// Standard deviations beyond which a normal variable falls with probability 1e-6.
const SIGMAS: f64 = 4.9;

#[test]
fn each_bit_flips_at_the_promised_rate_and_on_its_own() {
    for epsilon in [0.05, 0.6, 2.0] {
        let threshold = FlipThreshold::new(Epsilon::new(epsilon).unwrap());
        let p = 1.0 / (1.0 + f64::exp(epsilon));
        let mut noise = Noise::numbered(11);
        let runs = 40_000;
        let (mut flips, mut per_bit, mut pairs) = (0u64, [0u32; 256], 0u64);
        for _ in 0..runs {
            let mut code = [0u64; 4];
            threshold.apply(&mut code, &mut noise);
            flips += code
                .iter()
                .map(|limb| u64::from(limb.count_ones()))
                .sum::<u64>();
            pairs += u64::from((code[0] & code[1]).count_ones());
            for (bit, count) in per_bit.iter_mut().enumerate() {
                *count += (code[bit / 64] >> (bit % 64) & 1) as u32;
            }
        }
        let off =
            |count: u64, n: f64, p: f64| (count as f64 - n * p).abs() / (n * p * (1.0 - p)).sqrt();
        let n = f64::from(runs);
        assert!(off(flips, n * 256.0, p) < SIGMAS, "overall rate");
        assert!(
            off(pairs, n * 64.0, p * p) < SIGMAS,
            "bits of different limbs together"
        );
        // 256 bits at once: 5.9 standard deviations keep the rate below 1e-6 in all.
        assert!(
            per_bit.iter().all(|&c| off(c.into(), n, p) < 5.9),
            "a single bit"
        );
    }
}

/// BRR written again, naively: a coin per bit (a fair one for a token without a code), a search
/// by sorting.
fn naive_brr(codes: &CodeRows, word: Option<usize>, epsilon: f64, mix: &mut Mix) -> usize {
    let p = word.map_or(0.5, |_| 1.0 / (1.0 + epsilon.exp()));
    let mut noisy = codes.row(word.unwrap_or(0)).to_vec();
    for bit in 0..codes.bits().get() {
        if mix.unit() < p {
            noisy[bit / 64] ^= 1 << (bit % 64);
        }
    }
    (0..codes.len())
        .min_by_key(|&i| (hamming(codes.row(i), &noisy), i))
        .unwrap()
}

/// Pearson's statistic of two samples of equal size, and its degrees of freedom.
fn two_sample(a: &[u64], b: &[u64]) -> (f64, usize) {
    let cells: Vec<(f64, f64)> = a
        .iter()
        .zip(b)
        .map(|(&a, &b)| (a as f64, b as f64))
        .filter(|(a, b)| a + b > 20.0)
        .collect();
    let statistic = cells.iter().map(|(a, b)| (a - b) * (a - b) / (a + b)).sum();
    (statistic, cells.len().max(2) - 1)
}

#[test]
fn words_come_out_as_an_independent_simulation_says() {
    for (bits, words, epsilon) in [(64, 12, 0.15), (64, 30, 0.4), (192, 20, 0.1)] {
        let model = random_model(bits, words, 5);
        let codes = model.codes().to_rows();
        let brr = Brr::new(model, Epsilon::new(epsilon).unwrap());
        let (mut noise, mut mix) = (Noise::numbered(1), Mix(2));
        let runs = 20_000;
        let (mut ours, mut naive) = (vec![0u64; words], vec![0u64; words]);
        for id in brr.privatize(&vec![Some(3); runs], &mut noise) {
            ours[id as usize] += 1;
        }
        for _ in 0..runs {
            naive[naive_brr(&codes, Some(3), epsilon, &mut mix)] += 1;
        }
        let (statistic, freedom) = two_sample(&ours, &naive);
        assert!(
            statistic < chi_square_limit(freedom),
            "{statistic} with {freedom} degrees"
        );
        // The test can tell a difference: a slightly smaller epsilon fails it.
        let mut other = vec![0u64; words];
        (0..runs).for_each(|_| other[naive_brr(&codes, Some(3), epsilon * 0.8, &mut mix)] += 1);
        let (statistic, freedom) = two_sample(&ours, &other);
        assert!(statistic > chi_square_limit(freedom), "blind: {statistic}");
    }
}

/// 30 words in a clump, and `lonely` ones: their cells take up more of all codes.
fn clumped_codes(lonely: usize) -> CodeRows {
    let mut codes = random_codes(64, 30 + lonely, 9);
    for i in 1..30 {
        let near = codes.row(0)[0] ^ (1 << i) ^ (1 << (i + 30));
        codes.row_mut(i)[0] = near;
    }
    codes
}

fn clumped_model(lonely: usize) -> Arc<Model> {
    let words: Vec<String> = (0..30 + lonely).map(crate::support::letters).collect();
    model_of(&words, &clumped_codes(lonely))
}

fn outputs_of(brr: &Brr, word: Option<u32>, words: usize, seed: u64) -> Vec<u64> {
    let mut counts = vec![0; words];
    for id in brr.privatize(&vec![word; RUNS], &mut Noise::numbered(seed)) {
        counts[id as usize] += 1;
    }
    counts
}
const RUNS: usize = 40_000;

#[test]
fn unknown_tokens_become_the_word_nearest_to_a_uniform_code() {
    let (codes, mut mix) = (clumped_codes(3), Mix(6));
    let brr = Brr::new(clumped_model(3), Epsilon::new(1.0).unwrap());
    let ours = outputs_of(&brr, None, 33, 4);
    let mut naive = vec![0u64; 33];
    (0..RUNS).for_each(|_| naive[naive_brr(&codes, None, 1.0, &mut mix)] += 1);
    let (statistic, freedom) = two_sample(&ours, &naive);
    assert!(statistic < chi_square_limit(freedom), "{statistic}");
    // The test can tell a difference: a uniform word fails it.
    let even = vec![RUNS as u64 / 33; 33];
    let (statistic, freedom) = two_sample(&ours, &even);
    assert!(statistic > chi_square_limit(freedom), "blind: {statistic}");
}

/// Whether a token is known, and however the noise falls, a token takes the same
/// number of random limbs: how many are drawn tells nothing.
#[test]
fn every_token_takes_the_same_number_of_draws() {
    // Of 2^6 words none is drawn a second time, not even by a script.
    let brr = Brr::new(random_model(128, 64, 9), Epsilon::new(1.0).unwrap());
    let drawn = |words: &[Option<u32>], limb: u64| {
        let count = Arc::new(AtomicUsize::new(0));
        let counter = count.clone();
        let mut noise = Noise::scripted(move || {
            let i = counter.fetch_add(1, Ordering::Relaxed) as u64;
            limb.rotate_left(i as u32 % 64)
        });
        brr.privatize(words, &mut noise);
        count.load(Ordering::Relaxed)
    };
    let each = FlipThreshold::DIGITS * 2 + 2;
    for limb in [0, u64::MAX, 0x9e37_79b9_7f4a_7c15] {
        assert_eq!(drawn(&[Some(3); 7], limb), 7 * each);
        assert_eq!(drawn(&[None; 7], limb), 7 * each);
        assert_eq!(drawn(&[Some(49), None, Some(0)], limb), 3 * each);
    }
}

/// A word that shares its code with a word of lower id can never be an output:
/// not of the mechanism, and so not for an unknown token either, or seeing it
/// would prove that the token was unknown.
#[test]
fn no_output_gives_an_unknown_token_away() {
    let mut codes = random_codes(64, 6, 3);
    let first = codes.row(1).to_vec();
    codes.row_mut(4).copy_from_slice(&first);
    let words: Vec<String> = (0..6).map(crate::support::letters).collect();
    let brr = Brr::new(model_of(&words, &codes), Epsilon::new(0.5).unwrap());
    let mut noise = Noise::numbered(8);
    let known: Vec<_> = (0..6).cycle().take(6000).map(Some).collect();
    assert!(!brr.privatize(&known, &mut noise).contains(&4));
    assert!(!brr.privatize(&vec![None; 6000], &mut noise).contains(&4));
}

/// The loss between an unknown token and a word, where it is nearly 0: a uniform word in place
/// of a uniform code would show a loss of 0.4 and more. Each of 66 comparisons has shares of at
/// least 1/60 with standard deviations of at most 4 %, so 5.6 of them make a false alarm in 1e6.
#[test]
fn the_stated_loss_of_unknown_tokens_covers_what_is_seen() {
    let brr = Brr::new(clumped_model(3), Epsilon::new(0.001).unwrap());
    let stated = brr.guarantee().unknown_loss;
    assert!(stated < 64.0 * 0.000_501, "{stated}");
    let unknown = outputs_of(&brr, None, 33, 5);
    for word in [0, 31] {
        let known = outputs_of(&brr, Some(word), 33, 50 + u64::from(word));
        for (&a, &b) in unknown.iter().zip(&known).filter(|(a, b)| *a + *b > 1300) {
            let (a, b) = (a as f64, b as f64);
            let slack = 5.6 * (1.0 / a + 1.0 / b).sqrt();
            assert!((a / b).ln().abs() < stated + slack, "{a} and {b}");
        }
    }
}

/// No output is likelier from an unknown token than from itself: what the bound at large epsilon
/// rests on.
#[test]
fn an_unknown_token_gives_no_word_more_often_than_the_word_itself() {
    for epsilon in [0.1, 0.5] {
        let brr = Brr::new(clumped_model(3), Epsilon::new(epsilon).unwrap());
        let unknown = outputs_of(&brr, None, 33, 7);
        for word in 0..33u32 {
            let stays = outputs_of(&brr, Some(word), 33, 70 + u64::from(word))[word as usize];
            let (a, b) = (unknown[word as usize] as f64, stays as f64);
            assert!(a - b < 6.0 * (a + b).sqrt(), "{a} and {b}");
        }
    }
}

#[test]
fn the_loss_of_unknown_tokens_goes_to_0_and_stays_below_the_worst_pair() {
    let model = random_model(256, 40, 21);
    let at = |e: f64| Brr::new(model.clone(), Epsilon::new(e).unwrap()).guarantee();
    let near = |x: f64, expected: f64| (x / expected - 1.0).abs() < 1e-6;
    // Few bits' worth at 0.001, where 256 ln((1 + e^0.001) / 2) = 0.128032.
    assert!(near(at(0.001).unknown_loss / at(0.001).epsilon, 128.032));
    assert!(at(1e-9).unknown_loss < 1.3e-7);
    for epsilon in [0.01, 0.3, 1.0, 3.0, 10.0] {
        let g = at(epsilon);
        let e = g.epsilon;
        let forward = 256.0 * (2.0 * e.exp() / (1.0 + e.exp())).ln();
        let back = 256.0 * ((1.0 + e.exp()) / 2.0).ln();
        let proved = forward.max(back.min(e * g.distances.maximum));
        assert!(g.unknown_loss >= proved * (1.0 - 1e-12) && near(g.unknown_loss, proved));
        assert!(g.unknown_loss <= g.worst());
    }
    assert!(at(3.0).unknown_loss < 256.0 * (0.5 + 0.5 * 3f64.exp()).ln());
}

//! The certifier against the definition of metric differential privacy, over
//! all words, all other words and all outputs of small models.

use super::*;
use crate::calibration::Calibration;
use crate::codes::{CodeBits, hamming, to_blocks};
use crate::distances::code_distances;
use crate::model::{Model, ModelParts};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

fn model(rows: &CodeRows) -> Model {
    let words: Vec<String> = (0..rows.len()).map(|i| format!("w{i}")).collect();
    let blocks = to_blocks(rows);
    let codes = CodeBlocks::new(rows.bits(), rows.len(), &blocks).unwrap();
    let parts = ModelParts {
        words: &words,
        codes: rows,
        lowercase: true,
        distances: code_distances(codes, 1, &|_| {}),
        calibration: Calibration::default(),
        meta: Vec::new(),
        orthography: None,
    };
    parts.write().unwrap()
}

/// Codes in a few clumps, with some duplicates.
fn clumps() -> impl Strategy<Value = CodeRows> {
    let code = (0u64..4, prop::collection::vec(0u32..128, 0..24));
    prop::collection::vec(code, 2..40).prop_map(|codes| {
        let mut rows = CodeRows::new(CodeBits::new(128).unwrap());
        for (clump, flips) in codes {
            let mut row = [clump.wrapping_mul(0x9e37_79b9_7f4a_7c15), clump << 60];
            for bit in flips {
                row[bit as usize / 64] ^= 1 << (bit % 64);
            }
            rows.push(&row);
        }
        rows
    })
}

/// The largest ln(Pr[y|w] / Pr[y|w']) / d(w, w'), by the definition.
fn brute_force(rows: &CodeRows, weights: &Weights) -> f64 {
    let n = rows.len();
    let weight = |w: usize, y: usize| {
        let d = hamming(rows.row(w), rows.row(y)) as usize;
        weights.table()[d] as f64
    };
    let z: Vec<f64> = (0..n).map(|w| (0..n).map(|y| weight(w, y)).sum()).collect();
    let mut worst: f64 = 0.0;
    for w in 0..n {
        for v in 0..n {
            let d = hamming(rows.row(w), rows.row(v));
            for y in (0..n).filter(|_| d > 0) {
                let loss = (weight(w, y) / z[w]).ln() - (weight(v, y) / z[v]).ln();
                worst = worst.max(loss / f64::from(d));
            }
        }
    }
    worst
}

/// What a certifier that forgets the normalizers would say.
fn without_normalizers(rows: &CodeRows, weights: &Weights) -> f64 {
    let change = weights.log_change();
    let mut worst: f64 = 0.0;
    for a in rows.iter() {
        for b in rows.iter() {
            let k = hamming(a, b) as usize;
            worst = worst.max(if k > 0 { change[k] / k as f64 } else { 0.0 });
        }
    }
    worst
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_loss_exceeds_the_certificate(
        rows in clumps(), scale in 0.001f64..0.17, radius in prop::option::of(0usize..129),
    ) {
        let certifier = model(&rows).certifier(2, &|_| {});
        let weights = Weights::exponential(rows.bits(), scale, radius);
        let certified = certifier.measure(&weights).epsilon;
        let loss = brute_force(&rows, &weights);
        prop_assert!(loss <= certified + 1e-12, "loss {loss}, certified {certified}");
        prop_assert!(certified <= weights.textbook_epsilon() * (1.0 + 1e-12) + 1e-12);
    }

    #[test]
    fn what_is_certified_is_within_the_target(
        rows in clumps(), target in 0.01f64..40.0,
    ) {
        let model = model(&rows);
        let certifier = model.certifier(1, &|_| {});
        let c = certifier.certify(Epsilon::new(target).unwrap(), None);
        prop_assert!(c.epsilon() <= target);
        prop_assert!(brute_force(&rows, &Weights::new(c.weights().to_vec()).unwrap()) <= target + 1e-9);
        prop_assert_eq!(certifier.verify(c.claim().clone()), Ok(c.clone()));
        // It is the same after a stay in a file, once that is checked.
        let stored = model.with_certificates(std::slice::from_ref(&c)).unwrap();
        prop_assert!(stored.certificates().is_empty());
        stored.check(1, &|_| {}).unwrap();
        prop_assert_eq!(stored.certificates(), &[c]);
    }

    #[test]
    fn listing_few_pairs_or_many_threads_changes_nothing(
        rows in clumps(), scale in 0.001f64..0.5, listed in 0u64..30,
    ) {
        let blocks = to_blocks(&rows);
        let codes = CodeBlocks::new(rows.bits(), rows.len(), &blocks).unwrap();
        let weights = Weights::exponential(rows.bits(), scale, None);
        let all = Profile::new(codes, 1, &|_| {});
        let few = Profile::listing(listed, codes, 3, &|_| {});
        prop_assert_eq!(
            measure::measure(&all, &rows, &weights, 1),
            measure::measure(&few, &rows, &weights, 3)
        );
    }
}

proptest! {
    // How close is a matter of rounding, with no bound that is proved: the cases are fixed.
    #![proptest_config(ProptestConfig {
        cases: 64,
        rng_seed: RngSeed::Fixed(1),
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_loss_attains_the_certificate(rows in clumps(), scale in 0.001f64..0.17) {
        let weights = Weights::exponential(rows.bits(), scale, None);
        let certified = model(&rows).certifier(2, &|_| {}).measure(&weights).epsilon;
        let loss = brute_force(&rows, &weights);
        prop_assert!(loss >= certified - 1e-4, "loss {loss}, certified {certified}");
    }

    #[test]
    fn what_is_certified_is_close_to_the_target(rows in clumps(), target in 0.01f64..40.0) {
        let certifier = model(&rows).certifier(1, &|_| {});
        let c = certifier.certify(Epsilon::new(target).unwrap(), None);
        // Epsilon is jagged at the scale of the weights' rounding: a step that
        // small may fall back below the target.
        let exceeds = |step: &f64| {
            let steeper = Weights::exponential(rows.bits(), c.scale() * (1.0 + step), None);
            certifier.measure(&steeper).epsilon > target
        };
        prop_assert!(c.scale() == Weights::MAX_SCALE || [2e-7, 1e-5, 1e-4].iter().any(exceeds));
    }
}

/// A lonely word near a crowd: the crowd's Z is much larger.
fn crowd() -> CodeRows {
    let mut rows = CodeRows::zeros(CodeBits::new(64).unwrap(), 40);
    for i in 0..39 {
        rows.row_mut(i)[0] = 1 << (i % 3);
    }
    rows.row_mut(39)[0] = 0xff << 20;
    rows
}

#[test]
fn a_certifier_that_forgets_the_normalizers_would_be_caught() {
    let rows = crowd();
    let weights = Weights::exponential(rows.bits(), 0.3, None);
    let loss = brute_force(&rows, &weights);
    let weak = without_normalizers(&rows, &weights);
    let right = model(&rows).certifier(1, &|_| {}).measure(&weights);
    assert!(loss > 1.3 * weak, "loss {loss}, said {weak}");
    assert!((loss - right.epsilon).abs() < 1e-6);
    assert_eq!(right.worst_pair.words, (0, 39));
}

#[test]
fn kept_words_are_words_not_codes() {
    // Three words share each code of the crowd: a third of their own stretch.
    let mut rows = CodeRows::zeros(CodeBits::new(64).unwrap(), 4);
    rows.row_mut(3)[0] = u64::MAX;
    let certifier = model(&rows).certifier(1, &|_| {});
    let keep = certifier
        .measure(&Weights::exponential(rows.bits(), 20.0, None))
        .keep;
    assert!(
        (keep.plain - (3.0 / 3.0 + 1.0) / 4.0).abs() < 1e-6,
        "{keep:?}"
    );
    let shares = crate::frequency::shares(4);
    let weighted = (shares[0] + shares[1] + shares[2]) / 3.0 + shares[3];
    assert!((keep.weighted - weighted).abs() < 1e-6, "{keep:?}");
}

#[test]
fn without_two_different_codes_there_is_nothing_to_lose() {
    for words in [1, 3] {
        let rows = CodeRows::zeros(CodeBits::new(64).unwrap(), words);
        let model = model(&rows);
        let c = model
            .certifier(1, &|_| {})
            .certify(Epsilon::new(0.1).unwrap(), None);
        assert_eq!((c.epsilon(), c.scale()), (0.0, Weights::MAX_SCALE));
        assert!(model.with_certificates(&[c]).is_ok());
    }
}

#[test]
fn a_tiny_target_gives_level_weights() {
    let c = model(&crowd()).certifier(1, &|_| {});
    let c = c.certify(Epsilon::new(1e-300).unwrap(), None);
    assert_eq!(c.epsilon(), 0.0);
    assert!(c.weights().iter().all(|&w| w == c.weights()[0]));
}

#[test]
fn a_changed_certificate_is_refuted() {
    let certifier = model(&crowd()).certifier(1, &|_| {});
    let good = certifier.certify(Epsilon::new(0.5).unwrap(), Some(20));
    let check = |change: &dyn Fn(&mut Claim)| {
        let mut c = good.claim().clone();
        change(&mut c);
        certifier.verify(c).unwrap_err()
    };
    assert_eq!(check(&|c| c.identity.0[0] ^= 1), Refuted::OtherModel);
    assert_eq!(check(&|c| c.weights.truncate(10)), Refuted::Weights);
    assert_eq!(check(&|c| c.weights[3] = 0), Refuted::Weights);
    let epsilon = |r| matches!(r, Refuted::Epsilon { .. });
    assert!(epsilon(check(&|c| c.epsilon *= 0.999)));
    assert!(epsilon(check(&|c| c.asked = c.epsilon * 0.999)));
    assert!(epsilon(check(&|c| c.weights[1..]
        .iter_mut()
        .for_each(|w| *w /= 2))));
    let number = |r| matches!(r, Refuted::Number(_));
    assert!(number(check(&|c| c.normalizers = 1..=*c.normalizers.end())));
    assert!(number(check(&|c| c.worst_pair.distance += 1)));
    assert!(number(check(&|c| c.keep.plain += 1e-6)));
}

#[test]
fn a_ladder_has_round_epsilons_from_few_to_nearly_all_words() {
    let mut rows = CodeRows::zeros(CodeBits::new(128).unwrap(), 200);
    for i in 0..200 {
        let hash = |salt: u64| (i as u64 ^ salt).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        rows.row_mut(i)
            .copy_from_slice(&[hash(1 << 40), hash(1 << 50).rotate_left(17)]);
    }
    let model = model(&rows);
    let ladder = certify_ladder(&model.certifier(2, &|_| {}), &|_| {});
    assert!((40..=130).contains(&ladder.len()), "{}", ladder.len());
    let (first, last) = (&ladder[0], ladder.last().unwrap());
    assert!(first.keep().weighted < 0.05 && last.keep().weighted > 0.99);
    for c in &ladder {
        assert!(c.epsilon() <= c.asked() && c.epsilon() > 0.999 * c.asked());
        assert!(format!("{}", c.asked()).len() <= 6, "{}", c.asked());
    }
    assert!(model.with_certificates(&ladder).is_ok());
}

//! A file claims, the program checks: whatever a model file says, the loss that is reported is
//! at least the true one, or the file is refused.
//!
//! Every number of a file that influences noise or report is flipped, made smaller and made larger,
//! with a fitting checksum. Then the true loss is computed from the probabilities of all
//! words and outputs, and compared with what every mechanism reports.

use std::sync::Arc;

use crate::support::whole_model;
use brr::parts::codes::{CodeRows, hamming};
use brr::parts::mechanism::Channel;
use brr::{Budget, MechanismKind, Options, Privatizer};
use brr::{Model, Standing};
use sha2::{Digest, Sha256};

/// Where a section's bytes lie.
fn section(bytes: &[u8], tag: &[u8; 4]) -> std::ops::Range<usize> {
    let number = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize;
    let count = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    let entries = (0..count).map(|i| 48 + 24 * i);
    let entry = entries.into_iter().find(|&e| &bytes[e..e + 4] == tag);
    let entry = entry.expect("the section is there");
    number(entry + 8)..number(entry + 8) + number(entry + 16)
}

fn reseal(bytes: &mut [u8]) {
    let checksum = Sha256::digest(&bytes[48..]);
    bytes[16..48].copy_from_slice(&checksum);
}

/// The largest loss per bit of distance on these codes, by the definition; and the largest loss
/// between two words.
fn true_losses(codes: &CodeRows, channel: &dyn Channel) -> (f64, f64) {
    let n = codes.len();
    let mut table = vec![vec![0.0; n]; n];
    for (w, row) in table.iter_mut().enumerate() {
        channel.row(w as u32, row);
    }
    let (mut per_bit, mut any): (f64, f64) = (0.0, 0.0);
    for w in 0..n {
        for v in 0..n {
            let d = hamming(codes.row(w), codes.row(v));
            if d > 0 {
                let outputs = table[w].iter().zip(&table[v]);
                let loss = outputs.map(|(a, b)| (a / b).ln()).fold(0.0, f64::max);
                per_bit = per_bit.max(loss / f64::from(d));
                any = any.max(loss);
            }
        }
    }
    (per_bit, any)
}

/// What is reported over a model covers the truth, for every mechanism and budget.
fn assert_honest(model: &Arc<Model>, what: &str) {
    let rows = model.codes().to_rows();
    let distances = (0..rows.len()).flat_map(|a| (0..rows.len()).map(move |b| (a, b)));
    let all: Vec<f64> = distances
        .map(|(a, b)| f64::from(hamming(rows.row(a), rows.row(b))))
        .collect();
    let (largest, average) = (
        all.iter().copied().fold(0.0, f64::max),
        all.iter().sum::<f64>() / all.len() as f64,
    );
    for mechanism in [MechanismKind::Exponential, MechanismKind::Brr] {
        for budget in [Budget::Bound(13.0), Budget::Epsilon(0.4), Budget::Keep(0.5)] {
            let options = Options::default()
                .with_mechanism(mechanism)
                .with_budget(budget);
            let Ok(p) = Privatizer::new(model.clone(), options) else {
                continue;
            };
            let g = p.guarantee();
            let (per_bit, any) = match p.mechanism().channel() {
                Some(channel) => true_losses(&rows, channel),
                // Randomized response: the epsilon follows from the threshold alone.
                None => (g.epsilon, g.epsilon * largest),
            };
            let tiny = 1e-9;
            assert!(per_bit <= g.epsilon + tiny, "{what}: epsilon of {budget:?}");
            assert!(any <= g.worst() + tiny, "{what}: worst pair at {budget:?}");
            assert!(
                per_bit * average <= g.bound() + tiny,
                "{what}: bound at {budget:?}"
            );
            if let Budget::Bound(asked) = budget {
                assert!(per_bit * average <= asked + tiny, "{what}: bound exceeded");
            }
        }
    }
}

/// The value of a number in `width` bytes changed in the ways that a liar would.
fn lies(old: &[u8]) -> Vec<Vec<u8>> {
    let mut lies: Vec<Vec<u8>> = (0..old.len() * 8)
        .step_by(7)
        .map(|bit| {
            let mut new = old.to_vec();
            new[bit / 8] ^= 1 << (bit % 8);
            new
        })
        .collect();
    lies.push(vec![0; old.len()]);
    lies.push([&[1][..], &vec![0; old.len() - 1]].concat());
    if let Ok(eight) = <[u8; 8]>::try_from(old) {
        let (float, whole) = (f64::from_le_bytes(eight), u64::from_le_bytes(eight));
        for factor in [0.0, 0.1, 0.5, 0.99, 1.01, 2.0, 10.0] {
            lies.push((float * factor).to_le_bytes().to_vec());
            lies.push(((whole as f64 * factor) as u64).to_le_bytes().to_vec());
        }
    }
    lies
}

/// Reads a changed file as a user would, with and without a check.
fn try_lie(bytes: Vec<u8>, what: &str, accepted: &mut usize) {
    let Ok(model) = Model::new(bytes) else {
        return;
    };
    assert_eq!(model.standing(), Standing::Unchecked, "{what}");
    let model = Arc::new(model);
    assert_honest(&model, what);
    // The check may refuse the file; if it does not, what it says must hold.
    if model.check(1, &|_| {}).is_ok() {
        *accepted += 1;
        assert_honest(&model, what);
    }
}

#[test]
fn no_false_number_in_the_head_lowers_a_reported_loss() {
    let honest = whole_model().bytes().to_vec();
    let head = section(&honest, b"HEAD");
    // words, bits, flags, sum, maximum, nearest sum, nearest minimum, duplicates
    let fields = [
        (0, 4),
        (4, 2),
        (6, 2),
        (8, 8),
        (16, 8),
        (24, 4),
        (28, 8),
        (36, 4),
        (40, 4),
    ];
    let mut accepted = 0;
    for (at, width) in fields {
        let range = head.start + at..head.start + at + width;
        for lie in lies(&honest[range.clone()]) {
            let mut bytes = honest.clone();
            bytes[range.clone()].copy_from_slice(&lie);
            if bytes != honest {
                reseal(&mut bytes);
                try_lie(bytes, &format!("head, byte {at}"), &mut accepted);
            }
        }
    }
    // The flag for lower case is no claim about losses, but certificates name all of the head.
    assert_eq!(accepted, 0, "a false head passed a check");
}

#[test]
fn no_false_certificate_lowers_a_reported_loss() {
    let honest = whole_model().bytes().to_vec();
    let section = section(&honest, b"CRT2");
    let one = 32 + 5 * 8 + 32 + 12;
    assert_eq!(section.len() % one, 0);
    // One in the middle, which the budgets below take or pass by.
    let certificate = section.start + section.len() / one / 2 * one;
    let (mut accepted, mut tried) = (0, 0);
    for (at, width) in [
        (0, 8),
        (32, 8),
        (40, 8),
        (48, 8),
        (56, 8),
        (64, 8),
        (72, 8),
        (88, 8),
    ] {
        let range = certificate + at..certificate + at + width;
        for lie in lies(&honest[range.clone()]) {
            let mut bytes = honest.clone();
            bytes[range.clone()].copy_from_slice(&lie);
            if bytes != honest {
                reseal(&mut bytes);
                tried += 1;
                try_lie(bytes, &format!("certificate, byte {at}"), &mut accepted);
            }
        }
    }
    // A larger epsilon than is needed is no lie, nor is another number that was asked for.
    assert!(accepted < tried / 2, "{accepted} of {tried} passed a check");
}

#[test]
fn a_false_table_behind_keep_is_refused() {
    let honest = whole_model();
    assert!(
        Model::new(honest.bytes().to_vec())
            .unwrap()
            .check(1, &|_| {})
            .is_ok()
    );
    let section = section(honest.bytes(), b"CALI");
    let mut bytes = honest.bytes().to_vec();
    // Every share a tenth of itself: half of the words would stay where 5 % are asked for.
    for point in bytes[section].chunks_exact_mut(24) {
        let keep = f64::from_le_bytes(point[8..16].try_into().unwrap());
        point[8..16].copy_from_slice(&(keep * 0.1).to_le_bytes());
    }
    reseal(&mut bytes);
    let model = Model::new(bytes).unwrap();
    assert!(model.calibration().is_none());
    let refused = model.check(1, &|_| {}).unwrap_err().to_string();
    assert!(refused.contains("calibration"), "{refused}");
}

/// What was seen: a stored sum of distances that is too small, without certificates, made
/// `--bound 13` return texts unchanged.
#[test]
fn a_false_sum_of_distances_is_refused_on_load() {
    let mut bytes = whole_model().bytes().to_vec();
    let head = section(&bytes, b"HEAD");
    bytes[head.start + 8..head.start + 24].copy_from_slice(&1000u128.to_le_bytes());
    reseal(&mut bytes);
    let refused = Model::new(bytes).err().unwrap().to_string();
    assert!(refused.contains("distances"), "{refused}");
}

#[test]
fn files_that_differ_in_any_section_have_different_identities() {
    let model = whole_model();
    let mut bytes = model.bytes().to_vec();
    let meta = section(&bytes, b"META");
    bytes[meta.end - 2] ^= 1;
    reseal(&mut bytes);
    let other = Model::new(bytes).unwrap();
    assert_eq!(other.identity(), model.identity());
    assert_ne!(other.file_identity(), model.file_identity());
    // One section fewer, the rest as it was: the frame counts, too.
    let mut bytes = model.bytes().to_vec();
    bytes[12] -= 1;
    let fewer = Model::new(bytes).unwrap();
    assert_ne!(fewer.file_identity(), model.file_identity());
}

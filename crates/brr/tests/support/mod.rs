//! Small models made on the spot.
#![allow(dead_code)] // each test uses its part

use std::sync::Arc;

use brr::codes::{CodeBits, CodeRows, hamming};
use brr::model::{Calibration, CalibrationPoint, CodeDistances, Keep, Model, ModelParts};

/// SplitMix64: a generator that shares nothing with the code under test.
pub struct Mix(pub u64);

impl Mix {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// Uniform in 0..1.
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}

pub fn random_codes(bits: usize, words: usize, seed: u64) -> CodeRows {
    let bits = CodeBits::new(bits).unwrap();
    let mut mix = Mix(seed);
    let mut rows = CodeRows::zeros(bits, words);
    for i in 0..words {
        rows.row_mut(i)
            .iter_mut()
            .for_each(|limb| *limb = mix.next());
    }
    rows
}

/// All-pairs distances, the slow way.
pub fn distances(codes: &CodeRows) -> CodeDistances {
    let mut d = CodeDistances {
        sum: 0,
        maximum: 0,
        nearest_sum: 0,
        nearest_min: if codes.len() > 1 { u32::MAX } else { 0 },
        duplicates: 0,
    };
    for i in 0..codes.len() {
        let to = |j| hamming(codes.row(i), codes.row(j));
        d.sum += (0..codes.len()).map(|j| u128::from(to(j))).sum::<u128>();
        d.maximum = d.maximum.max((0..codes.len()).map(to).max().unwrap());
        let nearest = (0..codes.len())
            .filter(|&j| j != i)
            .map(to)
            .min()
            .unwrap_or(0);
        d.nearest_sum += u64::from(nearest);
        d.nearest_min = d.nearest_min.min(nearest);
        d.duplicates += u32::from((0..i).any(|j| to(j) == 0));
    }
    d
}

pub fn model_of(words: &[String], codes: &CodeRows) -> Arc<Model> {
    let point = |epsilon, keep| CalibrationPoint {
        epsilon,
        keep: Keep {
            weighted: keep,
            plain: keep,
        },
    };
    let parts = ModelParts {
        words,
        codes,
        lowercase: true,
        distances: distances(codes),
        calibration: Calibration::new(vec![point(0.1, 0.1), point(1.0, 0.6), point(4.0, 0.99)]),
        meta: vec![("name".into(), "test".into())],
    };
    Arc::new(parts.write().unwrap())
}

/// Words `w0`, `w1`, ... would hold digits; these are letters only.
pub fn letters(i: usize) -> String {
    let mut word = String::from("q");
    let mut rest = i;
    loop {
        word.push(char::from(b'a' + (rest % 26) as u8));
        rest /= 26;
        if rest == 0 {
            return word;
        }
    }
}

pub fn random_model(bits: usize, words: usize, seed: u64) -> Arc<Model> {
    let names: Vec<String> = (0..words).map(letters).collect();
    model_of(&names, &random_codes(bits, words, seed))
}

/// Largest value that a chi-square statistic with `freedom` degrees exceeds
/// with probability about 1e-6 (Wilson and Hilferty's approximation, 4.75
/// standard deviations).
pub fn chi_square_limit(freedom: usize) -> f64 {
    let k = freedom as f64;
    let a = 2.0 / (9.0 * k);
    k * (1.0 - a + 4.75 * a.sqrt()).powi(3)
}

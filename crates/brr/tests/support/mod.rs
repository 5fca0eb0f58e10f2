//! Small models made on the spot.
#![allow(dead_code)] // each test uses its part

use std::sync::{Arc, OnceLock};

use brr::parts::calibration::{Calibration, simulate};
use brr::parts::certify::certify_ladder;
use brr::parts::codes::{CodeBits, CodeBlocks, CodeRows, to_blocks};
use brr::parts::distances::code_distances;
use brr::parts::model::ModelParts;
use brr::{Model, Orthography};

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

fn parts<'a>(words: &'a [String], codes: &'a CodeRows) -> ModelParts<'a> {
    let blocks = to_blocks(codes);
    let table = CodeBlocks::new(codes.bits(), codes.len(), &blocks).unwrap();
    ModelParts {
        words,
        codes,
        lowercase: true,
        distances: code_distances(table, 1, &|_| {}),
        calibration: Calibration::default(),
        meta: vec![("name".into(), "test".into())],
        orthography: None,
    }
}

/// A model whose distances are checked, without certificates or a table behind `keep`.
pub fn model_of(words: &[String], codes: &CodeRows) -> Arc<Model> {
    let model = parts(words, codes).write().unwrap();
    model.check(1, &|_| {}).unwrap();
    Arc::new(model)
}

/// The same of a language, by its table.
pub fn model_in(table: &str, words: &[&str]) -> Arc<Model> {
    let words: Vec<String> = words.iter().map(|w| (*w).to_owned()).collect();
    let codes = random_codes(64, words.len(), 11);
    let model = ModelParts {
        orthography: Some(Orthography::parse(table).unwrap()),
        ..parts(&words, &codes)
    };
    let model = model.write().unwrap();
    model.check(1, &|_| {}).unwrap();
    Arc::new(model)
}

/// 100 words with certificates and a table behind `keep`, checked.
pub fn whole_model() -> Arc<Model> {
    static MODEL: OnceLock<Arc<Model>> = OnceLock::new();
    let make = || {
        let names: Vec<String> = (0..100).map(letters).collect();
        let codes = random_codes(64, 100, 7);
        let blocks = to_blocks(&codes);
        let table = CodeBlocks::new(codes.bits(), codes.len(), &blocks).unwrap();
        let calibration = simulate(table, 1, 2, &|_| {});
        let model = ModelParts {
            calibration,
            ..parts(&names, &codes)
        };
        let model = model.write().unwrap();
        let ladder = certify_ladder(&model.certifier(1, &|_| {}), &|_| {});
        let model = model.with_certificates(&ladder).unwrap();
        model.check(2, &|_| {}).unwrap();
        Arc::new(model)
    };
    MODEL.get_or_init(make).clone()
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

/// The built-in model.
pub fn english() -> Arc<Model> {
    static MODEL: OnceLock<Arc<Model>> = OnceLock::new();
    let open = || Arc::new(Model::open("../brr-english/src/english.brr").unwrap());
    MODEL.get_or_init(open).clone()
}

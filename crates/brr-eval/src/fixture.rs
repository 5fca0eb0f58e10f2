//! Small models for tests.

use std::sync::Arc;

use brr::Model;
use brr::parts::calibration::Calibration;
use brr::parts::codes::{CodeBits, CodeBlocks, CodeRows, to_blocks};
use brr::parts::distances::code_distances;
use brr::parts::model::ModelParts;
use chacha20::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

/// `words` words named `aa`, `ab`, ... in groups of similar codes; the last two
/// words share a code.
pub fn model(words: usize, bits: usize, seed: u64) -> Arc<Model> {
    let bits = CodeBits::new(bits).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let mut rows = CodeRows::new(bits);
    let mut center = vec![0; bits.limbs()];
    for i in 0..words {
        if i % 8 == 0 {
            center.iter_mut().for_each(|l| *l = rng.next_u64());
        }
        let mut row = center.clone();
        // Each bit differs from the group's with probability 1/16.
        for limb in &mut row {
            *limb ^= (0..4).fold(u64::MAX, |mask, _| mask & rng.next_u64());
        }
        rows.push(&row);
    }
    let twin = rows.row(words - 2).to_vec();
    rows.row_mut(words - 1).copy_from_slice(&twin);
    let blocks = to_blocks(&rows);
    let distances = code_distances(CodeBlocks::new(bits, words, &blocks).unwrap(), 1, &|_| {});
    let parts = ModelParts {
        words: &(0..words).map(name).collect::<Vec<_>>(),
        codes: &rows,
        lowercase: true,
        distances,
        calibration: Calibration::default(),
        meta: Vec::new(),
        orthography: None,
    };
    let model = parts.write().unwrap();
    model.check(1, &|_| {}).unwrap();
    Arc::new(model)
}

fn name(id: usize) -> String {
    let letter = |i: usize| char::from(b'a' + (i % 26) as u8);
    [letter(id / 676), letter(id / 26), letter(id)]
        .iter()
        .collect()
}

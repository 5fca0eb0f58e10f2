//! The reader of language models, and the decoder that trusts what it read.

use brr::Language;
use brr::parts::language::{Decoder, Sentence, State};
use brr::parts::mechanism::{Emission, Observations};
use brr::parts::vocabulary::WordId;
use sha2::{Digest, Sha256};

/// Offsets of the frame: see `crates/brr/src/frame/mod.rs`.
const CHECKSUM: std::ops::Range<usize> = 16..48;
/// States beyond which not every row is added up: time, not soundness.
const FEW: usize = 64;

/// The likelihood falls with the distance of ids.
struct ById(Vec<f32>);

impl Emission for ById {
    fn table(&self) -> &[f32] {
        &self.0
    }

    fn unknown(&self) -> f32 {
        -3.0
    }

    fn steps_of(&self, observations: &Observations, i: usize, words: &[WordId]) -> Vec<u16> {
        let Observations::Words(drawn) = observations else {
            unreachable!("words are observed")
        };
        let step = |word: &WordId| word.abs_diff(drawn[i]).min(self.0.len() as u32 - 1);
        words.iter().map(|word| step(word) as u16).collect()
    }
}

/// Reads the bytes as they are, then with their checksum made right.
pub fn language(data: &[u8]) {
    let _ = Language::new(data);
    let mut file = data.to_vec();
    if file.len() < CHECKSUM.end {
        return;
    }
    let checksum = Sha256::digest(&file[CHECKSUM.end..]);
    file[CHECKSUM].copy_from_slice(&checksum);
    let Ok(language) = Language::new(&file) else {
        return;
    };
    let states = language.words() + 2;
    for u in 0..states.min(FEW) as State {
        let row = (0..states as State).map(|v| f64::from(language.probability(u, v)));
        let total: f64 = row.sum();
        assert!((0.0..=1.001).contains(&total), "a row adds up to {total}");
    }
    let words = (0..40).map(|i| i % language.words() as u32).collect();
    let sentences = [(0..7, true), (7..40, false)];
    let sentences = sentences.map(|(tokens, ends)| Sentence { tokens, ends });
    let observed = Observations::Words(words);
    let emission = ById((0..60).map(|step| -(step as f32)).collect());
    let decoded = Decoder::new(&language, &emission).decode(&observed, &sentences);
    assert_eq!(decoded.len(), 40, "a word for each token");
    assert!(
        decoded
            .iter()
            .all(|&word| (word as usize) < language.words())
    );
}

//! Writing a language model.

use super::{DecodedKeep, Language, PAIR_STEPS, State, UNIGRAM_STEPS, vocabulary_hash};
use crate::error::Result;
use crate::frame::{self, Content};
use crate::vocabulary::Vocabulary;

/// What a language model is written from.
pub struct LanguageParts<'a> {
    /// The words, by id.
    pub vocabulary: &'a Vocabulary,
    /// P(v) of every word, the boundary and the unknown token.
    pub unigrams: Vec<f64>,
    /// The listed pairs (u, v, p(v | u)), ascending; no u may have more than 1 in all.
    pub pairs: Vec<(State, State, f64)>,
    /// What stays after decoding, where it was measured.
    pub decoded: Vec<DecodedKeep>,
    /// Provenance and licence.
    pub meta: Vec<(String, String)>,
}

impl LanguageParts<'_> {
    /// The file's bytes.
    pub fn write(&self) -> Result<Vec<u8>> {
        let mut head = (self.vocabulary.len() as u32).to_le_bytes().to_vec();
        head.extend(vocabulary_hash(self.vocabulary));
        let unigrams: Vec<u8> = self
            .unigrams
            .iter()
            .flat_map(|&p| (steps(p, UNIGRAM_STEPS, u16::MAX.into()) as u16).to_le_bytes())
            .collect();
        let [mut rows, mut next] = [Vec::new(), Vec::new()];
        let mut rest = &self.pairs[..];
        for u in 0..self.unigrams.len() as State {
            let (row, others) = rest.split_at(rest.partition_point(|pair| pair.0 == u));
            rest = others;
            frame::push_leb128(&mut rows, row.len() as u32);
            let mut least = 0;
            for &(_, v, _) in row {
                frame::push_leb128(&mut next, v - least);
                least = v + 1;
            }
        }
        let probabilities: Vec<u8> = self
            .pairs
            .iter()
            .map(|&(_, _, p)| steps(p, PAIR_STEPS, u8::MAX.into()) as u8)
            .collect();
        let mut sections = vec![
            (*b"LHED", head),
            (*b"UNIG", unigrams),
            (*b"ROWS", rows),
            (*b"NEXT", next),
            (*b"PROB", probabilities),
            (*b"META", frame::write_meta(&self.meta)),
        ];
        if !self.decoded.is_empty() {
            let mut kept = Vec::new();
            self.decoded.iter().for_each(|keep| keep.write(&mut kept));
            sections.push((*b"KEPT", kept));
        }
        let sections: Vec<_> = sections
            .iter()
            .map(|(tag, bytes)| (*tag, &bytes[..]))
            .collect();
        let bytes = frame::write(Content::Language, &sections);
        // What cannot be read again is not written.
        Language::new(&bytes)?;
        Ok(bytes)
    }
}

/// -ln p in steps, rounded up: quantized rows add up to no more than the row did.
fn steps(p: f64, per_unit: f32, most: u32) -> u32 {
    let steps = libm::ceil(-libm::log(p) * f64::from(per_unit) - 1e-9);
    steps.clamp(0.0, most.into()) as u32
}

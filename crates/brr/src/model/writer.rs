//! Making model files.

use super::{Head, Model, Standing, stored_certificate};
use crate::all_pairs::OnShare;
use crate::calibration::{Calibration, stored};
use crate::certify::Certificate;
use crate::codes::{CodeBlocks, CodeRows, to_blocks};
use crate::distances::CodeDistances;
use crate::epsilon::Epsilon;
use crate::error::{Error, Result};
use crate::frame::{self, Content, Tag};
use crate::guarantee::Budget;
use crate::text::orthography::Orthography;
use crate::tree::WordTree;
use crate::vocabulary::Vocabulary;

/// All sections that are written, in their order in a file.
const SECTIONS: [Tag; 9] = [
    *b"HEAD", *b"WORD", *b"CODE", *b"CALI", *b"CERT", *b"CRT2", *b"TREE", *b"META", *b"LANG",
];

/// What a model is made of.
pub struct ModelParts<'a> {
    /// The words, most frequent first.
    pub words: &'a [String],
    /// One code per word.
    pub codes: &'a CodeRows,
    /// Whether words are looked up in lower case.
    pub lowercase: bool,
    /// Exact distances over all pairs of codes.
    pub distances: CodeDistances,
    /// Share of kept words by epsilon.
    pub calibration: Calibration,
    /// Provenance, licence, quality. Tabs and line breaks become spaces.
    pub meta: Vec<(String, String)>,
    /// How the language is written, if it is not as in English.
    pub orthography: Option<Orthography>,
}

impl ModelParts<'_> {
    /// Writes the model. Reading it back is part of writing it: what comes out opens.
    /// Its claims still have to be [checked](Model::check).
    pub fn write(&self) -> Result<Model> {
        if self.words.len() != self.codes.len() {
            return Err(Error::ModelInvalid {
                section: "codes",
                reason: "there are not as many codes as words",
            });
        }
        let head = Head {
            words: self.words.len() as u32,
            bits: self.codes.bits(),
            lowercase: self.lowercase,
            distances: self.distances,
        };
        let blocks = to_blocks(self.codes);
        CodeBlocks::new(head.bits, self.codes.len(), &blocks).ok_or(Error::ModelInvalid {
            section: "codes",
            reason: "there is no word",
        })?;
        let table = self.orthography.as_ref().map(Orthography::to_lines);
        let (head, words) = (head.write(), Vocabulary::pack(self.words)?);
        let (calibration, meta) = (
            stored::write(&self.calibration),
            frame::write_meta(&self.meta),
        );
        let mut sections: Vec<(Tag, &[u8])> = vec![
            (*b"HEAD", &head),
            (*b"WORD", &words),
            (*b"CODE", &blocks),
            (*b"CALI", &calibration),
            (*b"META", &meta),
        ];
        sections.extend(table.as_ref().map(|table| (*b"LANG", table.as_bytes())));
        Model::new(frame::write(Content::Model, &sections))
    }
}

impl Model {
    /// A copy with these certificates instead of its own.
    pub fn with_certificates(&self, certificates: &[Certificate]) -> Result<Model> {
        let mut sorted: Vec<_> = certificates.iter().map(Certificate::claim).collect();
        sorted.sort_by(|a, b| a.epsilon.total_cmp(&b.epsilon));
        let [long, short] = stored_certificate::write_all(&sorted);
        self.with_sections(&[(*b"CERT", &long), (*b"CRT2", &short)])
    }

    /// A copy with one certificate, made for this budget by a look at all pairs of words, in which the
    /// look is believed. `progress` gets the share of the work done.
    pub fn certified(
        &self,
        budget: Budget,
        threads: usize,
        progress: OnShare<'_>,
    ) -> Result<Model> {
        let certifier = self.certifier(threads, &|share| progress(0.5 * share));
        let distances = certifier.distances(&self.claimed);
        let certificate = match budget.validate()? {
            Budget::Epsilon(value) => certifier.certify(Epsilon::new(value)?, None),
            Budget::Bound(value) => {
                let epsilon = Budget::epsilon_for_bound(value, &self.pair_distances())?;
                certifier.certify(epsilon, None)
            }
            Budget::Keep(share) => {
                let lowest = 1.0 / self.vocabulary.len() as f64;
                let found = certifier.certify_keeping(share);
                found.ok_or(Error::KeepOutOfReach {
                    asked: share,
                    lowest,
                    highest: 1.0,
                })?
            }
        };
        progress(1.0);
        let model = self.with_certificates(std::slice::from_ref(&certificate))?;
        model.believe(Standing::Checked, distances, vec![certificate]);
        Ok(model)
    }

    /// A copy with this tree instead of its own, which must be of as many words.
    pub fn with_tree(&self, tree: &WordTree) -> Result<Model> {
        self.with_sections(&[(*b"TREE", &tree.write())])
    }

    /// A copy with these sections instead of its own.
    fn with_sections(&self, new: &[(Tag, &[u8])]) -> Result<Model> {
        let section = |tag: &Tag| {
            let found = new.iter().find(|(t, _)| t == tag);
            let content = found.map_or(self.section(*tag), |(_, content)| content);
            let is_there = found.is_some() || self.container.section(*tag).is_some();
            is_there.then_some((*tag, content))
        };
        let sections: Vec<_> = SECTIONS.iter().filter_map(section).collect();
        Model::new(frame::write(Content::Model, &sections))
    }
}

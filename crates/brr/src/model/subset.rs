//! A model of some of a model's words.
//!
//! It has their codes, and a tree over them made from the whole model's
//! ([`WordTree::among`](crate::tree::WordTree::among)). What was measured over all pairs of the whole model, its distances,
//! certificates and calibration, does not hold of fewer words and is not carried over: the file
//! says of its distances only what holds without a look at the pairs, and [`Model::check`] replaces
//! that by what it finds.

use super::{Model, ModelParts};
use crate::calibration::Calibration;
use crate::codes::{CodeBlocks, CodeRows, to_blocks};
use crate::distances::CodeDistances;
use crate::error::{Error, Result};
use crate::vocabulary::WordId;

impl Model {
    /// A model of these words alone: names become names, cities cities. Words come in any order
    /// and case; fails at one that this model does not have.
    ///
    /// Fix the words before any private text is seen. The subset has an identity of its own, and
    /// none of this model's certificates or calibration. It keeps the tree's shape as far as it can
    /// be balanced. A level of its tree costs what one of any tree costs under tree response, but
    /// words that were at a low level may be at a higher one, as much farther apart as these differ: an unlucky subset
    /// costs a near pair more, though never more than its farthest pair. With the list `names` of `brr-english`
    /// that is so for 1.6 % of pairs, at worst by six levels, from 1.7 to 6.8 at 0.85 a level. The guarantee states the
    /// losses of the new tree.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # let model = Arc::new(brr::Model::open("../brr-english/src/english.brr")?);
    /// use brr::{Budget, MechanismKind, Options, Privatizer};
    ///
    /// let cities = Arc::new(model.subset(&["Paris", "London", "Berlin", "Rome"])?);
    /// let options = Options::default()
    ///     .with_mechanism(MechanismKind::KAry)
    ///     .with_budget(Budget::Epsilon(1.0));
    /// let privatizer = Privatizer::new(cities.clone(), options)?;
    /// let city = privatizer.privatize("Rome")?.text;
    /// assert!(cities.find(&city).is_some());
    /// # Ok::<(), brr::Error>(())
    /// ```
    pub fn subset(&self, words: &[impl AsRef<str>]) -> Result<Model> {
        let found = words.iter().zip(1..).map(|(word, line)| {
            let found = self.find(word.as_ref());
            found.ok_or(Error::ListWord { line })
        });
        let mut ids = found.collect::<Result<Vec<_>>>()?;
        ids.sort_unstable();
        ids.dedup();
        match ids.is_empty() {
            true => Err(Error::ListEmpty),
            false => self.of_words(&ids),
        }
    }

    /// A model of the words with these ids, which ascend.
    pub(crate) fn of_words(&self, ids: &[WordId]) -> Result<Model> {
        let mut codes = CodeRows::zeros(self.bits, ids.len());
        let all = self.codes();
        for (i, &id) in ids.iter().enumerate() {
            all.read(id as usize, codes.row_mut(i));
        }
        let words = ids.iter().map(|&id| self.vocabulary.word(id).to_owned());
        let words: Vec<String> = words.collect();
        let blocks = to_blocks(&codes);
        let table = CodeBlocks::new(self.bits, ids.len(), &blocks).ok_or(Error::ListEmpty)?;
        let parts = ModelParts {
            words: &words,
            codes: &codes,
            lowercase: self.lowercase,
            distances: CodeDistances::without_pairs(table),
            calibration: Calibration::default(),
            meta: self.subset_meta(),
            orthography: self.table.clone(),
        };
        let model = parts.write()?;
        match &self.tree {
            Some(tree) => model.with_tree(&tree.among(ids)),
            None => Ok(model),
        }
    }

    /// Where the words come from, without what was measured of all of them.
    fn subset_meta(&self) -> Vec<(String, String)> {
        let name = self.meta_value("name").unwrap_or("unnamed model");
        let mut meta = vec![
            ("name".to_owned(), format!("{name} (some words)")),
            ("subset of".to_owned(), self.identity().to_string()),
        ];
        let kept = ["source", "licence"];
        let from = self.meta.iter().filter(|(key, _)| kept.contains(&&**key));
        meta.extend(from.cloned());
        meta
    }
}

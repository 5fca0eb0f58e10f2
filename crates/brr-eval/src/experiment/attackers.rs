//! The attacker who reads context, with what he knows in an experiment.
//!
//! The *strong* one has learned which word follows which from the texts that are not privatized: the
//! official test half of the data set. The *weak* one has the public language model. Both know the mechanism.

use serde::{Deserialize, Serialize};

use super::families::{BuiltIn, public_language};
use super::{Definition, NamedFamilies, Texts};
use crate::attack::{Chain, Classes, Passage, Plan, Released, Success, Target};
use crate::channel::Similarity;
use crate::dataset::Dataset;
use crate::error::Result;

/// What the attackers reached, kind of word by kind of word.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Attacked {
    /// With the texts that are not privatized.
    pub strong: Vec<Success>,
    /// With the public language model, if it is for these words.
    pub weak: Option<Vec<Success>>,
}

impl Attacked {
    /// The mean over trials; none of none.
    pub(super) fn mean(all: &[&Attacked]) -> Option<Attacked> {
        let strong: Vec<_> = all.iter().map(|a| &a.strong[..]).collect();
        let weak: Option<Vec<_>> = all.iter().map(|a| a.weak.as_deref()).collect();
        Some(Attacked {
            strong: Success::mean(&strong)?,
            weak: weak.and_then(|weak| Success::mean(&weak)),
        })
    }

    /// What the strong attacker reached on words of a kind, if there were any.
    pub fn on(&self, class: &str) -> Option<&Success> {
        let found = self.strong.iter().find(|s| s.class == class);
        found.filter(|s| s.words > 0)
    }

    /// The same of the weak one.
    pub fn weak_on(&self, class: &str) -> Option<&Success> {
        let found = self.weak.iter().flatten().find(|s| s.class == class);
        found.filter(|s| s.words > 0)
    }
}

/// Attackers, ready for any condition of an experiment.
pub struct Attackers {
    strong: Chain,
    weak: Option<Chain>,
    classes: Classes,
    passage: Passage,
    similarity: Similarity,
}

impl Attackers {
    /// Learns. The text under attack is the beginning of the training part.
    pub(super) fn new(
        definition: &Definition,
        set: &Dataset,
        texts: &Texts,
        families: &NamedFamilies,
        built_in: BuiltIn,
    ) -> Result<Attackers> {
        let model = families.vocabulary();
        let his = set.test.iter().chain(&set.shadow);
        let strong = Chain::from_texts(model, his.map(|document| &document.text[..]));
        let mut passage = Passage::default();
        for text in &texts.train {
            passage.add(&text.words, &text.sentences, definition.attack.words);
        }
        let [function, names] = (built_in.lists)(model);
        let language = public_language(definition, built_in, model)?;
        Ok(Attackers {
            classes: Classes::new(model, &strong, function.as_ref(), names.as_ref()),
            weak: language.map(|language| Chain::from_language(&language)),
            similarity: Similarity {
                model: None,
                space: families.space().cloned(),
            },
            strong,
            passage,
        })
    }

    /// Attacks a mechanism that draws these words, with noise from a seed.
    pub(super) fn attack(&self, target: &Target<'_>, seed: u64) -> Result<Attacked> {
        // Trials run side by side already.
        let plan = Plan {
            seed,
            threads: 1,
            ..Plan::default()
        };
        let released = Released::new(target, &self.passage, &plan)?;
        let success = |chain: &Chain| {
            let guesses = released.attack(chain, &|_| {});
            self.classes.score(&guesses, &self.similarity)
        };
        Ok(Attacked {
            strong: success(&self.strong),
            weak: self.weak.as_ref().map(success),
        })
    }
}

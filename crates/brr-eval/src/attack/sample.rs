//! A public sample of text, attacked with a public language model: for whoever has no texts at hand.

use std::sync::Arc;

use brr::parts::mechanism::Mechanism;
use brr::{Language, Model};

use super::{Chain, Passage, Plan, Success, Target, attack};
use crate::error::Result;

/// An attacker with a public language model, before a public text.
pub struct Sample {
    model: Arc<Model>,
    chain: Chain,
    passage: Passage,
}

impl Sample {
    /// The texts, a document on each line. Fails if the language model is for other words.
    pub fn new(model: Arc<Model>, language: &Language, texts: &str) -> Result<Sample> {
        language.check_vocabulary(model.vocabulary())?;
        Ok(Sample {
            chain: Chain::from_language(language),
            passage: Passage::read(&model, texts.lines(), usize::MAX),
            model,
        })
    }

    /// What he reaches on all known words. `model` is the one that the mechanism draws by, if it has one.
    pub fn attack(
        &self,
        mechanism: &dyn Mechanism,
        model: Option<&Arc<Model>>,
        plan: &Plan,
    ) -> Result<Success> {
        let target = Target::new(mechanism, model.unwrap_or(&self.model));
        let guesses = attack(&self.chain, &target, &self.passage, plan, &|_| {})?;
        let known: Vec<_> = guesses
            .iter()
            .filter_map(|guess| Some((guess.word?, *guess)))
            .collect();
        Ok(Success::new("all", &known, &Default::default()))
    }
}

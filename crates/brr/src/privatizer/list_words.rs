//! Lists that spans may name.

use std::sync::Arc;

use super::{Options, Setup};
use crate::all_pairs::OnShare;
use crate::error::{Error, Result};
use crate::mechanism::{Mechanism, MechanismKind};
use crate::model::Model;
use crate::parallel;
use crate::policy::{Policy, Restriction, WordList};
use crate::vocabulary::WordId;

/// A list that spans may name, and the mechanism over its words.
pub struct ListWords {
    list: Arc<WordList>,
    restriction: Restriction,
    mechanism: Box<dyn Mechanism>,
    /// Whether it is one of proper nouns.
    proper: bool,
}

impl ListWords {
    pub fn new(model: &Model, options: &Options, list: Arc<WordList>) -> Result<ListWords> {
        const SILENT: OnShare<'_> = &|_| {};
        let options = options
            .clone()
            .with_policy(Policy::Only(list.clone()))
            .with_context(None);
        let restriction = Restriction::new(model, &options.policy)?;
        let mut restriction = restriction.ok_or(Error::NothingPrivate)?;
        if options.mechanism == MechanismKind::Exponential {
            let budget = options.budget.validate()?;
            let certified = restriction
                .model
                .certified(budget, parallel::cores(), SILENT)?;
            restriction.model = Arc::new(certified);
        }
        let mechanism = Setup::new(&restriction.model, &options)?.mechanism;
        let nouns = options.proper_nouns.as_ref();
        let proper = |word: &&WordId| nouns.is_some_and(|nouns| nouns.contains(**word));
        let capitals = list.words().iter().filter(proper).count();
        Ok(ListWords {
            proper: 2 * capitals > list.len(),
            list,
            restriction,
            mechanism,
        })
    }

    pub fn list(&self) -> &WordList {
        &self.list
    }

    pub fn name(&self) -> &str {
        self.list.name()
    }

    pub fn mechanism(&self) -> &dyn Mechanism {
        &*self.mechanism
    }

    /// Its words among all.
    pub fn restriction(&self) -> &Restriction {
        &self.restriction
    }

    /// Whether it is one of proper nouns.
    pub fn is_proper(&self) -> bool {
        self.proper
    }
}

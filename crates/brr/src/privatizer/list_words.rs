//! Lists that spans may name.

use std::sync::Arc;

use super::{Options, Privatizer, Setup};
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

impl Privatizer {
    /// With a list that [spans](crate::Span) may name: they draw among its words alone, by a mechanism
    /// over these for the same budget. Fails with a privatizer that decodes with context or shows which
    /// tokens are unknown, as spans do. The exponential mechanism is certified on them, which looks at
    /// all their pairs.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # let model = Arc::new(brr::Model::open("../brr-english/src/english.brr")?);
    /// use brr::{Options, Privatizer, Span, WordList};
    ///
    /// let colours = WordList::new("colours", "red\ngreen\nblue\nyellow\n", &model)?;
    /// let privatizer = Privatizer::new(model, Options::default())?.with_list(Arc::new(colours))?;
    /// let private = privatizer.privatize_spans("My Car is Red.", &[Span::of(10..13, "colours")])?;
    /// assert!(private.text.starts_with("My Car is ") && private.text.ends_with('.'));
    /// # Ok::<(), brr::Error>(())
    /// ```
    pub fn with_list(mut self, list: Arc<WordList>) -> Result<Privatizer> {
        self.check_spans()?;
        if self.lists.iter().any(|known| known.name() == list.name()) {
            return Err(Error::ListTwice);
        }
        let list = ListWords::new(&self.model, &self.options, list)?;
        self.lists.push(list);
        Ok(self)
    }

    /// The lists that spans may name.
    pub fn lists(&self) -> impl Iterator<Item = &WordList> {
        self.lists.iter().map(ListWords::list)
    }

    pub(crate) fn list_words(&self) -> &[ListWords] {
        &self.lists
    }
}

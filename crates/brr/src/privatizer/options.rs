//! What can be chosen.

use std::sync::Arc;

use crate::guarantee::Budget;
use crate::language::Language;
use crate::mechanism::{MechanismKind, Search};
use crate::policy::{Policy, WordList};
use crate::text::{Case, Layout, Unknown};

/// Everything that can be chosen: start from the defaults, and change what should differ.
///
/// ```
/// use brr::{Budget, Layout, MechanismKind, Options, Unknown};
///
/// let options = Options::default()
///     .with_mechanism(MechanismKind::Brr)
///     .with_budget(Budget::Epsilon(1.5))
///     .with_layout(Layout::Words);
/// assert_eq!(options.unknown, Unknown::Random);
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Options {
    /// The mechanism.
    pub mechanism: MechanismKind,
    /// How much privacy.
    pub budget: Budget,
    /// What of the structure is kept.
    pub layout: Layout,
    /// What becomes of tokens without a code.
    pub unknown: Unknown,
    /// How BRR finds the nearest word.
    pub search: Search,
    /// The language model with which the draws of a text are decoded together, if they are
    /// ([`crate::Language`]): at no cost in privacy, the text reads. It is a plausible text, not
    /// what was written.
    pub context: Option<Arc<Language>>,
    /// Which words are private.
    pub policy: Policy,
    /// How words are written.
    pub case: Case,
    /// Words that [`Case::Sentence`] writes with a capital letter wherever they stand.
    pub proper_nouns: Option<Arc<WordList>>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            mechanism: MechanismKind::default(),
            budget: Budget::DEFAULT,
            layout: Layout::default(),
            unknown: Unknown::default(),
            search: Search::default(),
            context: None,
            policy: Policy::All,
            case: Case::default(),
            proper_nouns: None,
        }
    }
}

impl Options {
    /// Another mechanism.
    pub fn with_mechanism(self, mechanism: MechanismKind) -> Options {
        Options { mechanism, ..self }
    }

    /// Another budget.
    pub fn with_budget(self, budget: Budget) -> Options {
        Options { budget, ..self }
    }

    /// Another layout.
    pub fn with_layout(self, layout: Layout) -> Options {
        Options { layout, ..self }
    }

    /// Another rule for tokens without a code.
    pub fn with_unknown(self, unknown: Unknown) -> Options {
        Options { unknown, ..self }
    }

    /// Another search for BRR.
    pub fn with_search(self, search: Search) -> Options {
        Options { search, ..self }
    }

    /// With draws that are decoded together, or without.
    pub fn with_context(self, context: Option<Arc<Language>>) -> Options {
        Options { context, ..self }
    }

    /// Another rule for what is private.
    pub fn with_policy(self, policy: Policy) -> Options {
        Options { policy, ..self }
    }

    /// Another way to write words.
    pub fn with_case(self, case: Case) -> Options {
        Options { case, ..self }
    }

    /// With a list of proper nouns, or without.
    pub fn with_proper_nouns(self, proper_nouns: Option<Arc<WordList>>) -> Options {
        Options {
            proper_nouns,
            ..self
        }
    }
}

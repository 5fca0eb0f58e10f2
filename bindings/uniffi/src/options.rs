//! What can be chosen. Which of it is the default, only the core says.

use std::sync::Arc;

use brr::{Case, Choice, Layout, MechanismKind, Search, Unknown};

use crate::Language;

/// Which mechanism draws the words.
#[derive(Clone, Copy, uniffi::Enum)]
pub enum Mechanism {
    /// The exponential mechanism over the model's codes, with a certified epsilon.
    Exponential,
    /// Binary randomized response over the same codes: the paper's.
    Brr,
    /// Tree response over the model's tree: mostly a word of the same small group.
    Tree,
    /// K-ary randomized response: the word itself with a fixed probability, otherwise any word.
    KAry,
}

// A mechanism that the core gets, and that is missing above, does not compile. (The compiler
// compares the other enumerations with the core's by itself.)
const _: () = assert!(MechanismKind::ALL.len() == 4);

/// How much privacy.
#[derive(Clone, Copy, uniffi::Enum)]
pub enum Budget {
    /// The loss per unit of the mechanism's distance: a bit in which two codes differ, a level of
    /// the tree, or 1 between any two words.
    Epsilon {
        /// A positive number.
        value: f64,
    },
    /// The privacy-loss bound: epsilon times the average distance of two words.
    Bound {
        /// A positive number.
        value: f64,
    },
    /// The expected share of words that stay as they are, met from below.
    Keep {
        /// Between 0 and 1.
        value: f64,
    },
}

/// What of a text's structure is kept.
#[uniffi::remote(Enum)]
pub enum Layout {
    /// White space, line-break tags and listed punctuation.
    Keep,
    /// Nothing: words with single spaces between them.
    Words,
}

/// What becomes of a token that has no code.
#[uniffi::remote(Enum)]
pub enum Unknown {
    /// A random word: the output does not tell that it was unknown.
    Random,
    /// `<unk>`. Tells which tokens are unknown.
    Mask,
    /// Nothing. Tells how many tokens are unknown, and mostly where.
    Drop,
    /// Itself: NOT PRIVATE.
    Keep,
}

/// How BRR finds the nearest word; the answers are the same.
#[uniffi::remote(Enum)]
pub enum Search {
    /// Looks at every code, in a time that tells nothing about the word.
    Scan,
    /// Multi-index hashing: faster at a large epsilon, in a time that depends on the noisy code.
    MultiIndex,
}

/// How words are written.
#[uniffi::remote(Enum)]
pub enum Case {
    /// As the model spells them.
    Plain,
    /// With capital letters by the output alone: at the start of sentences, in "I", and in names
    /// and places.
    Sentence,
}

/// Everything that can be chosen. What is left out has the core's default: the
/// exponential mechanism, at most half of the words kept, layout kept, unknown
/// tokens replaced at random.
#[derive(uniffi::Record)]
pub struct Options {
    /// The mechanism.
    #[uniffi(default = None)]
    pub mechanism: Option<Mechanism>,
    /// How much privacy.
    #[uniffi(default = None)]
    pub budget: Option<Budget>,
    /// What of the structure is kept.
    #[uniffi(default = None)]
    pub layout: Option<Layout>,
    /// What becomes of tokens without a code.
    #[uniffi(default = None)]
    pub unknown: Option<Unknown>,
    /// How BRR finds the nearest word.
    #[uniffi(default = None)]
    pub search: Option<Search>,
    /// The language model with which the draws of a text are decoded together, which costs no
    /// privacy; without one they are not. The text reads then: it is a plausible text, not what
    /// was written.
    #[uniffi(default = None)]
    pub context: Option<Arc<Language>>,
    /// Words that stay as they are, all others being private. Fix them before any text is seen:
    /// which of them stand where is then public, and the adjacency says so.
    #[uniffi(default = None)]
    pub public: Option<Words>,
    /// Instead: the only words that are private, beside those that the model does not know.
    #[uniffi(default = None)]
    pub private: Option<Words>,
    /// Whether capital letters are written.
    #[uniffi(default = None)]
    pub case: Option<Case>,
}

/// A list of words.
#[derive(Clone, uniffi::Enum)]
pub enum Words {
    /// A built-in list: "function-words", "names", "places", or several with '+' between them.
    Named {
        /// Its name.
        name: String,
    },
    /// Words of the model.
    Given {
        /// Each once, in any case.
        words: Vec<String>,
    },
}

impl Words {
    /// As the core reads it.
    fn stated(&self) -> String {
        match self {
            Words::Named { name } => name.replace('\n', " "),
            Words::Given { words } => words.join("\n") + "\n",
        }
    }
}

impl Options {
    /// The core's options, for a model.
    pub fn of(self, model: &brr::Model) -> brr::Result<brr::Options> {
        let [public, private] =
            [&self.public, &self.private].map(|words| words.as_ref().map(Words::stated));
        let policy = brr_english::policy(public.as_deref(), private.as_deref(), model)?;
        let case = self.case.unwrap_or_default();
        let options = brr::Options::from(self).with_policy(policy);
        Ok(brr_english::with_case(options, case, model))
    }
}

/// All but what depends on a model.
impl From<Options> for brr::Options {
    fn from(options: Options) -> brr::Options {
        let core = brr::Options::default();
        let mechanism = options.mechanism.map_or(core.mechanism, |m| match m {
            Mechanism::Brr => MechanismKind::Brr,
            Mechanism::Exponential => MechanismKind::Exponential,
            Mechanism::Tree => MechanismKind::Tree,
            Mechanism::KAry => MechanismKind::KAry,
        });
        let budget = options.budget.map_or(core.budget, |b| match b {
            Budget::Epsilon { value } => brr::Budget::Epsilon(value),
            Budget::Bound { value } => brr::Budget::Bound(value),
            Budget::Keep { value } => brr::Budget::Keep(value),
        });
        let layout = options.layout.unwrap_or(core.layout);
        let unknown = options.unknown.unwrap_or(core.unknown);
        let search = options.search.unwrap_or(core.search);
        core.with_mechanism(mechanism)
            .with_budget(budget)
            .with_layout(layout)
            .with_unknown(unknown)
            .with_search(search)
            .with_context(options.context.map(|language| language.0.clone()))
    }
}

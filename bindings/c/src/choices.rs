//! The core's choices by number: C programs have constants for them, the core has names.
//!
//! The numbers are part of the library's interface and stay; which choices there are, and
//! which of them is the default, only the core says.

use brr::{Budget, Case, Choice, Layout, MechanismKind, Search, Unknown};

use crate::failure::Failure;

/// Binary randomized response: the paper's mechanism.
pub const BRR_MECHANISM_BRR: u32 = 0;
/// The exponential mechanism over the same codes, with a certified epsilon.
pub const BRR_MECHANISM_EXPONENTIAL: u32 = 1;
/// Tree response over the model's tree: mostly a word of the same small group.
pub const BRR_MECHANISM_TREE: u32 = 2;
/// K-ary randomized response: the word itself with a fixed probability, otherwise any word.
pub const BRR_MECHANISM_K_ARY: u32 = 3;

/// `value` is epsilon, the loss per unit of the mechanism's distance: a bit in which two codes
/// differ, a level of the tree, or 1 between any two words.
pub const BRR_BUDGET_EPSILON: u32 = 0;
/// `value` is the privacy-loss bound: epsilon times the average distance.
pub const BRR_BUDGET_BOUND: u32 = 1;
/// `value` is the expected share of words that stay, between 0 and 1.
pub const BRR_BUDGET_KEEP: u32 = 2;

/// White space, HTML line breaks and listed punctuation are kept.
pub const BRR_LAYOUT_KEEP: u32 = 0;
/// Words with single spaces between them, and nothing else.
pub const BRR_LAYOUT_WORDS: u32 = 1;

/// Tokens that the model does not know become random words.
pub const BRR_UNKNOWN_RANDOM: u32 = 0;
/// They become `<unk>`, which tells which tokens are unknown.
pub const BRR_UNKNOWN_MASK: u32 = 1;
/// They are left out, which tells how many tokens are unknown.
pub const BRR_UNKNOWN_DROP: u32 = 2;
/// They are written as they are: NOT PRIVATE.
pub const BRR_UNKNOWN_KEEP: u32 = 3;

/// BRR looks at every code, in a time that tells nothing about the word.
pub const BRR_SEARCH_SCAN: u32 = 0;
/// BRR uses multi-index hashing: faster at a large epsilon, in a time that depends on the
/// noisy code.
pub const BRR_SEARCH_MULTI_INDEX: u32 = 1;

/// Words are written as the model spells them.
pub const BRR_CASE_PLAIN: u32 = 0;
/// With capital letters by the output alone: at the start of sentences, in "I", and in names
/// and places.
pub const BRR_CASE_SENTENCE: u32 = 1;

/// A choice that C programs make by number.
pub trait Numbered: Choice {
    /// The number of each.
    const NUMBERS: &'static [(u32, Self)];

    /// The number of this one.
    fn number(self) -> u32 {
        let found = Self::NUMBERS.iter().find(|(_, choice)| *choice == self);
        found.map_or(u32::MAX, |(number, _)| *number)
    }

    /// The one with this number.
    fn numbered(number: u32) -> Result<Self, Failure> {
        let found = Self::NUMBERS.iter().find(|(known, _)| *known == number);
        let none = || Failure::argument(&format!("there is no such {}", Self::WHAT));
        found.map(|(_, choice)| *choice).ok_or_else(none)
    }
}

impl Numbered for MechanismKind {
    const NUMBERS: &'static [(u32, MechanismKind)] = &[
        (BRR_MECHANISM_BRR, MechanismKind::Brr),
        (BRR_MECHANISM_EXPONENTIAL, MechanismKind::Exponential),
        (BRR_MECHANISM_TREE, MechanismKind::Tree),
        (BRR_MECHANISM_K_ARY, MechanismKind::KAry),
    ];
}

impl Numbered for Layout {
    const NUMBERS: &'static [(u32, Layout)] = &[
        (BRR_LAYOUT_KEEP, Layout::Keep),
        (BRR_LAYOUT_WORDS, Layout::Words),
    ];
}

impl Numbered for Case {
    const NUMBERS: &'static [(u32, Case)] = &[
        (BRR_CASE_PLAIN, Case::Plain),
        (BRR_CASE_SENTENCE, Case::Sentence),
    ];
}

impl Numbered for Unknown {
    const NUMBERS: &'static [(u32, Unknown)] = &[
        (BRR_UNKNOWN_RANDOM, Unknown::Random),
        (BRR_UNKNOWN_MASK, Unknown::Mask),
        (BRR_UNKNOWN_DROP, Unknown::Drop),
        (BRR_UNKNOWN_KEEP, Unknown::Keep),
    ];
}

impl Numbered for Search {
    const NUMBERS: &'static [(u32, Search)] = &[
        (BRR_SEARCH_SCAN, Search::Scan),
        (BRR_SEARCH_MULTI_INDEX, Search::MultiIndex),
    ];
}

// A choice that the core gets, and that has no number here, does not compile.
const _: () = {
    assert!(MechanismKind::NUMBERS.len() == MechanismKind::ALL.len());
    assert!(Layout::NUMBERS.len() == Layout::ALL.len());
    assert!(Unknown::NUMBERS.len() == Unknown::ALL.len());
    assert!(Search::NUMBERS.len() == Search::ALL.len());
    assert!(Budget::NAMES.len() == BRR_BUDGET_KEEP as usize + 1);
};

/// A budget's kind and value: kinds are numbered as in the core's table.
pub fn budget_number(budget: Budget) -> (u32, f64) {
    let (kind, value) = budget.parts();
    (kind as u32, value)
}

/// The budget of this kind and value.
pub fn budget_numbered(kind: u32, value: f64) -> Result<Budget, Failure> {
    match kind {
        BRR_BUDGET_EPSILON => Ok(Budget::Epsilon(value)),
        BRR_BUDGET_BOUND => Ok(Budget::Bound(value)),
        BRR_BUDGET_KEEP => Ok(Budget::Keep(value)),
        _ => Err(Failure::argument("there is no such budget")),
    }
}

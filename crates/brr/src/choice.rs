//! Choices by name: the one table from which the program and every binding take their names,
//! defaults and messages.

use crate::error::{Error, Result};
use crate::mechanism::{MechanismKind, Search};
use crate::model::Model;
use crate::text::{Case, Layout, Unknown};

/// One of a few things to choose from, each with a name.
///
/// ```
/// use brr::{Choice, MechanismKind};
///
/// assert_eq!(MechanismKind::parse("brr")?, MechanismKind::Brr);
/// assert_eq!(MechanismKind::default().name(), "exponential");
/// for (name, _, meaning) in MechanismKind::ALL {
///     println!("{name}: {meaning}");
/// }
/// # Ok::<(), brr::Error>(())
/// ```
pub trait Choice: Copy + PartialEq + Default + 'static {
    /// What is chosen, as messages call it.
    const WHAT: &'static str;

    /// All there are: name, choice, and what it means. The default comes first.
    const ALL: &'static [(&'static str, Self, &'static str)];

    /// The name of this one.
    fn name(self) -> &'static str {
        let found = Self::ALL.iter().find(|(_, choice, _)| *choice == self);
        found.map_or("", |(name, ..)| name)
    }

    /// The one with this name. The message lists the names; it does not repeat this one, which
    /// may be anything.
    fn parse(name: &str) -> Result<Self> {
        let found = Self::ALL.iter().find(|(known, ..)| *known == name);
        found.map(|(_, choice, _)| *choice).ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|(name, ..)| *name).collect();
            Error::UnknownChoice {
                what: Self::WHAT,
                names: names.join(", "),
            }
        })
    }
}

impl Choice for MechanismKind {
    const WHAT: &'static str = "mechanism";
    const ALL: &'static [(&'static str, MechanismKind, &'static str)] = &[
        (
            "exponential",
            MechanismKind::Exponential,
            "The exponential mechanism over the model's codes, certified where the model allows it",
        ),
        (
            "brr",
            MechanismKind::Brr,
            "Randomized response on the bits of a word's code, then the nearest word: the paper's",
        ),
        (
            "tree",
            MechanismKind::Tree,
            "Tree response: mostly a word of the same small group, of a tree that the model has",
        ),
        (
            "k-ary",
            MechanismKind::KAry,
            "The word itself with a fixed probability, otherwise any word: the smallest loss between any two words",
        ),
    ];
}

impl MechanismKind {
    /// Names of the mechanisms that a model can serve: tree response needs a tree.
    pub fn offered_by(model: &Model) -> Vec<&'static str> {
        let serves = |kind: MechanismKind| kind != MechanismKind::Tree || model.tree().is_some();
        let all = MechanismKind::ALL.iter();
        let offered = all.filter(|(_, kind, _)| serves(*kind));
        offered.map(|(name, ..)| *name).collect()
    }
}

impl Choice for Layout {
    const WHAT: &'static str = "layout";
    const ALL: &'static [(&'static str, Layout, &'static str)] = &[
        (
            "keep",
            Layout::Keep,
            "White space, HTML line breaks and single punctuation marks of a list",
        ),
        (
            "words",
            Layout::Words,
            "Nothing: words with single spaces between them",
        ),
    ];
}

impl Choice for Case {
    const WHAT: &'static str = "case";
    const ALL: &'static [(&'static str, Case, &'static str)] = &[
        ("plain", Case::Plain, "As the model spells words"),
        (
            "sentence",
            Case::Sentence,
            "Capital letters by the output alone: at the start of sentences, in \"I\", and in names and places",
        ),
    ];
}

impl Choice for Unknown {
    const WHAT: &'static str = "rule for unknown words";
    const ALL: &'static [(&'static str, Unknown, &'static str)] = &[
        (
            "random",
            Unknown::Random,
            "A random word, whatever the token was",
        ),
        (
            "mask",
            Unknown::Mask,
            "The token <unk>, which shows which words are unknown",
        ),
        (
            "drop",
            Unknown::Drop,
            "Nothing, which shows how many words are unknown",
        ),
        (
            "keep",
            Unknown::Keep,
            "The word itself, which is not private",
        ),
    ];
}

impl Choice for Search {
    const WHAT: &'static str = "search";
    const ALL: &'static [(&'static str, Search, &'static str)] = &[
        (
            "scan",
            Search::Scan,
            "Look at every code, so that the time does not depend on the word",
        ),
        (
            "multi-index",
            Search::MultiIndex,
            "Multi-index hashing: faster above an epsilon of about 2.1 (256 bits), but the time depends on the noisy code",
        ),
    ];
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names_lead_back<T: Choice + std::fmt::Debug>() {
        for (name, choice, _) in T::ALL {
            assert_eq!(T::parse(name).unwrap(), *choice);
            assert_eq!(choice.name(), *name);
        }
        let message = T::parse("my secret").unwrap_err().to_string();
        assert!(
            message.contains(T::ALL[0].0) && !message.contains("secret"),
            "{message}"
        );
        assert_eq!(T::ALL[0].1, T::default());
    }

    #[test]
    fn every_choice_has_a_name_of_its_own() {
        names_lead_back::<MechanismKind>();
        names_lead_back::<Layout>();
        names_lead_back::<Case>();
        names_lead_back::<Unknown>();
        names_lead_back::<Search>();
    }
}

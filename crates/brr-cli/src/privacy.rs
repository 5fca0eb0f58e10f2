//! Options that decide what is promised: shared by every verb that privatizes.

use std::path::PathBuf;
use std::sync::Arc;

use brr::{Budget, Choice, MechanismKind, Model};

use crate::failure::Result;
use crate::model_source;
use crate::usage::{choice, positive, share};

/// Model, mechanism and budget: shared by every verb that privatizes.
#[derive(clap::Args)]
pub struct PrivacyArgs {
    /// Model file [default: built-in English]
    #[arg(short, long, value_name = "FILE")]
    pub model: Option<PathBuf>,
    /// Mechanism that draws the words
    #[arg(long, value_name = "NAME", value_parser = choice::<MechanismKind>(), default_value = MechanismKind::default().name())]
    pub mechanism: MechanismKind,
    /// Privacy loss per unit of the mechanism's distance: a bit of the code for exponential and
    /// brr, a level of the tree for tree, 1 between any two words for k-ary
    #[arg(long, value_name = "E", group = "budget", value_parser = positive)]
    pub epsilon: Option<f64>,
    /// Privacy loss at the average pair of words: epsilon times their average distance
    #[arg(long, value_name = "C", group = "budget", value_parser = positive)]
    pub bound: Option<f64>,
    /// Largest expected share of words that stay as they are, between 0 and 1; where some words are
    /// public, of the private ones
    #[arg(long, value_name = "P", group = "budget", value_parser = share)]
    pub keep: Option<f64>,
}

impl PrivacyArgs {
    /// The model. What its file says is checked if the guarantee or the budget rests on it.
    pub fn open_model(&self) -> Result<Arc<Model>> {
        let by_itself = match self.mechanism {
            MechanismKind::Brr => self.epsilon.or(self.bound).is_some(),
            MechanismKind::Tree | MechanismKind::KAry => true,
            _ => false,
        };
        match by_itself {
            true => model_source::open(self.model.as_deref()),
            false => model_source::open_checked(self.model.as_deref()),
        }
    }

    /// The budget asked for, or the default.
    pub fn budget(&self) -> Budget {
        match (self.epsilon, self.bound, self.keep) {
            (Some(x), _, _) => Budget::Epsilon(x),
            (_, Some(x), _) => Budget::Bound(x),
            (_, _, Some(x)) => Budget::Keep(x),
            _ => Budget::DEFAULT,
        }
    }

    /// Whether none was asked for.
    pub fn is_default(&self) -> bool {
        self.epsilon.or(self.bound).or(self.keep).is_none()
    }
}

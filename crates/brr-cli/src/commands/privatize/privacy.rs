//! Options that decide what is promised: shared by every verb that privatizes.

use std::path::PathBuf;
use std::sync::Arc;

use brr::mechanism::Search;
use brr::{Budget, Layout, MechanismKind, Model, Unknown};
use clap::ValueEnum;

use crate::model_source;
use crate::usage::Refused;

/// Model, mechanism and budget: shared by every verb that privatizes.
#[derive(clap::Args)]
pub struct PrivacyArgs {
    /// Model file [default: built-in English]
    #[arg(short, long, value_name = "FILE")]
    pub model: Option<PathBuf>,
    /// How words are drawn
    #[arg(long, value_enum, default_value = "brr")]
    pub mechanism: MechanismArg,
    /// Privacy loss per unit of the mechanism's distance (per bit of the code)
    #[arg(long, value_name = "E", group = "budget", allow_negative_numbers = true, value_parser = positive)]
    pub epsilon: Option<f64>,
    /// Privacy-loss bound: epsilon times the average distance of two words
    #[arg(long, value_name = "C", group = "budget", allow_negative_numbers = true, value_parser = positive)]
    pub bound: Option<f64>,
    /// Expected share of words that stay as they are, between 0 and 1
    #[arg(long, value_name = "P", group = "budget", allow_negative_numbers = true, value_parser = share)]
    pub keep: Option<f64>,
}

/// A positive finite number.
pub fn positive(text: &str) -> Result<f64, Refused> {
    match text.parse::<f64>() {
        Ok(x) if x.is_finite() && x > 0.0 => Ok(x),
        _ => Err(Refused::new("must be a positive number, such as 0.5")),
    }
}

/// A number between 0 and 1.
pub fn share(text: &str) -> Result<f64, Refused> {
    match text.parse::<f64>() {
        Ok(x) if x > 0.0 && x < 1.0 => Ok(x),
        _ => Err(Refused::new("must lie between 0 and 1, such as 0.5")),
    }
}

impl PrivacyArgs {
    /// The model. What its file says is checked if the guarantee or the budget rests on it.
    pub fn open_model(&self) -> crate::failure::Result<Arc<Model>> {
        let brr = matches!(self.mechanism, MechanismArg::Brr);
        let by_itself = self.epsilon.or(self.bound).is_some();
        match brr && by_itself {
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

#[derive(Clone, Copy, ValueEnum)]
pub enum MechanismArg {
    /// Binary randomized response (the paper's)
    Brr,
    /// The exponential mechanism over the same codes
    Exponential,
}

impl From<MechanismArg> for MechanismKind {
    fn from(arg: MechanismArg) -> MechanismKind {
        match arg {
            MechanismArg::Brr => MechanismKind::Brr,
            MechanismArg::Exponential => MechanismKind::Exponential,
        }
    }
}

#[derive(Clone, Copy, ValueEnum)]
pub enum LayoutArg {
    /// White space and a short list of punctuation
    Keep,
    /// Nothing: words with single spaces between them
    Words,
}

impl From<LayoutArg> for Layout {
    fn from(arg: LayoutArg) -> Layout {
        match arg {
            LayoutArg::Keep => Layout::Keep,
            LayoutArg::Words => Layout::Words,
        }
    }
}

#[derive(Clone, Copy, ValueEnum)]
pub enum UnknownArg {
    /// A uniformly random word
    Random,
    /// `<unk>`; tells which words are unknown
    Mask,
    /// Nothing; tells how many words are unknown
    Drop,
    /// The word itself: not private
    Keep,
}

impl From<UnknownArg> for Unknown {
    fn from(arg: UnknownArg) -> Unknown {
        match arg {
            UnknownArg::Random => Unknown::Random,
            UnknownArg::Mask => Unknown::Mask,
            UnknownArg::Drop => Unknown::Drop,
            UnknownArg::Keep => Unknown::Keep,
        }
    }
}

#[derive(Clone, Copy, ValueEnum)]
pub enum SearchArg {
    /// Look at every code: the time tells nothing about the word
    Scan,
    /// Hash tables: faster at large epsilon, but the time depends on the noisy code
    MultiIndex,
}

impl From<SearchArg> for Search {
    fn from(arg: SearchArg) -> Search {
        match arg {
            SearchArg::Scan => Search::Scan,
            SearchArg::MultiIndex => Search::MultiIndex,
        }
    }
}

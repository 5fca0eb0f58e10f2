//! From a budget to a mechanism.

use std::ops::RangeInclusive;
use std::sync::Arc;

use super::{KeptWords, Options};
use crate::calibration::Calibration;
use crate::choice::Choice;
use crate::epsilon::Epsilon;
use crate::error::{Error, Result};
use crate::frequency::Keep;
use crate::guarantee::Budget;
use crate::mechanism::{Brr, Exponential, Kary, Mechanism, MechanismKind, TreeResponse};
use crate::model::{Model, Standing};
use crate::policy::Policy;

/// A mechanism, and how many words it keeps.
pub struct Setup {
    pub mechanism: Box<dyn Mechanism>,
    pub keep: Option<Keep>,
    /// What these are a share of.
    pub kept_words: KeptWords,
    pub keep_within: RangeInclusive<f64>,
}

impl Setup {
    /// Over the words of a model, all of which are private: under a policy, a model of the private words.
    pub fn new(model: &Arc<Model>, options: &Options) -> Result<Setup> {
        let budget = options.budget.validate()?;
        let budget = after_decoding(model, options, budget)?;
        let (mechanism, keep, keep_within): (Box<dyn Mechanism>, _, _) = match options.mechanism {
            MechanismKind::Brr => {
                let brr = Brr::new(
                    model.clone(),
                    brr_epsilon(model, budget).map_err(|error| under(options, error))?,
                );
                let brr = brr.with_search(options.search);
                let (table, epsilon) = (model.calibration(), brr.guarantee().epsilon);
                let keep = table.and_then(|t| t.keep_at(epsilon));
                let within = brr_keeps_within(model, epsilon);
                (Box::new(brr), keep, within)
            }
            MechanismKind::Exponential => {
                let exponential = Exponential::for_budget(model.clone(), budget)
                    .map_err(|error| under(options, error))?;
                let (keep, within) = (exponential.keep(), exponential.keep_within());
                if options.context.is_some() {
                    // Now: a process that forks later must not find another thread at it.
                    exponential.log_channel();
                }
                (Box::new(exponential), keep, within)
            }
            MechanismKind::Tree => {
                let tree = TreeResponse::for_budget(model.clone(), budget)?;
                let (keep, within) = (tree.keep(), tree.keep_within());
                (Box::new(tree), Some(keep), within)
            }
            MechanismKind::KAry => {
                let kary = Kary::for_budget(model.vocabulary().len(), budget)?;
                let (keep, within) = (kary.expected_keep(), kary.keep_within());
                (Box::new(kary), Some(keep), within)
            }
        };
        let kept_words = kept_words(model, options);
        let keep = match (&options.context, kept_words) {
            (None, _) | (_, KeptWords::Drawn) => keep,
            (Some(_), _) => decoded_keep(model, options)
                .and_then(|table| table.keep_at(mechanism.guarantee().epsilon)),
        };
        Ok(Setup {
            mechanism,
            keep,
            kept_words,
            keep_within,
        })
    }
}

/// Nobody has measured a share over the private words of a policy: other errors speak of files.
fn under(options: &Options, error: Error) -> Error {
    match error {
        Error::UncheckedModel | Error::NoCalibration { .. } if options.policy != Policy::All => {
            Error::NoPolicyKeep
        }
        error => error,
    }
}

/// What stays of a model's words after decoding, if that was measured for this mechanism.
fn decoded_keep<'a>(model: &Model, options: &'a Options) -> Option<&'a Calibration> {
    let language = options.context.as_ref()?;
    language.decoded_keep(model.identity(), options.mechanism.name())
}

/// What a share of kept words is one of. Where nobody measured what stays of a policy's private words
/// after decoding, it is one of the draws.
fn kept_words(model: &Model, options: &Options) -> KeptWords {
    match (&options.policy, &options.context) {
        (Policy::All, _) => KeptWords::All,
        (_, None) => KeptWords::Private,
        (_, Some(_)) if is_measured(model, options) => KeptWords::Private,
        (_, Some(_)) => KeptWords::Drawn,
    }
}

/// Whether it is known what stays of a policy's private words after decoding. Of the exponential mechanism
/// it is known with a certificate: textbook weights keep fewer words at the same epsilon.
fn is_measured(private: &Model, options: &Options) -> bool {
    let exponential = options.mechanism == MechanismKind::Exponential;
    let has_weights = !exponential || !private.certificates().is_empty();
    has_weights && decoded_keep(private, options).is_some()
}

/// The budget over a policy's private words for which the exponential mechanism is to be certified.
pub fn to_certify(private: &Model, options: &Options) -> Result<Budget> {
    match (options.budget.validate()?, decoded_keep(private, options)) {
        (Budget::Keep(share), Some(table)) => Ok(Budget::Epsilon(table.epsilon_for(share)?.get())),
        (budget, _) => Ok(budget),
    }
}

/// A share of kept words is one of the text that leaves: with context, the epsilon that gives it after
/// decoding, unless it has to be one of the draws ([`kept_words`]).
fn after_decoding(model: &Model, options: &Options, budget: Budget) -> Result<Budget> {
    let drawn = options.context.is_none() || kept_words(model, options) == KeptWords::Drawn;
    let (Budget::Keep(share), false) = (budget, drawn) else {
        return Ok(budget);
    };
    let table = decoded_keep(model, options).ok_or(Error::NoDecodedKeep)?;
    Ok(Budget::Epsilon(table.epsilon_for(share)?.get()))
}

fn brr_epsilon(model: &Model, budget: Budget) -> Result<Epsilon> {
    match budget {
        Budget::Epsilon(value) => Epsilon::new(value),
        Budget::Bound(value) => Budget::epsilon_for_bound(value, &model.pair_distances()),
        Budget::Keep(_) if model.standing() == Standing::Unchecked => Err(Error::UncheckedModel),
        Budget::Keep(value) => {
            let none = Error::NoCalibration { mechanism: "brr" };
            model.calibration().ok_or(none)?.epsilon_for(value)
        }
    }
}

/// What the table bounds; and if no two codes are equal, a word stays at least as often as no bit flips.
fn brr_keeps_within(model: &Model, epsilon: f64) -> RangeInclusive<f64> {
    let table = model.calibration();
    let (low, high) = table.map_or((0.0, 1.0), |t| t.keep_within(epsilon).into_inner());
    let unflipped = match model.code_distances().nearest_min > 0 {
        true => libm::exp(-(model.bits().get() as f64) * libm::log1p(libm::exp(-epsilon))),
        false => 0.0,
    };
    low.max(unflipped)..=high
}

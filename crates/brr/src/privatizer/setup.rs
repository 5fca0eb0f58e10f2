//! From a budget to a mechanism.

use std::ops::RangeInclusive;
use std::sync::Arc;

use super::Options;
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
    pub keep_within: RangeInclusive<f64>,
}

impl Setup {
    /// Over a model's words, all of which are private.
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
                    exponential.log_shares();
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
        let keep = match (&options.context, &options.policy) {
            (Some(_), Policy::All) => decoded_keep(model, options)
                .and_then(|table| table.keep_at(mechanism.guarantee().epsilon)),
            _ => keep,
        };
        Ok(Setup {
            mechanism,
            keep,
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

/// What stays after decoding, if that is known of this mechanism.
fn decoded_keep<'a>(model: &Model, options: &'a Options) -> Option<&'a Calibration> {
    let language = options.context.as_ref()?;
    language.decoded_keep(model.identity(), options.mechanism.name())
}

/// A share of kept words is one of the text that leaves: with context, the epsilon that gives it after
/// decoding. Under a policy, that is not known, and it is one of the private words as drawn.
fn after_decoding(model: &Model, options: &Options, budget: Budget) -> Result<Budget> {
    let (Budget::Keep(share), Some(_), Policy::All) = (budget, &options.context, &options.policy)
    else {
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

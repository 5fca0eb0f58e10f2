//! Conditions: a mechanism at a budget, on a number of texts.

use std::sync::Arc;

use brr::parts::epsilon::Epsilon;
use brr::parts::mechanism::Mechanism;
use brr::{Guarantee, Language, Model};

use super::definition::{Definition, Wanted};
use super::{NamedFamilies, NamedFamily};
use crate::calibrate::useful_bounds;
use crate::error::{Error, Result};

/// What happens to the training texts.
#[derive(Clone)]
pub enum Treatment {
    /// Nothing: the baseline.
    Original,
    /// Nothing, and the classifier is made to overfit: shows that the membership
    /// attack works.
    Overfitted,
    /// They are privatized, and decoded with a language model if there is one.
    Privatized(Arc<dyn Mechanism>, Option<Arc<Language>>),
}

/// One row of the results.
#[derive(Clone)]
pub struct Condition {
    /// The mechanism's name in the report.
    pub label: String,
    /// What happens to the texts.
    pub treatment: Treatment,
    /// Training texts.
    pub documents: usize,
    /// How often it is tried.
    pub trials: usize,
    /// In how many of these membership is attacked.
    pub attacked: usize,
    /// In how many of these an attacker reads context.
    pub read: usize,
    /// The model that the mechanism draws by, or one with its words.
    pub model: Arc<Model>,
    /// Tells it from every other condition.
    pub key: String,
}

/// The overfitted control has this many texts at most.
const CONTROL: usize = 1000;

impl Condition {
    /// What the mechanism promises.
    pub fn guarantee(&self) -> Option<Guarantee> {
        match &self.treatment {
            Treatment::Privatized(mechanism, _) => Some(mechanism.guarantee()),
            _ => None,
        }
    }
}

/// All conditions, in the definition's order, then the baselines.
pub(super) fn all(
    definition: &Definition,
    families: &NamedFamilies,
    available: usize,
    threads: usize,
) -> Result<Vec<Condition>> {
    let mut conditions: Vec<Condition> = Vec::new();
    let mut sizes = vec![available];
    for (entry, subject) in definition.mechanism.iter().zip(families.iter()) {
        let documents = entry.documents.unwrap_or(available).min(available);
        sizes.push(documents);
        let mut budgets = definition.budgets(entry);
        if definition.is_auto(entry) {
            let useful = useful_bounds(&*subject.family, threads)?;
            budgets.extend(useful.into_iter().map(Wanted::Bound));
        }
        for wanted in budgets {
            let epsilon = epsilon(wanted, subject, families)?;
            let mechanism: Arc<dyn Mechanism> = subject.family.at(epsilon)?.into();
            let language = subject.language.clone();
            // Decoded text is computed from the draws where these are words, and tells no more than they
            // do. BRR decodes its noisy codes, of which no likelihood over all words is at hand here.
            let attackable = language.is_none() || mechanism.channel().is_some();
            let context = language
                .as_ref()
                .map(|language| format!(" context={:?}", language));
            let key = format!(
                "{} {} epsilon={:.9} documents={documents}{}",
                subject.family.name(),
                subject.identity,
                mechanism.guarantee().epsilon,
                context.unwrap_or_default()
            );
            conditions.push(Condition {
                label: subject.label.clone(),
                treatment: Treatment::Privatized(mechanism, language),
                documents,
                trials: entry.trials.unwrap_or(definition.trials),
                attacked: entry.attacked.unwrap_or(definition.membership.trials),
                read: match attackable {
                    true => definition.attack.trials,
                    false => 0,
                },
                model: subject
                    .family
                    .model()
                    .unwrap_or(families.vocabulary())
                    .clone(),
                key,
            });
        }
    }
    // Budgets beyond what a mechanism can use come out the same.
    let mut seen = std::collections::HashSet::new();
    conditions.retain(|c| seen.insert(c.key.clone()));
    sizes.sort_unstable();
    sizes.dedup();
    for documents in sizes {
        conditions.push(Condition {
            label: "original text".into(),
            treatment: Treatment::Original,
            documents,
            trials: definition.trials,
            attacked: definition.membership.trials,
            read: 0,
            model: families.vocabulary().clone(),
            key: format!("original documents={documents}"),
        });
    }
    if definition.membership.control && definition.membership.trials > 0 {
        let documents = available.min(CONTROL);
        conditions.push(Condition {
            label: "overfitted".into(),
            treatment: Treatment::Overfitted,
            documents,
            trials: 1,
            attacked: 1,
            read: 0,
            model: families.vocabulary().clone(),
            key: format!("overfitted documents={documents}"),
        });
    }
    Ok(conditions)
}

fn epsilon(wanted: Wanted, subject: &NamedFamily, families: &NamedFamilies) -> Result<Epsilon> {
    let for_bound = |bound| Ok(subject.family.epsilon_for_bound(bound)?);
    match wanted {
        Wanted::Epsilon(epsilon) => Ok(Epsilon::new(epsilon)?),
        Wanted::Bound(bound) => for_bound(bound),
        Wanted::MadlibEpsilon(epsilon) => {
            let space = families
                .space()
                .ok_or_else(|| Error::Settings("madlib_epsilons need word vectors".into()))?;
            if subject.family.name() == "madlib" {
                return Ok(Epsilon::new(epsilon)?);
            }
            for_bound(epsilon * space.pair_distances().average)
        }
    }
}

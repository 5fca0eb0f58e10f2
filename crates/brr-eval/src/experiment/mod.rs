//! Experiments: mechanisms x budgets x trials over labelled texts.
//!
//! [`Definition`] is what a user writes down, [`NamedFamilies`] the mechanisms it
//! names, [`Condition`] one of them at one budget. A [`trial`] privatizes the
//! training texts, trains a classifier on the result, and attacks it; finished
//! trials are kept in a [`Journal`], so that an interrupted run loses none.
//! [`Results`] puts them together; [`crate::report`] shows them.
//!
//! Everything random is drawn from the experiment's seed, the condition and the
//! trial's number: results do not depend on threads, on order, or on which other
//! conditions there are. (Seeded noise is for evaluation alone.)

mod attackers;
mod conditions;
mod definition;
mod families;
mod journal;
mod results;
mod texts;
pub mod trial;

pub use attackers::{Attacked, Attackers};
pub use conditions::{Condition, Treatment};
pub use definition::{Attack, Budgets, Definition, Entry, Membership, Words};
pub use families::{BuiltIn, NamedFamilies, NamedFamily};
pub use journal::Journal;
pub use results::{Level, Machine, Outcome, Results};
pub use texts::Texts;
pub use trial::Trial;

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use brr::parts::parallel;

use crate::dataset::Dataset;
use crate::error::Result;

/// What an experiment tells about its progress.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum ExperimentStage<'s> {
    /// Getting ready; the share done of what is named.
    Preparing(&'s str, f64),
    /// Trials done, and their total.
    Trials(usize, usize),
    /// Something the user should know.
    Note(&'s str),
}

/// Called with the stage of an experiment, from any thread.
pub type OnExperimentStage<'a> = &'a (dyn Fn(ExperimentStage<'_>) + Sync);

/// Runs what is not yet done of an experiment; everything it keeps goes to
/// `folder`. `built_in` is what to use where the definition names none.
pub fn run(
    definition: &Definition,
    folder: &Path,
    built_in: BuiltIn,
    threads: usize,
    progress: OnExperimentStage<'_>,
) -> Result<Results> {
    progress(ExperimentStage::Preparing("reading texts", 0.0));
    let set = Dataset::load(&definition.data, definition.seed, definition.documents)?;
    if set.skipped > 0 {
        progress(ExperimentStage::Note(&format!(
            "{} texts are empty and were left out",
            set.skipped
        )));
    }
    let families = NamedFamilies::prepare(definition, folder, built_in, threads, progress)?;
    progress(ExperimentStage::Preparing("cutting texts", 0.5));
    let texts = Texts::new(&set, families.vocabulary(), threads);
    progress(ExperimentStage::Preparing("choosing budgets", 0.0));
    let conditions = conditions::all(definition, &families, texts.train.len(), threads)?;
    let journal = Journal::open(
        &folder.join("trials.jsonl"),
        &definition.fingerprint(&set, &families),
        progress,
    )?;
    // One trial of everything before the next: an interrupted run shows it all.
    let most = conditions.iter().map(|c| c.trials).max().unwrap_or(0);
    let wanted: Vec<(&Condition, usize)> = (0..most)
        .flat_map(|t| conditions.iter().map(move |c| (c, t)))
        .filter(|(c, t)| *t < c.trials)
        .collect();
    let missing: Vec<_> = wanted
        .iter()
        .filter(|(c, t)| !journal.has(&c.key, *t, *t < c.attacked, *t < c.read))
        .collect();
    let attackers = match missing.iter().any(|(c, t)| *t < c.read) {
        true => {
            progress(ExperimentStage::Preparing("teaching the attacker", 0.0));
            let attackers = Attackers::new(definition, &set, &texts, &families, built_in)?;
            Some(attackers)
        }
        false => None,
    };
    let done = AtomicUsize::new(wanted.len() - missing.len());
    progress(ExperimentStage::Trials(
        done.load(Ordering::Relaxed),
        wanted.len(),
    ));
    let journal = Mutex::new(journal);
    let failures = parallel::map(threads, missing.len(), |i| -> Result<()> {
        let (condition, number) = missing[i];
        let trial = trial::run(condition, *number, &texts, attackers.as_ref(), definition)?;
        journal
            .lock()
            .unwrap_or_else(|e| e.into_inner())
            .append(trial)?;
        let done = done.fetch_add(1, Ordering::Relaxed) + 1;
        progress(ExperimentStage::Trials(done, wanted.len()));
        Ok(())
    });
    failures.into_iter().collect::<Result<Vec<()>>>()?;
    let journal = journal.into_inner().unwrap_or_else(|e| e.into_inner());
    Ok(Results::new(
        definition,
        &set,
        &texts,
        &families,
        &conditions,
        journal.trials(),
    ))
}

//! Choosing an epsilon: what a mechanism does at each step of a ladder of
//! privacy-loss bounds, and the epsilon that meets a target.

use brr::parts::epsilon::Epsilon;
use brr::parts::mechanism::Mechanism;
use brr::{Budget, Error, Result};
use serde::Serialize;

use crate::attack::{Draws, Plan, Sample};
use crate::channel::{Sampling, Similarity, Summary, measure};
use crate::interval::Estimate;
use crate::mechanisms::Family;

/// Shares of kept words between which a mechanism is of use: below, hardly a word stays, above, hardly
/// one changes.
const USEFUL: [f64; 7] = [0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.97];

/// Bounds at which a mechanism is looked at that does not know its share of kept words.
const LOOKED_AT: [f64; 12] = [
    1.0, 2.0, 4.0, 8.0, 12.0, 18.0, 27.0, 40.0, 60.0, 90.0, 135.0, 200.0,
];

/// How long a channel is estimated at each step: with BRR some seconds.
const FEW: Draws = Draws {
    hits: 12,
    most: 160,
};

/// Is told which share of the work is done, from any thread.
pub type OnShare<'a> = &'a (dyn Fn(f64) + Sync);

/// The ladder when none is given: privacy-loss bounds epsilon * P_avg at which the mechanism keeps
/// some words and changes others.
pub fn useful_bounds(family: &dyn Family, threads: usize) -> Result<Vec<f64>> {
    let mut bounds = Vec::new();
    for share in USEFUL {
        match family.for_budget(Budget::Keep(share)) {
            Ok(mechanism) => bounds.push(mechanism.guarantee().bound()),
            Err(Error::KeepOutOfReach { .. }) => {}
            Err(Error::NoCalibration { .. }) => return by_looking(family, threads),
            Err(error) => return Err(error),
        }
    }
    bounds.sort_by(f64::total_cmp);
    bounds.dedup();
    Ok(bounds)
}

/// The same from a coarse simulation, drawn straight between the bounds that were looked at.
fn by_looking(family: &dyn Family, threads: usize) -> Result<Vec<f64>> {
    let plan = Sampling {
        words: 40,
        draws: 10,
        threads,
        attack: false,
        ..Sampling::default()
    };
    let table = table(
        family,
        &LOOKED_AT,
        &Similarity::default(),
        &plan,
        None,
        &|_| {},
    )?;
    let points = table.steps.iter();
    let points: Vec<_> = points
        .map(|s| (s.bound, s.summary.keep_by_use.value))
        .collect();
    let between = |share: f64| {
        let pair = points
            .windows(2)
            .find(|p| p[0].1 < share && p[1].1 >= share)?;
        let part = (share - pair[0].1) / (pair[1].1 - pair[0].1);
        Some(pair[0].0 * libm::pow(pair[1].0 / pair[0].0, part))
    };
    Ok(USEFUL.into_iter().filter_map(between).collect())
}

/// A mechanism at one bound.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Step {
    /// Loss per unit of distance, of what is really sampled.
    pub epsilon: f64,
    /// Loss at the average pair of words: epsilon * P_avg.
    pub bound: f64,
    /// Mean loss between a word and its nearest neighbour.
    pub nearest: f64,
    /// Loss at the pair of words farthest apart.
    pub worst: f64,
    /// Largest loss between a token without a code and a word.
    pub unknown: f64,
    /// What becomes of words, and what an attacker gains who sees one of them.
    #[serde(flatten)]
    pub summary: Summary,
    /// The share of words of a public sample that an attacker names who reads context, if there is
    /// a sample for these words.
    pub context: Option<Estimate>,
}

/// A mechanism over a ladder of bounds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Table {
    /// The mechanism.
    pub mechanism: String,
    /// Its metric.
    pub metric: String,
    /// Words in the vocabulary.
    pub words: usize,
    /// How it was measured.
    pub plan: Sampling,
    /// One step for each bound at which the mechanism is another, in the order given.
    pub steps: Vec<Step>,
}

/// Measures a mechanism at each of `bounds`; those that give one and the same mechanism once. The
/// sample, if there is one, must be of the mechanism's words. `progress` gets the share done.
pub fn table(
    family: &dyn Family,
    bounds: &[f64],
    similarity: &Similarity,
    plan: &Sampling,
    sample: Option<&Sample>,
    progress: OnShare<'_>,
) -> Result<Table> {
    let mut metric = String::new();
    let mut steps: Vec<Step> = Vec::with_capacity(bounds.len());
    for (i, &bound) in bounds.iter().enumerate() {
        let mechanism = family.at(family.epsilon_for_bound(bound)?)?;
        let guarantee = mechanism.guarantee();
        metric = guarantee.metric.to_string();
        if steps.iter().all(|s| s.epsilon != guarantee.epsilon) {
            let share = |share: f64| progress((i as f64 + share) / bounds.len() as f64);
            steps.push(step(family, &*mechanism, similarity, plan, sample, &share));
        }
    }
    Ok(Table {
        mechanism: family.name().to_owned(),
        metric,
        words: family.words(),
        plan: *plan,
        steps,
    })
}

fn step(
    family: &dyn Family,
    mechanism: &dyn Mechanism,
    similarity: &Similarity,
    plan: &Sampling,
    sample: Option<&Sample>,
    progress: OnShare<'_>,
) -> Step {
    let guarantee = mechanism.guarantee();
    Step {
        epsilon: guarantee.epsilon,
        bound: guarantee.bound(),
        nearest: guarantee.nearest(),
        worst: guarantee.worst(),
        unknown: guarantee.unknown_loss,
        summary: measure(mechanism, family.words(), similarity, plan, progress),
        context: context(family, mechanism, plan, sample),
    }
}

/// What an attacker names of the sample who reads context. A mechanism of which nothing is known is not
/// attacked.
fn context(
    family: &dyn Family,
    mechanism: &dyn Mechanism,
    plan: &Sampling,
    sample: Option<&Sample>,
) -> Option<Estimate> {
    let attack = Plan {
        seed: plan.seed,
        threads: plan.threads,
        draws: FEW,
    };
    let success = sample?.attack(mechanism, family.model(), &attack).ok()?;
    Some(success.estimate())
}

/// A target.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub enum Target {
    /// Keep at most this share of words, counted by use, and as many as that allows.
    Keep(f64),
    /// Let no attacker name more than this share of words; keep as many words as that allows. Where there
    /// is a sample, it is about the attacker who reads context, and the upper end of what he names of
    /// the sample; otherwise about the one who sees one output word and knows how often words are used.
    MaxGuess(f64),
}

/// The epsilon that meets a target.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Solution {
    /// The target.
    pub target: Target,
    /// The mechanism at that epsilon, measured; `step.epsilon` is the answer.
    pub step: Step,
}

/// The bounds between which a solution is sought.
const RANGE: (f64, f64) = (0.05, 500.0);
/// Halvings of the logarithm of that range: epsilon to within 0.02 %.
const HALVINGS: usize = 15;
/// The same where a sample is attacked: epsilon to within 1 %, far less than the sample can tell.
const HALVINGS_ON_SAMPLE: usize = 10;

/// Solves for a target, from below: the most loss that does not exceed it. `None` if every bound
/// of `RANGE` exceeds it.
///
/// A share of kept words is solved as a privatizer would solve it, where there is one for the
/// mechanism; everything else by halving the range of bounds.
pub fn solve(
    family: &dyn Family,
    target: Target,
    similarity: &Similarity,
    plan: &Sampling,
    sample: Option<&Sample>,
    progress: OnShare<'_>,
) -> Result<Option<Solution>> {
    if let Target::Keep(share) = target {
        match family.for_budget(Budget::Keep(share)) {
            Ok(mechanism) => {
                let step = step(family, &*mechanism, similarity, plan, sample, progress);
                return Ok(Some(Solution { target, step }));
            }
            Err(Error::KeepOutOfReach { .. }) => return Ok(None),
            Err(Error::NoCalibration { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    let find = |sample: Option<&Sample>, progress: OnShare<'_>| {
        halve(family, target, similarity, plan, sample, progress)
    };
    let measured = |epsilon: Epsilon| -> Result<Step> {
        let mechanism = family.at(epsilon)?;
        Ok(step(family, &*mechanism, similarity, plan, sample, &|_| {}))
    };
    let Some(epsilon) = find(sample, progress)? else {
        return Ok(None);
    };
    let step = measured(epsilon)?;
    let by_sample = matches!(target, Target::MaxGuess(_)) && step.context.is_some();
    if !(by_sample && exceeds(&step.summary, target)) {
        return Ok(Some(Solution { target, step }));
    }
    // One word alone tells more than the sample in context: neither attacker may exceed the share.
    let Some(epsilon) = find(None, progress)? else {
        return Ok(None);
    };
    let step = measured(epsilon)?;
    Ok(Some(Solution { target, step }))
}

/// The largest epsilon within [`RANGE`] that was found not to exceed the target.
fn halve(
    family: &dyn Family,
    target: Target,
    similarity: &Similarity,
    plan: &Sampling,
    sample: Option<&Sample>,
    progress: OnShare<'_>,
) -> Result<Option<Epsilon>> {
    let share = match target {
        Target::MaxGuess(share) => Some(share),
        Target::Keep(_) => None,
    };
    let plan = &Sampling {
        attack: share.is_some(),
        ..*plan
    };
    let sample = sample.filter(|_| share.is_some());
    let halvings = sample.map_or(HALVINGS, |_| HALVINGS_ON_SAMPLE);
    // What is known already: budgets between two certificates give one mechanism.
    let mut known: Vec<(f64, bool)> = Vec::new();
    let mut too_much = |epsilon: Epsilon, progress: OnShare<'_>| -> Result<bool> {
        let mechanism = family.at(epsilon)?;
        let used = mechanism.guarantee().epsilon;
        if let Some((_, exceeded)) = known.iter().find(|(e, _)| *e == used) {
            return Ok(*exceeded);
        }
        let exceeded = match share.zip(context(family, &*mechanism, plan, sample)) {
            Some((share, named)) => named.high > share,
            None => {
                let words = family.words();
                let summary = measure(&*mechanism, words, similarity, plan, progress);
                exceeds(&summary, target)
            }
        };
        known.push((used, exceeded));
        Ok(exceeded)
    };
    let at = |log_bound: f64| family.epsilon_for_bound(libm::exp(log_bound));
    let (mut low, mut high) = (libm::log(RANGE.0), libm::log(RANGE.1));
    if too_much(at(low)?, &|_| {})? {
        return Ok(None);
    }
    for i in 0..halvings {
        let share = |share: f64| progress((i as f64 + share) / halvings as f64);
        share(0.0);
        let middle = (low + high) / 2.0;
        match too_much(at(middle)?, &share)? {
            true => high = middle,
            false => low = middle,
        }
    }
    Ok(Some(at(low)?))
}

/// Whether what becomes of single words exceeds the target.
fn exceeds(summary: &Summary, target: Target) -> bool {
    match target {
        Target::Keep(share) => summary.keep_by_use.value > share,
        Target::MaxGuess(share) => summary.guess_by_use.is_some_and(|g| g.success.high > share),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use crate::mechanisms::{KaryFamily, ShippedFamily};
    use brr::MechanismKind;

    fn plan() -> Sampling {
        Sampling {
            words: 60,
            draws: 100,
            threads: 2,
            ..Sampling::default()
        }
    }

    #[test]
    fn a_share_of_kept_words_is_met_with_the_least_loss() {
        let (family, none) = (KaryFamily(1000), Similarity::default());
        let found = solve(&family, Target::Keep(0.5), &none, &plan(), None, &|_| {}).unwrap();
        let step = found.unwrap().step;
        // e^c / (e^c + 999) = 1/2
        assert!(
            (step.epsilon - 999f64.ln()).abs() < 0.01,
            "{}",
            step.epsilon
        );
        let guess = solve(
            &family,
            Target::MaxGuess(0.5),
            &none,
            &plan(),
            None,
            &|_| {},
        )
        .unwrap();
        assert!(
            guess
                .unwrap()
                .step
                .summary
                .guess_by_use
                .unwrap()
                .success
                .value
                <= 0.5
        );
        let never = solve(
            &family,
            Target::MaxGuess(1e-9),
            &none,
            &plan(),
            None,
            &|_| {},
        )
        .unwrap();
        assert_eq!(never, None);
    }

    /// Without a ladder of the user's, every step keeps some words and changes others; bounds that
    /// give one mechanism are one step.
    #[test]
    fn steps_lie_where_a_mechanism_is_of_use() {
        let family = KaryFamily(1000);
        let bounds = useful_bounds(&family, 1).unwrap();
        let none = Similarity::default();
        let ladder = table(&family, &bounds, &none, &plan(), None, &|_| {}).unwrap();
        for (step, share) in ladder.steps.iter().zip(USEFUL) {
            assert!(
                (step.summary.keep_by_use.value - share).abs() < 1e-4,
                "{share}"
            );
        }
        assert_eq!(ladder.steps.len(), USEFUL.len());
        let twice = table(&family, &[3.0, 3.0, 4.0], &none, &plan(), None, &|_| {}).unwrap();
        assert_eq!(twice.steps.len(), 2);
        // A model without a table is looked at.
        let brr = ShippedFamily {
            model: fixture::model(300, 64, 5),
            kind: MechanismKind::Brr,
        };
        let bounds = useful_bounds(&brr, 2).unwrap();
        let ladder = table(&brr, &bounds, &none, &plan(), None, &|_| {}).unwrap();
        assert!(ladder.steps.len() >= 4, "{bounds:?}");
        let keep = |i: usize| ladder.steps[i].summary.keep_by_use.value;
        assert!(keep(0) < 0.4 && keep(ladder.steps.len() - 1) > 0.7);
    }

    #[test]
    fn more_loss_keeps_more_words() {
        let model = fixture::model(300, 64, 5);
        let similarity = Similarity {
            model: Some(model.clone()),
            space: None,
        };
        let bounds = [2.0, 20.0, 80.0];
        let brr = table(
            &ShippedFamily {
                model: model.clone(),
                kind: MechanismKind::Brr,
            },
            &bounds,
            &similarity,
            &plan(),
            None,
            &|_| {},
        )
        .unwrap();
        let exponential = ShippedFamily {
            model,
            kind: MechanismKind::Exponential,
        };
        let exponential =
            table(&exponential, &bounds, &similarity, &plan(), None, &|_| {}).unwrap();
        for t in [&brr, &exponential] {
            let keep: Vec<f64> = t.steps.iter().map(|s| s.summary.keep.value).collect();
            assert!(keep.windows(2).all(|k| k[0] < k[1]), "{keep:?}");
            assert!(t.steps.iter().zip(bounds).all(|(s, b)| s.bound <= b + 1e-9));
            assert!(
                t.steps
                    .iter()
                    .all(|s| s.nearest < s.bound && s.bound < s.worst)
            );
        }
        assert!(
            serde_json::to_string(&brr)
                .unwrap()
                .contains("\"keep_by_use\"")
        );
    }

    /// The same channel measured both ways: the simulated attack never beats the
    /// exact Bayes attacker by more than its interval, and comes near it.
    #[test]
    fn simulation_agrees_with_the_exact_channel() {
        let model = fixture::model(200, 64, 6);
        let similarity = Similarity {
            model: Some(model.clone()),
            space: None,
        };
        let family = ShippedFamily {
            model,
            kind: MechanismKind::Exponential,
        };
        let plan = Sampling {
            words: 200,
            draws: 300,
            ..plan()
        };
        let candidate = family.at(Epsilon::new(0.4).unwrap()).unwrap();
        let exact = measure(&*candidate, 200, &similarity, &plan, &|_| {});
        let simulated = crate::channel::simulate(&*candidate, 200, &similarity, &plan, &|_| {});
        // Three half widths of a 95 % interval: once in 3e8.
        let near =
            |e: crate::interval::Estimate, x: f64| (e.value - x).abs() < 1.5 * (e.high - e.low);
        assert!(near(simulated.keep_by_use, exact.keep_by_use.value));
        assert!((simulated.keep.value - exact.keep.value).abs() < 0.02);
        let hamming = |s: &Summary| s.changed_hamming.unwrap().value;
        assert!((hamming(&simulated) - hamming(&exact)).abs() < 0.5);
        for (s, e) in [
            (simulated.guess, exact.guess),
            (simulated.guess_by_use, exact.guess_by_use),
        ] {
            let (s, e) = (s.unwrap().success, e.unwrap().success.value);
            assert!(s.value > 0.7 * e && near(s, e) | (s.value < e), "{s:?} {e}");
        }
    }
}

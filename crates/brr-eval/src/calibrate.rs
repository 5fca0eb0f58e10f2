//! Choosing an epsilon: what a mechanism does at each step of a ladder of
//! privacy-loss bounds, and the epsilon that meets a target.

use brr::parts::mechanism::Mechanism;
use brr::{Budget, Error, Result};
use serde::Serialize;

use crate::channel::{Sampling, Similarity, Summary, measure};
use crate::mechanisms::Family;

/// The ladder when none is given: privacy-loss bounds epsilon * P_avg.
pub const BOUNDS: [f64; 10] = [1.0, 2.0, 4.0, 8.0, 12.0, 18.0, 27.0, 40.0, 60.0, 90.0];

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
    /// What becomes of words, and what an attacker gains.
    #[serde(flatten)]
    pub summary: Summary,
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
    /// One step for each bound, in the order given.
    pub steps: Vec<Step>,
}

/// Measures a mechanism at each of `bounds`. `progress` gets the share done.
pub fn table(
    family: &dyn Family,
    bounds: &[f64],
    similarity: &Similarity,
    plan: &Sampling,
    progress: &dyn Fn(f64),
) -> Result<Table> {
    let mut metric = String::new();
    let mut steps = Vec::with_capacity(bounds.len());
    for (i, &bound) in bounds.iter().enumerate() {
        let mechanism = family.at(family.epsilon_for_bound(bound)?)?;
        metric = mechanism.guarantee().metric.to_string();
        steps.push(step(family, &*mechanism, similarity, plan));
        progress((i + 1) as f64 / bounds.len() as f64);
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
) -> Step {
    let guarantee = mechanism.guarantee();
    Step {
        epsilon: guarantee.epsilon,
        bound: guarantee.bound(),
        nearest: guarantee.nearest(),
        worst: guarantee.worst(),
        unknown: guarantee.unknown_loss,
        summary: measure(mechanism, family.words(), similarity, plan),
    }
}

/// A target.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub enum Target {
    /// Keep at most this share of words, counted by use, and as many as that allows.
    Keep(f64),
    /// Let a Bayes attacker who knows how often words are used name at most this
    /// share of them; keep as many words as that allows.
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
    progress: &dyn Fn(f64),
) -> Result<Option<Solution>> {
    let plan = &Sampling {
        attack: matches!(target, Target::MaxGuess(_)),
        ..*plan
    };
    if let Target::Keep(share) = target {
        match family.for_budget(Budget::Keep(share)) {
            Ok(mechanism) => {
                let step = step(family, &*mechanism, similarity, plan);
                return Ok(Some(Solution { target, step }));
            }
            Err(Error::KeepOutOfReach { .. }) => return Ok(None),
            Err(Error::NoCalibration { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    let at = |log_bound: f64| -> Result<Step> {
        let epsilon = family.epsilon_for_bound(libm::exp(log_bound))?;
        Ok(step(family, &*family.at(epsilon)?, similarity, plan))
    };
    let (mut low, mut high) = (libm::log(RANGE.0), libm::log(RANGE.1));
    let mut below = at(low)?;
    for i in 0..HALVINGS {
        progress((i + 1) as f64 / HALVINGS as f64);
        let middle = (low + high) / 2.0;
        let step = at(middle)?;
        if exceeds(&step, target) {
            high = middle;
        } else {
            (low, below) = (middle, step);
        }
    }
    let met = !exceeds(&below, target);
    Ok(met.then_some(Solution {
        target,
        step: below,
    }))
}

fn exceeds(step: &Step, target: Target) -> bool {
    match target {
        Target::Keep(share) => step.summary.keep_by_use.value > share,
        Target::MaxGuess(share) => {
            let guess = step.summary.guess_by_use;
            guess.is_some_and(|g| g.success.high > share)
        }
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
        let found = solve(&family, Target::Keep(0.5), &none, &plan(), &|_| {}).unwrap();
        let step = found.unwrap().step;
        // e^c / (e^c + 999) = 1/2
        assert!(
            (step.epsilon - 999f64.ln()).abs() < 0.01,
            "{}",
            step.epsilon
        );
        let guess = solve(&family, Target::MaxGuess(0.5), &none, &plan(), &|_| {}).unwrap();
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
        let never = solve(&family, Target::MaxGuess(1e-9), &none, &plan(), &|_| {}).unwrap();
        assert_eq!(never, None);
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
            &|_| {},
        )
        .unwrap();
        let exponential = ShippedFamily {
            model,
            kind: MechanismKind::Exponential,
        };
        let exponential = table(&exponential, &bounds, &similarity, &plan(), &|_| {}).unwrap();
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
        let candidate = family
            .at(brr::parts::epsilon::Epsilon::new(0.4).unwrap())
            .unwrap();
        let exact = measure(&*candidate, 200, &similarity, &plan);
        let simulated = crate::channel::simulate(&*candidate, 200, &similarity, &plan);
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

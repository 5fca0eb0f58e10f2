//! The largest scale whose epsilon is within a target.

use super::weights::Weights;

/// Steps from the target down to half of it, in which a scale is looked for.
/// Half the target is about what the textbook gives.
const STEPS: u32 = 16;
/// The scale is found to within this share of itself, the precision of weights.
const PRECISION: f64 = 1e-7;
/// Trials after which the best scale so far is good enough.
const TRIALS: u32 = 60;

/// A scale that was tried.
struct Trial<T> {
    scale: f64,
    /// Its epsilon, less the target.
    excess: f64,
    value: T,
}

/// The largest scale found for which `epsilon` gives at most `target`, with what
/// it gave.
pub fn largest_scale<T>(target: f64, epsilon: impl Fn(f64) -> (f64, T)) -> (f64, T) {
    let attempt = |scale: f64| {
        let (got, value) = epsilon(scale);
        let excess = got - target;
        Trial {
            scale,
            excess,
            value,
        }
    };
    // Steeper than this, all weights but the first are at the floor.
    let mut high = attempt(Weights::MAX_SCALE);
    if high.excess <= 0.0 {
        return (high.scale, high.value);
    }
    let down = (0..=STEPS).map(|step| target * (1.0 - f64::from(step) / f64::from(2 * STEPS)));
    let mut low = None;
    for scale in down.filter(|&scale| scale < Weights::MAX_SCALE) {
        let trial = attempt(scale);
        if trial.excess <= 0.0 {
            low = Some(trial);
            break;
        }
        high = trial;
    }
    // Level weights give 0.
    let low = low.unwrap_or_else(|| attempt(0.0));
    narrow(low, high, attempt)
}

/// Narrows the range between a scale within the target and one beyond it, by
/// the Illinois variant of false position.
fn narrow<T>(mut low: Trial<T>, mut high: Trial<T>, attempt: impl Fn(f64) -> Trial<T>) -> (f64, T) {
    // Excess at the ends; halved at an end that stays twice in a row.
    let (mut below, mut above) = (low.excess, high.excess);
    let mut last = 0;
    for trial in 0..TRIALS {
        let width = high.scale - low.scale;
        if width <= PRECISION * high.scale {
            break;
        }
        let margin = 0.4 * PRECISION * high.scale;
        let guess = low.scale + width * below / (below - above);
        // Every eighth time in the middle, against slow progress.
        let guess = if trial % 8 == 7 || !guess.is_finite() {
            low.scale + width / 2.0
        } else {
            guess.clamp(low.scale + margin, high.scale - margin)
        };
        let found = attempt(guess);
        if found.excess <= 0.0 {
            below = found.excess;
            low = found;
            above *= if last == 1 { 0.5 } else { 1.0 };
            last = 1;
        } else {
            above = found.excess;
            high = found;
            below *= if last == 2 { 0.5 } else { 1.0 };
            last = 2;
        }
    }
    (low.scale, low.value)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Scale found, and the number of trials.
    fn search(target: f64, epsilon: impl Fn(f64) -> f64) -> (f64, u32) {
        let trials = std::cell::Cell::new(0);
        let found = largest_scale(target, |scale| {
            trials.set(trials.get() + 1);
            (epsilon(scale), ())
        });
        (found.0, trials.get())
    }

    #[test]
    fn smooth_and_jagged_curves_are_solved_in_few_trials() {
        type Curve = fn(f64) -> f64;
        let curves: [(f64, Curve); 4] = [
            (0.1, |s| 1.3 * s),
            (0.1, |s| s + (0.3 * s).max(0.03 - s * s)),
            (0.5, |s| if s < 0.31 { s } else { s + 0.3 }),
            (2.0, |s| 2.0 * s.min(3.0)),
        ];
        for (target, curve) in curves {
            let (scale, trials) = search(target, curve);
            assert!(curve(scale) <= target && curve(scale * (1.0 + 2e-7)) > target);
            assert!(trials < 40, "{trials}");
        }
    }

    #[test]
    fn a_target_that_everything_meets_gives_the_steepest_weights() {
        assert_eq!(search(9.0, |s| s.min(8.0)), (Weights::MAX_SCALE, 1));
    }

    #[test]
    fn a_target_that_nothing_meets_gives_level_weights() {
        let (scale, _) = search(1e-300, |s| s);
        assert!(scale <= 1e-300);
    }
}

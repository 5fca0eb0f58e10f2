//! A mechanism of one's own, from its proof to its audit, without a change to any crate.
//!
//!     cargo run --release -p brr-eval --example own_mechanism
//!
//! # Guarantee
//!
//! The ids of a model's N words form a ring, most frequent words first: neighbours on it are
//! used about equally often. With integers A >= B >= C > 0, word w becomes itself with
//! probability A / Z, each of the R words on either side with B / Z, and each other word with
//! C / Z. By symmetry Z = A + 2R B + (N - 2R - 1) C is the same for every w, so for any w, w'
//! and y the ratio Pr[y | w] / Pr[y | w'] is at most A / C: the loss between *any* two words is
//! at most e = ln(A / C), in the discrete metric.
//!
//! **Tokens without a code** become a uniformly random word. 1/N lies between C / Z and A / Z,
//! so that costs at most e too. **Rounding:** A and B are rounded down; the epsilon stated is
//! that of the integers that are drawn from, rounded up. **Time:** one uniform number and a few
//! divisions, whatever the word.

use std::error::Error;
use std::sync::Arc;

use brr::parts::distances::PairDistances;
use brr::parts::epsilon::{Epsilon, round_up};
use brr::parts::mechanism::{Channel, Kary, Mechanism};
use brr::parts::random::Noise;
use brr::parts::vocabulary::WordId;
use brr::{Guarantee, Metric, Model};
use brr_eval::audit::{AuditOptions, Claim, audit};
use brr_eval::channel::{Sampling, Similarity, measure};

/// C: the weight of words far away on the ring.
const FAR: u128 = 1 << 32;

/// The mechanism of the proof above.
struct Ring {
    words: u128,
    /// R: words on either side that are near.
    radius: u128,
    /// A.
    own: u128,
    /// B.
    near: u128,
}

impl Ring {
    /// At most `epsilon` between any two words, half of it between near and far ones.
    fn new(words: usize, radius: usize, epsilon: Epsilon) -> Ring {
        assert!(2 * radius < words, "the near words are not all words");
        let weight = |e: f64| ((FAR as f64 * (libm::exp(e) * (1.0 - 1e-12))) as u128).max(FAR);
        Ring {
            words: words as u128,
            radius: radius as u128,
            own: weight(epsilon.get()),
            near: weight(epsilon.get() / 2.0),
        }
    }

    fn total(&self) -> u128 {
        self.own + 2 * self.radius * self.near + (self.words - 2 * self.radius - 1) * FAR
    }

    /// A number below the total to a step on the ring. All answers are computed, so that the
    /// time does not tell which one it was.
    fn step(&self, u: u128) -> u128 {
        let beyond_own = u.wrapping_sub(self.own);
        let near = beyond_own / self.near;
        let left = self.words - 2 * self.radius - 1;
        let near = 1 + near + if near < self.radius { 0 } else { left };
        let far = beyond_own.wrapping_sub(2 * self.radius * self.near) / FAR;
        match u {
            _ if u < self.own => 0,
            _ if beyond_own < 2 * self.radius * self.near => near,
            _ => 1 + self.radius + far,
        }
    }
}

impl Channel for Ring {
    fn row(&self, word: WordId, out: &mut [f64]) {
        let probability = |weight: u128| weight as f64 / self.total() as f64;
        out.fill(probability(FAR));
        for step in 1..=self.radius as usize {
            let (word, words) = (word as usize, self.words as usize);
            out[(word + step) % words] = probability(self.near);
            out[(word + words - step) % words] = probability(self.near);
        }
        out[word as usize] = probability(self.own);
    }
}

impl Mechanism for Ring {
    fn name(&self) -> &'static str {
        "ring"
    }

    fn guarantee(&self) -> Guarantee {
        // ln(A/C) = ln(1 + (A - C)/C): the difference is exact.
        let epsilon = round_up(libm::log1p((self.own - FAR) as f64 / FAR as f64));
        let distances = PairDistances {
            average: 1.0 - 1.0 / self.words as f64,
            maximum: 1.0,
            nearest_mean: 1.0,
            nearest_min: 1.0,
        };
        Guarantee::new(epsilon, Metric::Discrete, distances, epsilon)
    }

    fn channel(&self) -> Option<&dyn Channel> {
        Some(self)
    }

    fn privatize(&self, words: &[Option<WordId>], noise: &mut Noise) -> Vec<WordId> {
        let draw = |word: &Option<WordId>| {
            let u = noise.uniform_below(word.map_or(self.words, |_| self.total()));
            let step = self.step(u);
            let drawn = (u128::from(word.unwrap_or(0)) + step) % self.words;
            word.map_or(u, |_| drawn) as WordId
        };
        words.iter().map(draw).collect()
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let model = Arc::new(brr_english::model()?);
    let epsilon = Epsilon::new(10.0)?;
    let words = model.vocabulary().len();
    let ring = Ring::new(words, 8, epsilon);

    // What it does to words, beside the yardstick at the same loss.
    for mechanism in [&ring as &dyn Mechanism, &Kary::new(words, epsilon)] {
        show(mechanism, &model);
    }
    let failed = audited(&ring, &ring, &model, AuditOptions::default())?;
    println!(
        "audit: {}",
        if failed {
            "broken"
        } else {
            "nothing found, which proves nothing"
        }
    );
    Ok(())
}

/// Prints what a mechanism does to words, and how often the best attacker names the word.
fn show(mechanism: &dyn Mechanism, model: &Arc<Model>) {
    let similarity = Similarity {
        model: Some(model.clone()),
        space: None,
    };
    let summary = measure(
        mechanism,
        model.vocabulary().len(),
        &similarity,
        &Sampling::default(),
        &|_| {},
    );
    let guess = summary.guess_by_use.map_or(f64::NAN, |g| g.success.value);
    println!(
        "{:8} loss {:.3}, words kept {:.3}, attacker right {guess:.3}, {:.0} likely outputs",
        mechanism.name(),
        mechanism.guarantee().worst_token(),
        summary.keep_by_use.value,
        summary.outputs.mean,
    );
}

/// Whether an audit finds that what is drawn breaks what is claimed.
fn audited(
    drawn: &dyn Mechanism,
    claimed: &dyn Mechanism,
    model: &Model,
    options: AuditOptions,
) -> Result<bool, Box<dyn Error>> {
    let claim = Claim {
        model,
        mechanism: claimed,
        language: None,
    };
    let mut program = |texts: &[String]| {
        let mut noise = Noise::from_os().map_err(|e| e.to_string())?;
        let mut one = |text: &String| {
            let tokens: Vec<_> = model.tokens(text).iter().map(|t| t.0).collect();
            let outputs = drawn.privatize(&tokens, &mut noise);
            let words: Vec<_> = outputs
                .iter()
                .map(|y| model.vocabulary().word(*y))
                .collect();
            words.join(" ")
        };
        Ok(texts.iter().map(&mut one).collect())
    };
    let report = audit(&claim, &mut program, &options, &|_| {})?;
    for check in &report.checks {
        println!("{:?} {}: {}", check.verdict, check.name, check.finding);
    }
    Ok(report.failed())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn small(epsilon: f64) -> Ring {
        Ring::new(11, 2, Epsilon::new(epsilon).unwrap())
    }

    /// Every stretch of numbers has the length of its weight and leads to its word.
    #[test]
    fn steps_follow_the_channel() {
        let ring = small(1.0);
        let weights = |step: u128| match step {
            0 => ring.own,
            1 | 2 | 9 | 10 => ring.near,
            _ => FAR,
        };
        let mut row = [0.0; 11];
        ring.row(0, &mut row);
        let mut start = 0;
        for step in [0, 1, 2, 9, 10, 3, 4, 5, 6, 7, 8] {
            let end = start + weights(step);
            assert_eq!((ring.step(start), ring.step(end - 1)), (step, step));
            let share = weights(step) as f64 / ring.total() as f64;
            assert_eq!(row[step as usize], share);
            start = end;
        }
        assert_eq!(start, ring.total());
    }

    #[test]
    fn promises_no_more_than_was_asked() {
        for asked in [1e-9, 0.5, 3.0, 10.0] {
            let got = small(asked).guarantee().epsilon;
            assert!(got <= asked, "asked {asked}, got {got}");
        }
    }

    /// The sound mechanism fails with a probability of at most 1e-6.
    #[test]
    fn an_audit_passes_it_and_fails_a_false_claim() {
        let model = brr_english::model().unwrap();
        let ring = |epsilon| {
            let words = model.vocabulary().len();
            Ring::new(words, 8, Epsilon::new(epsilon).unwrap())
        };
        let options = AuditOptions {
            trials: 500,
            timings: 0,
            ..AuditOptions::default()
        };
        let audited = |drawn, claimed| audited(&ring(drawn), &ring(claimed), &model, options);
        assert!(!audited(9.0, 9.0).unwrap());
        assert!(audited(12.0, 9.0).unwrap());
    }
}

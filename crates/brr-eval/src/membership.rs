//! Membership inference (Shokri et al. 2017, as in the paper's Sec. 6): does a
//! classifier's answer tell whether a text was in its training data?
//!
//! The attacker trains a *shadow* classifier on texts of their own, in the way
//! the target was trained, and sees how its answers to texts that it learned
//! differ from its answers to texts that it did not. A network of 64 and 64
//! rectified units learns that difference for each true label, from the vector
//! of confidences and its logarithms (near 0 and 1 the confidences alone hardly
//! differ). It is then asked about the target's members and non-members.

use brr_build::matrix::Matrix;
use brr_build::network::{Perceptron, Training};
use serde::{Deserialize, Serialize};

use crate::interval::Estimate;

/// Hidden layers of the attacking network.
const HIDDEN: [usize; 2] = [64, 64];
/// Confidences below this count as this.
const TINY: f64 = 1e-9;

/// A classifier's answer about one text.
pub struct Answer {
    /// Confidence in every label.
    pub confidences: Vec<f64>,
    /// The true label.
    pub label: usize,
}

/// Answers about texts that were in a classifier's training data, and not.
pub struct Answers {
    /// About texts that were.
    pub members: Vec<Answer>,
    /// About texts that were not.
    pub others: Vec<Answer>,
}

/// How well an attacker tells members from others: 0.5 is guessing.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Leak {
    /// Area under the curve of the attacking network.
    pub auc: f64,
    /// The same for the plainest attack: the confidence in the true label.
    pub auc_of_confidence: f64,
    /// Half the width of the 95 % interval of `auc` over texts.
    pub half: f64,
}

/// Learns from a shadow classifier's answers, attacks the target's.
pub fn attack(shadow: &Answers, target: &Answers, labels: usize, seed: u64) -> Leak {
    let mut scores = (Vec::new(), Vec::new());
    for label in 0..labels {
        let of = |answers: &[Answer]| features(answers, label);
        let (members, others) = (of(&shadow.members), of(&shadow.others));
        let (asked, asked_others) = (of(&target.members), of(&target.others));
        if members.is_empty() || others.is_empty() {
            continue;
        }
        let scale = Scale::of(members.iter().chain(&others));
        let rows = scale.matrix(members.iter().chain(&others));
        let classes: Vec<f64> = (0..rows.rows)
            .map(|i| f64::from(u8::from(i < members.len())))
            .collect();
        let training = Training {
            epochs: 8,
            batch: 256,
            rate: 3e-3,
            seed: seed ^ label as u64,
        };
        let mut network = Perceptron::new(rows.cols, &HIDDEN, training.seed);
        network.train(&rows, &classes, &training);
        scores
            .0
            .extend(network.probabilities(&scale.matrix(asked.iter())));
        scores
            .1
            .extend(network.probabilities(&scale.matrix(asked_others.iter())));
    }
    let own = |answers: &[Answer]| -> Vec<f64> {
        answers.iter().map(|a| a.confidences[a.label]).collect()
    };
    let auc = area(&scores.0, &scores.1);
    Leak {
        auc,
        auc_of_confidence: area(&own(&target.members), &own(&target.others)),
        half: 1.96 * area_error(auc, scores.0.len(), scores.1.len()),
    }
}

impl Leak {
    /// The attacking network's area with its interval over texts.
    pub fn estimate(&self) -> Estimate {
        Estimate {
            value: self.auc,
            low: self.auc - self.half,
            high: self.auc + self.half,
        }
        .clamped()
    }
}

fn features(answers: &[Answer], label: usize) -> Vec<Vec<f64>> {
    let of = |answer: &Answer| {
        let logs = answer.confidences.iter().map(|p| p.max(TINY).ln());
        answer.confidences.iter().copied().chain(logs).collect()
    };
    answers
        .iter()
        .filter(|a| a.label == label)
        .map(of)
        .collect()
}

/// Brings every feature to mean 0 and deviation 1.
struct Scale {
    mean: Vec<f64>,
    deviation: Vec<f64>,
}

impl Scale {
    fn of<'r>(rows: impl Iterator<Item = &'r Vec<f64>> + Clone) -> Scale {
        let n = rows.clone().count().max(1) as f64;
        let width = rows.clone().next().map_or(0, Vec::len);
        let column = |of: &dyn Fn(usize, f64) -> f64| -> Vec<f64> {
            (0..width)
                .map(|j| rows.clone().map(|r| of(j, r[j])).sum::<f64>() / n)
                .collect()
        };
        let mean = column(&|_, x| x);
        let deviation = column(&|j, x| (x - mean[j]).powi(2))
            .into_iter()
            .map(|v| v.sqrt().max(1e-9))
            .collect();
        Scale { mean, deviation }
    }

    fn matrix<'r>(&self, rows: impl Iterator<Item = &'r Vec<f64>>) -> Matrix {
        let rows: Vec<&Vec<f64>> = rows.collect();
        Matrix::from_fn(rows.len(), self.mean.len(), |i, j| {
            ((rows[i][j] - self.mean[j]) / self.deviation[j]).clamp(-10.0, 10.0)
        })
    }
}

/// Probability that a member's score is above another's, ties counted half.
pub fn area(members: &[f64], others: &[f64]) -> f64 {
    let mut all: Vec<(f64, bool)> = members
        .iter()
        .map(|s| (*s, true))
        .chain(others.iter().map(|s| (*s, false)))
        .collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut below, mut wins) = (0.0, 0.0);
    for ties in all.chunk_by(|a, b| a.0 == b.0) {
        let of_others = ties.iter().filter(|t| !t.1).count() as f64;
        wins += (ties.len() as f64 - of_others) * (below + of_others / 2.0);
        below += of_others;
    }
    wins / (members.len() as f64 * others.len() as f64).max(1.0)
}

/// Standard error of an area over these numbers of members and others (Hanley and McNeil 1982).
fn area_error(area: f64, members: usize, others: usize) -> f64 {
    let (m, n) = (members as f64, others as f64);
    let (q1, q2) = (area / (2.0 - area), 2.0 * area * area / (1.0 + area));
    let variance =
        area * (1.0 - area) + (m - 1.0) * (q1 - area * area) + (n - 1.0) * (q2 - area * area);
    (variance / (m * n).max(1.0)).max(0.0).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use brr_build::seeded::{generator, uniform};

    #[test]
    fn areas() {
        assert_eq!(area(&[2.0, 3.0], &[0.0, 1.0]), 1.0);
        assert_eq!(area(&[1.0, 1.0], &[1.0, 1.0]), 0.5);
        assert_eq!(area(&[0.0, 2.0], &[1.0]), 0.5);
    }

    fn answers(n: usize, sure: f64, seed: u64) -> Vec<Answer> {
        let mut rng = generator(seed, 0);
        let answer = |i: usize| {
            let right = 0.5 + 0.5 * uniform(&mut rng).powf(1.0 / sure);
            let label = i % 2;
            let mut confidences = vec![1.0 - right; 2];
            confidences[label] = right;
            Answer { confidences, label }
        };
        (0..n).map(answer).collect()
    }

    #[test]
    fn finds_members_if_and_only_if_answers_differ() {
        let both = |sure, seed| Answers {
            members: answers(800, sure, seed),
            others: answers(800, 1.0, seed + 1),
        };
        let leaky = attack(&both(6.0, 1), &both(6.0, 3), 2, 5);
        // The true area is 6/7.
        assert!(
            (leaky.auc - 6.0 / 7.0).abs() < 0.05
                && (leaky.auc_of_confidence - 6.0 / 7.0).abs() < 0.05,
            "{leaky:?}"
        );
        let tight = attack(&both(1.0, 11), &both(1.0, 13), 2, 5);
        // Five standard errors of 0.0144.
        assert!((tight.auc - 0.5).abs() < 0.073, "{tight:?}");
    }
}

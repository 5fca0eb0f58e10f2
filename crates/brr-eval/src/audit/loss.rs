//! Is some event more telling than the promise allows?
//!
//! For tokens a, b and an event E, Pr[E | a] <= exp(L) Pr[E | b] is promised. With
//! lower bound l of Pr[E | a] and upper bound u of Pr[E | b], ln(l / u) > L shows
//! that it is broken. Events: single output words, those with the largest ratio
//! on the first half of the draws; all outputs together that are this many times as frequent for a
//! as for b on the first half; and "nearer to a than to b by at least k".
//! They are judged on the second half.

use std::collections::{HashMap, HashSet};

use serde::Serialize;

use super::{Check, PairKind, Verdict};
use crate::interval::Binomial;

/// Single outputs tried for each pair and direction.
const WORDS: usize = 10;
/// Sets by nearness tried for each pair and direction.
const SETS: usize = 5;
/// Sets by ratio tried for each pair and direction.
const RATIOS: [f64; 3] = [1.0, 3.0, 20.0];

/// Two tokens, what is promised about them, and what came out. Outputs are numbers that stand for
/// words.
pub struct Question<'a> {
    /// Why the pair was chosen.
    pub kind: PairKind,
    /// The tokens: words, or "(unknown)".
    pub tokens: [String; 2],
    /// Their distance.
    pub distance: Option<f64>,
    /// The loss promised; infinite if none is.
    pub promised: f64,
    /// Outputs of each.
    pub outputs: [&'a [u32]; 2],
    /// How much nearer each output is to the first token than to the second; not a number where
    /// there is no distance, and empty if there is none at all.
    pub nearer: Vec<f64>,
}

/// The largest loss seen between two tokens.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PairLoss {
    /// Why the pair was chosen.
    pub kind: PairKind,
    /// The tokens: words, or "(unknown)".
    pub tokens: [String; 2],
    /// Their distance.
    pub distance: Option<f64>,
    /// The loss promised; infinite (in JSON: null) if none is.
    pub promised: f64,
    /// A lower bound of the real loss.
    pub at_least: f64,
    /// The largest loss that this number of draws could show at all.
    pub visible: f64,
    /// The event that shows it.
    pub event: String,
}

/// Looks at all pairs; `word` is the name of an output.
pub fn check(
    questions: &[Question<'_>],
    word: &dyn Fn(u32) -> String,
    alpha: f64,
) -> (Check, Vec<PairLoss>) {
    let events = (questions.len() * 2 * (WORDS + SETS + RATIOS.len())).max(1) as f64;
    let each = alpha / (2.0 * events);
    let losses: Vec<_> = questions.iter().map(|q| pair(q, word, each)).collect();
    let over = |l: &&PairLoss| l.at_least > l.promised;
    let broken = losses.iter().filter(over).count();
    let hidden = losses.iter().filter(|l| l.visible < l.promised).count();
    let worst = losses
        .iter()
        .max_by(|a, b| (a.at_least - a.promised).total_cmp(&(b.at_least - b.promised)));
    let mut finding = format!("{broken} of {} pairs exceed their promise", losses.len());
    if let Some(l) = worst {
        finding += &format!(
            "; closest: {} and {}, at least {:.3} against {:.3} promised, by the event \"{}\"",
            l.tokens[0], l.tokens[1], l.at_least, l.promised, l.event
        );
    }
    finding += &format!("; {hidden} pairs promise more than this number of draws can refute");
    let mut check = Check::new("loss", broken > 0, finding);
    if broken == 0 && hidden == losses.len() {
        check.verdict = Verdict::NotTestable;
    }
    (check, losses)
}

fn pair(question: &Question<'_>, word: &dyn Fn(u32) -> String, alpha: f64) -> PairLoss {
    let [a, b] = question.outputs;
    let back: Vec<f64> = question.nearer.iter().map(|d| -d).collect();
    let forward = direction(word, [a, b], &question.nearer, alpha);
    let backward = direction(word, [b, a], &back, alpha);
    let best = if backward.0 > forward.0 {
        backward
    } else {
        forward
    };
    let half = (a.len().min(b.len()) / 2) as u64;
    let visible = |n: u64| -(Binomial::new(0, n).upper(alpha)).ln();
    PairLoss {
        kind: question.kind,
        tokens: question.tokens.clone(),
        distance: question.distance,
        promised: question.promised,
        at_least: best.0,
        visible: if half > 0 { visible(half) } else { 0.0 },
        event: best.1,
    }
}

/// The largest lower bound of ln(Pr[E | a] / Pr[E | b]) over events, and which.
fn direction(
    word: &dyn Fn(u32) -> String,
    [a, b]: [&[u32]; 2],
    nearer: &[f64],
    alpha: f64,
) -> (f64, String) {
    let (a, judge_a) = a.split_at(a.len() / 2);
    let (b, judge_b) = b.split_at(b.len() / 2);
    let mut best = (0.0, String::from("none"));
    let mut judge = |name: String, event: &dyn Fn(u32) -> bool| {
        let count = |draws: &[u32]| {
            let hits = draws.iter().filter(|y| event(**y)).count();
            Binomial::new(hits as u64, draws.len() as u64)
        };
        let loss = (count(judge_a).lower(alpha) / count(judge_b).upper(alpha)).ln();
        if loss > best.0 {
            best = (loss, name);
        }
    };
    let ratios = ratios(a, b);
    for &(_, y) in ratios.iter().take(WORDS) {
        judge(format!("the output is {}", word(y)), &|x| x == y);
    }
    for least in RATIOS {
        let telling = ratios.iter().filter(|r| r.0 > least).map(|r| r.1);
        let telling: HashSet<u32> = telling.collect();
        let name = format!("the output is one of {} that tell", telling.len());
        judge(name, &|y| telling.contains(&y));
    }
    for margin in margins(a, nearer) {
        let name = format!("the output is nearer to one of them by at least {margin}");
        judge(name, &|y| nearer[y as usize] >= margin);
    }
    best
}

/// Every output with the ratio of its counts, the largest first.
fn ratios(a: &[u32], b: &[u32]) -> Vec<(f64, u32)> {
    let mut counts: HashMap<u32, (f64, f64)> = HashMap::new();
    a.iter()
        .for_each(|y| counts.entry(*y).or_default().0 += 1.0);
    b.iter()
        .for_each(|y| counts.entry(*y).or_default().1 += 1.0);
    // Ten draws more on both sides: a word must be frequent to count as telling.
    let single = |c: &(f64, f64)| (c.0 + 10.0) / (c.1 + 10.0);
    let mut words: Vec<_> = counts.into_iter().collect();
    words.sort_by(|x, y| single(&y.1).total_cmp(&single(&x.1)).then(x.0.cmp(&y.0)));
    // In a set, rare outputs count too.
    let ratio = |(y, c): (u32, (f64, f64))| (c.0 / (c.1 + 0.1), y);
    words.into_iter().map(ratio).collect()
}

/// Margins that a fair share of a's draws reach.
fn margins(a: &[u32], nearer: &[f64]) -> Vec<f64> {
    let margin = |y: &u32| nearer.get(*y as usize).copied();
    let mut seen: Vec<f64> = a.iter().filter_map(margin).collect();
    seen.retain(|m| !m.is_nan());
    seen.sort_by(f64::total_cmp);
    let at = |share: f64| seen.get((share * seen.len() as f64) as usize).copied();
    let mut margins: Vec<f64> = [0.25, 0.5, 0.75, 0.95].into_iter().filter_map(at).collect();
    if !nearer.is_empty() {
        margins.push(1.0);
    }
    margins.dedup();
    margins.truncate(SETS);
    margins
}

//! Is some event more telling than the promise allows?
//!
//! For tokens a, b and an event E, Pr[E | a] <= exp(L) Pr[E | b] is promised. With
//! lower bound l of Pr[E | a] and upper bound u of Pr[E | b], ln(l / u) > L shows
//! that it is broken. Events: single output words, those with the largest ratio
//! on the first half of the draws; and "nearer to a than to b by at least k".
//! They are judged on the second half.

use std::collections::HashMap;

use brr::parts::vocabulary::WordId;
use serde::Serialize;

use super::pairs::WordPair;
use super::program::Asked;
use super::{Check, Claim, PairKind, Verdict};
use crate::channel::distances_in;
use crate::interval::Binomial;

/// Single words tried for each pair and direction.
const WORDS: usize = 10;
/// Sets tried for each pair and direction.
const SETS: usize = 5;

/// The largest loss seen between two tokens.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PairLoss {
    /// Why the pair was chosen.
    pub kind: PairKind,
    /// The tokens: words of the model, or "(unknown)".
    pub tokens: [String; 2],
    /// Their distance.
    pub distance: Option<u32>,
    /// The loss promised.
    pub promised: f64,
    /// A lower bound of the real loss.
    pub at_least: f64,
    /// The largest loss that this number of draws could show at all.
    pub visible: f64,
    /// The event that shows it.
    pub event: String,
}

/// Looks at all pairs.
pub fn check(
    claim: &Claim<'_>,
    pairs: &[WordPair],
    asked: &Asked,
    alpha: f64,
) -> (Check, Vec<PairLoss>) {
    let events = (pairs.len() * 2 * (WORDS + SETS)).max(1) as f64;
    let each = alpha / (2.0 * events);
    let losses: Vec<_> = pairs.iter().map(|p| pair(claim, p, asked, each)).collect();
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

fn pair(claim: &Claim<'_>, pair: &WordPair, asked: &Asked, alpha: f64) -> PairLoss {
    let guarantee = claim.mechanism.guarantee();
    let promised = match pair.distance {
        Some(0) => 0.0,
        Some(d) => guarantee.loss_at(f64::from(d)),
        None => guarantee.unknown_loss,
    };
    let name = |word: Option<WordId>| match word {
        Some(word) => claim.model.vocabulary().word(word).to_owned(),
        None => "(unknown)".to_owned(),
    };
    let (a, b) = (asked.outputs(Some(pair.a)), asked.outputs(pair.b));
    let nearer = nearness(claim, pair);
    let forward = direction(claim, a, b, &nearer, 1, alpha);
    let backward = direction(claim, b, a, &nearer, -1, alpha);
    let best = if backward.0 > forward.0 {
        backward
    } else {
        forward
    };
    let half = (a.len().min(b.len()) / 2) as u64;
    let visible = |n: u64| -(Binomial::new(0, n).upper(alpha)).ln();
    PairLoss {
        kind: pair.kind,
        tokens: [name(Some(pair.a)), name(pair.b)],
        distance: pair.distance,
        promised,
        at_least: best.0,
        visible: if half > 0 { visible(half) } else { 0.0 },
        event: best.1,
    }
}

/// How much nearer each word is to a than to b: d(b, y) - d(a, y). Against an
/// unknown token: minus the distance to a.
fn nearness(claim: &Claim<'_>, pair: &WordPair) -> Vec<i32> {
    let metric = claim.mechanism.guarantee().metric;
    let distances = |word: WordId| distances_in(metric, claim.model, word);
    let (a, b) = (distances(pair.a), pair.b.map(distances));
    let nearer = |y: usize| b.as_ref().map_or(0, |b| i32::from(b[y])) - i32::from(a[y]);
    (0..a.len()).map(nearer).collect()
}

/// The largest lower bound of ln(Pr[E | a] / Pr[E | b]) over events, and which.
fn direction(
    claim: &Claim<'_>,
    a: &[WordId],
    b: &[WordId],
    nearer: &[i32],
    sign: i32,
    alpha: f64,
) -> (f64, String) {
    let (a, judge_a) = a.split_at(a.len() / 2);
    let (b, judge_b) = b.split_at(b.len() / 2);
    let mut best = (0.0, String::from("none"));
    let mut judge = |name: String, event: &dyn Fn(WordId) -> bool| {
        let count = |draws: &[WordId]| {
            let hits = draws.iter().filter(|y| event(**y)).count();
            Binomial::new(hits as u64, draws.len() as u64)
        };
        let loss = (count(judge_a).lower(alpha) / count(judge_b).upper(alpha)).ln();
        if loss > best.0 {
            best = (loss, name);
        }
    };
    for word in telling_words(a, b) {
        let name = format!("the output is {}", claim.model.vocabulary().word(word));
        judge(name, &|y| y == word);
    }
    for margin in margins(a, nearer, sign) {
        let name = format!("the output is nearer to one of them by at least {margin}");
        judge(name, &|y| sign * nearer[y as usize] >= margin);
    }
    best
}

/// The outputs with the largest ratio of counts.
fn telling_words(a: &[WordId], b: &[WordId]) -> Vec<WordId> {
    let mut counts: HashMap<WordId, (f64, f64)> = HashMap::new();
    a.iter()
        .for_each(|y| counts.entry(*y).or_default().0 += 1.0);
    b.iter()
        .for_each(|y| counts.entry(*y).or_default().1 += 1.0);
    // Ten draws more on both sides: a word must be frequent to count as telling.
    let ratio = |c: (f64, f64)| (c.0 + 10.0) / (c.1 + 10.0);
    let mut words: Vec<_> = counts.into_iter().map(|(y, c)| (ratio(c), y)).collect();
    words.sort_by(|x, y| y.0.total_cmp(&x.0).then(x.1.cmp(&y.1)));
    words.into_iter().take(WORDS).map(|w| w.1).collect()
}

/// Margins that a fair share of a's draws reach.
fn margins(a: &[WordId], nearer: &[i32], sign: i32) -> Vec<i32> {
    let mut seen: Vec<i32> = a.iter().map(|y| sign * nearer[*y as usize]).collect();
    seen.sort_unstable();
    let at = |share: f64| seen.get((share * seen.len() as f64) as usize).copied();
    let mut margins: Vec<i32> = [0.25, 0.5, 0.75, 0.95].into_iter().filter_map(at).collect();
    margins.push(1);
    margins.dedup();
    margins.truncate(SETS);
    margins
}

//! What can be seen without comparing losses: words in the clear, capitals, equal draws, disjoint
//! supports.

use std::collections::{BTreeMap, HashSet};

use super::super::canary::{self, Canary};
use super::super::{Check, PairKind, Verdict};
use super::draws::Draws;
use super::tokens::TokenPair;
use super::{WordClaim, WordMetric};
use crate::interval::Binomial;

/// Canaries of each kind: one that comes out tells enough, and programs may be slow.
const CANARIES: usize = 6;
/// Longer outputs are not searched for canaries: see `clear`.
const SEARCHED: usize = 1000;

/// What a check found, and the largest epsilon that it proves of what the claim covers.
pub struct Proven {
    /// The check.
    pub check: Check,
    /// The epsilon; 0 if it proves none, and infinite if no epsilon is enough.
    pub epsilon: f64,
}

impl Proven {
    /// Takes the verdict back: draws of a run hang together, and the intervals do not hold.
    pub fn no_longer_judged(&mut self) {
        self.epsilon = 0.0;
        if self.check.verdict == Verdict::Fail {
            self.check.verdict = Verdict::Note;
        }
    }
}

/// Entropy of the marks by kind of canary, in nats: minus the logarithm of the probability of the
/// likeliest. An emoji is always the same, so that it proves nothing.
fn entropy(kind: &str) -> f64 {
    let letter = 26f64.ln();
    match kind {
        "random letters" => 14.0 * letter,
        "a number" => 10.0 * (26.0f64 / 3.0).ln(),
        "an e-mail address" | "a link" => 10.0 * letter,
        "capitals" => 12.0 * letter,
        _ => 0.0,
    }
}

/// Words that nobody has in a list: do they come out?
///
/// A mark x is drawn with probability at most q, and an output of at most [`SEARCHED`] characters
/// contains fewer than that many marks. With epsilon between any two tokens and some fixed token z,
/// sum_x q(x) Pr[x in y | x] <= exp(epsilon) sum_x q(x) Pr[x in y | z] <= exp(epsilon) q SEARCHED.
/// So if random tokens come out with probability p, then epsilon >= ln p - ln q - ln SEARCHED: a
/// single one that comes out tells more than any number of draws of two words.
pub fn clear(claim: &WordClaim<'_>, canaries: &[Canary], out: &[String], alpha: f64) -> Proven {
    let mut kinds: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for (canary, line) in canaries.iter().zip(out) {
        let count = kinds.entry(canary.kind).or_default();
        let through =
            line.chars().count() <= SEARCHED && line.to_lowercase().contains(&canary.mark);
        count.0 += u64::from(through);
        count.1 += 1;
    }
    let each = alpha / kinds.len().max(1) as f64;
    let at_least = |(kind, (hits, all)): (&&str, &(u64, u64))| {
        let share = Binomial::new(*hits, *all).lower(each);
        share.ln() + entropy(kind) - (SEARCHED as f64).ln()
    };
    let loss = kinds.iter().map(at_least).fold(0.0, f64::max);
    let passed = kinds.iter().filter(|(_, count)| count.0 > 0);
    let passed: Vec<String> = passed
        .map(|(kind, (hits, all))| format!("{kind} ({hits} of {all})"))
        .collect();
    if passed.is_empty() {
        let finding = format!("none of {} came out", canaries.len());
        return Proven {
            check: Check::new("unknown words", false, finding),
            epsilon: 0.0,
        };
    }
    // What is promised between any two of them.
    let promised = match (claim.metric, claim.covers_all) {
        (WordMetric::Discrete, _) => claim.epsilon,
        (WordMetric::Euclidean, true) => 0.0,
        (WordMetric::Euclidean, false) => f64::INFINITY,
    };
    let (verdict, covered) = match (claim.metric, claim.covers_all) {
        (WordMetric::Discrete, _) if loss > claim.epsilon => (Verdict::Fail, ""),
        (WordMetric::Discrete, _) => (Verdict::Note, ""),
        // Tokens without a place in the metric are alike.
        (WordMetric::Euclidean, true) if loss > 0.0 => (
            Verdict::Fail,
            ", between tokens that are to be treated alike",
        ),
        (WordMetric::Euclidean, true) => (Verdict::Note, ""),
        (WordMetric::Euclidean, false) => (
            Verdict::OutsideClaim,
            ", between tokens for which the metric promises nothing",
        ),
    };
    let said = passed.join(", ");
    Proven {
        check: Check {
            name: "unknown words",
            verdict,
            finding: format!("in the clear: {said}; a loss of at least {loss:.1}{covered}"),
        },
        epsilon: claim.epsilon_for(loss, promised),
    }
}

/// Canaries of each kind.
pub fn canaries(rng: &mut chacha20::ChaCha20Rng) -> Vec<Canary> {
    (0..CANARIES).flat_map(|_| canary::kinds(rng)).collect()
}

/// Does a capital letter come out where one went in? Asked of the pairs that the claim is about, if
/// there are any.
pub fn capitals(
    claim: &WordClaim<'_>,
    pairs: &[TokenPair],
    draws: &Draws,
    alpha: f64,
) -> Option<Proven> {
    let capitals = pairs.iter().filter(|p| p.kind == PairKind::Capital);
    let any_covered = capitals.clone().any(TokenPair::is_covered);
    let (mut plain, mut capital, mut promised) = ((0, 0), (0, 0), 0f64);
    let is_capital = |line: &str| line.starts_with(char::is_uppercase);
    for pair in capitals.filter(|p| p.is_covered() == any_covered) {
        for (sum, token) in [&mut plain, &mut capital].into_iter().zip(&pair.tokens) {
            let count = draws.count(token, is_capital);
            *sum = (sum.0 + count.0, sum.1 + count.1);
        }
        promised = promised.max(pair.promised);
    }
    let count = |c: (u64, u64)| (c.1 > 0).then(|| Binomial::new(c.0, c.1));
    let (plain, capital) = (count(plain)?, count(capital)?);
    let loss = (capital.lower(alpha / 2.0) / plain.upper(alpha / 2.0)).ln();
    let finding = format!(
        "{:.1} % of outputs of capitalized words have a capital letter, {:.1} % of the same words without",
        100.0 * capital.share(),
        100.0 * plain.share()
    );
    let check = match loss {
        loss if loss > promised => {
            let finding = format!("{finding}: a loss of at least {loss:.2}");
            Check::new("capitals", true, finding)
        }
        loss if loss > 0.0 => Check {
            name: "capitals",
            verdict: Verdict::Note,
            finding: format!("{finding}: they pass through, a loss of at least {loss:.2}"),
        },
        _ => Check::new("capitals", false, finding),
    };
    let epsilon = claim.epsilon_for(loss, promised);
    Some(Proven { check, epsilon })
}

/// How often words come out as they went in.
pub fn kept(pairs: &[TokenPair], draws: &Draws) -> Check {
    let share = |kind: PairKind| {
        let tokens = pairs.iter().filter(|p| p.kind == kind);
        let tokens: HashSet<&String> = tokens.flat_map(|p| &p.tokens[..]).collect();
        let counts = tokens.iter().map(|t| draws.count(t, |line| line == **t));
        let (hits, all) = counts.fold((0, 0), |sum, c| (sum.0 + c.0, sum.1 + c.1));
        (all > 0).then(|| 100.0 * hits as f64 / all as f64)
    };
    let shares = [
        ("near words", PairKind::Near),
        ("rare words", PairKind::Rare),
        ("stop words", PairKind::Stop),
    ];
    let shares: Vec<String> = shares
        .into_iter()
        .filter_map(|(name, kind)| Some(format!("{name} in {:.1} % of draws", share(kind)?)))
        .collect();
    Check {
        name: "kept words",
        verdict: Verdict::Note,
        finding: format!("as they went in come out {}", shares.join(", ")),
    }
}

/// Do equal words get equal draws: in two runs on equal input, or within a run?
///
/// For a sound program both agree equally often, since all draws are independent.
pub struct Repeats {
    /// The finding.
    pub check: Check,
    /// Whether equal words of a run share a draw. Then draws of a run are not independent.
    pub within: bool,
    /// Whether every word always became the same.
    pub deterministic: bool,
}

/// Compares the first two runs.
pub fn repeats(draws: &Draws, alpha: f64) -> Repeats {
    let (order, [first, second]) = &draws.opening;
    let across = first.iter().zip(second).filter(|(x, y)| x == y).count();
    let across = Binomial::new(across as u64, order.len() as u64);
    let (mut same, mut all) = (0, 0);
    for run in [first, second] {
        let mut waiting: BTreeMap<usize, u32> = BTreeMap::new();
        for (token, output) in order.iter().zip(run) {
            match waiting.remove(token) {
                None => drop(waiting.insert(*token, *output)),
                Some(other) => {
                    same += u64::from(other == *output);
                    all += 1;
                }
            }
        }
    }
    let within = Binomial::new(same, all);
    // Sums of different probabilities spread less than a binomial variable of the same mean.
    let above = |x: Binomial, y: Binomial| x.lower(alpha / 4.0) > y.upper(alpha / 4.0);
    let (fixed, shared) = (above(across, within), above(within, across));
    let deterministic = within.share() == 1.0 && across.share() == 1.0;
    let said = match (fixed, shared) {
        (true, _) => "two runs give equal draws: a fixed seed",
        (_, true) => {
            "equal words of a run share a draw, so that losses cannot be bounded by its draws"
        }
        _ if deterministic => "the program is deterministic: a word always becomes the same",
        _ => "as it should be",
    };
    let finding = format!(
        "equal words agree in {:.4} of places across two runs, in {:.4} within a run: {said}",
        across.share(),
        within.share()
    );
    let mut check = Check::new("repeats", fixed, finding);
    if shared || deterministic {
        check.verdict = Verdict::Note;
    }
    Repeats {
        check,
        within: shared,
        deterministic,
    }
}

/// Are there pairs that share no output at all? Draws alone cannot prove it; but where a token's
/// own draws repeat each other and none of them ever comes from the other token, it looks so, and what
/// was observed is an infinite loss. It counts where the claim is about the pair.
pub fn supports(pairs: &[TokenPair], draws: &Draws, deterministic: bool) -> Check {
    let is_apart = |pair: &&TokenPair| {
        let [a, b] = [draws.of(&pair.tokens[0]), draws.of(&pair.tokens[1])];
        let seen: HashSet<&u32> = b.iter().collect();
        let (early, late) = a.split_at(a.len() / 2);
        let early: HashSet<&u32> = early.iter().collect();
        let own = late.iter().filter(|y| early.contains(y)).count();
        own * 2 > late.len() && !a.iter().any(|y| seen.contains(y))
    };
    let apart: Vec<&TokenPair> = pairs.iter().filter(is_apart).collect();
    let covered: Vec<_> = apart.iter().filter(|p| p.is_covered()).copied().collect();
    let (verdict, named) = match (apart.is_empty(), covered.is_empty()) {
        (true, _) => (Verdict::Pass, &apart),
        (_, true) => (Verdict::Note, &apart),
        (_, false) => (Verdict::InfiniteLossObserved, &covered),
    };
    let finding = match named.first() {
        None => format!(
            "no pair of {} looks as if its outputs were disjoint",
            pairs.len()
        ),
        Some(pair) => format!(
            "{}{} of {} pairs{} share no output in {} draws of each, such as {} and {}: an observation, not a \
             proof; if their supports are disjoint, the loss is infinite",
            match deterministic {
                true => "a fixed map from words to outputs, in which ",
                false => "",
            },
            named.len(),
            pairs.len(),
            match covered.is_empty() {
                true => ", all outside the claim,",
                false => "",
            },
            draws.each(),
            pair.shown(0),
            pair.shown(1)
        ),
    };
    Check {
        name: "supports",
        verdict,
        finding,
    }
}

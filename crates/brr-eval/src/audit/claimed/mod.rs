//! Audits a program of which nothing is known but a claim: an epsilon and its metric.
//!
//! The program gets words, one in a line, and gives a line for each. There is no mechanism to
//! compare its draws with, so all that can be shown is a loss above the claimed one: pairs of words
//! that are near, rare, far apart, unknown, stop words, or differ in a capital letter are drawn many
//! times, and their losses are bounded from below as for our own program ([`super::loss`]). Beside
//! the loss it names what it saw ([`seen`]).
//!
//! # What a failure means
//!
//! For a program whose draws are independent and keep the claim, every probability that is compared
//! is bounded by exact binomial intervals, each event is chosen on other draws than it is judged on,
//! and the error rates of all comparisons add up to [`ALPHA`] at most. Which words are asked about
//! depends on the seed and on public lists alone. How many draws there are depends on time, and so
//! possibly on what was drawn; but no decision to stop looks at the outputs. The claim is
//! taken to hold for every token that the program accepts in the discrete metric, and in the Euclidean for
//! those with vectors. What becomes of the others is then outside the claim, and no failure, unless it says
//! that it [covers all tokens](WordClaim::covers_all).

mod draws;
mod lexicon;
mod seen;

use std::collections::BTreeSet;
use std::time::Instant;

use brr::parts::vocabulary::WordId;
use chacha20::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

pub use lexicon::Lexicon;

use super::loss::{self, Question};
use super::space::WordSpace;
use super::{
    ALPHA, AuditError, AuditOptions, AuditReport, Check, DISCLAIMER, PairKind, Program, SHARES,
    Timing, Verdict, epsilon_at_least, pairs, timing,
};
use draws::Draws;

/// Frequent words that carry little meaning.
const STOP_WORDS: [&str; 8] = ["the", "of", "and", "is", "to", "in", "that", "it"];

/// Share of the time that draws may take; the rest is for timings.
const FOR_DRAWS: f64 = 0.75;

/// Words in a timed run.
const TIMED: (usize, usize) = (50, 2000);

/// The metric of a claimed epsilon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WordMetric {
    /// Epsilon between any two words.
    Discrete,
    /// Epsilon for a unit of Euclidean distance between vectors.
    Euclidean,
}

/// What somebody says about a program.
pub struct WordClaim<'a> {
    /// The epsilon.
    pub epsilon: f64,
    /// Its metric; the Euclidean needs a lexicon with vectors.
    pub metric: WordMetric,
    /// Whether a Euclidean claim is also about tokens without a vector: nothing may then tell one of them
    /// from another. (The discrete metric always covers all tokens.)
    pub covers_all: bool,
    /// Words to choose from.
    pub lexicon: &'a Lexicon,
}

impl WordClaim<'_> {
    /// The loss promised between two tokens; infinite if none is.
    fn promised(&self, a: &str, b: &str) -> f64 {
        match self.metric {
            WordMetric::Discrete => self.epsilon,
            WordMetric::Euclidean => match self.lexicon.euclidean(a, b) {
                Some(distance) => self.epsilon * distance,
                None if self.covers_all && ![a, b].iter().any(|t| self.lexicon.knows(t)) => 0.0,
                None => f64::INFINITY,
            },
        }
    }

    fn metric_name(&self) -> &'static str {
        match self.metric {
            WordMetric::Discrete => "discrete",
            WordMetric::Euclidean => "euclidean",
        }
    }
}

impl WordSpace for WordClaim<'_> {
    fn count(&self) -> usize {
        self.lexicon.count()
    }

    fn word(&self, id: WordId) -> &str {
        self.lexicon.word(id)
    }

    fn distances(&self, from: WordId) -> Vec<f64> {
        self.lexicon.distances(from)
    }

    fn position(&self, id: WordId) -> Vec<u64> {
        let alike = self.metric == WordMetric::Euclidean;
        let bits = alike.then(|| self.lexicon.bits(id)).flatten();
        bits.unwrap_or_else(|| self.lexicon.position(id))
    }
}

/// Two tokens to compare.
pub struct TokenPair {
    kind: PairKind,
    tokens: [String; 2],
    promised: f64,
    /// Which of the two no vocabulary has.
    unknown: [bool; 2],
}

impl TokenPair {
    /// How a token is named in a report.
    fn shown(&self, which: usize) -> &str {
        match self.unknown[which] {
            true => "(unknown)",
            false => &self.tokens[which],
        }
    }
}

/// Audits a program against a claimed epsilon. It stops drawing in time to end `until` then, and
/// then says with how many draws. `progress` gets the share of the work done.
///
/// # Panics
/// If the claim is Euclidean and the lexicon has no vectors.
pub fn audit_claim(
    claim: &WordClaim<'_>,
    program: &mut Program<'_>,
    options: &AuditOptions,
    until: Instant,
    progress: &dyn Fn(f64),
) -> Result<AuditReport, AuditError> {
    assert!(
        claim.metric == WordMetric::Discrete || claim.lexicon.has_vectors(),
        "a Euclidean claim needs vectors"
    );
    let left = until.saturating_duration_since(Instant::now());
    let for_draws = Instant::now() + left.mul_f64(FOR_DRAWS);
    let alpha = ALPHA / SHARES;
    let mut rng = ChaCha20Rng::seed_from_u64(options.seed);
    let canaries = seen::canaries(&mut rng);
    let pairs = token_pairs(claim, options, &mut rng);
    let tokens: BTreeSet<&String> = pairs.iter().flat_map(|p| &p.tokens[..]).collect();
    let tokens: Vec<String> = tokens.into_iter().cloned().collect();
    let lines: Vec<String> = canaries.iter().map(|c| c.token.clone()).collect();
    let ask = (&mut *program, options.trials);
    let (mut draws, out) = Draws::open(tokens, &lines, ask, options.seed)?;
    progress(0.1);
    let share = |done: f64| progress(0.1 + 0.65 * done);
    draws.complete(program, options.trials, for_draws, &share)?;

    let repeats = seen::repeats(&draws, alpha);
    let mut checks = vec![seen::clear(claim, &canaries, &out, alpha)];
    checks.extend(seen::capitals(&pairs, &draws, alpha));
    checks.push(seen::kept(&pairs, &draws));
    checks.push(repeats.check);
    checks.push(seen::supports(&pairs, &draws));
    let questions: Vec<_> = pairs.iter().map(|p| question(claim, p, &draws)).collect();
    let name = |y: u32| draws.names[y as usize].clone();
    let (mut check, losses) = loss::check(&questions, &name, alpha);
    if repeats.within && check.verdict == Verdict::Fail {
        check.verdict = Verdict::Note;
    }
    checks.push(check);
    let (timings, check) = timings(claim, program, &draws, options, until)?;
    checks.extend(check);
    progress(1.0);
    Ok(AuditReport {
        disclaimer: DISCLAIMER,
        false_alarm_rate: ALPHA,
        mechanism: "a program",
        epsilon: claim.epsilon,
        metric: claim.metric_name().to_owned(),
        epsilon_at_least: match repeats.within {
            true => 0.0,
            false => epsilon_at_least(&losses, |loss| {
                let distance = loss.promised / claim.epsilon;
                distance.is_finite().then_some(distance)
            }),
        },
        draws: draws.each(),
        options: *options,
        checks,
        pairs: losses,
        timings,
    })
}

/// Pairs of words by their distances, and with unknown tokens, stop words and capitals.
fn token_pairs(
    claim: &WordClaim<'_>,
    options: &AuditOptions,
    rng: &mut ChaCha20Rng,
) -> Vec<TokenPair> {
    let mut letters = || -> String {
        let letter = |_| char::from(b'a' + (rng.next_u64() % 26) as u8);
        (0..12).map(letter).collect()
    };
    let unknown = [letters(), letters()];
    let pair = |kind, a: &str, b: &str| TokenPair {
        kind,
        tokens: [a.to_owned(), b.to_owned()],
        promised: claim.promised(a, b),
        unknown: [a, b].map(|token| unknown.iter().any(|u| u == token)),
    };
    let chosen = pairs::choose(claim, options);
    let mut found: Vec<TokenPair> = chosen
        .iter()
        .map(|p| {
            let b = p.b.map_or(&*unknown[0], |b| claim.word(b));
            pair(p.kind, claim.word(p.a), b)
        })
        .collect();
    found.push(pair(PairKind::Unknown, &unknown[0], &unknown[1]));
    let frequent = chosen.iter().filter(|p| p.kind == PairKind::Near);
    let frequent: Vec<&str> = frequent.map(|p| claim.word(p.a)).collect();
    for (i, word) in frequent.iter().enumerate() {
        let stop = |i: usize| STOP_WORDS[i % STOP_WORDS.len()];
        found.push(pair(PairKind::Stop, stop(2 * i), stop(2 * i + 1)));
        found.push(pair(PairKind::Stop, stop(2 * i), word));
        let capital = word[..1].to_uppercase() + &word[1..];
        found.push(pair(PairKind::Capital, word, &capital));
    }
    found
}

/// What is promised about a pair, and what came out.
fn question<'a>(claim: &WordClaim<'_>, pair: &TokenPair, draws: &'a Draws) -> Question<'a> {
    let [a, b] = &pair.tokens;
    let nearer = |line: &String| {
        let to = |token| claim.lexicon.euclidean(token, line);
        to(b).zip(to(a)).map_or(f64::NAN, |(b, a)| b - a)
    };
    let by_distance = claim.lexicon.has_vectors();
    let outputs = if by_distance { &draws.names[..] } else { &[] };
    Question {
        kind: pair.kind,
        tokens: [pair.shown(0).to_owned(), pair.shown(1).to_owned()],
        distance: claim.lexicon.euclidean(a, b),
        promised: pair.promised,
        outputs: [draws.of(a), draws.of(b)],
        nearer: outputs.iter().map(nearer).collect(),
    }
}

/// Times runs of frequent, rare and unknown words, as often as there is time for.
fn timings(
    claim: &WordClaim<'_>,
    program: &mut Program<'_>,
    draws: &Draws,
    options: &AuditOptions,
    until: Instant,
) -> Result<(Vec<Timing>, Vec<Check>), AuditError> {
    let words = ((draws.words_per_second / 4.0) as usize).clamp(TIMED.0, TIMED.1);
    let left = until.saturating_duration_since(Instant::now());
    let run = words as f64 / draws.words_per_second;
    // Two comparisons of two inputs each, one run of each beforehand, and half of the time to spare.
    let runs = ((left.as_secs_f64() / run / 2.0) as usize / 4).saturating_sub(1);
    let options = AuditOptions {
        timings: runs.min(options.timings),
        ..*options
    };
    let plain = claim.plain();
    let (Some(frequent), Some(rare), 1..) = (plain.first(), plain.last(), options.timings) else {
        return Ok((Vec::new(), vec![no_timings()]));
    };
    let input = |word: &str| vec![word.to_owned(); words];
    let (frequent, rare) = (input(claim.word(*frequent)), input(claim.word(*rare)));
    let unknown = input("zxqvjkwqpf");
    let mut compare =
        |what, other: &[String]| timing::compare(what, [&frequent, other], program, &options);
    let timings = compare(timing::FREQUENT_AND_RARE, &rare)
        .and_then(|first| Ok(vec![first, compare(timing::WORD_AND_UNKNOWN, &unknown)?]));
    match timings {
        Ok(timings) => Ok((timings.clone(), timing::check(&timings))),
        Err(AuditError::Program(_)) if Instant::now() >= until => {
            Ok((Vec::new(), vec![no_timings()]))
        }
        Err(error) => Err(error),
    }
}

fn no_timings() -> Check {
    Check {
        name: "timing",
        verdict: Verdict::Note,
        finding: "not measured: not asked for, or no time was left".to_owned(),
    }
}

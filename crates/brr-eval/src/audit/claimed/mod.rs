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
mod tokens;

use std::collections::BTreeSet;
use std::time::Instant;

use brr::parts::vocabulary::WordId;
use chacha20::ChaCha20Rng;
use rand_core::SeedableRng;

pub use lexicon::Lexicon;

use super::loss::{self, Question};
use super::space::WordSpace;
use super::{
    ALPHA, AuditError, AuditOptions, AuditReport, Check, DISCLAIMER, Program, SHARES, Timing,
    Verdict, timing,
};
use draws::Draws;
use tokens::TokenPair;

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

    /// The epsilon that a loss of at least so much proves, where another was promised: infinite if
    /// none at all was to be, and 0 if the claim is about something else.
    fn epsilon_for(&self, at_least: f64, promised: f64) -> f64 {
        match at_least > 0.0 && promised.is_finite() {
            true => at_least * self.epsilon / promised,
            false => 0.0,
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

    fn plain(&self) -> Vec<WordId> {
        self.lexicon.plain()
    }

    fn position(&self, id: WordId) -> Vec<u64> {
        let alike = self.metric == WordMetric::Euclidean;
        let bits = alike.then(|| self.lexicon.bits(id)).flatten();
        bits.unwrap_or_else(|| self.lexicon.position(id))
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
    let pairs = tokens::choose(claim, options, &mut rng)?;
    let tokens: BTreeSet<&String> = pairs.iter().flat_map(|p| &p.tokens[..]).collect();
    let tokens: Vec<String> = tokens.into_iter().cloned().collect();
    let lines: Vec<String> = canaries.iter().map(|c| c.token.clone()).collect();
    let ask = (&mut *program, options.trials);
    let (mut draws, out) = Draws::open(tokens, &lines, ask, options.seed)?;
    progress(0.1);
    let share = |done: f64| progress(0.1 + 0.65 * done);
    draws.complete(program, options.trials, for_draws, &share)?;

    let repeats = seen::repeats(&draws, alpha);
    let (fixed_map, within) = (repeats.deterministic, repeats.within);
    let clear = seen::clear(claim, &canaries, &out, alpha);
    let mut checks = vec![clear.check];
    let mut proven = vec![("unknown words", clear.epsilon)];
    if let Some(mut capitals) = seen::capitals(claim, &pairs, &draws, alpha) {
        if within {
            capitals.no_longer_judged();
        }
        checks.push(capitals.check);
        proven.push(("capital letters", capitals.epsilon));
    }
    checks.push(seen::kept(&pairs, &draws));
    checks.push(repeats.check);
    checks.push(seen::supports(&pairs, &draws, fixed_map));
    let questions: Vec<_> = pairs.iter().map(|p| question(claim, p, &draws)).collect();
    let name = |y: u32| draws.names[y as usize].clone();
    let (check, losses) = loss::check(&questions, &name, alpha);
    let epsilon = losses
        .iter()
        .map(|l| claim.epsilon_for(l.at_least, l.promised));
    let mut by_pairs = seen::Proven {
        check,
        epsilon: epsilon.fold(0.0, f64::max),
    };
    if within {
        by_pairs.no_longer_judged();
    }
    checks.push(by_pairs.check);
    proven.push(("pairs of words", by_pairs.epsilon));
    let (epsilon_at_least, shown_by) = largest(&proven);
    let (timings, check) = timings(claim, program, &draws, options, until)?;
    checks.extend(check);
    progress(1.0);
    Ok(AuditReport {
        disclaimer: DISCLAIMER,
        false_alarm_rate: ALPHA,
        mechanism: "a program",
        epsilon: claim.epsilon,
        metric: claim.metric_name().to_owned(),
        epsilon_at_least,
        shown_by,
        draws: draws.each(),
        options: *options,
        checks,
        pairs: losses,
        timings,
    })
}

/// The largest of some lower bounds, and by what it is shown. They have their own shares of [`ALPHA`],
/// so that all hold at once, and the largest too.
fn largest(proven: &[(&'static str, f64)]) -> (f64, &'static str) {
    let largest = proven.iter().fold(
        ("nothing", 0.0),
        |best, next| {
            if next.1 > best.1 { *next } else { best }
        },
    );
    (largest.1, largest.0)
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

//! Tries to falsify a guarantee.
//!
//! The program under audit is a black box, text in and text out: it can be the
//! built `brr` itself, run as a subprocess. Beside it stands the *claim*: the
//! model, and the mechanism that the program says it runs, whose guarantee it
//! must keep. Each check looks for one way to break it:
//!
//! - `loss`: over pairs of words chosen to be hard, is some output event
//!   more telling than exp(epsilon * d) allows?
//! - `conformance`: does the program draw from the mechanism's distribution at
//!   all? (Less noise than claimed shows here long before it shows as loss.)
//! - `repeats`: do two runs, or two places of a text, share randomness?
//! - `canaries`: does anything that is not a word of the model come through?
//! - `structure`: does punctuation or spacing tell which words the model knows, or
//!   what a token was?
//! - `bit flips` ([`bit_flips`]): are bits flipped as often as claimed?
//! - `timing`: does time tell the word?
//!
//! A program of which only a number is claimed, without a mechanism to compare it with, is audited
//! word by word: [`audit_claim`].
//!
//! A given number of draws can show a loss of about ln(trials / 60) and no more; pairs with a
//! larger promised loss are reported as beyond reach. Auditing at a small epsilon as well
//! as at the one in use brings near pairs within it.
//!
//! All decisions rest on exact binomial bounds (Clopper and Pearson), corrected
//! for the number of comparisons: a sound program fails an audit with probability
//! at most [`ALPHA`]. Events are chosen on one half of the draws and judged on the
//! other. [A pass proves nothing](DISCLAIMER).

mod bits;
mod canary;
mod claimed;
mod conformance;
mod loss;
mod pairs;
mod program;
mod repeats;
mod space;
mod structure;
mod timing;

pub use bits::bit_flips;
pub use claimed::{Lexicon, WordClaim, WordMetric, audit_claim};
pub use loss::PairLoss;
pub use pairs::{PairKind, WordPair};
pub use program::{AuditError, Program};
pub use timing::Timing;

use brr::parts::language::{Decoder, Sentence};
use brr::parts::mechanism::Mechanism;
use brr::parts::random::Noise;
use brr::parts::vocabulary::WordId;
use brr::{Language, Model};
use serde::Serialize;

pub use crate::interval::ALPHA;
use loss::Question;
use program::Asked;
use space::{ModelSpace, WordSpace};

/// What every report says.
pub const DISCLAIMER: &str = "A pass proves nothing. An audit can only show that a promise is \
    broken; it looks at a few words, a few events and a limited number of draws, and what it cannot see it \
    cannot fail. The guarantee rests on its proof and on the code that follows it.";

/// Checks that share [`ALPHA`] equally.
const SHARES: f64 = 5.0;

/// How thoroughly to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct AuditOptions {
    /// Draws for each word.
    pub trials: usize,
    /// Pairs of each kind.
    pub pairs: usize,
    /// Timed runs of each text; 0 skips the check, and fewer than 20 cannot fail it.
    pub timings: usize,
    /// Seed of the choice of words. (The program's randomness is its own.)
    pub seed: u64,
}

impl Default for AuditOptions {
    fn default() -> AuditOptions {
        AuditOptions {
            trials: 20_000,
            pairs: 3,
            timings: 40,
            seed: 1,
        }
    }
}

/// What the program says it does.
pub struct Claim<'a> {
    /// The model.
    pub model: &'a Model,
    /// The mechanism, as this library has it: its guarantee is the promise, its
    /// draws are what the program's are compared with.
    pub mechanism: &'a dyn Mechanism,
    /// What it says its draws are decoded with, if they are. Decoding joins the words of a text, so
    /// each word is then a text of its own.
    pub language: Option<&'a Language>,
}

impl Claim<'_> {
    /// Words of a text whose outputs do not depend on each other.
    fn words_per_text(&self) -> usize {
        if self.language.is_some() { 1 } else { LINE }
    }

    /// The words, with the mechanism's distances.
    fn space(&self) -> ModelSpace<'_> {
        ModelSpace {
            model: self.model,
            metric: self.mechanism.guarantee().metric,
        }
    }

    /// What is promised about a pair, and what came out.
    fn question<'a>(&self, pair: &WordPair, asked: &'a Asked) -> Question<'a> {
        let guarantee = self.mechanism.guarantee();
        let promised = match pair.distance {
            Some(0.0) => 0.0,
            Some(d) => guarantee.loss_at(d),
            None => guarantee.unknown_loss,
        };
        let space = self.space();
        let name = |word: Option<WordId>| match word {
            Some(word) => space.word(word).to_owned(),
            None => "(unknown)".to_owned(),
        };
        // Against an unknown token: minus the distance to a.
        let (a, b) = (space.distances(pair.a), pair.b.map(|b| space.distances(b)));
        let nearer = |y: usize| b.as_ref().map_or(0.0, |b| b[y]) - a[y];
        Question {
            kind: pair.kind,
            tokens: [name(Some(pair.a)), name(pair.b)],
            distance: pair.distance,
            promised,
            outputs: [asked.outputs(Some(pair.a)), asked.outputs(pair.b)],
            nearer: (0..a.len()).map(nearer).collect(),
        }
    }

    /// What comes out for words, each in a text of its own.
    fn draw(&self, words: &[Option<WordId>], noise: &mut Noise) -> Vec<WordId> {
        let observed = self.mechanism.observe(words, noise);
        let decoder = self.language.zip(self.mechanism.emission());
        match decoder.map(|(language, emission)| Decoder::new(language, emission)) {
            None => self.mechanism.words(&observed),
            Some(decoder) => {
                let sentence = |i| Sentence {
                    tokens: i..i + 1,
                    ends: false,
                };
                let sentences: Vec<Sentence> = (0..words.len()).map(sentence).collect();
                decoder.decode(&observed, &sentences)
            }
        }
    }
}

/// Tokens in a text, where they are independent.
const LINE: usize = 50;

/// Outcome of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The promise is broken.
    Fail,
    /// Nothing was found. That proves nothing.
    Pass,
    /// For information: too uncertain to judge by.
    Note,
    /// Something is given away of which the claim, as it is made, says nothing.
    #[serde(rename = "outside the claim")]
    OutsideClaim,
    /// Pairs that the claim is about share no output, as far as was seen. If so, no epsilon holds; but
    /// no number of draws proves it.
    #[serde(rename = "infinite loss observed")]
    InfiniteLossObserved,
    /// No violation could have been seen with so many draws, however large.
    #[serde(rename = "not testable")]
    NotTestable,
}

/// One check.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Check {
    /// Its name.
    pub name: &'static str,
    /// Its outcome.
    pub verdict: Verdict,
    /// What was found, in a sentence. Names words of the model, never user text.
    pub finding: String,
}

impl Check {
    fn new(name: &'static str, failed: bool, finding: String) -> Check {
        let verdict = if failed { Verdict::Fail } else { Verdict::Pass };
        Check {
            name,
            verdict,
            finding,
        }
    }
}

/// All that an audit found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AuditReport {
    /// [`DISCLAIMER`].
    pub disclaimer: &'static str,
    /// Largest probability that a sound program fails.
    pub false_alarm_rate: f64,
    /// The mechanism claimed.
    pub mechanism: &'static str,
    /// The epsilon claimed.
    pub epsilon: f64,
    /// The metric in which it is claimed.
    pub metric: String,
    /// The largest lower bound of the true epsilon that any check gives, all of which hold at once; 0 if
    /// nothing was seen, infinite (in JSON: null) if no epsilon is enough.
    pub epsilon_at_least: f64,
    /// What shows it.
    pub shown_by: &'static str,
    /// Draws that the pairs' losses rest on, for each token.
    pub draws: usize,
    /// How it was done.
    pub options: AuditOptions,
    /// The checks.
    pub checks: Vec<Check>,
    /// Observed loss of each pair.
    pub pairs: Vec<PairLoss>,
    /// Timings.
    pub timings: Vec<Timing>,
}

impl AuditReport {
    /// Whether a check failed.
    pub fn failed(&self) -> bool {
        self.has(Verdict::Fail)
    }

    /// Whether a check had this outcome.
    pub fn has(&self, verdict: Verdict) -> bool {
        self.checks.iter().any(|c| c.verdict == verdict)
    }
}

/// Audits a program against a claim. `progress` gets the share of the work done.
pub fn audit(
    claim: &Claim<'_>,
    program: &mut Program<'_>,
    options: &AuditOptions,
    progress: &dyn Fn(f64),
) -> Result<AuditReport, AuditError> {
    let alpha = ALPHA / SHARES;
    let pairs = pairs::choose(&claim.space(), options);
    let mut checks = vec![canary::check(claim.model, program, options.seed)?];
    checks.push(structure::check(claim.model, program)?);
    progress(0.05);
    checks.push(repeats::check(claim, program, options, alpha)?);
    progress(0.15);
    let mut asked = Asked::default();
    let tokens = pairs::tokens(&pairs, claim.model);
    for (i, token) in tokens.iter().enumerate() {
        asked.ask(claim, program, token, options.trials)?;
        progress(0.15 + 0.65 * (i + 1) as f64 / tokens.len() as f64);
    }
    checks.push(asked.check());
    checks.push(conformance::check(claim, &asked, alpha)?);
    let questions: Vec<_> = pairs.iter().map(|p| claim.question(p, &asked)).collect();
    let word = |id: u32| claim.model.vocabulary().word(id).to_owned();
    let (check, pairs) = loss::check(&questions, &word, alpha);
    checks.push(check);
    progress(0.9);
    let timings = timing::measure(claim.model, program, options)?;
    checks.extend(timing::check(&timings));
    progress(1.0);
    Ok(AuditReport {
        disclaimer: DISCLAIMER,
        false_alarm_rate: ALPHA,
        mechanism: claim.mechanism.name(),
        epsilon: claim.mechanism.guarantee().epsilon,
        metric: claim.mechanism.guarantee().metric.to_string(),
        epsilon_at_least: epsilon_at_least(&pairs),
        shown_by: "pairs of words",
        draws: options.trials,
        options: *options,
        checks,
        pairs,
        timings,
    })
}

/// The largest loss for a unit of distance.
fn epsilon_at_least(pairs: &[PairLoss]) -> f64 {
    let loss = |pair: &PairLoss| Some(pair.at_least / pair.distance.filter(|d| *d > 0.0)?);
    pairs.iter().filter_map(loss).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests;

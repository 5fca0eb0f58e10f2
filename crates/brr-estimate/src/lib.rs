//! Word frequencies of texts of which only the privatized form is known.
//!
//! The server's side. A mechanism is public, so the probability that word w becomes y is
//! known ([`WordChannel`]), and outputs have the means
//!
//! ```text
//! E c(y) = sum over w of f(w) Pr[y | w]  +  u q(y)
//! ```
//!
//! of the counts f that are wanted; u tokens, unknown to the model, became words with
//! probabilities q. Solving this linear system (`solve.rs`) gives counts that are right on
//! average, however few texts there are, and whose variance is known: these are behind the
//! intervals (`intervals.rs`). They are noisy, though, and may be negative. So the estimate
//! itself is the mean of a posterior that takes in what is believed beforehand ([`Prior`]) and what each
//! received token says by itself (`shrink.rs`), within the interval.
//!
//! Nothing here weakens what was promised: it is post-processing of released text.

mod channel;
mod decode;
mod documents;
pub mod interval;
mod intervals;
pub mod posterior;
mod shrink;
mod solve;

pub use channel::{Effort, WordChannel};
pub use decode::{DecodedText, Guess, TextDecoder};
pub use documents::Documents;

use brr::parts::parallel;
use brr::{Error, Policy, Privatizer, Result};
use intervals::{Variances, most_unknown, signs};
use shrink::{by_token, reorder, shrink};
use solve::solve;

/// What is believed before any text is seen. Public: never from the texts themselves.
#[derive(Clone, Debug)]
pub struct Prior {
    /// Share of each word of the model, by id.
    pub words: Vec<f64>,
}

/// Part of every prior that is spread by rank, so that no word is impossible.
const SPREAD: f64 = 0.1;

impl Prior {
    /// Zipf's law over the model's order of words.
    pub fn by_rank(words: usize) -> Prior {
        Prior {
            words: brr::parts::frequency::shares(words),
        }
    }

    /// Every word alike.
    pub fn uniform(words: usize) -> Prior {
        Prior {
            words: vec![1.0 / words as f64; words],
        }
    }

    /// In proportion to public counts, with a little of [`by_rank`](Self::by_rank)
    /// for the words that they leave out. `None` if all counts are 0.
    pub fn from_counts(counts: &[f64]) -> Option<Prior> {
        let total: f64 = counts.iter().sum();
        let by_rank = Prior::by_rank(counts.len());
        let mix = |(count, rank): (&f64, &f64)| (1.0 - SPREAD) * count / total + SPREAD * rank;
        (total > 0.0).then(|| Prior {
            words: counts.iter().zip(&by_rank.words).map(mix).collect(),
        })
    }

    /// What it expects of so many words.
    fn counts(&self, words: f64) -> Vec<f64> {
        let total: f64 = self.words.iter().sum();
        self.words.iter().map(|w| w / total * words).collect()
    }
}

/// Share of unknown tokens that the estimate assumes if no number is given: what English text
/// has with the built-in model, roughly.
const UNKNOWN: f64 = 0.03;

/// How thoroughly to estimate.
#[derive(Clone, Copy, Debug)]
pub struct EstimateOptions {
    /// Number of tokens that the model did not know and that became random words. If it is not
    /// given, intervals hold for all numbers that are possible.
    pub unknown: Option<u64>,
    /// Solutions for random signs behind the intervals; none if fewer than 2.
    pub resamplings: usize,
    /// Seed of the signs.
    pub seed: u64,
    /// Threads; they change nothing but the time.
    pub threads: usize,
}

impl Default for EstimateOptions {
    fn default() -> EstimateOptions {
        EstimateOptions {
            unknown: None,
            resamplings: 24,
            seed: 1,
            threads: parallel::cores(),
        }
    }
}

/// One word's occurrences.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Count {
    /// The likely count: what the texts and the prior say together.
    pub estimate: f64,
    /// The count that is right on average, from the texts alone. It may be negative.
    pub unbiased: f64,
    /// Lower end of the 95 % interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// How often it was received.
    pub raw: u64,
}

/// What was found.
#[derive(Clone, Debug)]
pub struct Estimates {
    /// Each word of the model, by id.
    pub words: Vec<Count>,
    /// The unknown tokens, from the least to the most that are taken to be possible.
    pub unknown: (f64, f64),
    /// Whether the linear system was solved. Where it was not, words cannot be told apart
    /// (their codes are equal, or nearly so), and intervals may be too short.
    pub solved: bool,
}

/// Estimates how often each word was in texts that this privatizer, or one like it, made private.
///
/// # Errors
/// If there is no noise to learn with what the mechanism does, or if the privatizer's policy makes some
/// words public: counts of outputs then mix words that were drawn with words that were not.
pub fn estimate_texts(
    privatizer: &Privatizer,
    documents: &Documents,
    prior: &Prior,
    options: &EstimateOptions,
    effort: &Effort,
    on_pass: &dyn Fn(),
) -> Result<Estimates> {
    if privatizer.options().policy != Policy::All {
        return Err(Error::PolicyNotSupported);
    }
    let model = privatizer.model();
    let channel = WordChannel::of(privatizer.mechanism(), model.vocabulary().len(), effort)?;
    estimate(&mut channel.over(model), documents, prior, options, on_pass)
}

/// Estimates how often each word was in the texts. `on_pass` is called before every pass over the
/// rows of the channel.
pub fn estimate(
    channel: &mut WordChannel<'_>,
    documents: &Documents,
    prior: &Prior,
    options: &EstimateOptions,
    on_pass: &dyn Fn(),
) -> Result<Estimates> {
    let mut found = estimate_each(channel, &[documents], prior, options, on_pass)?;
    Ok(found.remove(0))
}

/// The same for several privatized forms of the same texts, to measure how estimates spread.
/// They share the work: which words the channel draws more of, and the variances, are decided by
/// the first.
///
/// # Panics
/// If there is none.
pub fn estimate_each(
    channel: &mut WordChannel<'_>,
    forms: &[&Documents],
    prior: &Prior,
    options: &EstimateOptions,
    on_pass: &dyn Fn(),
) -> Result<Vec<Estimates>> {
    let total = forms[0].total() as f64;
    let first = channel.first().to_vec();
    let folded = |mut numbers: Vec<f64>| {
        channel::fold(&first, &mut numbers);
        numbers
    };
    // The system is solved to a small part of the noise in the outputs.
    let close = |part: f64| part * total.sqrt();
    let received = forms.iter().map(|form| {
        let counts = form.counts().iter().map(|c| *c as f64);
        folded(counts.collect())
    });
    let received: Vec<Vec<f64>> = received.collect();
    let outputs = |counts: &Vec<f64>| (counts.clone(), close(0.01));
    let assumed = options.unknown.map_or(UNKNOWN * total, |u| u as f64);
    let alone = prior.counts(total - assumed);
    let expected = folded(alone.clone());
    let mut stays = channel.stays();
    let rough = |channel: &WordChannel<'_>, stays: &[f64]| {
        Variances::rough(&channel.outputs(&[&expected])[0], stays)
    };
    if channel.draws(0).is_some() {
        let first = solve(channel, &stays, vec![outputs(&received[0])], on_pass);
        channel.refine(&shrink(
            &first.counts[0],
            &expected,
            &rough(channel, &stays),
        ))?;
        stays = channel.stays();
    }
    let row = channel.unknown();
    let enough = 1e-3 * row.iter().map(|q| q * q).sum::<f64>().sqrt();
    let all = std::iter::once((row, enough)).chain(received.iter().map(outputs));
    let mut found = solve(channel, &stays, all.collect(), on_pass);
    let one_unknown = found.counts.remove(0);
    let less = |solution: &[f64], unknown: f64| -> Vec<f64> {
        let pairs = solution.iter().zip(&one_unknown);
        pairs.map(|(g, x)| g - unknown * x).collect()
    };
    let plug_in = shrink(
        &less(&found.counts[0], assumed),
        &expected,
        &rough(channel, &stays),
    );
    let errors = if options.resamplings < 2 {
        Vec::new()
    } else {
        let (runs, seed) = (options.resamplings, options.seed);
        let off = signs(channel, &received[0], &plug_in, runs, seed);
        let off = off.into_iter().map(|d| (d, close(0.03)));
        solve(channel, &stays, off.collect(), on_pass).counts
    };
    let variances = match errors.is_empty() {
        true => rough(channel, &stays),
        false => Variances::of_signs(&errors, &less(&found.counts[0], assumed), &stays),
    };
    let ranges = found.counts.iter().map(|solution| match options.unknown {
        Some(u) => (u as f64, u as f64),
        None if errors.is_empty() => (assumed, assumed),
        None => {
            let most = most_unknown(solution, &one_unknown, &errors);
            (0.0, most.min(total))
        }
    });
    let ranges: Vec<(f64, f64)> = ranges.collect();
    let unknown: Vec<f64> = ranges.iter().map(|range| assumed.min(range.1)).collect();
    let pairs = found.counts.iter().zip(&unknown);
    let unbiased: Vec<Vec<f64>> = pairs.map(|(solution, &u)| less(solution, u)).collect();
    let likely = unbiased.iter();
    let mut likely: Vec<Vec<f64>> = likely.map(|g| shrink(g, &expected, &variances)).collect();
    on_pass();
    by_token(channel, &mut likely, &unknown, &received);
    for ((likely, unbiased), raw) in likely.iter_mut().zip(&unbiased).zip(&received) {
        reorder(likely, unbiased, raw, &stays, &variances);
    }
    let one = |form: usize| {
        let (low, high) = ranges[form];
        let ends = [low, high].map(|unknown| less(&found.counts[form], unknown));
        let interval = |at: usize| {
            let [a, b] = [0, 1].map(|i: usize| variances.interval(at, ends[i][at]));
            (a.0.min(b.0).min(total), a.1.max(b.1).min(total))
        };
        let count = |w: usize| {
            let at = first[w];
            let estimate = likely[form][at];
            let (low, high) = match errors.is_empty() {
                true => (estimate, estimate),
                false => interval(at),
            };
            // Of words with one row all may be any of them.
            let part = alone[w] / expected[at];
            let low = if part < 1.0 { 0.0 } else { low };
            Count {
                estimate: (estimate * part).clamp(low, high),
                unbiased: unbiased[form][at] * part,
                low,
                high,
                raw: forms[form].counts()[w],
            }
        };
        Estimates {
            words: (0..first.len()).map(count).collect(),
            unknown: ranges[form],
            solved: found.converged,
        }
    };
    Ok((0..forms.len()).map(one).collect())
}

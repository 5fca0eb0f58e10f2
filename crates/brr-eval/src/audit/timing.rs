//! Does time tell the word?
//!
//! Two texts of equal words are timed in turn, in random order, so that what the
//! machine does meanwhile falls on both. Compared by rank (Mann and Whitney): the
//! effect size is the probability that one takes longer than the other, less the
//! reverse (Cliff's delta; 0 is none, 1 or -1 complete separation). On a busy
//! machine small effects mean nothing, so only a large one counts as a failure, and
//! only after enough runs that chance does not order them like this. Fewer than 20
//! runs never do.

use std::time::Instant;

use brr::Model;
use chacha20::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};
use serde::Serialize;

use super::program::run;
use super::space::is_plain;
use super::{AuditError, AuditOptions, Check, Program, Verdict, pairs};

/// Tokens in a timed text.
const TOKENS: usize = 2000;
/// An effect this large...
const LARGE_EFFECT: f64 = 0.8;
/// ... with medians this far apart, as a share...
const LARGE_SHIFT: f64 = 0.25;
/// ... and this many standard deviations from none is a failure. Two comparisons of equal
/// times come this far with probability 1.4e-7, this check's share of `ALPHA`.
const BEYOND_CHANCE: f64 = 5.4;

/// What is compared.
pub const FREQUENT_AND_RARE: &str = "a frequent and a rare word";
/// What is compared.
pub const WORD_AND_UNKNOWN: &str = "a word and an unknown token";

/// Two texts' times.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Timing {
    /// What was compared.
    pub what: &'static str,
    /// Median seconds of the first.
    pub first: f64,
    /// Median seconds of the second.
    pub second: f64,
    /// Cliff's delta.
    pub effect: f64,
    /// Standard deviations from no effect.
    pub z: f64,
}

/// Times a frequent word against a rare one, and against an unknown token.
pub fn measure(
    model: &Model,
    program: &mut Program<'_>,
    options: &AuditOptions,
) -> Result<Vec<Timing>, AuditError> {
    let vocabulary = model.vocabulary();
    let mut plain = (0..vocabulary.len() as u32).filter(|w| is_plain(vocabulary.word(*w)));
    let frequent = plain.next();
    let rare = plain.next_back().or(frequent);
    let (Some(frequent), Some(rare)) = (frequent, rare) else {
        return Ok(Vec::new());
    };
    if options.timings == 0 {
        return Ok(Vec::new());
    }
    let text = |word: &str| vec![vec![word; TOKENS].join(" ")];
    let frequent = text(vocabulary.word(frequent));
    let unknown = text(&pairs::unknown(model));
    let rare = text(vocabulary.word(rare));
    Ok(vec![
        compare(FREQUENT_AND_RARE, [&frequent, &rare], program, options)?,
        compare(WORD_AND_UNKNOWN, [&frequent, &unknown], program, options)?,
    ])
}

/// Times runs of the program on these two inputs.
pub fn compare(
    what: &'static str,
    inputs: [&[String]; 2],
    program: &mut Program<'_>,
    options: &AuditOptions,
) -> Result<Timing, AuditError> {
    let mut rng = ChaCha20Rng::seed_from_u64(options.seed);
    let mut times = [Vec::new(), Vec::new()];
    for input in inputs {
        run(program, input)?;
    }
    for _ in 0..options.timings {
        let first = (rng.next_u64() % 2) as usize;
        for which in [first, 1 - first] {
            let start = Instant::now();
            run(program, inputs[which])?;
            times[which].push(start.elapsed().as_secs_f64());
        }
    }
    Ok(rank(what, times))
}

fn rank(what: &'static str, mut times: [Vec<f64>; 2]) -> Timing {
    let signs = times[0].iter().flat_map(|a| {
        let sign = move |b: &f64| f64::from(i8::from(a > b) - i8::from(a < b));
        times[1].iter().map(sign)
    });
    let (n, m) = (times[0].len() as f64, times[1].len() as f64);
    let effect = signs.sum::<f64>() / (n * m).max(1.0);
    let deviation = ((n + m + 1.0) / (3.0 * n * m)).sqrt();
    let mut median = |which: usize| {
        times[which].sort_by(f64::total_cmp);
        times[which]
            .get(times[which].len() / 2)
            .copied()
            .unwrap_or(0.0)
    };
    Timing {
        what,
        first: median(0),
        second: median(1),
        effect,
        z: effect / deviation,
    }
}

/// A note for each comparison; a failure where the effect is large.
pub fn check(timings: &[Timing]) -> Vec<Check> {
    let each = |t: &Timing| {
        let shift = (t.first - t.second).abs() / t.first.min(t.second).max(f64::MIN_POSITIVE);
        let large =
            t.effect.abs() > LARGE_EFFECT && shift > LARGE_SHIFT && t.z.abs() > BEYOND_CHANCE;
        Check {
            name: "timing",
            verdict: if large { Verdict::Fail } else { Verdict::Note },
            finding: format!(
                "{}: medians {:.3} ms and {:.3} ms, effect {:+.2} ({:+.1} standard deviations); on a busy machine small effects mean nothing",
                t.what,
                t.first * 1e3,
                t.second * 1e3,
                t.effect,
                t.z
            ),
        }
    };
    timings.iter().map(each).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// This many times, a hundredth apart.
    fn times(from: f64, runs: usize) -> Vec<f64> {
        (0..runs).map(|i| from + 0.01 * i as f64).collect()
    }

    #[test]
    fn only_large_effects_that_chance_does_not_make_fail() {
        let apart = rank("x", [times(1.0, 20), times(2.0, 20)]);
        assert_eq!((apart.effect, apart.first), (-1.0, 1.1));
        let few = rank("x", [times(1.0, 4), times(2.0, 4)]);
        assert_eq!(few.effect, -1.0);
        let close = rank("x", [times(1.0, 40), times(1.005, 40)]);
        assert!(close.effect.abs() < 0.5);
        let verdicts: Vec<_> = check(&[apart, few, close])
            .iter()
            .map(|c| c.verdict)
            .collect();
        assert_eq!(verdicts, [Verdict::Fail, Verdict::Note, Verdict::Note]);
    }
}

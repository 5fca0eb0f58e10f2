//! Is randomness used twice?
//!
//! A text holds every word of a sample twice, and is given to the program in two
//! separate calls. Equal words then meet three ways: at the same place in two
//! runs, at two places of one run, and (drawn from the mechanism itself) quite
//! apart. All three must agree equally often. A fixed seed makes the first too
//! frequent; one noise draw for equal words of a text makes the second too frequent.

use brr::parts::random::Noise;
use brr::parts::vocabulary::WordId;

use super::program::run;
use super::space::is_plain;
use super::{AuditError, AuditOptions, Check, Claim, Program};
use crate::channel::{Prior, spread_words};
use crate::interval::Binomial;

/// Looks for repeated randomness.
pub fn check(
    claim: &Claim<'_>,
    program: &mut Program<'_>,
    options: &AuditOptions,
    alpha: f64,
) -> Result<Check, AuditError> {
    let vocabulary = claim.model.vocabulary();
    let count = (options.trials / 4).max(100);
    let sample = spread_words(vocabulary.len(), count, options.seed + 1, Prior::Uniform);
    let mut words: Vec<WordId> = sample;
    words.retain(|w| is_plain(vocabulary.word(*w)));
    while !words.is_empty() && words.len() < count {
        words.extend_from_within(..words.len().min(count - words.len()));
    }
    let once: Vec<&str> = words.iter().map(|w| vocabulary.word(*w)).collect();
    let twice = [&once[..], &once].concat();
    let texts: Vec<String> = match claim.language {
        None => vec![twice.join(" ")],
        Some(_) => twice.iter().map(|word| word.to_string()).collect(),
    };
    let [first, second] = [run(program, &texts)?, run(program, &texts)?];
    let [first, second] = [&first, &second].map(|run| {
        let words = run.iter().flat_map(|text| text.split_whitespace());
        words.collect::<Vec<&str>>()
    });
    let apart = reference(claim, &words)?;
    if first.len() != 2 * words.len() || second.len() != first.len() {
        let finding = "the number of tokens changed: places cannot be compared".to_owned();
        return Ok(Check::new("repeats", true, finding));
    }
    let across = agreement(&first, &second);
    let half = words.len();
    let within = [&first, &second].map(|run| agreement(&run[..half], &run[half..]));
    let within = Binomial::new(within[0].0 + within[1].0, within[0].1 + within[1].1);
    let across = Binomial::new(across.0, across.1);
    // Sums of different probabilities: see `conformance`. Three comparisons.
    let each = alpha / 6.0;
    let above = |x: Binomial, y: Binomial| x.lower(each) > y.upper(each);
    let verdict = if above(across, within) {
        Some("two runs share randomness")
    } else if above(within, across) {
        Some("equal words of a text share randomness")
    } else if above(across, apart) || above(within, apart) {
        Some(
            "outputs vary less than the mechanism's: too little noise, or the same noise everywhere",
        )
    } else {
        None
    };
    let finding = format!(
        "equal words agree in {:.4} of places across two runs, {:.4} within one run, {:.4} by themselves: {}",
        across.share(),
        within.share(),
        apart.share(),
        verdict.unwrap_or("no more than they should")
    );
    Ok(Check::new("repeats", verdict.is_some(), finding))
}

fn agreement(a: &[&str], b: &[&str]) -> (u64, u64) {
    let same = a.iter().zip(b).filter(|(x, y)| x == y).count();
    (same as u64, a.len().min(b.len()) as u64)
}

/// How often two separate draws of the mechanism agree.
fn reference(claim: &Claim<'_>, words: &[WordId]) -> Result<Binomial, AuditError> {
    let mut noise = Noise::from_os()?;
    let words: Vec<_> = words.iter().chain(words).map(|w| Some(*w)).collect();
    let a = claim.draw(&words, &mut noise);
    let b = claim.draw(&words, &mut noise);
    let same = a.iter().zip(&b).filter(|(x, y)| x == y).count();
    Ok(Binomial::new(same as u64, a.len() as u64))
}

//! Does the program draw from the distribution that the mechanism has?
//!
//! For each token the mechanism itself is drawn as often as the program was, and
//! shares of events are compared: the word stays; it becomes one of the likeliest
//! others; and over all words together, it stays. A program with less noise than
//! it claims fails here, at words where a loss above the promise could not be seen.

use std::collections::HashMap;

use brr::parts::random::Noise;
use brr::parts::vocabulary::WordId;

use super::program::Asked;
use super::{AuditError, Check, Claim};
use crate::interval::Binomial;

/// Outputs compared for each token.
const LIKELIEST: usize = 6;

/// Compares the program with the mechanism.
pub fn check(claim: &Claim<'_>, asked: &Asked, alpha: f64) -> Result<Check, AuditError> {
    let mut noise = Noise::from_os()?;
    let tokens = asked.iter().count();
    let each = alpha / (2.0 * (tokens * (LIKELIEST + 1) + 1) as f64);
    let mut worst = Gap::default();
    let (mut stays, mut expected, mut known) = (0, 0, 0);
    for (word, outputs) in asked.iter() {
        let reference = claim.draw(&vec![word; outputs.len()], &mut noise);
        let share = |draws: &[WordId], y: WordId| {
            let hits = draws.iter().filter(|o| **o == y).count() as u64;
            Binomial::new(hits, draws.len() as u64)
        };
        for y in word.into_iter().chain(likeliest(&reference)) {
            let name = |word: WordId| claim.model.vocabulary().word(word);
            let event = || format!("{} becomes {}", word.map_or("(unknown)", name), name(y));
            worst.take(share(outputs, y), share(&reference, y), each, event);
        }
        if let Some(word) = word {
            stays += outputs.iter().filter(|o| **o == word).count() as u64;
            expected += reference.iter().filter(|o| **o == word).count() as u64;
            known += outputs.len() as u64;
        }
    }
    // A sum of draws with different probabilities spreads less than a binomial
    // variable of the same mean (Hoeffding 1956), so the bounds hold for it too.
    let (stays, expected) = (Binomial::new(stays, known), Binomial::new(expected, known));
    worst.take(stays, expected, each, || "a word stays".to_owned());
    let finding = format!(
        "widest gap: \"{}\" in {:.4} of draws, {:.4} expected; words stay in {:.4}, {:.4} expected",
        worst.event,
        worst.shares.0,
        worst.shares.1,
        stays.share(),
        expected.share()
    );
    Ok(Check::new("conformance", worst.gap > 0.0, finding))
}

fn likeliest(draws: &[WordId]) -> Vec<WordId> {
    let mut counts: HashMap<WordId, usize> = HashMap::new();
    draws
        .iter()
        .for_each(|y| *counts.entry(*y).or_default() += 1);
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|&(y, n)| (std::cmp::Reverse(n), y));
    counts.into_iter().take(LIKELIEST).map(|c| c.0).collect()
}

/// The event at which two intervals are farthest apart.
struct Gap {
    /// Above 0: they do not meet.
    gap: f64,
    shares: (f64, f64),
    event: String,
}

impl Default for Gap {
    fn default() -> Gap {
        Gap {
            gap: f64::NEG_INFINITY,
            shares: (0.0, 0.0),
            event: String::new(),
        }
    }
}

impl Gap {
    fn take(&mut self, a: Binomial, b: Binomial, alpha: f64, event: impl Fn() -> String) {
        let ((low_a, high_a), (low_b, high_b)) = (a.interval(alpha), b.interval(alpha));
        let gap = (low_a - high_b).max(low_b - high_a);
        if gap > self.gap {
            *self = Gap {
                gap,
                shares: (a.share(), b.share()),
                event: event(),
            };
        }
    }
}

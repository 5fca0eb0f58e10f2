//! Which tokens an unknown program is asked about, two by two.

use chacha20::ChaCha20Rng;
use rand_core::Rng;

use super::super::space::WordSpace;
use super::super::{AuditError, AuditOptions, PairKind, pairs};
use super::WordClaim;

/// Frequent words that carry little meaning.
const STOP_WORDS: [&str; 8] = ["the", "of", "and", "is", "to", "in", "that", "it"];

/// Pairs of words about which something is promised: with fewer, and if no fewer were asked for, a
/// pass would say nothing.
const FEWEST: usize = 3;

/// Two tokens to compare.
pub struct TokenPair {
    /// Why they were chosen.
    pub kind: PairKind,
    /// The tokens. Of a word with and without a capital letter, the one without comes first.
    pub tokens: [String; 2],
    /// The loss promised; infinite if none is.
    pub promised: f64,
    /// Which of the two no vocabulary has.
    unknown: [bool; 2],
}

impl TokenPair {
    /// How a token is named in a report.
    pub fn shown(&self, which: usize) -> &str {
        match self.unknown[which] {
            true => "(unknown)",
            false => &self.tokens[which],
        }
    }

    /// Whether the claim is about them.
    pub fn is_covered(&self) -> bool {
        self.promised.is_finite()
    }
}

/// Pairs of words by their distances, and with unknown tokens, stop words and capitals. An error if
/// there are too few words to test anything.
pub fn choose(
    claim: &WordClaim<'_>,
    options: &AuditOptions,
    rng: &mut ChaCha20Rng,
) -> Result<Vec<TokenPair>, AuditError> {
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
    let of_words = chosen.iter().filter(|p| p.b.is_some()).count();
    let needed = options.pairs.min(FEWEST);
    if of_words < needed {
        return Err(AuditError::Words {
            words: claim.count(),
            usable: claim.plain().len(),
            pairs: of_words,
            needed,
        });
    }
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
        let cases = both_cases(word);
        found.extend(cases.map(|[small, capital]| pair(PairKind::Capital, &small, &capital)));
    }
    Ok(found)
}

/// A word without and with a capital letter at its start, if its script has capitals.
fn both_cases(word: &str) -> Option<[String; 2]> {
    let first = word.chars().next()?;
    let rest = &word[first.len_utf8()..];
    let cases = [
        first.to_lowercase().chain(rest.chars()).collect::<String>(),
        first.to_uppercase().chain(rest.chars()).collect(),
    ];
    (cases[0] != cases[1]).then_some(cases)
}

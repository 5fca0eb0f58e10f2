//! Does anything come through that is not a word of the model?
//!
//! Canaries are things that people write and that no vocabulary holds: random
//! letters, numbers, an address, a link, an emoji, capitals. None may be found
//! in the output, whole or as part of a word.

use brr::Model;
use chacha20::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

use super::program::run;
use super::{AuditError, Check, Program};

/// Canaries of each kind.
const EACH: usize = 20;

/// Sends canaries in among words and looks for them.
pub fn check(model: &Model, program: &mut Program<'_>, seed: u64) -> Result<Check, AuditError> {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let canaries: Vec<Canary> = (0..EACH)
        .flat_map(|_| kinds(&mut rng))
        .filter(|c| !model.vocabulary().iter().any(|word| word.contains(&c.mark)))
        .collect();
    let around = |i: usize| {
        model
            .vocabulary()
            .word((i % model.vocabulary().len()) as u32)
    };
    let texts: Vec<String> = (0..canaries.len())
        .map(|i| format!("{} {} {}", around(i), canaries[i].token, around(i + 1)))
        .collect();
    let mut through: Vec<&str> = Vec::new();
    for (canary, text) in canaries.iter().zip(run(program, &texts)?) {
        if text.to_lowercase().contains(&canary.mark) {
            through.push(canary.kind);
        }
    }
    through.sort_unstable();
    let count = through.len();
    through.dedup();
    let finding = match count {
        0 => format!("none of {} canaries came through", canaries.len()),
        _ => format!(
            "{count} of {} canaries came through: {}",
            canaries.len(),
            through.join(", ")
        ),
    };
    Ok(Check::new("canaries", count > 0, finding))
}

/// A token that no vocabulary holds.
pub struct Canary {
    /// What it looks like.
    pub kind: &'static str,
    /// The token.
    pub token: String,
    /// What is looked for, in lower case.
    pub mark: String,
}

/// One canary of each kind. Letters of marks are equally likely; the likeliest digits have
/// probability 3/26 each.
pub fn kinds(rng: &mut ChaCha20Rng) -> [Canary; 6] {
    let mut letters = |n: usize| -> String {
        let letter = |_| char::from(b'a' + (rng.next_u64() % 26) as u8);
        (0..n).map(letter).collect()
    };
    let (word, name, host, shout) = (letters(14), letters(10), letters(10), letters(12));
    let digits: String = letters(10)
        .bytes()
        .map(|b| char::from(b'0' + b % 10))
        .collect();
    let canary = |kind, token: String, mark: &str| Canary {
        kind,
        token,
        mark: mark.to_owned(),
    };
    [
        canary("random letters", word.clone(), &word),
        canary("a number", digits.clone(), &digits),
        canary("an e-mail address", format!("{name}@mail.example"), &name),
        canary("a link", format!("https://{host}.example/x"), &host),
        canary("capitals", shout.to_uppercase(), &shout),
        canary("an emoji", "\u{1f9ff}".to_owned(), "\u{1f9ff}"),
    ]
}

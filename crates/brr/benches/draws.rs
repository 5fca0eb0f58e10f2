//! What a word costs each mechanism: its draw alone, and text to text, in processor time on one thread.
//!
//!     cargo bench -p brr --bench draws [-- ROUNDS]
//!
//! The text is PRIVACY.md. All mechanisms are timed in turns.

mod clock;

use std::sync::Arc;
use std::time::Instant;

use brr::parts::random::Noise;
use brr::parts::vocabulary::WordId;
use brr::{Budget, MechanismKind, Model, Options, Privatizer};
use clock::seconds;

/// Draws are repeated until a round takes a fraction of a second even where they are quick.
const REPEATS: [usize; 4] = [1, 1, 400, 400];

struct Contender {
    privatizer: Privatizer,
    repeats: usize,
    draw: f64,
    text: f64,
}

impl Contender {
    fn time(&mut self, text: &str, words: &[Option<WordId>]) -> Result<(), brr::Error> {
        let mechanism = self.privatizer.mechanism();
        let mut noise = Noise::from_os()?;
        let start = Instant::now();
        let begun = seconds(start);
        for _ in 0..self.repeats {
            std::hint::black_box(mechanism.privatize(words, &mut noise));
        }
        let drawn = seconds(start);
        for _ in 0..self.repeats {
            std::hint::black_box(self.privatizer.privatize(text)?);
        }
        let done = (self.repeats * words.len()) as f64;
        self.draw = self.draw.min((drawn - begun) / done);
        self.text = self.text.min((seconds(start) - drawn) / done);
        Ok(())
    }
}

fn main() -> Result<(), brr::Error> {
    let rounds = std::env::args().skip(1).find_map(|arg| arg.parse().ok());
    let model = Arc::new(Model::open("../brr-english/src/english.brr")?);
    let text = include_str!("../../../PRIVACY.md");
    let words: Vec<_> = model.tokens(text).into_iter().map(|(w, _)| w).collect();
    let kinds = [
        (MechanismKind::Brr, Budget::Bound(60.0)),
        (MechanismKind::Exponential, Budget::Keep(0.5)),
        (MechanismKind::Tree, Budget::Keep(0.5)),
        (MechanismKind::KAry, Budget::Keep(0.5)),
    ];
    let mut contenders = Vec::new();
    for ((kind, budget), repeats) in kinds.into_iter().zip(REPEATS) {
        let options = Options::default().with_mechanism(kind).with_budget(budget);
        contenders.push(Contender {
            privatizer: Privatizer::new(model.clone(), options)?,
            repeats,
            draw: f64::INFINITY,
            text: f64::INFINITY,
        });
    }
    for _ in 0..rounds.unwrap_or(5) {
        for contender in &mut contenders {
            contender.time(text, &words)?;
        }
    }
    let [draw, whole] = [contenders[0].draw, contenders[0].text];
    for c in &contenders {
        println!(
            "{:12} draw {:8.4} us a word, BRR takes {:5.0} times that; text to text {:8.4} us, {:4.1} times",
            c.privatizer.mechanism().name(),
            1e6 * c.draw,
            draw / c.draw,
            1e6 * c.text,
            whole / c.text
        );
    }
    Ok(())
}

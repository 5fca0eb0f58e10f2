//! Decoding with context, on one thread: words per second of processor time.
//!
//!     cargo bench -p brr --bench decode [-- ROUNDS]
//!
//! The text is PRIVACY.md.

mod clock;

use std::sync::Arc;
use std::time::Instant;

use brr::parts::language::{Decoder, sentences};
use brr::parts::random::Noise;
use brr::parts::text::pieces;
use brr::{Budget, Language, Layout, MechanismKind, Model, Options, Privatizer};
use clock::seconds;

fn main() -> Result<(), brr::Error> {
    let rounds = std::env::args().skip(1).find_map(|arg| arg.parse().ok());
    let rounds: usize = rounds.unwrap_or(5);
    let model = Arc::new(Model::open("../brr-english/src/english.brr")?);
    let language = Language::open("../brr-english/src/english.lm")?;
    let text = include_str!("../../../PRIVACY.md");
    let words: Vec<_> = model
        .tokens(text)
        .into_iter()
        .map(|(word, _)| word)
        .collect();
    let parts = sentences(&pieces(text), Layout::Keep);
    for (kind, budget) in [
        (MechanismKind::Brr, Budget::Bound(50.0)),
        (MechanismKind::Brr, Budget::Bound(60.0)),
        (MechanismKind::Exponential, Budget::Keep(0.5)),
    ] {
        let options = Options::default().with_mechanism(kind).with_budget(budget);
        let mechanism = Privatizer::new(model.clone(), options)?.into_mechanism();
        let emission = mechanism.emission().expect("an emission");
        let decoder = Decoder::new(&language, emission);
        let observed = mechanism.observe(&words, &mut Noise::from_os()?);
        let (mut best, mut scan) = (f64::INFINITY, f64::INFINITY);
        decoder.decode(&observed, &parts[..1]);
        for _ in 0..rounds {
            let start = Instant::now();
            let before = seconds(start);
            std::hint::black_box(decoder.decode(&observed, &parts));
            let between = seconds(start);
            std::hint::black_box(mechanism.words(&observed));
            best = best.min(between - before);
            scan = scan.min(seconds(start) - between);
        }
        let each = |seconds: f64| 1e6 * seconds / words.len() as f64;
        println!(
            "{:12} {budget:?}: {:.0} words/s, {:.1} us a word; the nearest word takes {:.1}",
            mechanism.name(),
            words.len() as f64 / best,
            each(best),
            each(scan)
        );
    }
    Ok(())
}

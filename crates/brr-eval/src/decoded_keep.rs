//! How many words are as they were after decoding, by epsilon: measured on a public sample, with
//! seeded noise, as no text is at stake. Same sample, same table, on any number of threads.

use std::collections::HashMap;
use std::sync::Arc;

use brr::parts::all_pairs::OnShare;
use brr::parts::calibration::{Calibration, CalibrationPoint};
use brr::parts::language::{DecodedKeep, Decoder, sentences};
use brr::parts::mechanism::Mechanism;
use brr::parts::parallel;
use brr::parts::random::Noise;
use brr::parts::vocabulary::WordId;
use brr::{Budget, Choice, Keep, Language, Layout, MechanismKind, Model, Options, Privatizer};

/// Draws of the sample at each point.
const DRAWS: u64 = 8;
/// Shares of words as drawn at which it is measured: decoded, there are more.
const DRAWN: [f64; 18] = [
    0.001, 0.003, 0.01, 0.02, 0.04, 0.08, 0.12, 0.17, 0.23, 0.3, 0.38, 0.46, 0.55, 0.65, 0.75,
    0.84, 0.91, 0.96,
];

/// Epsilons below the least of these, as shares of it.
const LOWER: [f64; 4] = [0.25, 0.45, 0.65, 0.85];

/// Measures a table for each mechanism that the model has. Shares that it does not reach are left out.
pub fn measure_keep(
    model: &Arc<Model>,
    language: &Language,
    sample: &[&str],
    threads: usize,
    progress: OnShare<'_>,
) -> DecodedKeep {
    let kinds = MechanismKind::ALL;
    let mut tables = Vec::new();
    for (done, &(name, kind, _)) in kinds.iter().enumerate() {
        let mut mechanisms: Vec<Box<dyn Mechanism>> = Vec::new();
        for share in DRAWN {
            let options = Options::default()
                .with_mechanism(kind)
                .with_budget(Budget::Keep(share));
            let Ok(privatizer) = Privatizer::new(model.clone(), options) else {
                continue;
            };
            mechanisms.push(privatizer.into_mechanism());
        }
        if let Some(least) = mechanisms.first().map(|m| m.guarantee().epsilon) {
            // Below the shares that a mechanism can be asked for, decoding still finds words.
            for share in LOWER {
                let budget = Budget::Epsilon(share * least);
                let options = Options::default().with_mechanism(kind).with_budget(budget);
                if let Ok(privatizer) = Privatizer::new(model.clone(), options) {
                    mechanisms.push(privatizer.into_mechanism());
                }
            }
        }
        let epsilon = |mechanism: &dyn Mechanism| mechanism.guarantee().epsilon;
        mechanisms.sort_by(|a, b| epsilon(&**a).total_cmp(&epsilon(&**b)));
        mechanisms.dedup_by(|a, b| epsilon(&**a) == epsilon(&**b));
        let points = parallel::map(threads, mechanisms.len(), |i| {
            let share = i as f64 / mechanisms.len() as f64;
            progress((done as f64 + share) / kinds.len() as f64);
            point(model, language, &*mechanisms[i], sample)
        });
        if !points.is_empty() {
            tables.push((name.to_owned(), Calibration::new(points)));
        }
    }
    let codes = model.identity();
    DecodedKeep { codes, tables }
}

fn point(
    model: &Model,
    language: &Language,
    mechanism: &dyn Mechanism,
    sample: &[&str],
) -> CalibrationPoint {
    let emission = mechanism.emission().expect("a mechanism with an emission");
    let decoder = Decoder::new(language, emission);
    // How often each word was there, and how often it was there again.
    let mut words: HashMap<WordId, [u64; 2]> = HashMap::new();
    for draw in 0..DRAWS {
        for (i, text) in sample.iter().enumerate() {
            let tokens: Vec<_> = model
                .tokens(text)
                .into_iter()
                .map(|(word, _)| word)
                .collect();
            let mut noise = Noise::numbered(draw << 32 | i as u64);
            let observed = mechanism.observe(&tokens, &mut noise);
            let decoded = decoder.decode(&observed, &sentences(&model.pieces(text), Layout::Keep));
            for (word, out) in tokens.iter().zip(decoded) {
                let Some(word) = *word else { continue };
                let count = words.entry(word).or_default();
                count[0] += 1;
                count[1] += u64::from(out == word);
            }
        }
    }
    let sums = words.values().fold([0, 0], |[a, b], [x, y]| [a + x, b + y]);
    let mut shares: Vec<f64> = words
        .values()
        .map(|[all, same]| *same as f64 / *all as f64)
        .collect();
    // Sums round by their order: always the same one.
    shares.sort_by(f64::total_cmp);
    CalibrationPoint {
        epsilon: mechanism.guarantee().epsilon,
        keep: Keep {
            weighted: sums[1] as f64 / sums[0].max(1) as f64,
            plain: shares.iter().sum::<f64>() / shares.len().max(1) as f64,
        },
    }
}

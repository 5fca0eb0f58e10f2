//! How many words are as they were after decoding, by epsilon: measured on a public sample, with
//! seeded noise, as no text is at stake. Same sample, same table, on any number of threads.

use std::collections::HashMap;
use std::sync::Arc;

use brr::parts::all_pairs::OnShare;
use brr::parts::calibration::{Calibration, CalibrationPoint};
use brr::parts::certify::Certificate;
use brr::parts::epsilon::Epsilon;
use brr::parts::language::{DecodedKeep, Decoder, sentences};
use brr::parts::mechanism::{Brr, Exponential, Mechanism};
use brr::parts::parallel;
use brr::parts::random::Noise;
use brr::parts::text::pieces;
use brr::parts::vocabulary::WordId;
use brr::{Keep, Language, Layout, Model};

/// Points of a table.
const POINTS: usize = 16;
/// Draws of the sample at each point.
const DRAWS: u64 = 8;
/// Shares of words as drawn between which the points lie: decoded, there are more.
const DRAWN: std::ops::RangeInclusive<f64> = 0.005..=0.97;

/// Measures both tables.
pub fn measure_keep(
    model: &Arc<Model>,
    language: &Language,
    sample: &[&str],
    threads: usize,
    progress: OnShare<'_>,
) -> DecodedKeep {
    let certificates: Vec<&Certificate> = model
        .certificates()
        .iter()
        .filter(|c| DRAWN.contains(&c.keep().weighted))
        .collect();
    let table = model.calibration().map_or(&[][..], |table| table.points());
    let epsilons: Vec<f64> = table
        .iter()
        .filter(|p| DRAWN.contains(&p.keep.weighted))
        .map(|p| p.epsilon)
        .collect();
    let exponential = spread(&certificates).map(|c| {
        let mechanism = Exponential::certified(model.clone(), c);
        Box::new(mechanism.expect("a certificate of this model")) as Box<dyn Mechanism>
    });
    let brr = spread(&epsilons).map(|&e| {
        let epsilon = Epsilon::new(e).expect("an epsilon of the table");
        Box::new(Brr::new(model.clone(), epsilon)) as Box<dyn Mechanism>
    });
    let measure = |mechanisms: Vec<Box<dyn Mechanism>>, done: f64| {
        let points = parallel::map(threads, mechanisms.len(), |i| {
            progress(done + 0.5 * i as f64 / mechanisms.len() as f64);
            point(model, language, &*mechanisms[i], sample)
        });
        Calibration::new(points)
    };
    DecodedKeep {
        codes: model.identity(),
        exponential: measure(exponential.collect(), 0.0),
        brr: measure(brr.collect(), 0.5),
    }
}

/// At most [`POINTS`], from the first to the last.
fn spread<T>(all: &[T]) -> impl Iterator<Item = &T> {
    let points = POINTS.min(all.len());
    (0..points).map(move |i| &all[i * (all.len() - 1) / (points - 1).max(1)])
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
            let decoded = decoder.decode(&observed, &sentences(&pieces(text), Layout::Keep));
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

//! How many private words are as they were after decoding, by epsilon: measured on public samples, with
//! seeded noise, as no text is at stake. Same samples, same tables, on any number of threads.

use std::collections::HashMap;
use std::sync::Arc;

use brr::parts::all_pairs::OnShare;
use brr::parts::calibration::{Calibration, CalibrationPoint};
use brr::parts::language::DecodedKeep;
use brr::parts::parallel;
use brr::parts::random::Noise;
use brr::parts::vocabulary::WordId;
use brr::{
    Budget, Choice, Keep, Language, MechanismKind, Model, Options, Policy, Privatizer, Result,
};

/// Draws of a sample at each point, at least.
const DRAWS: u64 = 8;
/// Private words drawn at each point, at least: a share of as many has a standard error of at most 0.013.
const PRIVATE_WORDS: usize = 1500;
/// Private words of a sample that can stand for those of a policy.
const FEWEST: usize = 50;
/// Shares of words as drawn at which it is measured: decoded, there are more.
const DRAWN: [f64; 18] = [
    0.001, 0.003, 0.01, 0.02, 0.04, 0.08, 0.12, 0.17, 0.23, 0.3, 0.38, 0.46, 0.55, 0.65, 0.75,
    0.84, 0.91, 0.96,
];

/// Epsilons below the least of these, as shares of it.
const LOWER: [f64; 4] = [0.25, 0.45, 0.65, 0.85];

/// Measures a table for each policy and each mechanism that the model has, on the first sample that has enough
/// private words of the policy. Shares that a mechanism does not reach are left out, and so are policies
/// without a sample.
pub fn measure_keep(
    model: &Arc<Model>,
    language: &Arc<Language>,
    samples: &[Vec<&str>],
    policies: &[Policy],
    threads: usize,
    progress: OnShare<'_>,
) -> Result<Vec<DecodedKeep>> {
    let kinds = MechanismKind::ALL;
    let steps = (policies.len() * kinds.len()) as f64;
    let mut tables = Vec::new();
    for (done, policy) in policies.iter().enumerate() {
        let options = Options::default().with_policy(policy.clone());
        // Which words are private is the same under every mechanism.
        let any = options
            .clone()
            .with_mechanism(MechanismKind::KAry)
            .with_budget(Budget::Epsilon(1.0));
        let any = Privatizer::new(model.clone(), any)?;
        let Some(sample) = samples.iter().find_map(|s| Sample::of(s, &any)) else {
            continue;
        };
        for (kind, &(name, mechanism, _)) in kinds.iter().enumerate() {
            let options = options.clone().with_mechanism(mechanism);
            let epsilons = epsilons(model, &options, threads);
            let options = options.with_context(Some(language.clone()));
            let mut points = Vec::new();
            for (i, &epsilon) in epsilons.iter().enumerate() {
                let options = options.clone().with_budget(Budget::Epsilon(epsilon));
                let privatizer = Privatizer::certified(model.clone(), options, threads, &|_| {})?;
                points.push(sample.point(&privatizer, threads));
                let of_kind = (i + 1) as f64 / epsilons.len() as f64;
                progress(((done * kinds.len() + kind) as f64 + of_kind) / steps);
            }
            if !points.is_empty() {
                tables.push(DecodedKeep {
                    codes: any.private_model().identity(),
                    mechanism: name.to_owned(),
                    table: Calibration::new(points),
                });
            }
        }
    }
    Ok(tables)
}

/// Those that keep some shares of the private words as drawn, and smaller ones: below the shares that a mechanism
/// can be asked for, decoding still finds words.
fn epsilons(model: &Arc<Model>, options: &Options, threads: usize) -> Vec<f64> {
    let with = |budget: Budget| {
        let options = options.clone().with_budget(budget);
        let found = Privatizer::certified(model.clone(), options, threads, &|_| {});
        found.ok().map(|privatizer| privatizer.guarantee().epsilon)
    };
    let mut epsilons: Vec<f64> = DRAWN
        .iter()
        .filter_map(|&share| with(Budget::Keep(share)))
        .collect();
    if epsilons.is_empty() {
        epsilons = by_whole_model(model, options);
    }
    if let Some(&least) = epsilons.first() {
        let lower = LOWER.iter();
        epsilons.extend(lower.filter_map(|share| with(Budget::Epsilon(share * least))));
    }
    epsilons.sort_by(f64::total_cmp);
    epsilons.dedup();
    epsilons
}

/// Those that keep these shares of all words: where a mechanism can be asked for no share of the private ones.
fn by_whole_model(model: &Arc<Model>, options: &Options) -> Vec<f64> {
    let with = |&share: &f64| {
        let options = options
            .clone()
            .with_policy(Policy::All)
            .with_budget(Budget::Keep(share));
        let found = Privatizer::new(model.clone(), options).ok()?;
        Some(found.guarantee().epsilon)
    };
    DRAWN.iter().filter_map(with).collect()
}

/// Texts whose private words stand for those of others.
struct Sample<'a> {
    texts: &'a [&'a str],
    /// The word of every token that has one and is private.
    private: Vec<Vec<Option<WordId>>>,
    draws: u64,
}

impl<'a> Sample<'a> {
    /// None if it has too few private words.
    fn of(texts: &'a [&'a str], privatizer: &Privatizer) -> Option<Sample<'a>> {
        let private = |word: &Option<WordId>| word.filter(|&w| privatizer.private_id(w).is_some());
        let tokens = |text: &&str| {
            let tokens = privatizer.model().tokens(text).into_iter();
            tokens.map(|(word, _)| private(&word)).collect()
        };
        let private: Vec<Vec<_>> = texts.iter().map(tokens).collect();
        let words = private.iter().flatten().flatten().count();
        let enough = privatizer.options().policy == Policy::All || words >= FEWEST;
        (words > 0 && enough).then(|| Sample {
            texts,
            private,
            draws: DRAWS.max(PRIVATE_WORDS.div_ceil(words) as u64),
        })
    }

    fn point(&self, privatizer: &Privatizer, threads: usize) -> CalibrationPoint {
        let draws = parallel::map(threads, self.draws as usize, |draw| {
            self.counts(privatizer, draw as u64)
        });
        let mut words: HashMap<WordId, [u64; 2]> = HashMap::new();
        for (word, [all, same]) in draws.into_iter().flatten() {
            let count = words.entry(word).or_default();
            *count = [count[0] + all, count[1] + same];
        }
        let sums = words.values().fold([0, 0], |[a, b], [x, y]| [a + x, b + y]);
        let mut shares: Vec<f64> = words
            .values()
            .map(|[all, same]| *same as f64 / *all as f64)
            .collect();
        // Sums round by their order: always the same one.
        shares.sort_by(f64::total_cmp);
        CalibrationPoint {
            epsilon: privatizer.guarantee().epsilon,
            keep: Keep {
                weighted: sums[1] as f64 / sums[0].max(1) as f64,
                plain: shares.iter().sum::<f64>() / shares.len().max(1) as f64,
            },
        }
    }

    /// How often each private word was there, and how often it was there again.
    fn counts(&self, privatizer: &Privatizer, draw: u64) -> HashMap<WordId, [u64; 2]> {
        let mut words: HashMap<WordId, [u64; 2]> = HashMap::new();
        for (i, (text, private)) in self.texts.iter().zip(&self.private).enumerate() {
            let mut noise = Noise::numbered(draw << 32 | i as u64);
            let decoded = privatizer.words_with(text, &mut noise);
            for (word, out) in private.iter().zip(decoded) {
                let Some(word) = *word else { continue };
                let count = words.entry(word).or_default();
                count[0] += 1;
                count[1] += u64::from(out == word);
            }
        }
        words
    }
}

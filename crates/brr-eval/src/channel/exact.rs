//! Channels with known row probabilities.

use std::sync::atomic::{AtomicUsize, Ordering};

use brr::parts::mechanism::Channel;
use brr::parts::vocabulary::WordId;
use brr::parts::{frequency, parallel};

use super::attacker::{Guess, Prior};
use super::simulated::spread_words;
use super::{MASS, OutputSets, Sampling, Similarity, Spread, Summary, changed};
use crate::interval::Estimate;

/// Parts of the pass over all rows: few, as each holds a number for every output.
const PARTS: usize = 16;

/// The share of the whole work that is done when all rows are.
const ROWS_SHARE: f64 = 0.9;

/// What a pass over some rows finds.
struct Pass {
    keep: Vec<f64>,
    /// For each output and prior, the likeliest input's joint probability.
    best: [Vec<f64>; 2],
}

/// Looks at every row.
pub fn measure(
    channel: &dyn Channel,
    words: usize,
    similarity: &Similarity,
    plan: &Sampling,
    progress: &(dyn Fn(f64) + Sync),
) -> Summary {
    let by_use = frequency::shares(words);
    let (keep, success) = all_rows(channel, words, &by_use, plan, progress);
    let looks: Vec<Look> = {
        let sample = spread_words(words, plan.words, plan.seed, Prior::Uniform);
        parallel::map(plan.threads, sample.len(), |i| {
            Look::at(channel, words, sample[i], similarity)
        })
    };
    let sizes: Vec<f64> = looks.iter().map(|look| look.outputs as f64).collect();
    let over_looks = |pick: fn(&Look) -> Option<f64>| -> Option<Estimate> {
        let means: Option<Vec<_>> = looks.iter().map(|l| Some((pick(l)?, l.change))).collect();
        changed(&means?)
    };
    let weighted = keep.iter().zip(&by_use).map(|(k, s)| k * s).sum();
    Summary {
        exact: true,
        keep: Estimate::exact(keep.iter().sum::<f64>() / words as f64),
        keep_by_use: Estimate::exact(weighted),
        keep_spread: Spread::of(keep),
        outputs: OutputSets {
            mean: sizes.iter().sum::<f64>() / sizes.len().max(1) as f64,
            spread: Spread::of(sizes),
            at_least: false,
        },
        changed_cosine: over_looks(|look| look.cosine),
        changed_hamming: over_looks(|look| look.hamming),
        guess: success.map(|s| Guess::bayes(s[0])),
        guess_by_use: success.map(|s| Guess::bayes(s[1])),
    }
}

/// N_w of every word, and the Bayes attacker's success for both priors:
/// sum over y of max over w of prior(w) Pr[y | w].
fn all_rows(
    channel: &dyn Channel,
    words: usize,
    by_use: &[f64],
    plan: &Sampling,
    progress: &(dyn Fn(f64) + Sync),
) -> (Vec<f64>, Option<[f64; 2]>) {
    let part_len = words.div_ceil(PARTS);
    let parts = words.div_ceil(part_len);
    let done = AtomicUsize::new(0);
    progress(0.0);
    let passes = parallel::map(plan.threads, parts, |part| {
        let ids = part * part_len..((part + 1) * part_len).min(words);
        let pass = pass(channel, words, ids, by_use, plan.attack);
        let done = done.fetch_add(1, Ordering::Relaxed) + 1;
        progress(ROWS_SHARE * done as f64 / parts as f64);
        pass
    });
    let success = |prior: usize| -> f64 {
        let best = |y: usize| {
            passes
                .iter()
                .fold(0.0, |top: f64, p| top.max(p.best[prior][y]))
        };
        (0..words).map(best).sum()
    };
    let success = plan.attack.then(|| [success(0), success(1)]);
    (passes.into_iter().flat_map(|p| p.keep).collect(), success)
}

fn pass(
    channel: &dyn Channel,
    words: usize,
    ids: std::ops::Range<usize>,
    by_use: &[f64],
    attack: bool,
) -> Pass {
    let mut pass = Pass {
        keep: Vec::with_capacity(ids.len()),
        best: [vec![0.0; words], vec![0.0; words]],
    };
    let mut row = vec![0.0; words];
    for w in ids {
        channel.row(w as WordId, &mut row);
        pass.keep.push(row[w]);
        if attack {
            for (best, prior) in pass.best.iter_mut().zip([1.0 / words as f64, by_use[w]]) {
                for (best, p) in best.iter_mut().zip(&row) {
                    let joint = p * prior;
                    *best = if joint > *best { joint } else { *best };
                }
            }
        }
    }
    pass
}

/// One word, looked at closely.
struct Look {
    outputs: usize,
    change: f64,
    cosine: Option<f64>,
    hamming: Option<f64>,
}

impl Look {
    fn at(channel: &dyn Channel, words: usize, word: WordId, similarity: &Similarity) -> Look {
        let mut row = vec![0.0; words];
        channel.row(word, &mut row);
        let change = 1.0 - row[word as usize];
        let mean = |of: &dyn Fn(WordId) -> f64| {
            let others = (0..words as WordId).filter(|y| *y != word && row[*y as usize] > 0.0);
            let sum: f64 = others.map(|y| row[y as usize] * of(y)).sum();
            if change > 0.0 { sum / change } else { 0.0 }
        };
        let hamming = similarity
            .model
            .as_ref()
            .and_then(|_| similarity.distances(word));
        let space = similarity.space.as_ref();
        Look {
            cosine: space.map(|s| mean(&|y| s.cosine(word, y))),
            hamming: hamming.map(|d| mean(&|y| f64::from(d[y as usize]))),
            change,
            outputs: smallest_set(row),
        }
    }
}

/// Size of the smallest set of outputs with probability [`MASS`].
fn smallest_set(mut row: Vec<f64>) -> usize {
    row.sort_by(|a, b| b.total_cmp(a));
    let mut mass = 0.0;
    let within = row.iter().take_while(|p| {
        let before = mass;
        mass += **p;
        before < MASS
    });
    within.count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use brr::parts::epsilon::Epsilon;
    use brr::parts::mechanism::Kary;

    fn plan() -> Sampling {
        Sampling {
            words: 10,
            threads: 2,
            ..Sampling::default()
        }
    }

    #[test]
    fn the_ends_of_the_scale() {
        let s = measure(
            &Kary::new(40, Epsilon::new(40.0).unwrap()),
            40,
            &Similarity::default(),
            &plan(),
            &|_| {},
        );
        assert!((s.keep.value - 1.0).abs() < 1e-12 && s.outputs.mean == 1.0);
        assert!((s.guess.unwrap().success.value - 1.0).abs() < 1e-12);
        let s = measure(
            &Kary::new(40, Epsilon::new(1e-15).unwrap()),
            40,
            &Similarity::default(),
            &plan(),
            &|_| {},
        );
        assert!((s.keep.value - 0.025).abs() < 1e-12 && s.outputs.mean == 38.0);
        assert!((s.guess.unwrap().success.value - 0.025).abs() < 1e-12);
        // Who knows that words differ in use names the most frequent one.
        let most = frequency::shares(40)[0];
        assert!((s.guess_by_use.unwrap().success.value - most).abs() < 1e-12);
    }

    /// For k-ary response and equally likely words the best guess is the output.
    #[test]
    fn guessing_against_k_ary_response() {
        let k = Kary::new(100, Epsilon::new(4.0).unwrap());
        let s = measure(&k, 100, &Similarity::default(), &plan(), &|_| {});
        assert!((s.guess.unwrap().success.value - k.keep()).abs() < 1e-12);
        assert!((s.keep_by_use.value - k.keep()).abs() < 1e-12);
        assert!(s.guess_by_use.unwrap().success.value > k.keep() - 1e-12);
        assert_eq!(s.keep_spread.least, s.keep_spread.most);
        let other = ((MASS - k.keep()) / k.other()).ceil();
        assert_eq!(s.outputs.mean, 1.0 + other);
    }
}

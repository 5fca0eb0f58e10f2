//! Simulation for the [`Calibration`] table of a model.
//!
//! Each point draws [`SAMPLES`] words by use and as many uniformly, flips their
//! bits and searches as the mechanism does, and counts those that come back. A
//! bit flips if a random number of 32 bits is below the mechanism's own
//! [`FlipThreshold`]: what the mechanism draws, from a generator that is seeded,
//! as no text is at stake. All points share one draw of words and of these
//! numbers: with a larger epsilon, some of the same bits flip, so the curve is
//! smooth. Same seed, same table, on any number of threads.
//!
//! A share of n draws is within 1.96 sqrt(1/4 / n) of its expectation in 95 of
//! 100 cases or more: 0.0049 here.

use super::{Calibration, CalibrationPoint};
use crate::codes::{CodeBlocks, CodeRows};
use crate::epsilon::Epsilon;
use crate::frequency::{self, Keep};
use crate::nearest::Scan;
use crate::response::FlipThreshold;
use crate::vocabulary::WordId;
use chacha20::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};

use crate::all_pairs::OnShare;
use crate::parallel;

/// Words drawn for each share, at each point of the table.
const SAMPLES: usize = 40_960;

/// Points of the table.
const POINTS: usize = 32;
/// Shares of kept words, by use, that the table reaches from and to.
const ENDS: (f64, f64) = (0.02, 0.995);
/// Words drawn to find where the table begins and ends.
const PILOT: usize = 1024;
/// An epsilon at which no bit of any sample flips.
const MAX_EPSILON: f64 = 16.0;
/// Halvings of epsilon's range in that search.
const HALVINGS: u32 = 9;
/// Words drawn at each point that is checked.
const CHECK_SAMPLES: usize = 10_240;
/// Seed of the draws that check a table: nothing secret hangs on it.
const CHECK_SEED: u64 = 0x6272_7200_6368_6563;
/// Words that share a scan.
const PART: usize = 256;

/// Simulates BRR over `codes`, whose words are in order of use.
pub fn simulate(
    codes: CodeBlocks<'_>,
    seed: u64,
    threads: usize,
    progress: OnShare<'_>,
) -> Calibration {
    let pilot = Simulation::new(codes, seed, PILOT, threads);
    // Words with duplicate codes are never kept: there may be less to reach.
    let most = pilot.share(&pilot.by_use, MAX_EPSILON, 0);
    let low = pilot.bracket(ENDS.0).0;
    let high = pilot.bracket(ENDS.1.min(most - 0.003)).1.max(low * 1.01);
    let simulation = Simulation::new(codes, seed.wrapping_add(1), SAMPLES, threads);
    let points = (0..POINTS).map(|i| {
        let share = i as f64 / (POINTS - 1) as f64;
        let epsilon = low + share * (high - low);
        let keep = simulation.keep(epsilon);
        progress((i + 1) as f64 / POINTS as f64);
        CalibrationPoint { epsilon, keep }
    });
    Calibration::new(points.collect())
}

/// The share of words, by use, that stays at each epsilon.
pub(super) fn shares(codes: CodeBlocks<'_>, epsilons: &[f64], threads: usize) -> Vec<f64> {
    let simulation = Simulation::new(codes, CHECK_SEED, CHECK_SAMPLES, threads);
    let share = |&epsilon: &f64| simulation.share(&simulation.by_use, epsilon, 0);
    epsilons.iter().map(share).collect()
}

/// A fixed choice of words, and of noise for them.
struct Simulation<'a> {
    codes: CodeBlocks<'a>,
    by_use: Vec<WordId>,
    uniform: Vec<WordId>,
    seed: u64,
    threads: usize,
}

impl<'a> Simulation<'a> {
    fn new(codes: CodeBlocks<'a>, seed: u64, samples: usize, threads: usize) -> Simulation<'a> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        // One draw in each of as many equal stretches of 0..1: every draw is
        // fair, and no part of the vocabulary is over- or underrepresented.
        let mut stretches = || {
            let draws = (0..samples).map(|i| {
                let within = (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
                (i as f64 + within) / samples as f64
            });
            draws.collect::<Vec<f64>>()
        };
        let sampler = frequency::Sampler::new(codes.len());
        let n = codes.len();
        Simulation {
            codes,
            by_use: stretches().iter().map(|&u| sampler.word(u)).collect(),
            uniform: stretches()
                .iter()
                .map(|&u| ((u * n as f64) as usize).min(n - 1) as WordId)
                .collect(),
            seed,
            threads,
        }
    }

    fn keep(&self, epsilon: f64) -> Keep {
        Keep {
            weighted: self.share(&self.by_use, epsilon, 0),
            plain: self.share(&self.uniform, epsilon, 1),
        }
    }

    /// Share of `words` that stay.
    fn share(&self, words: &[WordId], epsilon: f64, stream: u64) -> f64 {
        let threshold = FlipThreshold::new(Epsilon::new(epsilon).expect("a positive epsilon"));
        let parts: Vec<&[WordId]> = words.chunks(PART).collect();
        let kept = parallel::map(self.threads, parts.len(), |part| {
            let streams = (part * PART..).map(|sample| 1 + 2 * sample as u64 + stream);
            self.kept(parts[part], threshold, streams)
        });
        kept.iter().sum::<usize>() as f64 / words.len() as f64
    }

    /// How many of `words` stay; each has its own stream of randomness.
    fn kept(
        &self,
        words: &[WordId],
        threshold: FlipThreshold,
        streams: impl Iterator<Item = u64>,
    ) -> usize {
        let mut noisy = CodeRows::zeros(self.codes.bits(), words.len());
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        for ((i, &word), stream) in words.iter().enumerate().zip(streams) {
            rng.set_stream(stream);
            self.codes.read(word as usize, noisy.row_mut(i));
            flip(noisy.row_mut(i), threshold, &mut rng);
        }
        let nearest = Scan::new(self.codes).nearest(&noisy);
        let pairs = nearest.iter().zip(words);
        pairs.filter(|(found, word)| found.id == **word).count()
    }

    /// Two positive epsilons between which `share` of the words by use stays.
    fn bracket(&self, share: f64) -> (f64, f64) {
        let (mut low, mut high) = (0.0, MAX_EPSILON);
        for _ in 0..HALVINGS {
            let middle = (low + high) / 2.0;
            if self.share(&self.by_use, middle, 0) < share {
                low = middle;
            } else {
                high = middle;
            }
        }
        (f64::max(low, high / 2.0), high)
    }
}

/// Flips each bit of `code` whose random number is below the threshold.
fn flip(code: &mut [u64], threshold: FlipThreshold, rng: &mut ChaCha8Rng) {
    for limb in code {
        for pair in 0..32 {
            let numbers = rng.next_u64();
            let below = |number: u64| u64::from((number as u32) < threshold.get());
            *limb ^= (below(numbers) | below(numbers >> 32) << 1) << (2 * pair);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codes::{CodeBits, to_blocks};

    /// Random codes; the last word has the code of the first.
    fn blocks(words: usize) -> Vec<u8> {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let mut rows = CodeRows::new(CodeBits::new(64).unwrap());
        (1..words).for_each(|_| rows.push(&[rng.next_u64()]));
        let first = rows.row(0).to_vec();
        rows.push(&first);
        to_blocks(&rows)
    }

    #[test]
    fn the_table_runs_from_little_to_nearly_all_whatever_the_threads() {
        let blocks = blocks(300);
        let codes = CodeBlocks::new(CodeBits::new(64).unwrap(), 300, &blocks).unwrap();
        let table = simulate(codes, 5, 1, &|_| {});
        assert_eq!(table, simulate(codes, 5, 3, &|_| {}));
        let (first, last) = (&table.points()[0], table.points().last().unwrap());
        assert!(first.keep.weighted < 0.05, "{first:?}");
        assert!(last.keep.weighted > 0.97, "{last:?}");
        // The duplicate is 1 of 300 words, and rare.
        assert!(
            last.keep.plain < 0.998 && last.keep.plain > 0.97,
            "{last:?}"
        );
        let steps = table.points().windows(2);
        let jump = |pair: &[CalibrationPoint]| pair[1].keep.weighted - pair[0].keep.weighted;
        assert!(steps.map(jump).fold(0.0, f64::max) < 0.15);
    }

    /// Two words at distance d: the word stays unless more than half of the d
    /// bits flip, or just half and the other word has the lower id.
    #[test]
    fn shares_agree_with_a_case_that_can_be_computed() {
        let mut rows = CodeRows::zeros(CodeBits::new(64).unwrap(), 2);
        rows.row_mut(1)[0] = 0b11;
        let blocks = to_blocks(&rows);
        let codes = CodeBlocks::new(rows.bits(), 2, &blocks).unwrap();
        let simulation = Simulation::new(codes, 1, SAMPLES, 2);
        for epsilon in [0.3, 1.0, 2.0] {
            let p = 1.0 / (1.0 + f64::exp(epsilon));
            let expected = ((1.0 - p * p) + (1.0 - p) * (1.0 - p)) / 2.0;
            // 0.0049 is 1.96 standard errors, so this is five: a false alarm in 10^6
            // runs; the seed is fixed.
            let off = simulation.keep(epsilon).plain - expected;
            assert!(off.abs() < 2.6 * 0.0049, "{epsilon}: {off}");
        }
    }
}

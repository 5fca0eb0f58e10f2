//! C(y | w) for tens of thousands of words, small enough to iterate over.
//!
//! A full table of 33,000 x 33,000 takes gigabytes and seconds a turn. Most of it is
//! tail: many outputs, each about as unlikely from one word as from another. So a
//! row is kept as
//!
//! ```text
//! C(y | w) = excess(w, y) + rest(w) background(y)
//! ```
//!
//! with the excess stored for the outputs that stand out, and one background for
//! all words. Rows add up to 1, and no output is impossible.
//!
//! - Where row probabilities are known ([`Channel`]) the largest are stored, and the
//!   background is the mean of what is left.
//! - Where they are not (BRR), each word is drawn many times. Of every output that
//!   was seen a fraction of one draw is taken away (absolute discounting, Ney et al.
//!   1994) and given to the background, which is made of these fractions: outputs that
//!   come up rarely, from many words.
//!
//! Entries and draws are spent on words by how often words are used
//! ([`brr::parts::frequency`]): an error in a frequent word's row is seen all over.

use brr::parts::mechanism::{Channel, Mechanism};
use brr::parts::random::Noise;
use brr::parts::vocabulary::WordId;
use brr::parts::{frequency, parallel};

/// Parts of a pass over all words: few, as each holds a number for every output.
const PARTS: usize = 32;
/// Share of the background that is the same for all outputs.
const FLOOR: f64 = 1e-3;
/// An excess below this part of the background is none.
const NOTABLE: f64 = 0.1;
/// Draws beyond which a row is known well enough.
const MOST: usize = 100_000;

/// How much to spend on a channel.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Entries stored or words drawn, in all.
    pub total: usize,
    /// At least so many for each word.
    pub least: usize,
    /// Seed of the draws.
    pub seed: u64,
    /// Threads; they change nothing but the time.
    pub threads: usize,
}

impl Default for Effort {
    fn default() -> Effort {
        Effort {
            total: 3_000_000,
            least: 40,
            seed: 1,
            threads: parallel::cores(),
        }
    }
}

/// The probability of every output, for every word.
pub struct WordChannel {
    /// End of each word's entries.
    ends: Vec<usize>,
    outputs: Vec<WordId>,
    excess: Vec<f32>,
    rest: Vec<f64>,
    background: Vec<f64>,
}

/// What one word's row holds before the background is known.
struct Row {
    /// Outputs that stand out, with their probabilities.
    entries: Vec<(WordId, f32)>,
    /// Probability that is not among them.
    rest: f64,
}

impl WordChannel {
    /// Of a mechanism: computed where it has a channel, else simulated.
    pub fn of(mechanism: &dyn Mechanism, words: usize, effort: &Effort) -> WordChannel {
        match mechanism.channel() {
            Some(channel) => WordChannel::exact(channel, words, effort),
            None => WordChannel::simulated(mechanism, words, effort),
        }
    }

    /// From known probabilities.
    pub fn exact(channel: &dyn Channel, words: usize, effort: &Effort) -> WordChannel {
        let (rows, tail) = all_rows(words, effort, |word, quota, share, tail| {
            let mut row = vec![0.0; words];
            channel.row(word, &mut row);
            // What stands out from the likeliest output that has no place.
            let level = match quota < words {
                true => {
                    *row.clone()
                        .select_nth_unstable_by(quota, |a, b| b.total_cmp(a))
                        .1
                }
                false => 0.0,
            };
            let (mut entries, mut rest) = (Vec::new(), 0.0);
            for (y, &p) in row.iter().enumerate() {
                if p > (1.0 + NOTABLE) * level {
                    entries.push((y as WordId, p as f32));
                } else {
                    tail[y] += share * p;
                    rest += p;
                }
            }
            Row { entries, rest }
        });
        let background = shape(tail);
        // A stored output has its probability already: take the background's part off.
        let settle = |row: Row| {
            let inside: f64 = row.entries.iter().map(|e| background[e.0 as usize]).sum();
            let rest = row.rest / (1.0 - inside).max(FLOOR);
            let excess = |(y, p): (WordId, f32)| {
                let part = rest * background[y as usize];
                let excess = f64::from(p) - part;
                (excess > NOTABLE * part).then_some((y, excess as f32))
            };
            row.entries.into_iter().filter_map(excess).collect()
        };
        let rows = rows.into_iter().map(settle).collect();
        WordChannel::new(rows, background)
    }

    /// From draws.
    pub fn simulated(mechanism: &dyn Mechanism, words: usize, effort: &Effort) -> WordChannel {
        let (rows, tail) = all_rows(words, effort, |word, quota, share, tail| {
            let mut noise = Noise::numbered(effort.seed).with_stream(word.into());
            let mut outputs = mechanism.privatize(&vec![Some(word); quota], &mut noise);
            outputs.sort_unstable();
            let counts: Vec<(WordId, usize)> = outputs
                .chunk_by(|a, b| a == b)
                .map(|same| (same[0], same.len()))
                .collect();
            let seen = |times: usize| counts.iter().filter(|c| c.1 == times).count() as f64;
            let (once, twice) = (seen(1), seen(2));
            // Where every output was seen often, half a draw stands for all the others.
            let least = 0.5 / counts.len() as f64;
            let discount = (once / (once + 2.0 * twice).max(1.0)).clamp(least, 0.95);
            let part = discount / quota as f64;
            counts
                .iter()
                .for_each(|c| tail[c.0 as usize] += share * part);
            let entry = |&(y, n): &(WordId, usize)| (y, (n as f64 / quota as f64 - part) as f32);
            let entries: Vec<_> = counts.iter().map(entry).filter(|e| e.1 > 0.0).collect();
            let rest = part * counts.len() as f64;
            Row { entries, rest }
        });
        let background = shape(tail);
        let rows = rows.into_iter().map(|row| row.entries).collect();
        WordChannel::new(rows, background)
    }

    /// From the excess of each word; what is missing to 1 goes to the background.
    fn new(rows: Vec<Vec<(WordId, f32)>>, background: Vec<f64>) -> WordChannel {
        let mut channel = WordChannel {
            ends: Vec::with_capacity(rows.len()),
            outputs: Vec::new(),
            excess: Vec::new(),
            rest: Vec::with_capacity(rows.len()),
            background,
        };
        for row in rows {
            let stored: f64 = row.iter().map(|e| f64::from(e.1)).sum();
            channel.rest.push((1.0 - stored).max(0.0));
            channel.outputs.extend(row.iter().map(|e| e.0));
            channel.excess.extend(row.iter().map(|e| e.1));
            channel.ends.push(channel.outputs.len());
        }
        channel
    }

    /// Number of words.
    pub fn words(&self) -> usize {
        self.rest.len()
    }

    /// Entries that are stored.
    pub fn entries(&self) -> usize {
        self.outputs.len()
    }

    /// C(y | w).
    pub fn probability(&self, word: WordId, output: WordId) -> f64 {
        let (outputs, excess) = self.row(word as usize);
        let stored = outputs.iter().position(|y| *y == output);
        stored.map_or(0.0, |i| f64::from(excess[i]))
            + self.rest[word as usize] * self.background[output as usize]
    }

    /// What a word's background adds to each output, as a factor of [`background`](Self::background).
    pub(super) fn rest(&self, word: usize) -> f64 {
        self.rest[word]
    }

    pub(super) fn background(&self) -> &[f64] {
        &self.background
    }

    /// The outputs that stand out, and by how much.
    pub(super) fn row(&self, word: usize) -> (&[WordId], &[f32]) {
        let start = word.checked_sub(1).map_or(0, |before| self.ends[before]);
        let range = start..self.ends[word];
        (&self.outputs[range.clone()], &self.excess[range])
    }
}

/// `row(word, quota, share, tail)` for every word: the rows, and the sum of all tails.
fn all_rows(
    words: usize,
    effort: &Effort,
    row: impl Fn(WordId, usize, f64, &mut [f64]) -> Row + Sync,
) -> (Vec<Row>, Vec<f64>) {
    let shares = frequency::shares(words);
    // Dealt out like cards, as the first words are the dearest.
    let parts = parallel::map(effort.threads, PARTS, |part| {
        let mut tail = vec![0.0; words];
        let of_part = (part..words).step_by(PARTS).map(|w| {
            let quota = (effort.total as f64 * shares[w]) as usize;
            let quota = quota.min(MOST).max(effort.least);
            row(w as WordId, quota, shares[w], &mut tail)
        });
        (of_part.collect::<Vec<_>>(), tail)
    });
    let mut tail = vec![0.0; words];
    let mut hands = Vec::with_capacity(parts.len());
    for (rows, part) in parts {
        tail.iter_mut().zip(part).for_each(|(sum, t)| *sum += t);
        hands.push(rows.into_iter());
    }
    let rows = (0..words).filter_map(|w| hands[w % PARTS].next());
    (rows.collect(), tail)
}

/// The shape of what rows left over, with a floor; uniform if they left nothing.
fn shape(tail: Vec<f64>) -> Vec<f64> {
    let (total, even) = (tail.iter().sum::<f64>(), 1.0 / tail.len() as f64);
    let share = |t: f64| {
        if total > 0.0 {
            (1.0 - FLOOR) * t / total + FLOOR * even
        } else {
            even
        }
    };
    tail.into_iter().map(share).collect()
}

//! The rows Pr[y | w] that estimates are solved from.
//!
//! - Where a mechanism has a [`Channel`], rows are computed, each time they are needed: a table of
//!   33,000 x 33,000 takes gigabytes, and computing a row takes a scan. The rows of k-ary and tree response have a
//!   structure by which they are added up without being computed one by one.
//! - Where it has none (BRR), words are drawn from. A word that occurs f times and is
//!   drawn m times adds f^2 / m to the variance that its f occurrences have by themselves, so
//!   draws are spent in proportion to occurrences: first to those that a prior expects, then
//!   ([`WordChannel::refine`]) to those that a first estimate found. Intervals contain the rest.
//!
//! **Words of equal code**, or of one place of a tree, have equal rows: no text tells them apart. They are taken
//! together, at the first of them, and the others are as if nothing ever came of them.
//!
//! A drawn row is smoothed, as most words are drawn from a few times only. The probability that
//! the word stays is drawn toward the mean over all words. Of every other output that was seen a
//! fraction of one draw is taken away (absolute discounting, Ney et al. 1994) and given to
//! a background that all words share: outputs that come up rarely, from many words.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::ops::AddAssign;
use std::sync::Arc;

use brr::parts::mechanism::{Channel, Mechanism};
use brr::parts::random::Noise;
use brr::parts::vocabulary::WordId;
use brr::parts::{frequency, parallel};
use brr::{Metric, Model, Result};
use brr_build::matrix::gemm;

/// Parts of a pass over all words: few, as each holds numbers for every output.
const PARTS: usize = 8;
/// Rows that are added to the outputs together.
const TILE: usize = 64;
/// Share of the background that is the same for all outputs.
const FLOOR: f64 = 1e-3;
/// Draws that the mean probability to stay is worth, beside a word's own.
const BELIEVED: f64 = 20.0;
/// Draws for each occurrence that a first estimate found.
const PER_OCCURRENCE: f64 = 4.0;
/// Draws beyond which a row is known well enough.
const MOST: usize = 400_000;

/// How much to spend on a channel that has to be drawn.
#[derive(Clone)]
pub struct Effort {
    /// Words drawn, in all, in each of two rounds.
    pub total: usize,
    /// At least so many for each word.
    pub least: usize,
    /// The noise of a draw, by a number that is another for each. [`Noise::from_os`] will do;
    /// an evaluation takes what it can repeat.
    pub noise: Arc<dyn Fn(u64) -> Result<Noise> + Send + Sync>,
    /// Threads; they change nothing but the time.
    pub threads: usize,
}

impl Default for Effort {
    fn default() -> Effort {
        Effort {
            total: 3_000_000,
            least: 40,
            noise: Arc::new(|_| Noise::from_os()),
            threads: parallel::cores(),
        }
    }
}

/// The probability of every output, for every word and for unknown tokens.
pub struct WordChannel<'a> {
    words: usize,
    mechanism: &'a dyn Mechanism,
    effort: Effort,
    /// For each word the first that has the same row.
    first: Vec<usize>,
    /// What was drawn, if probabilities are not known.
    drawn: Option<Drawn>,
}

/// Outputs in ascending order, and what is smoothed from them.
struct Drawn {
    outputs: Vec<Vec<WordId>>,
    unknown: Vec<WordId>,
    /// Mean probability that a word stays.
    stays: f64,
    background: Vec<f32>,
}

impl<'a> WordChannel<'a> {
    /// Of a mechanism over so many words: computed where it has a channel, else drawn.
    ///
    /// # Errors
    /// If there is no noise to draw with.
    pub fn of(
        mechanism: &'a dyn Mechanism,
        words: usize,
        effort: &Effort,
    ) -> Result<WordChannel<'a>> {
        let mut channel = WordChannel {
            words,
            mechanism,
            effort: effort.clone(),
            first: (0..words).collect(),
            drawn: None,
        };
        if mechanism.channel().is_none() {
            let draws = effort.total / 10;
            let mut noise = (effort.noise)(words as u64)?;
            let mut unknown = mechanism.privatize(&vec![None; draws.max(1)], &mut noise);
            unknown.sort_unstable();
            channel.drawn = Some(Drawn {
                outputs: vec![Vec::new(); words],
                unknown,
                stays: 0.0,
                background: Vec::new(),
            });
            let share = |s: f64| (effort.total as f64 * s) as usize;
            let quotas = frequency::shares(words).into_iter();
            let quotas = quotas.map(|s| share(s).clamp(effort.least, MOST.max(effort.least)));
            channel.draw(quotas.collect())?;
        }
        Ok(channel)
    }

    /// The same, with words taken together that have one row: those of equal code, or of one place of the tree
    /// where rows go by places. With k-ary response no two words have the same.
    pub fn over(self, model: &Model) -> WordChannel<'a> {
        let first = match (self.mechanism.guarantee().metric, model.tree()) {
            (Metric::Discrete, _) => (0..self.words).collect(),
            (Metric::Tree { .. }, Some(tree)) => firsts(tree.places().iter()),
            _ => {
                let codes = model.codes().to_rows();
                firsts((0..self.words).map(|w| codes.row(w).to_vec()))
            }
        };
        WordChannel { first, ..self }
    }

    /// For each word the first that has the same row.
    pub(crate) fn first(&self) -> &[usize] {
        &self.first
    }

    /// Draws more of the words that these texts have, by a first estimate of their counts.
    /// Nothing to do where rows are computed.
    pub(crate) fn refine(&mut self, counts: &[f64]) -> Result<()> {
        if self.drawn.is_some() {
            let wanted = PER_OCCURRENCE * counts.iter().sum::<f64>();
            let scale = PER_OCCURRENCE * (self.effort.total as f64 / wanted.max(1.0)).min(1.0);
            let quota = |c: &f64| ((c * scale) as usize).min(MOST);
            self.draw(counts.iter().map(quota).collect())?;
        }
        Ok(())
    }

    /// Draws until each word has its quota, and smooths.
    fn draw(&mut self, quotas: Vec<usize>) -> Result<()> {
        let Some(drawn) = &mut self.drawn else {
            return Ok(());
        };
        let (mechanism, effort) = (self.mechanism, &self.effort);
        let known: Vec<usize> = drawn.outputs.iter().map(Vec::len).collect();
        // Dealt out like cards, as the first words are the dearest.
        let parts = 4 * PARTS;
        let more = parallel::map(effort.threads, parts, |part| {
            let word = |w: usize| {
                let missing = quotas[w].saturating_sub(known[w]);
                // Another stream for each round.
                let stream = (w + (self.words + 1) * known[w].min(1)) as u64;
                if missing == 0 {
                    return Ok(Vec::new());
                }
                let mut noise = (effort.noise)(stream)?;
                Ok(mechanism.privatize(&vec![Some(w as WordId); missing], &mut noise))
            };
            (part..self.words)
                .step_by(parts)
                .map(word)
                .collect::<Result<Vec<_>>>()
        });
        for (part, rows) in more.into_iter().enumerate() {
            for (i, row) in rows?.into_iter().enumerate() {
                let outputs = &mut drawn.outputs[part + i * parts];
                outputs.extend(row);
                outputs.sort_unstable();
            }
        }
        drawn.smooth();
        Ok(())
    }

    /// Number of words.
    pub fn words(&self) -> usize {
        self.words
    }

    /// Of so many draws is this word's row made; `None` if it is exact.
    pub(crate) fn draws(&self, word: usize) -> Option<f64> {
        let drawn = self.drawn.as_ref()?;
        Some(drawn.outputs[word].len() as f64)
    }

    /// Pr[y | word] for every output y.
    pub fn row(&self, word: usize, out: &mut [f32]) {
        if self.first[word] != word {
            out.fill(0.0);
            out[word] = 1.0;
            return;
        }
        match (&self.drawn, self.mechanism.channel()) {
            (Some(drawn), _) => drawn.row(word, out),
            (None, Some(channel)) => {
                let mut row = vec![0.0; out.len()];
                channel.row(word as WordId, &mut row);
                out.iter_mut().zip(row).for_each(|(o, p)| *o = p as f32);
            }
            (None, None) => unreachable!("a channel is computed or drawn"),
        }
        fold(&self.first, out);
    }

    /// Pr[y | unknown token] for every output y.
    pub fn unknown(&self) -> Vec<f64> {
        let mut row = vec![0.0; self.words];
        match (&self.drawn, self.mechanism.channel()) {
            (Some(drawn), _) => {
                let each = 1.0 / drawn.unknown.len() as f64;
                drawn.unknown.iter().for_each(|y| row[*y as usize] += each);
            }
            (None, Some(channel)) => channel.row_of_unknown(&mut row),
            (None, None) => unreachable!("a channel is computed or drawn"),
        }
        fold(&self.first, &mut row);
        row
    }

    /// The probability that each word stays.
    pub(crate) fn stays(&self) -> Vec<f64> {
        let computed = self.computed().and_then(|channel| channel.kept());
        if let Some(mut stays) = computed {
            let (mut row, words) = (vec![0.0; self.words], 0..self.words);
            // Words that others were taken together with, and these others.
            let shared: HashSet<usize> = words.filter(|&w| self.first[w] != w).collect();
            let firsts: HashSet<usize> = shared.iter().map(|&w| self.first[w]).collect();
            for &word in shared.iter().chain(&firsts) {
                self.row(word, &mut row);
                stays[word] = f64::from(row[word]);
            }
            return stays;
        }
        let parts = self.pass(|words, rows, stays: &mut Vec<(usize, f64)>| {
            let own = |(w, row): (&usize, &[f32])| (*w, f64::from(row[*w]));
            stays.extend(words.iter().zip(rows.chunks_exact(self.words)).map(own));
        });
        let mut stays = vec![0.0; self.words];
        parts.into_iter().flatten().for_each(|(w, p)| stays[w] = p);
        stays
    }

    /// What outputs each of these counts of words leads to: the sum of rows, for every
    /// set of counts.
    pub(crate) fn outputs(&self, counts: &[&[f64]]) -> Vec<Vec<f64>> {
        let n = self.words;
        let quick = counts.iter().map(|counts| self.quick_outputs(counts));
        if let Some(outputs) = quick.collect() {
            return outputs;
        }
        let parts = self.pass(|words, rows, (sums, product): &mut (Vec<f32>, Vec<f32>)| {
            sums.resize(counts.len() * n, 0.0);
            product.resize(counts.len() * n, 0.0);
            let of_set = |counts: &&[f64]| words.iter().map(|w| counts[*w] as f32).collect();
            let factors: Vec<Vec<f32>> = counts.iter().map(of_set).collect();
            gemm(
                (counts.len(), words.len(), n),
                (&factors.concat(), words.len() as isize, 1),
                (rows, n as isize, 1),
                product,
            );
            sums.iter_mut().zip(product).for_each(|(s, p)| *s += *p);
        });
        let sum = |k: usize| {
            let mut sum = vec![0.0; n];
            for (part, _) in &parts {
                let part = &part[k * n..(k + 1) * n];
                sum.iter_mut()
                    .zip(part)
                    .for_each(|(s, p)| *s += f64::from(*p));
            }
            sum
        };
        (0..counts.len()).map(sum).collect()
    }

    /// The same for one set of counts, where a mechanism has a shorter way than its rows.
    fn quick_outputs(&self, counts: &[f64]) -> Option<Vec<f64>> {
        let channel = self.computed()?;
        let is_first = |w: usize| self.first[w] == w;
        let pairs = counts.iter().enumerate();
        let firsts = pairs.map(|(w, count)| if is_first(w) { *count } else { 0.0 });
        let mut outputs = channel.outputs(&firsts.collect::<Vec<f64>>())?;
        fold(&self.first, &mut outputs);
        for word in (0..self.words).filter(|&w| !is_first(w)) {
            outputs[word] += counts[word];
        }
        Some(outputs)
    }

    /// The mean of a value of the output for every word, for every set of values.
    pub(crate) fn means(&self, values: &[&[f64]]) -> Vec<Vec<f64>> {
        let quick = values.iter().map(|values| self.quick_means(values));
        if let Some(means) = quick.collect() {
            return means;
        }
        let (n, sets) = (self.words, values.len());
        let single = |values: &&[f64]| values.iter().map(|&v| v as f32).collect();
        let columns: Vec<Vec<f32>> = values.iter().map(single).collect();
        let columns = columns.concat();
        let parts = self.pass(|words, rows, means: &mut Vec<(usize, Vec<f32>)>| {
            let mut product = vec![0.0; words.len() * sets];
            gemm(
                (words.len(), n, sets),
                (rows, n as isize, 1),
                (&columns, 1, n as isize),
                &mut product,
            );
            let rows = product.chunks_exact(sets).map(<[f32]>::to_vec);
            means.extend(words.iter().copied().zip(rows));
        });
        let mut means = vec![vec![0.0; n]; sets];
        for (word, of_sets) in parts.into_iter().flatten() {
            let pairs = means.iter_mut().zip(of_sets);
            pairs.for_each(|(means, mean)| means[word] = f64::from(mean));
        }
        means
    }

    /// The same for one set of values, where a mechanism has a shorter way than its rows.
    fn quick_means(&self, values: &[f64]) -> Option<Vec<f64>> {
        let channel = self.computed()?;
        let of_first: Vec<f64> = self.first.iter().map(|&first| values[first]).collect();
        let mut means = channel.means(&of_first)?;
        for word in (0..self.words).filter(|&w| self.first[w] != w) {
            means[word] = values[word];
        }
        Some(means)
    }

    /// The mechanism's own channel, if rows are not drawn.
    fn computed(&self) -> Option<&dyn Channel> {
        match self.drawn {
            None => self.mechanism.channel(),
            Some(_) => None,
        }
    }

    /// Hands all rows, a tile of them at a time, to `visit`, which gathers something in each part:
    /// which words, and their rows end to end.
    fn pass<T: Default + Send>(&self, visit: impl Fn(&[usize], &[f32], &mut T) + Sync) -> Vec<T> {
        parallel::map(self.effort.threads, PARTS.min(self.words), |part| {
            let mut gathered = T::default();
            let mut tile = vec![0.0; TILE * self.words];
            let of_part: Vec<usize> = (part..self.words).step_by(PARTS).collect();
            for words in of_part.chunks(TILE) {
                let rows = tile.chunks_exact_mut(self.words);
                words
                    .iter()
                    .zip(rows)
                    .for_each(|(w, row)| self.row(*w, row));
                visit(words, &tile[..words.len() * self.words], &mut gathered);
            }
            gathered
        })
    }
}

/// For each key the first place that has the same.
fn firsts<K: Eq + Hash>(keys: impl Iterator<Item = K>) -> Vec<usize> {
    let mut seen = HashMap::new();
    let first = |(place, key)| *seen.entry(key).or_insert(place);
    keys.enumerate().map(first).collect()
}

/// Brings numbers of words together at the first that has the same row.
pub(crate) fn fold<T: Copy + Default + AddAssign>(first: &[usize], numbers: &mut [T]) {
    for (w, &first) in first.iter().enumerate() {
        if first != w {
            let number = std::mem::take(&mut numbers[w]);
            numbers[first] += number;
        }
    }
}

impl Drawn {
    /// Computes what all words share.
    fn smooth(&mut self) {
        let words = self.outputs.len();
        let (mut stays, mut tail) = (0.0, vec![0.0; words]);
        for (w, share) in frequency::shares(words).into_iter().enumerate() {
            let others = Others::of(&self.outputs[w], w);
            stays += others.own / self.outputs[w].len().max(1) as f64 / words as f64;
            others.each(|y, _| tail[y] += share * others.discount / others.total);
        }
        self.stays = stays;
        let (total, even) = (tail.iter().sum::<f64>(), 1.0 / words as f64);
        let share = |t: f64| match total > 0.0 {
            true => ((1.0 - FLOOR) * t / total + FLOOR * even) as f32,
            false => even as f32,
        };
        self.background = tail.into_iter().map(share).collect();
    }

    fn row(&self, word: usize, out: &mut [f32]) {
        let others = Others::of(&self.outputs[word], word);
        let draws = self.outputs[word].len() as f64;
        let stays = (others.own + BELIEVED * self.stays) / (draws + BELIEVED);
        let elsewhere = 1.0 - f64::from(self.background[word]).min(0.5);
        let rest = ((1.0 - stays) * others.rest / elsewhere) as f32;
        let pairs = out.iter_mut().zip(&self.background);
        pairs.for_each(|(o, b)| *o = rest * b);
        let part = (1.0 - stays) / others.total;
        others.each(|y, n| out[y] += (part * (n - others.discount)) as f32);
        out[word] = stays as f32;
    }
}

/// Outputs of a word other than itself.
struct Others<'a> {
    outputs: &'a [WordId],
    word: usize,
    /// How often it stayed.
    own: f64,
    /// How often it did not; at least 1.
    total: f64,
    /// Taken away from every output that was seen.
    discount: f64,
    /// Share of what was taken away; 1 if nothing was seen.
    rest: f64,
}

impl<'a> Others<'a> {
    fn of(outputs: &'a [WordId], word: usize) -> Others<'a> {
        let mut others = Others {
            outputs,
            word,
            own: 0.0,
            total: 1.0,
            discount: 0.0,
            rest: 1.0,
        };
        let (mut seen, mut once, mut twice, mut total) = (0.0, 0.0, 0.0, 0.0);
        others.each(|_, n| {
            seen += 1.0;
            total += n;
            once += f64::from(n == 1.0);
            twice += f64::from(n == 2.0);
        });
        others.own = outputs.len() as f64 - total;
        if total > 0.0 {
            // Where every output was seen often, half a draw stands for all the others.
            let least = 0.5 / seen;
            others.discount = (once / f64::max(once + 2.0 * twice, 1.0)).clamp(least, 0.95);
            others.total = total;
            others.rest = others.discount * seen / total;
        }
        others
    }

    /// Calls `f(output, times)` for every output but the word itself.
    fn each(&self, mut f: impl FnMut(usize, f64)) {
        for same in self.outputs.chunk_by(|a, b| a == b) {
            let y = same[0] as usize;
            if y != self.word {
                f(y, same.len() as f64);
            }
        }
    }
}

//! Word vectors to a balanced tree, in which near words share small subtrees.
//!
//! From the bottom up: words are paired with words, pairs with pairs, and so on to the root, each
//! time as `matching` finds best. (Splitting the vocabulary from the top down was tried and puts far fewer
//! neighbours together: the first cuts go through the midst of many groups.) A group is represented by the
//! direction of the sum of its words' vectors, centred and with the strongest components toned
//! down. Beside the cosine, three properties make words alike:
//!
//! - **Nearest words**, by the vectors as they are: as much as two groups hold the nearest words of each
//!   other's words. Cosines of rare words are all small; being the nearest counts for them as for others.
//! - **Frequency**: an attacker guesses the most frequent word of a group, so words of like frequency
//!   belong together. The vectors' order is by frequency; what counts is the logarithm of the rank.
//! - **Tags**, such as parts of speech, if there are any ([`Tags`]): groups that agree in grammar.
//!
//! **Any number of words.** The tree has the least number of places, a power of two, of which there are more
//! than two thirds as many as words. If words are more than places, the most similar pairs of them share a place;
//! if they are fewer, the words that no pair was found for have an empty place beside them.
//! [`brr::parts::tree`] says why neither weakens a guarantee.

mod matching;
mod quality;
mod tags;

pub use quality::{LevelQuality, TreeQuality, measure};
pub use tags::Tags;

use std::collections::BTreeMap;

use brr::parts::tree::WordTree;

use crate::binarize::BinarizeError;
use crate::binarize::graph::{Graph, Snapped};
use crate::binarize::spectrum::spectrum;
use crate::matrix::Matrix;
use crate::vectors::Vectors;
use matching::{Items, Matching, NEAR, Weights};

/// How a tree is grown.
#[derive(Clone, Debug, PartialEq)]
pub struct TreeOptions {
    /// What equal frequency is worth, beside 1 for an equal direction.
    pub frequency: f64,
    /// What equal tags are worth.
    pub tags: f64,
    /// Threads to use; the tree does not depend on it.
    pub threads: usize,
}

impl TreeOptions {
    /// The usual weights.
    pub fn new(threads: usize) -> TreeOptions {
        TreeOptions {
            frequency: 0.15,
            tags: 0.15,
            threads,
        }
    }
}

/// A third of the standard deviation of the binary logarithm of the rank. (The natural logarithm
/// has a standard deviation of 1: it is exponentially distributed below its maximum.)
const WIDTH: f64 = 0.48;
/// What it is worth that all words of two groups have their nearest words in the other one.
const LINKS: f64 = 0.3;

/// Grows a tree over words, the most frequent first. `progress` gets the share done.
pub fn grow(
    vectors: &Vectors,
    tags: Option<&Tags>,
    options: &TreeOptions,
    progress: &mut dyn FnMut(f64),
) -> Result<WordTree, BinarizeError> {
    let words = vectors.words.len();
    if words == 1 {
        return Ok(WordTree::new(0, vec![0]).expect("a word at a place"));
    }
    let mut groups = Groups {
        places: (0..words as u32).map(|word| vec![vec![word]]).collect(),
        sums: spectrum(options.threads, vectors)?.flattened(),
        ranks: (0..words).map(|id| log2(id as f64 + 1.0)).collect(),
        tags: tags.map_or(Matrix::zeros(words, 0), |tags| tags.rows(&vectors.words)),
    };
    let levels = levels(words);
    // The search for near groups goes with the square of their number.
    let work = |groups: usize| groups as f64 * groups as f64;
    let (mut done, all) = (0.0, 2.4 * work(words));
    let mut search = |rows: &Snapped| {
        let mut share = |step, steps| {
            let share = step as f64 / steps as f64;
            progress(((done + share * work(rows.len())) / all).min(1.0));
        };
        let graph = Graph::new(options.threads, rows, NEAR, &mut share);
        done += work(rows.len());
        graph
    };
    let rows = Snapped::new(groups.sums.clone());
    let mut graph = search(&rows);
    let nearest = nearest(&Graph::new(
        options.threads,
        &as_given(vectors),
        1,
        &mut |_, _| {},
    ));
    // Two words at a place, where there are more words than places.
    let more = words.saturating_sub(1 << levels);
    if more > 0 {
        let items = groups.items(rows, &nearest, options);
        let matching = Matching::new(&items, &graph, more, options.threads);
        groups = groups.joined(&matching.groups(), true);
    }
    for level in 1..=levels {
        let rows = Snapped::new(groups.sums.clone());
        if level > 1 || more > 0 {
            graph = search(&rows);
        }
        let pairs = groups.places.len() - (1 << (levels - level));
        let items = groups.items(rows, &nearest, options);
        let matching = Matching::new(&items, &graph, pairs, options.threads);
        groups = groups.joined(&matching.groups(), false);
    }
    let mut at = vec![0; words];
    for (place, words) in groups.places[0].iter().enumerate() {
        let words = words.iter();
        words.for_each(|&word| at[word as usize] = place as u32);
    }
    Ok(WordTree::new(levels, at).expect("at most two words at a place"))
}

/// Groups of words that are subtrees of one height.
struct Groups {
    /// The words at each place of each group.
    places: Vec<Vec<Vec<u32>>>,
    /// The sum of their vectors.
    sums: Matrix,
    /// The mean logarithm of their ranks.
    ranks: Vec<f64>,
    /// The share of each tag among them.
    tags: Matrix,
}

impl Groups {
    /// What is compared of them.
    fn items(&self, rows: Snapped, nearest: &[u32], options: &TreeOptions) -> Items {
        Items {
            rows,
            ranks: self.ranks.clone(),
            tags: self.tags.clone(),
            links: self.links(nearest),
            weights: Weights {
                frequency: options.frequency,
                tags: options.tags,
                links: LINKS,
                width: WIDTH,
            },
        }
    }

    /// Which groups hold the nearest words of others' words.
    fn links(&self, nearest: &[u32]) -> Vec<Vec<(u32, f64)>> {
        let mut group = vec![0; nearest.len()];
        let words = |i: usize| self.places[i].iter().flatten();
        for i in 0..self.places.len() {
            words(i).for_each(|&word| group[word as usize] = i as u32);
        }
        let mut links = vec![BTreeMap::new(); self.places.len()];
        for (word, &near) in nearest.iter().enumerate() {
            let (a, b) = (group[word], group[near as usize]);
            if a != b {
                *links[a as usize].entry(b).or_insert(0.0) += 1.0;
                *links[b as usize].entry(a).or_insert(0.0) += 1.0;
            }
        }
        let size = |i: usize| words(i).count() as f64;
        let share = |(i, links): (usize, BTreeMap<u32, f64>)| {
            let links = links.into_iter();
            links
                .map(|(j, count)| (j, count / (size(i) + size(j as usize))))
                .collect()
        };
        links.into_iter().enumerate().map(share).collect()
    }

    /// The groups joined two by two: words at one place, if places are still to be made, or else
    /// subtrees side by side. Who is joined with nobody has empty places beside it.
    fn joined(self, pairs: &[(usize, Option<usize>)], into_places: bool) -> Groups {
        let mut places = Vec::with_capacity(pairs.len());
        for &(i, j) in pairs {
            let mut own = self.places[i].clone();
            match (into_places, j) {
                (true, Some(j)) => own[0].extend(&self.places[j][0]),
                (true, None) => {}
                (false, Some(j)) => own.extend_from_slice(&self.places[j]),
                (false, None) => own.resize(2 * own.len(), Vec::new()),
            }
            places.push(own);
        }
        let mean = |table: &Matrix, half: f64| {
            let entry = |i: usize, column: usize| {
                let (a, b) = pairs[i];
                let other = b.map(|b| (table.row(a)[column] + table.row(b)[column]) * half);
                other.unwrap_or(table.row(a)[column])
            };
            Matrix::from_fn(pairs.len(), table.cols, entry)
        };
        let ranks = Matrix {
            rows: self.ranks.len(),
            cols: 1,
            data: self.ranks,
        };
        Groups {
            places,
            sums: mean(&self.sums, 1.0),
            ranks: mean(&ranks, 0.5).data,
            tags: mean(&self.tags, 0.5),
        }
    }
}

/// The vectors as they are, but for their lengths.
fn as_given(vectors: &Vectors) -> Snapped {
    Snapped::new(Matrix {
        rows: vectors.words.len(),
        cols: vectors.dim,
        data: vectors.data.iter().map(|&x| f64::from(x)).collect(),
    })
}

/// The nearest word of each, the lowest among equals.
fn nearest(graph: &Graph) -> Vec<u32> {
    let of = |word: usize| {
        let (ids, similarities) = graph.of(word);
        let mut pairs = ids.iter().zip(similarities);
        let first = pairs.next().expect("a word has others");
        *pairs
            .fold(
                first,
                |best, next| if next.1 > best.1 { next } else { best },
            )
            .0
    };
    (0..graph.offsets.len() - 1).map(of).collect()
}

/// The least number of levels with more than two places for every three words.
fn levels(words: usize) -> u32 {
    let mut levels = 0;
    while 2 * words >= 3 << levels {
        levels += 1;
    }
    levels
}

/// The binary logarithm, linear between powers of two: the same on every machine.
fn log2(x: f64) -> f64 {
    let bits = x.to_bits();
    let exponent = (bits >> 52) as f64 - 1023.0;
    let mantissa = f64::from_bits(bits & ((1 << 52) - 1) | 1023 << 52);
    exponent + mantissa - 1.0
}

#[cfg(test)]
mod tests;

//! Pairing things that are alike.
//!
//! The pairs are taken greedily, the most similar first, among each one's nearest others; those
//! whose near ones are all taken are compared again among themselves, until as many pairs are made
//! as wanted. Then pairs exchange partners for as long as that raises the sum of similarities: for near things a
//! and c with partners b and d, the pairs (a, c) and (b, d) in place of (a, b) and (c, d).
//!
//! All similarities are sums in a fixed order of exact products ([`Snapped`]), and everything but the search
//! for near things goes in the order of indices: the pairs do not depend on the number of threads.

use crate::binarize::graph::{Graph, Snapped};
use crate::matrix::Matrix;

/// Near things that are candidates for a partner.
pub const NEAR: usize = 48;
/// The most rounds in which partners are exchanged.
const ROUNDS: usize = 40;

/// Things to be paired: words, or groups of words.
pub struct Items {
    /// Directions of meaning.
    pub rows: Snapped,
    /// The mean logarithm of the ranks of each one's words.
    pub ranks: Vec<f64>,
    /// The share of each tag among its words; none if there are no tags.
    pub tags: Matrix,
    /// Which others hold the nearest word of one of its words, or the other way round, and how many
    /// such words there are, as a share of the words of both; by index.
    pub links: Vec<Vec<(u32, f64)>>,
    /// What counts.
    pub weights: Weights,
}

/// How much similarity each property is worth, beside 1 for the cosine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weights {
    /// Equal frequency.
    pub frequency: f64,
    /// Equal tags.
    pub tags: f64,
    /// Words whose nearest words are on the other side.
    pub links: f64,
    /// The difference of two logarithms of ranks at which their similarity is one half.
    pub width: f64,
}

impl Items {
    /// Number of things.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// The similarity of two things.
    fn similarity(&self, i: usize, j: usize) -> f64 {
        let pairs = self.rows.row(i).iter().zip(self.rows.row(j));
        let cosine: f32 = pairs.map(|(a, b)| a * b).sum();
        self.with_cosine(i, j, cosine)
    }

    fn with_cosine(&self, i: usize, j: usize, cosine: f32) -> f64 {
        let apart = (self.ranks[i] - self.ranks[j]) / self.weights.width;
        let tags = self.tags.row(i).iter().zip(self.tags.row(j));
        let agreement: f64 = tags.map(|(a, b)| a * b).sum();
        f64::from(cosine)
            + self.weights.frequency / (1.0 + apart * apart)
            + self.weights.tags * agreement
            + self.weights.links * self.linked(i, j)
    }

    fn linked(&self, i: usize, j: usize) -> f64 {
        let links = &self.links[i];
        let found = links.binary_search_by_key(&(j as u32), |link| link.0);
        found.map_or(0.0, |at| links[at].1)
    }

    /// The same of some of the things.
    fn subset(&self, some: &[usize]) -> Items {
        let dim = self.rows.dim;
        let row = |&i: &usize| self.rows.row(i).iter().copied();
        let tags = |&i: &usize| self.tags.row(i).iter().copied();
        let links = |&i: &usize| {
            let inside = |&(j, share): &(u32, f64)| {
                let at = some.binary_search(&(j as usize)).ok()?;
                Some((at as u32, share))
            };
            self.links[i].iter().filter_map(inside).collect()
        };
        Items {
            links: some.iter().map(links).collect(),
            rows: Snapped {
                dim,
                data: some.iter().flat_map(row).collect(),
            },
            ranks: some.iter().map(|&i| self.ranks[i]).collect(),
            tags: Matrix {
                rows: some.len(),
                cols: self.tags.cols,
                data: some.iter().flat_map(tags).collect(),
            },
            weights: self.weights,
        }
    }
}

/// Who is paired with whom.
pub struct Matching {
    mates: Vec<Option<usize>>,
    pairs: usize,
}

impl Matching {
    /// Makes so many pairs, at most half as many as there are things, of which `graph` has the near
    /// ones.
    pub fn new(items: &Items, graph: &Graph, pairs: usize, threads: usize) -> Matching {
        let mut matching = Matching {
            mates: vec![None; items.len()],
            pairs: 0,
        };
        let all: Vec<usize> = (0..items.len()).collect();
        matching.take(items, graph, &all, pairs);
        while matching.pairs < pairs {
            let alone = matching.alone();
            let rest = items.subset(&alone);
            let graph = Graph::new(threads, &rest.rows, NEAR, &mut |_, _| {});
            matching.take(&rest, &graph, &alone, pairs);
        }
        matching.improve(items, graph);
        matching
    }

    /// Things without a partner.
    fn alone(&self) -> Vec<usize> {
        let all = 0..self.mates.len();
        all.filter(|&i| self.mates[i].is_none()).collect()
    }

    /// Pairs the most similar of those that are near and alone; `names` are their indices here.
    fn take(&mut self, items: &Items, graph: &Graph, names: &[usize], pairs: usize) {
        let mut edges: Vec<(f64, u32, u32)> = Vec::new();
        for i in 0..items.len() {
            let (ids, cosines) = graph.of(i);
            for (&j, &cosine) in ids.iter().zip(cosines) {
                if i < j as usize {
                    let similarity = items.with_cosine(i, j as usize, cosine);
                    edges.push((similarity, i as u32, j));
                }
            }
        }
        edges.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
        for (_, i, j) in edges {
            let (a, b) = (names[i as usize], names[j as usize]);
            if self.pairs < pairs && self.mates[a].is_none() && self.mates[b].is_none() {
                (self.mates[a], self.mates[b]) = (Some(b), Some(a));
                self.pairs += 1;
            }
        }
    }

    /// Exchanges partners until nothing is gained.
    fn improve(&mut self, items: &Items, graph: &Graph) {
        let mut own: Vec<f64> = (0..items.len())
            .map(|i| self.mates[i].map_or(0.0, |mate| items.similarity(i, mate)))
            .collect();
        for _ in 0..ROUNDS {
            let mut changed = 0;
            for a in 0..items.len() {
                changed += usize::from(self.exchange(items, graph, &mut own, a));
            }
            if changed * 1000 <= items.len() {
                break;
            }
        }
    }

    /// The best exchange that brings `a` together with one of its near ones, if any gains.
    fn exchange(&mut self, items: &Items, graph: &Graph, own: &mut [f64], a: usize) -> bool {
        let (ids, cosines) = graph.of(a);
        let mate = self.mates[a];
        let mut best: Option<(f64, usize, f64, f64)> = None;
        for (&c, &cosine) in ids.iter().zip(cosines) {
            let c = c as usize;
            if Some(c) == mate || (mate.is_none() && self.mates[c].is_none()) {
                continue;
            }
            let together = items.with_cosine(a, c, cosine);
            let lost = own[a] + own[c];
            // What the two others gain is at most what two equal things have.
            let most = 1.0 + items.weights.frequency + items.weights.tags + items.weights.links;
            let least = best.map_or(1e-9, |found| found.0);
            if together + most - lost <= least {
                continue;
            }
            let others = match (mate, self.mates[c]) {
                (Some(b), Some(d)) => items.similarity(b, d),
                _ => 0.0,
            };
            let gain = together + others - lost;
            if gain > least {
                best = Some((gain, c, together, others));
            }
        }
        let Some((_, c, together, others)) = best else {
            return false;
        };
        let (b, d) = (mate, self.mates[c]);
        (self.mates[a], self.mates[c]) = (Some(c), Some(a));
        (own[a], own[c]) = (together, together);
        if let Some(b) = b {
            (self.mates[b], own[b]) = (d, others);
        }
        if let Some(d) = d {
            (self.mates[d], own[d]) = (b, others);
        }
        true
    }

    /// The pairs, and whoever is alone with nobody: in the order of the first.
    pub fn groups(&self) -> Vec<(usize, Option<usize>)> {
        let all = self.mates.iter().copied().enumerate();
        all.filter(|&(i, mate)| mate.is_none_or(|mate| i < mate))
            .collect()
    }
}

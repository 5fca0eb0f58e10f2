//! The coordinate descent of [`super::affinity`]: its state and its sweeps.

use super::graph::{Graph, Snapped};
use super::word::{self, Near, Visit};
use crate::matrix::{Matrix, Op};
use brr::parts::codes::CodeRows;
use brr::parts::parallel;

/// Groups of words in a sweep. More are closer to one word at a time; fewer are
/// quicker.
const GROUPS: usize = 16;
/// Words of a group that one part of the work handles.
const PART: usize = 64;

/// What the sum over all pairs needs of the codes.
struct Moments {
    /// Z^T B, dim x bits.
    cross: Matrix,
    /// B^T B, bits x bits.
    gram: Matrix,
}

/// The state of the descent.
pub struct Descent<'a> {
    rows: &'a Snapped,
    graph: &'a Graph,
    codes: CodeRows,
    moments: Moments,
    /// Weight of a near pair.
    weight: f64,
    /// The scale `a`.
    scale: f64,
    /// Sum of s_ij^2 over all pairs and, weighted, over near ones.
    total: f64,
    threads: usize,
}

impl<'a> Descent<'a> {
    /// Starts from `codes`, near pairs weighing `emphasis` times all pairs.
    pub fn new(
        rows: &'a Snapped,
        graph: &'a Graph,
        codes: CodeRows,
        emphasis: f64,
        threads: usize,
    ) -> Descent<'a> {
        let n = rows.len();
        let weights = graph
            .similarities
            .iter()
            .map(|&s| f64::from(word::weight(s)));
        let weight = emphasis * (n as f64 * n as f64) / weights.sum::<f64>().max(1e-9);
        let bits = codes.bits().get();
        let mut moments = Moments {
            cross: Matrix::zeros(rows.dim, bits),
            gram: Matrix::zeros(bits, bits),
        };
        let mut gram = Matrix::zeros(rows.dim, rows.dim);
        let product =
            |a: &Matrix, b: &Matrix| Matrix::product(threads, a, Op::Transposed, b, Op::Plain);
        // All numbers here are short: sums of parts are exact, like the whole.
        for group in 0..GROUPS.min(n) {
            let words = group_of(group, n);
            let (z, b) = (gather(rows, &words), unpack(&codes, &words));
            add(&mut moments.cross, &product(&z, &b));
            add(&mut moments.gram, &product(&b, &b));
            add(&mut gram, &product(&z, &z));
        }
        let near: f64 = graph
            .similarities
            .iter()
            .map(|&s| f64::from(word::weight(s) * s * s))
            .sum();
        let own: f64 = (0..n).map(|i| length(rows.row(i)).powi(2)).sum();
        Descent {
            moments,
            total: squares(&gram) - own + weight * near,
            rows,
            graph,
            codes,
            weight,
            scale: 0.0,
            threads,
        }
    }

    /// The codes as they stand.
    pub fn into_codes(self) -> CodeRows {
        self.codes
    }

    /// Sets the scale `a` that fits the codes best; the share of the
    /// similarities that they leave unexplained.
    pub fn fit_scale(&mut self) -> f64 {
        let (n, bits) = (self.rows.len(), self.codes.bits().get() as f64);
        let parts = parallel::map(self.threads, n.div_ceil(1024), |part| {
            let (mut sb, mut bb, mut own) = (0.0, 0.0, 0.0);
            for i in part * 1024..((part + 1) * 1024).min(n) {
                let near = Near::new(self.graph, &self.codes, i);
                for (at, &e) in near.products.iter().enumerate() {
                    sb += f64::from(near.weights[at]) * f64::from(near.similarities[at] * e);
                    bb += f64::from(near.weights[at]) * f64::from(e * e);
                }
                own += length(self.rows.row(i));
            }
            (sb, bb, own)
        });
        let (mut sb, mut bb) = (squares(&self.moments.cross), squares(&self.moments.gram));
        bb -= n as f64 * bits * bits;
        for (near_sb, near_bb, own) in parts {
            sb += self.weight * near_sb - bits * own;
            bb += self.weight * near_bb;
        }
        self.scale = if bb > 0.0 { sb / bb } else { 0.0 };
        1.0 - self.scale * sb / self.total.max(f64::MIN_POSITIVE)
    }

    /// Visits every bit of every word once.
    pub fn sweep(&mut self) {
        let n = self.rows.len();
        for group in 0..GROUPS.min(n) {
            self.visit(&group_of(group, n));
        }
    }

    /// Improves the codes of `words`, all of them seeing the same state.
    fn visit(&mut self, words: &[usize]) {
        let (threads, bits) = (self.threads, self.codes.bits().get());
        let z = gather(self.rows, words);
        let old = unpack(&self.codes, words);
        let pull = Matrix::product(threads, &z, Op::Plain, &self.moments.cross, Op::Plain);
        let push = Matrix::product(threads, &old, Op::Plain, &self.moments.gram, Op::Plain);
        let done = parallel::map(threads, words.len().div_ceil(PART), |part| {
            let mut change = Vec::with_capacity(PART * bits);
            for (at, &word) in words.iter().enumerate().skip(part * PART).take(PART) {
                let mut visit = Visit {
                    old: old.row(at),
                    new: old.row(at).to_vec(),
                    pull: pull.row(at),
                    push: push.row(at).to_vec(),
                    own: length(self.rows.row(word)),
                    gram: &self.moments.gram,
                    scale: self.scale,
                    weight: self.weight,
                    words: self.rows.len(),
                    agreement: bits as f64,
                };
                visit.descend(Near::new(self.graph, &self.codes, word), &self.codes);
                change.extend(visit.new.iter().zip(visit.old).map(|(new, old)| new - old));
            }
            change
        });
        let (rows, cols) = (words.len(), bits);
        let change = Matrix {
            rows,
            cols,
            data: done.concat(),
        };
        self.apply(words, &z, old, change);
    }

    /// Writes new codes and brings the moments up to date: with D the change,
    /// Z^T B grows by Z^T D and B^T B by B^T D + D^T B + D^T D.
    fn apply(&mut self, words: &[usize], z: &Matrix, old: Matrix, change: Matrix) {
        let product =
            |a: &Matrix, b: &Matrix| Matrix::product(self.threads, a, Op::Transposed, b, Op::Plain);
        add(&mut self.moments.cross, &product(z, &change));
        let mut new = old.clone();
        add(&mut new, &change);
        add(&mut self.moments.gram, &product(&new, &new));
        add(&mut self.moments.gram, &product(&old, &old).scaled(-1.0));
        for (at, &word) in words.iter().enumerate() {
            super::pack(new.row(at), self.codes.row_mut(word));
        }
    }
}

/// The words of a group.
fn group_of(group: usize, words: usize) -> Vec<usize> {
    (group..words).step_by(GROUPS).collect()
}

/// Squared length of a row, exact on the grid: its similarity to itself.
fn length(row: &[f32]) -> f64 {
    row.iter().map(|&x| f64::from(x) * f64::from(x)).sum()
}

fn squares(m: &Matrix) -> f64 {
    m.data.iter().map(|x| x * x).sum()
}

fn add(to: &mut Matrix, what: &Matrix) {
    to.data
        .iter_mut()
        .zip(&what.data)
        .for_each(|(t, w)| *t += w);
}

/// The given rows, in double precision.
fn gather(rows: &Snapped, words: &[usize]) -> Matrix {
    let data = words
        .iter()
        .flat_map(|&w| rows.row(w).iter().map(|&x| f64::from(x)));
    Matrix {
        rows: words.len(),
        cols: rows.dim,
        data: data.collect(),
    }
}

/// The given codes as -1 and +1.
fn unpack(codes: &CodeRows, words: &[usize]) -> Matrix {
    let bits = codes.bits().get();
    Matrix::from_fn(words.len(), bits, |i, j| {
        let bit = codes.row(words[i])[j / 64] >> (j % 64) & 1;
        bit as f64 * 2.0 - 1.0
    })
}

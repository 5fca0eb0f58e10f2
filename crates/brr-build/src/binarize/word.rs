//! One word's turn in the descent of [`super::affinity`].

use super::graph::Graph;
use crate::matrix::Matrix;
use brr::parts::codes::{CodeRows, hamming};

/// For each byte, its bits as -1 and +1.
static SIGNS: [[f32; 8]; 256] = {
    let mut table = [[-1.0; 8]; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut bit = 0;
        while bit < 8 {
            if byte >> bit & 1 == 1 {
                table[byte][bit] = 1.0;
            }
            bit += 1;
        }
        byte += 1;
    }
    table
};

/// A word's near words.
pub struct Near<'a> {
    /// Their ids.
    pub ids: &'a [u32],
    /// Their similarities to the word.
    pub similarities: &'a [f32],
    /// Their weights: the square of the similarity, 0 if that is negative.
    pub weights: Vec<f32>,
    /// Dot products of their codes with the word's: bits - 2 * Hamming.
    pub products: Vec<f32>,
}

impl<'a> Near<'a> {
    /// The near words of `word` as the codes stand.
    pub fn new(graph: &'a Graph, codes: &CodeRows, word: usize) -> Near<'a> {
        let (ids, similarities) = graph.of(word);
        let (own, bits) = (codes.row(word), codes.bits().get() as f32);
        let product = |&id: &u32| bits - 2.0 * hamming(own, codes.row(id as usize)) as f32;
        Near {
            ids,
            similarities,
            weights: similarities.iter().map(|&s| weight(s)).collect(),
            products: ids.iter().map(product).collect(),
        }
    }
}

/// Weight of a near pair, up to the common factor.
pub fn weight(similarity: f32) -> f32 {
    let s = similarity.max(0.0);
    s * s
}

/// A word's bits and the forces on them.
pub struct Visit<'a> {
    /// The bits that the rest of the state knows.
    pub old: &'a [f64],
    /// The bits as they become.
    pub new: Vec<f64>,
    /// Sum over all words j of s_ij b_jk, for each bit k.
    pub pull: &'a [f64],
    /// Sum over l of b_il (B^T B)_lk with the new b_i, for each bit k.
    pub push: Vec<f64>,
    /// The word's similarity to itself.
    pub own: f64,
    /// B^T B.
    pub gram: &'a Matrix,
    /// The scale `a`.
    pub scale: f64,
    /// Weight of a near pair.
    pub weight: f64,
    /// Words in all.
    pub words: usize,
    /// Dot product of the old and the new bits.
    pub agreement: f64,
}

impl Visit<'_> {
    /// Flips bits while that lowers the sum. One look at all bits finds the
    /// candidates; each is looked at anew before it is flipped, since earlier
    /// flips may have settled what it would have.
    pub fn descend(&mut self, mut near: Near<'_>, codes: &CodeRows) {
        let overview = self.overview(&near, codes);
        // Without bit k itself in the products, each near word adds a * b_ik
        // times its weight to the field.
        let own = self.scale * near.weights.iter().map(|&w| f64::from(w)).sum::<f64>();
        for (bit, field) in overview.iter().enumerate() {
            let b = self.new[bit];
            let far = self.far(bit);
            let likely = far + self.weight * (f64::from(*field) + own * b);
            if likely * b >= 0.0 {
                continue;
            }
            let field = far + self.weight * self.near(bit, &near, codes);
            if field * b < 0.0 {
                self.flip(bit, &mut near, codes);
            }
        }
    }

    /// The field of all other words on `bit`. The word itself is part of the
    /// sums as it was: that part is taken out.
    fn far(&self, bit: usize) -> f64 {
        let (old, new) = (self.old[bit], self.new[bit]);
        let agreement = self.agreement - old * new;
        let push = self.push[bit] - self.words as f64 * new - old * agreement;
        self.pull[bit] - self.own * old - self.scale * push
    }

    /// The field of near words on `bit`.
    fn near(&self, bit: usize, near: &Near<'_>, codes: &CodeRows) -> f64 {
        let (limb, shift) = (bit / 64, bit % 64);
        let mut sum = 0.0;
        for (at, &id) in near.ids.iter().enumerate() {
            let b = sign(codes.row(id as usize)[limb] >> shift);
            let without = f64::from(near.products[at]) - self.new[bit] * b;
            let rest = f64::from(near.similarities[at]) - self.scale * without;
            sum += f64::from(near.weights[at]) * rest * b;
        }
        sum
    }

    /// The field of near words on every bit, with the bit itself still in the
    /// products.
    fn overview(&self, near: &Near<'_>, codes: &CodeRows) -> Vec<f32> {
        let mut field = vec![0.0f32; self.new.len()];
        for (at, &id) in near.ids.iter().enumerate() {
            let rest = near.similarities[at] - self.scale as f32 * near.products[at];
            let rest = near.weights[at] * rest;
            for (limb, lanes) in codes
                .row(id as usize)
                .iter()
                .zip(field.chunks_exact_mut(64))
            {
                for (byte, lanes) in limb.to_le_bytes().iter().zip(lanes.chunks_exact_mut(8)) {
                    for (lane, sign) in lanes.iter_mut().zip(&SIGNS[*byte as usize]) {
                        *lane += rest * sign;
                    }
                }
            }
        }
        field
    }

    /// Flips `bit` and updates what depends on it.
    fn flip(&mut self, bit: usize, near: &mut Near<'_>, codes: &CodeRows) {
        let b = self.new[bit];
        self.new[bit] = -b;
        self.agreement -= 2.0 * b * self.old[bit];
        for (push, g) in self.push.iter_mut().zip(self.gram.row(bit)) {
            *push -= 2.0 * b * g;
        }
        let (limb, shift) = (bit / 64, bit % 64);
        for (&id, product) in near.ids.iter().zip(&mut near.products) {
            let other = sign(codes.row(id as usize)[limb] >> shift);
            *product -= (2.0 * b * other) as f32;
        }
    }
}

/// -1 or +1 for the lowest bit.
fn sign(limb: u64) -> f64 {
    (limb & 1) as f64 * 2.0 - 1.0
}

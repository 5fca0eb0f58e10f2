//! The cost of every word at a position, in whole numbers of 16 bits.
//!
//! A word's cost is -ln P(w) Pr[O | w] in steps of a fine unit, counted from the cheapest there can
//! be. It is the sum of a number that is the word's own and of one that its step from the
//! observation decides, so the least of a block of words takes a few operations on vectors that
//! each CPU has. Costs choose which words are looked at; what is computed with these is exact.

use crate::mechanism::Emission;
use crate::nearest::{Even, Kernels};

/// Words whose least cost is found together.
pub const BLOCK: usize = 64;
/// The finest unit, in nats.
const FINEST: f32 = 1.0 / 64.0;
/// The largest cost of either part: two of them fit 16 bits.
const MOST: f32 = 16_000.0;

/// Costs under one emission and one language.
pub struct Costs {
    /// Each word's own, in blocks; the last is filled up with words that are never the cheapest.
    words: Vec<[u16; BLOCK]>,
    /// By step.
    steps: Vec<u16>,
    even: Option<Even>,
    kernels: Kernels,
}

impl Costs {
    /// `log_shares` has ln P(w) of every word.
    pub fn new(emission: &dyn Emission, log_shares: &[f32]) -> Costs {
        let offsets = emission.offsets();
        let own = |w: usize| log_shares[w] + offsets.get(w).copied().unwrap_or(0.0);
        let own: Vec<f32> = (0..log_shares.len()).map(own).collect();
        let most = own.iter().fold(f32::NEG_INFINITY, |a, &b| a.max(b));
        let finite = own.iter().filter(|own| own.is_finite());
        let spread = finite.fold(0.0, |a: f32, own| a.max(most - own));
        let table = emission.table();
        let fall = |step: usize| table[0] - table[step];
        let unit = unit(
            spread.max(fall(table.len() - 1)),
            fall(1.min(table.len() - 1)),
        );
        let whole = |cost: f32| libm::rintf((cost / unit).min(MOST)) as u16;
        let costs: Vec<u16> = own.iter().map(|own| whole(most - own)).collect();
        let blocks = costs.chunks(BLOCK).map(|chunk| {
            let mut block = [MOST as u16; BLOCK];
            block[..chunk.len()].copy_from_slice(chunk);
            block
        });
        let steps: Vec<u16> = (0..table.len()).map(|step| whole(fall(step))).collect();
        Costs {
            words: blocks.collect(),
            even: even(&steps),
            steps,
            kernels: Kernels::fastest(),
        }
    }

    /// Writes the least cost of each block of words, from this block on, that stand at these steps;
    /// returns the least step.
    pub fn least(&self, first: usize, steps: &[u16], out: &mut [u16]) -> u16 {
        let (blocks, rest) = steps.as_chunks();
        let (out, last_out) = out.split_at_mut(blocks.len());
        let nearest = self.least_of(&self.words[first..], blocks, out);
        if rest.is_empty() {
            return nearest;
        }
        // What fills up the last block stands nowhere near.
        let mut last = [self.steps.len() as u16 - 1; BLOCK];
        last[..rest.len()].copy_from_slice(rest);
        let words = &self.words[first + blocks.len()..];
        nearest.min(self.least_of(words, &[last], last_out))
    }

    fn least_of(&self, own: &[[u16; BLOCK]], steps: &[[u16; BLOCK]], out: &mut [u16]) -> u16 {
        if let Some(even) = self.even {
            return self.kernels.least(even, own, steps, out);
        }
        let mut nearest = u16::MAX;
        for ((own, steps), out) in own.iter().zip(steps).zip(out) {
            let costs = own.iter().zip(steps);
            let costs = costs.map(|(own, &step)| own + self.steps[usize::from(step)]);
            *out = costs.fold(u16::MAX, u16::min);
            nearest = steps.iter().fold(nearest, |a, &b| a.min(b));
        }
        nearest
    }

    /// Number of blocks.
    pub fn blocks(&self) -> usize {
        self.words.len()
    }

    /// The places in a block of words at these steps whose cost is at most this.
    pub fn at_most<'a>(
        &'a self,
        cost: u16,
        block: usize,
        steps: &'a [u16],
    ) -> impl Iterator<Item = usize> + 'a {
        let of_step = |&step: &u16| self.steps[usize::from(step)];
        let costs = self.words[block].iter().zip(steps);
        let costs = costs.map(move |(own, step)| own + of_step(step));
        costs
            .enumerate()
            .filter_map(move |(place, c)| (c <= cost).then_some(place))
    }
}

/// A unit in which a cost of `spread` is not too large and a first step of `first` is whole.
fn unit(spread: f32, first: f32) -> f32 {
    let unit = (spread / MOST).max(FINEST);
    match first >= unit {
        true => first / libm::floorf(first / unit),
        false => unit,
    }
}

/// How costs rise that do so evenly up to a step and no more after it, within one unit and a share of
/// the cost: what is dear is not looked at in any case.
fn even(steps: &[u16]) -> Option<Even> {
    let (slope, most) = (*steps.get(1)?, *steps.last()?);
    let last = most.checked_div(slope).unwrap_or(0);
    let near = |(step, cost): (usize, &u16)| {
        let even = (step as u16).min(last) * slope;
        cost.abs_diff(even) <= 1 + cost / 16
    };
    let even = Even { slope, last };
    steps.iter().enumerate().all(near).then_some(even)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mechanism::Observations;

    struct Steps(Vec<f32>, Vec<f32>);

    impl Emission for Steps {
        fn table(&self) -> &[f32] {
            &self.0
        }
        fn offsets(&self) -> &[f32] {
            &self.1
        }
        fn unknown(&self) -> f32 {
            0.0
        }
        fn steps(&self, _: &Observations, _: usize, _: &mut [u16]) {}
    }

    /// Costs differ as the logarithms do, whatever the shape of the table; a word that cannot be there
    /// is the dearest.
    #[test]
    fn costs_are_logarithms() {
        let shares: Vec<f32> = (0..130).map(|w| -0.07 * w as f32).collect();
        let mut offsets: Vec<f32> = (0..130).map(|w| 0.02 * (w % 7) as f32).collect();
        offsets[5] = f32::NEG_INFINITY;
        let even: Vec<f32> = (0..200).map(|s| -0.47 * s.min(150) as f32).collect();
        let uneven: Vec<f32> = (0..200).map(|s| -(s as f32).sqrt()).collect();
        let flat = vec![0.0, 0.0];
        for (table, is_even) in [(even, true), (uneven, false), (flat, true)] {
            let costs = Costs::new(&Steps(table.clone(), offsets.clone()), &shares);
            assert_eq!(costs.even.is_some(), is_even);
            let step = |i: usize| (1 + i * 37) as u16 % table.len() as u16;
            let steps: Vec<u16> = (0..130).map(step).collect();
            let ln = |w: usize| shares[w] + offsets[w] + table[usize::from(step(w))];
            let mut least = [0; 3];
            let nearest = costs.least(0, &steps[..BLOCK], &mut least);
            let nearest = nearest.min(costs.least(1, &steps[BLOCK..], &mut least[1..]));
            assert_eq!(nearest, *steps.iter().min().unwrap());
            for (b, &cost) in least.iter().enumerate() {
                let best = (b * BLOCK..130.min((b + 1) * BLOCK)).map(ln);
                let best = best.fold(f32::NEG_INFINITY, f32::max);
                let found: Vec<usize> = costs
                    .at_most(cost + 4, b, &steps[b * BLOCK..130.min((b + 1) * BLOCK)])
                    .collect();
                let near = |i: &usize| best - ln(b * BLOCK + i) < 0.2;
                assert!(!found.is_empty() && found.iter().all(near), "{b} {found:?}");
            }
        }
    }
}

//! The cost of every word at a position, in whole numbers of 16 bits.
//!
//! A word's cost is -ln P(w) Pr[O | w] in steps of a fine unit, counted from the cheapest there can
//! be. It is the sum of a number that is the word's own and of one that its step from the
//! observation decides, so the least of a block of words takes a few operations on vectors that
//! every CPU has. Costs choose which words are looked at; what is computed with these is exact.

use crate::mechanism::Emission;

/// Words whose least cost is found together.
pub const BLOCK: usize = 64;
/// The finest unit, in nats.
const FINEST: f32 = 1.0 / 64.0;
/// The largest cost of either part: two of them fit 16 bits.
const MOST: f32 = 16_000.0;

/// Costs under one emission and one language.
pub struct Costs {
    /// Each word's own, in blocks; the last is filled up with words that are never the cheapest.
    words: Vec<[i16; BLOCK]>,
    /// By step.
    steps: Vec<i16>,
    /// If the cost of s steps is min(s, last) * slope: last and slope.
    even: Option<(i16, i16)>,
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
        let whole = |cost: f32| libm::rintf((cost / unit).min(MOST)) as i16;
        let costs: Vec<i16> = own.iter().map(|own| whole(most - own)).collect();
        let blocks = costs.chunks(BLOCK).map(|chunk| {
            let mut block = [MOST as i16; BLOCK];
            block[..chunk.len()].copy_from_slice(chunk);
            block
        });
        let steps: Vec<i16> = (0..table.len()).map(|step| whole(fall(step))).collect();
        Costs {
            words: blocks.collect(),
            even: even(&steps),
            steps,
        }
    }

    /// Number of blocks.
    pub fn blocks(&self) -> usize {
        self.words.len()
    }

    /// Writes the least cost of each block of words that stand at these steps.
    pub fn least(&self, steps: &[[u16; BLOCK]], out: &mut Vec<i16>) {
        out.clear();
        let blocks = self.words.iter().zip(steps);
        match self.even {
            Some((last, slope)) => out.extend(blocks.map(|(own, steps)| {
                least(own, |i| (steps[i] as i16).min(last).wrapping_mul(slope))
            })),
            None => out.extend(
                blocks.map(|(own, steps)| least(own, |i| self.steps[usize::from(steps[i])])),
            ),
        }
    }

    /// The places in a block of words at these steps whose cost is at most this.
    pub fn at_most<'a>(
        &'a self,
        cost: i16,
        block: usize,
        steps: &'a [u16; BLOCK],
    ) -> impl Iterator<Item = usize> + 'a {
        let own = &self.words[block];
        (0..BLOCK).filter(move |&i| own[i] + self.steps[usize::from(steps[i])] <= cost)
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

/// The last step and the slope of costs that rise evenly up to a step and no more after it, within
/// one unit and a share of the cost: what is dear is not looked at in any case.
fn even(steps: &[i16]) -> Option<(i16, i16)> {
    let (slope, most) = (*steps.get(1)?, *steps.last()?);
    let last = if slope > 0 { most / slope } else { 0 };
    let near = |(step, cost): (usize, &i16)| {
        let even = (step as i16).min(last) * slope;
        (i32::from(*cost) - i32::from(even)).abs() <= 1 + i32::from(*cost) / 16
    };
    steps.iter().enumerate().all(near).then_some((last, slope))
}

/// The least sum of a word's own cost and that of its step.
#[inline(always)]
fn least(own: &[i16; BLOCK], of_step: impl Fn(usize) -> i16) -> i16 {
    let mut costs = [0; BLOCK];
    for i in 0..BLOCK {
        costs[i] = own[i].wrapping_add(of_step(i));
    }
    fold(costs)
}

/// The least of a block, half against half: loops that compilers turn into vectors.
#[inline(always)]
fn fold(mut values: [i16; BLOCK]) -> i16 {
    let mut half = BLOCK;
    while half > 1 {
        half /= 2;
        for i in 0..half {
            values[i] = values[i].min(values[i + half]);
        }
    }
    values[0]
}

/// The least step of all words.
pub fn nearest(steps: &[[u16; BLOCK]]) -> u16 {
    let mut nearest = [i16::MAX; BLOCK];
    for steps in steps {
        for i in 0..BLOCK {
            nearest[i] = nearest[i].min(steps[i] as i16);
        }
    }
    fold(nearest) as u16
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
            assert_eq!(costs.blocks(), 3);
            let step = |i: usize| (i * 37 % table.len()) as u16;
            let steps: Vec<[u16; BLOCK]> = (0..3)
                .map(|b| std::array::from_fn(|i| step(b * BLOCK + i)))
                .collect();
            let ln = |w: usize| shares[w] + offsets[w] + table[usize::from(step(w))];
            let mut least = Vec::new();
            costs.least(&steps, &mut least);
            for (b, &cost) in least.iter().enumerate() {
                let best = (b * BLOCK..130.min((b + 1) * BLOCK)).map(ln);
                let best = best.fold(f32::NEG_INFINITY, f32::max);
                let found: Vec<usize> = costs.at_most(cost + 4, b, &steps[b]).collect();
                let near = |i: &usize| best - ln(b * BLOCK + i) < 0.2;
                assert!(!found.is_empty() && found.iter().all(near), "{b} {found:?}");
            }
        }
    }
}

//! The least of costs that rise evenly with the distance.

use crate::codes::LANES;

/// A number for each word of a block.
pub(crate) type Block = [u16; LANES];

/// Costs that rise by `slope` a step, up to `last` steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Even {
    pub slope: u16,
    pub last: u16,
}

/// Writes, for each block of words, the least sum of a word's own cost and that of its distance; returns
/// the least distance of all. No sum may exceed 16 bits.
#[inline(always)]
pub(super) fn least(even: Even, own: &[Block], distances: &[Block], out: &mut [u16]) -> u16 {
    let mut nearest = u16::MAX;
    for ((own, distances), out) in own.iter().zip(distances).zip(out) {
        // Plain loops of whole numbers, which compilers turn into vectors.
        let (mut near, mut least) = (u16::MAX, u16::MAX);
        for i in 0..LANES {
            let cost = distances[i].min(even.last).wrapping_mul(even.slope);
            near = near.min(distances[i]);
            least = least.min(own[i].wrapping_add(cost));
        }
        nearest = nearest.min(near);
        *out = least;
    }
    nearest
}

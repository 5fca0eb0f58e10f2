//! What all queries share of a limb, and how one adds its part.

use super::Sixteens;
use crate::codes::{CodeBlocks, LANES};
use crate::nearest::vector::{MAX_BLOCKS, Vector};
use std::marker::PhantomData;

/// Adders of a limb that all queries share.
const SHARED: usize = 31;

/// What a limb (64 bits) of any query can add, over the words of a tile.
#[derive(Clone, Copy)]
pub(super) struct LimbTable<V> {
    /// Carry of a shared adder, with each subset of its inputs complemented.
    carries: [[V; 8]; SHARED],
    /// The last bit of weight 1 but one, plain and complemented.
    first: [V; 2],
    /// Whether the last two differ: the same for plain and complemented ones.
    differ: [V; 2],
}

impl<V: Vector> LimbTable<V> {
    #[inline(always)]
    pub(super) fn zero() -> LimbTable<V> {
        let zero = V::splat(0);
        LimbTable {
            carries: [[zero; 8]; SHARED],
            first: [zero; 2],
            differ: [zero; 2],
        }
    }

    /// Fills the table with limb `limb` of the words from block `first` on.
    #[inline(always)]
    pub(super) fn fill(&mut self, codes: CodeBlocks<'_>, first: usize, limb: usize) {
        let mut bits = [V::splat(0); 64];
        for (j, eight) in bits.as_chunks_mut().0.iter_mut().enumerate() {
            let mut planes = [&[0; LANES]; MAX_BLOCKS];
            for (b, plane) in planes[..V::BYTES / 8].iter_mut().enumerate() {
                // Past the end the last block stands in once more: its words have
                // lower ids where they really are, so a copy is never the answer.
                let block = codes.block((first + b).min(codes.blocks() - 1));
                *plane = &block.as_chunks().0[limb * 8 + j];
            }
            *eight = V::slices(planes);
        }
        let (mut carries, mut len) = (self.carries.iter_mut(), bits.len());
        while len > 2 {
            let adders = len / 3;
            for (t, carries) in (0..adders).zip(carries.by_ref()) {
                let [a, b, c] = [bits[3 * t], bits[3 * t + 1], bits[3 * t + 2]];
                *carries = forms(a, b, c);
                bits[t] = a.xor(b).xor(c);
            }
            bits.copy_within(3 * adders..len, adders);
            len -= 2 * adders;
        }
        let ones = V::splat(0xff);
        let differ = bits[0].xor(bits[1]);
        self.first = [bits[0], bits[0].xor(ones)];
        self.differ = [differ, differ.xor(ones)];
    }
}

/// The carry of `a + b + c`, with each subset of the three complemented: bit 0
/// of the place is for `a`.
#[inline(always)]
fn forms<V: Vector>(a: V, b: V, c: V) -> [V; 8] {
    let ones = V::splat(0xff);
    let (not_a, not_b) = (a.xor(ones), b.xor(ones));
    let mut forms = [a; 8];
    for (v, (a, b)) in [(a, b), (not_a, b), (a, not_b), (not_a, not_b)]
        .into_iter()
        .enumerate()
    {
        let carry = V::majority(a, b, c);
        forms[v] = carry;
        forms[7 - v] = carry.xor(ones);
    }
    forms
}

/// A limb of a query, as the forms that it picks.
#[derive(Clone, Copy)]
pub(super) struct Picks<V> {
    /// Of each shared adder, in their order, then of the last two bits of weight
    /// 1: how far from the first form, in steps.
    steps: [u8; SHARED + 2],
    vector: PhantomData<V>,
}

impl<V> Picks<V> {
    /// Those of no query.
    pub(super) const NONE: Picks<V> = Picks {
        steps: [0; SHARED + 2],
        vector: PhantomData,
    };
}

impl<V: Vector> Picks<V> {
    /// Bytes of a step: a divisor of a vector's size, such that a CPU finds a
    /// form with the address alone, and small enough for seven forms in a byte.
    const STEP: usize = if V::BYTES < 16 { V::BYTES } else { 16 };

    #[inline(always)]
    pub(super) fn new(bits: u64) -> Picks<V> {
        let mut steps = [0; SHARED + 2];
        let (mut round, mut len, mut adder) = (bits, 64, 0);
        while len > 2 {
            let adders = len / 3;
            // A sum is complemented if an odd number of its bits are.
            let mut next = round >> (3 * adders) << adders;
            for t in 0..adders {
                let three = round >> (3 * t) & 7;
                steps[adder] = Self::steps(three);
                next |= u64::from(three.count_ones() & 1) << t;
                adder += 1;
            }
            (round, len) = (next, len - 2 * adders);
        }
        steps[SHARED] = Self::steps(round & 1);
        // The second of the last two, as whether it differs from the first.
        steps[SHARED + 1] = Self::steps((round ^ round >> 1) & 1);
        Picks {
            steps,
            vector: PhantomData,
        }
    }

    #[inline(always)]
    fn steps(form: u64) -> u8 {
        (form as usize * Self::STEP) as u8
    }

    /// The form of shared adder `t` that this limb picks.
    #[inline(always)]
    fn carry(&self, table: &LimbTable<V>, t: usize) -> V {
        // SAFETY: for an adder `new` writes three bits, and there are eight forms.
        unsafe { self.pick(&table.carries[t], t) }
    }

    /// What this limb picks of the last two bits of weight 1.
    #[inline(always)]
    fn last_two(&self, table: &LimbTable<V>) -> (V, V) {
        // SAFETY: for these `new` writes one bit, and there are two forms.
        unsafe {
            let first = self.pick(&table.first, SHARED);
            (first, self.pick(&table.differ, SHARED + 1))
        }
    }

    /// # Safety
    /// The pick in this place must be one of the forms.
    #[inline(always)]
    unsafe fn pick(&self, forms: &[V], place: usize) -> V {
        const { assert!(size_of::<V>() == V::BYTES && V::BYTES.is_multiple_of(Self::STEP)) };
        let offset = usize::from(self.steps[place]) * (V::BYTES / Self::STEP);
        // SAFETY: whole vectors from the first, as many as the caller promised.
        unsafe { *forms.as_ptr().byte_add(offset) }
    }
}

/// The lowest slices of the count: of weight 1, 2, 4, 8.
pub(super) struct Low<V> {
    pub(super) count: [V; 4],
}

impl<V: Vector> Low<V> {
    /// Adds what a limb picks.
    ///
    /// Each carry of weight 16 is written as soon as it is there: a compiler
    /// that does not load past a store keeps few forms in registers.
    #[inline(always)]
    pub(super) fn add(&mut self, table: &LimbTable<V>, picks: &Picks<V>, out: &mut Sixteens<V>) {
        out[0] = self.eight(table, picks, 0);
        out[1] = self.eight(table, picks, 8);
        out[2] = self.eight(table, picks, 16);
        out[3] = self.eight(table, picks, 24);
    }

    /// Adds picks `t` to `t + 7`: a carry of weight 16.
    #[inline(always)]
    fn eight(&mut self, table: &LimbTable<V>, picks: &Picks<V>, t: usize) -> V {
        let carry = |t: usize| picks.carry(table, t);
        let last = if t + 7 < SHARED {
            carry(t + 7)
        } else {
            self.ones(table, picks)
        };
        let [_, twos, fours, eights] = &mut self.count;
        let (a, b) = (
            add(twos, carry(t), carry(t + 1)),
            add(twos, carry(t + 2), carry(t + 3)),
        );
        let x = add(fours, a, b);
        let (a, b) = (
            add(twos, carry(t + 4), carry(t + 5)),
            add(twos, carry(t + 6), last),
        );
        let y = add(fours, a, b);
        add(eights, x, y)
    }

    /// Adds the last two bits of weight 1; their carry is returned.
    ///
    /// If they differ it is the count's bit, else either of them.
    #[inline(always)]
    fn ones(&mut self, table: &LimbTable<V>, picks: &Picks<V>) -> V {
        let (first, differ) = picks.last_two(table);
        let count = self.count[0];
        self.count[0] = count.xor(differ);
        V::select(differ, count, first)
    }
}

/// Adds two bits to a slice of the count; their carry is returned.
#[inline(always)]
pub(super) fn add<V: Vector>(count: &mut V, a: V, b: V) -> V {
    let (sum, carry) = V::full_add(a, b, *count);
    *count = sum;
    carry
}

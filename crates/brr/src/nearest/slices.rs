//! Many queries against bit slices.
//!
//! # Idea
//!
//! Turn a tile of words (as many as a register has bits) into *bit slices*:
//! slice `i` holds bit `i` of every word. A query bit is then one constant for
//! the whole slice, and a distance is the column sum of slices, each plain or
//! complemented as the query's bit says. Column sums of bits are made by full
//! adders: three bits in, a sum bit and a carry bit of double weight out.
//!
//! For three code bits the sum can take only 2 forms and the carry 8, whatever
//! the query. And the sum of three sums has 2 and 8 forms again, and so on: of a
//! 64-bit limb, 31 adders in four rounds (64 -> 22 -> 8 -> 4 -> 2 bits of weight 1)
//! are the same for all queries. Their carries are computed once a tile, in all
//! forms, and every query picks its own by address; what is left to add up for
//! each query fills an adder tree without a gap, running count included:
//!
//! ```text
//! weight    1:  2 sums + count              =  3  ->  1 adder
//! weight    2:  31 carries + 1 + count      = 33  -> 16
//! weight    4:  16 + count = 17 -> 8,   8: 9 -> 4,   16: 5 -> 2,   32: 3 -> 1
//! ```
//!
//! So 32 full adders count 64 bits of as many words as a register has bits:
//! with a ternary-logic instruction about half an instruction a word for 256
//! bits. The running minimum is kept in bit slices too.
//!
//! # Blindness
//!
//! The query picks table entries; the work and the order of tiles never depend
//! on it, nor on how near any word is.

use super::Neighbor;
use super::vector::Vector;
use crate::codes::{CodeBlocks, CodeRows, LANES};
use std::marker::PhantomData;

/// Adders of a limb that all queries share.
const SHARED: usize = 31;

/// Queries that pass over a tile together. Their running minima live in the
/// second-level cache; the more they are, the less a tile's tables cost.
const GROUP: usize = 256;

/// Bits of a tile's number within a run of tiles, and tiles in such a run.
const RUN_BITS: usize = 5;
const RUN: usize = 1 << RUN_BITS;

/// Most 64-word blocks in a tile: 512-bit registers.
const MAX_BLOCKS: usize = 8;

/// What a limb of any query can add, over the words of a tile.
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
        let mut slices = [[0u8; MAX_BLOCKS * 8]; 64];
        for b in 0..V::BYTES / 8 {
            // Past the end the last block stands in once more: its words have
            // lower ids where they really are, so a copy is never the answer.
            let block = codes.block((first + b).min(codes.blocks() - 1));
            let (planes, _) = block[limb * 8 * LANES..].as_chunks::<LANES>();
            for (j, plane) in planes[..8].iter().enumerate() {
                for (k, slice) in V::bit_slices(plane).into_iter().enumerate() {
                    slices[j * 8 + k][b * 8..][..8].copy_from_slice(&slice.to_le_bytes());
                }
            }
        }
        let mut bits = [V::splat(0); 64];
        for (bit, slice) in bits.iter_mut().zip(&slices) {
            *bit = V::load(slice);
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
pub(super) struct QueryLimb<V> {
    /// Of each shared adder, in their order, then of the last two bits of weight
    /// 1: how far from the first form, in steps.
    picks: [u8; SHARED + 2],
    vector: PhantomData<V>,
}

impl<V: Vector> QueryLimb<V> {
    /// Bytes of a step: a divisor of a vector's size, such that a CPU finds a
    /// form with the address alone, and small enough for seven forms in a byte.
    const STEP: usize = if V::BYTES < 16 { V::BYTES } else { 16 };

    #[inline(always)]
    pub(super) fn new(bits: u64) -> QueryLimb<V> {
        let mut picks = [0; SHARED + 2];
        let (mut round, mut len, mut adder) = (bits, 64, 0);
        while len > 2 {
            let adders = len / 3;
            // A sum is complemented if an odd number of its bits are.
            let mut next = round >> (3 * adders) << adders;
            for t in 0..adders {
                let three = round >> (3 * t) & 7;
                picks[adder] = Self::steps(three);
                next |= u64::from(three.count_ones() & 1) << t;
                adder += 1;
            }
            (round, len) = (next, len - 2 * adders);
        }
        picks[SHARED] = Self::steps(round & 1);
        // The second of the last two, as whether it differs from the first.
        picks[SHARED + 1] = Self::steps((round ^ round >> 1) & 1);
        QueryLimb {
            picks,
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
        let offset = usize::from(self.picks[place]) * (V::BYTES / Self::STEP);
        // SAFETY: whole vectors from the first, as many as the caller promised.
        unsafe { *forms.as_ptr().byte_add(offset) }
    }
}

/// Adds to `count` the distances of a tile's words to some limbs of a query.
///
/// Carries of weight 16 wait until all limbs have theirs: few registers are
/// needed at a time, and the counts of larger weight are out of the way.
#[inline(always)]
pub(super) fn add_limbs<V: Vector, const P: usize>(
    mut count: [V; P],
    tables: &[LimbTable<V>],
    query: &[QueryLimb<V>],
    sixteens: &mut [Sixteens<V>],
) -> [V; P] {
    let mut adder = Adder {
        count: [count[0], count[1], count[2], count[3]],
    };
    for ((table, query), out) in tables.iter().zip(query).zip(sixteens.iter_mut()) {
        let (table, query) = (V::hide(table), V::hide(query));
        out[0] = adder.eight(table, query, 0);
        out[1] = adder.eight(table, query, 8);
        out[2] = adder.eight(table, query, 16);
        out[3] = adder.eight(table, query, 24);
    }
    count[..4].copy_from_slice(&adder.count);
    for &mut [a, b, c, d] in sixteens {
        let x = add(&mut count[4], a, b);
        let y = add(&mut count[4], c, d);
        let mut carry = add(&mut count[5], x, y);
        for slice in &mut count[6..] {
            (*slice, carry) = (slice.xor(carry), slice.and(carry));
        }
    }
    count
}

/// A limb's carries of weight 16.
pub(super) type Sixteens<V> = [V; 4];

/// Adds two bits to a slice of the count; their carry is returned.
#[inline(always)]
fn add<V: Vector>(count: &mut V, a: V, b: V) -> V {
    let (sum, carry) = V::full_add(a, b, *count);
    *count = sum;
    carry
}

/// The lowest slices of the count: of weight 1, 2, 4, 8.
struct Adder<V> {
    count: [V; 4],
}

impl<V: Vector> Adder<V> {
    /// Adds picks `t` to `t + 7`: a carry of weight 16.
    #[inline(always)]
    fn eight(&mut self, table: &LimbTable<V>, query: &QueryLimb<V>, t: usize) -> V {
        let carry = |t: usize| query.carry(table, t);
        let last = if t + 7 < SHARED {
            carry(t + 7)
        } else {
            self.ones(table, query)
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
    fn ones(&mut self, table: &LimbTable<V>, query: &QueryLimb<V>) -> V {
        let (first, differ) = query.last_two(table);
        let count = self.count[0];
        self.count[0] = count.xor(differ);
        V::select(differ, count, first)
    }
}

/// What a query has seen so far, one number per column of a tile.
#[derive(Clone, Copy)]
struct State<V, const P: usize> {
    /// Distance to the words of this tile, in the making.
    count: [V; P],
    /// Least distance in this run of tiles.
    least: [V; P],
    /// Number of the tile, within the run, that has it first.
    tile: [V; RUN_BITS],
}

impl<V: Vector, const P: usize> State<V, P> {
    /// No distance yet: all ones is more than any distance.
    #[inline(always)]
    fn new() -> State<V, P> {
        State {
            count: [V::splat(0); P],
            least: [V::splat(0xff); P],
            tile: [V::splat(0); RUN_BITS],
        }
    }

    /// Keeps the lesser of `count`, of tile `tile` of the run, and the least so
    /// far, which stays if equal.
    #[inline(always)]
    fn take(&mut self, count: [V; P], tile: usize) {
        // Where the numbers differ in a bit, the higher bit decides: count is
        // less where that bit is set in the other.
        let mut less = V::splat(0);
        for (&c, &l) in count.iter().zip(&self.least) {
            less = V::select(c.xor(l), l, less);
        }
        for (l, c) in self.least.iter_mut().zip(count) {
            *l = V::select(less, c, *l);
        }
        for (i, slice) in self.tile.iter_mut().enumerate() {
            let bit = V::splat(0u8.wrapping_sub((tile >> i & 1) as u8));
            *slice = V::select(less, bit, *slice);
        }
    }

    /// The least of all columns, then the first tile, then the first column.
    #[inline(always)]
    fn nearest(&self, first_tile: usize) -> Neighbor {
        // The columns still in question, narrowed bit by bit, the highest
        // first. Masks, not branches: this too is blind.
        let mut columns = [0u64; MAX_BLOCKS];
        columns[..V::BYTES / 8].fill(!0);
        let mut key = 0u32;
        for slice in self.tile.iter().chain(&self.least).rev() {
            let bits = lanes(*slice);
            let mut clear = [0; MAX_BLOCKS];
            let mut any = 0;
            for i in 0..MAX_BLOCKS {
                clear[i] = columns[i] & !bits[i];
                any |= clear[i];
            }
            let keep = 0u64.wrapping_sub(u64::from(any == 0));
            for i in 0..MAX_BLOCKS {
                columns[i] = clear[i] | (columns[i] & keep);
            }
            key = (key << 1) | u32::from(any == 0);
        }
        let mut first = usize::MAX;
        for (i, lane) in columns.iter().enumerate() {
            // An empty lane goes behind all others.
            let empty = usize::from(*lane == 0) << 16;
            first = first.min(i * 64 + lane.trailing_zeros() as usize + empty);
        }
        let tile = first_tile + (key as usize % RUN);
        Neighbor {
            id: (tile * V::BYTES * 8 + first) as u32,
            distance: key >> RUN_BITS,
        }
    }
}

#[inline(always)]
fn lanes<V: Vector>(slice: V) -> [u64; MAX_BLOCKS] {
    let mut bytes = [0; MAX_BLOCKS * 8];
    slice.store(&mut bytes);
    let mut out = [0; MAX_BLOCKS];
    for (lane, bytes) in out.iter_mut().zip(bytes.as_chunks().0) {
        *lane = u64::from_le_bytes(*bytes);
    }
    out
}

/// The nearest word of each query.
#[inline(always)]
pub(super) fn nearest<V: Vector>(codes: CodeBlocks<'_>, queries: &CodeRows, out: &mut [Neighbor]) {
    // A distance of `bits` must fit.
    match codes.bits().get().ilog2() + 1 {
        7 => nearest_counted::<V, 7>(codes, queries, out),
        8 => nearest_counted::<V, 8>(codes, queries, out),
        9 => nearest_counted::<V, 9>(codes, queries, out),
        10 => nearest_counted::<V, 10>(codes, queries, out),
        _ => nearest_counted::<V, 11>(codes, queries, out),
    }
}

#[inline(always)]
fn nearest_counted<V: Vector, const P: usize>(
    codes: CodeBlocks<'_>,
    queries: &CodeRows,
    out: &mut [Neighbor],
) {
    let limbs = codes.bits().limbs();
    let query_limbs = queries.limbs().iter().map(|&l| QueryLimb::new(l));
    let query_limbs: Vec<QueryLimb<V>> = query_limbs.collect();
    // Groups of equal size, as far as that goes.
    let size = out.len().div_ceil(out.len().div_ceil(GROUP).max(1)).max(1);
    for (queries, out) in query_limbs.chunks(size * limbs).zip(out.chunks_mut(size)) {
        group::<V, P>(codes, queries, out);
    }
}

/// Limbs whose tables (252 vectors each) fit the first-level cache together.
pub(super) const fn strip<V: Vector>() -> usize {
    128 / V::BYTES
}

/// One group of queries over all tiles.
#[inline(always)]
fn group<V: Vector, const P: usize>(
    codes: CodeBlocks<'_>,
    queries: &[QueryLimb<V>],
    out: &mut [Neighbor],
) {
    let strip = strip::<V>();
    let limbs = codes.bits().limbs();
    let mut tables = vec![LimbTable::<V>::zero(); strip.min(limbs)];
    let mut sixteens = vec![[V::splat(0); 4]; tables.len()];
    let mut states = vec![State::<V, P>::new(); out.len()];
    let tiles = codes.blocks().div_ceil(V::BYTES / 8);
    for run in (0..tiles).step_by(RUN) {
        states.fill(State::new());
        for tile in run..tiles.min(run + RUN) {
            for start in (0..limbs).step_by(strip) {
                let end = limbs.min(start + strip);
                let tables = &mut tables[..end - start];
                for (limb, table) in (start..end).zip(tables.iter_mut()) {
                    table.fill(codes, tile * (V::BYTES / 8), limb);
                }
                let picks = queries.chunks_exact(limbs);
                let sixteens = &mut sixteens[..end - start];
                for (state, query) in states.iter_mut().zip(picks) {
                    let count = if start == 0 {
                        [V::splat(0); P]
                    } else {
                        state.count
                    };
                    let count = add_limbs(count, tables, &query[start..end], sixteens);
                    if end == limbs {
                        state.take(count, tile - run);
                    } else {
                        state.count = count;
                    }
                }
            }
        }
        for (state, best) in states.iter().zip(out.iter_mut()) {
            *best = best.nearer(state.nearest(run));
        }
    }
}

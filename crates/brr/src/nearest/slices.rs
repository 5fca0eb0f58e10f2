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
//! For three code bits a full adder's outputs can take only 2 (sum) and 8
//! (carry) forms, whatever the query. All ten are computed once a tile, and
//! every query picks its two by address: the first layer of adders, and all the
//! complementing, is shared by all queries. A 64-bit limb is 21 such triples
//! and one bit, which fill an adder tree without a gap, running count included:
//!
//! ```text
//! weight    1:  21 sums + 1 bit + count  = 23  -> 11 adders
//! weight    2:  21 carries + 11 + count  = 33  -> 16
//! weight    4:  16 + count = 17 -> 8,   8: 9 -> 4,   16: 5 -> 2,   32: 3 -> 1
//! ```
//!
//! So 42 full adders count 64 bits of as many words as a register has bits:
//! with a ternary-logic instruction less than one instruction a word for 256
//! bits. The running minimum is kept in bit slices too.
//!
//! # Blindness
//!
//! The query picks table entries; the work and the order of tiles never depend
//! on it, nor on how near any word is.

use super::Neighbor;
use super::vector::Vector;
use crate::codes::{CodeBlocks, CodeRows, LANES};

/// Triples of bits in a limb.
const TRIPLES: usize = 21;

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
    /// Sum of a triple, plain and complemented; bit 63 counts as the last
    /// triple's. At odd places, XORed with the sum before: see `add_sums`.
    sums: [[V; 2]; TRIPLES + 1],
    /// Carry of a triple, with each subset of its bits complemented.
    carries: [[V; 8]; TRIPLES],
}

impl<V: Vector> LimbTable<V> {
    #[inline(always)]
    pub(super) fn zero() -> LimbTable<V> {
        let zero = V::splat(0);
        LimbTable {
            sums: [[zero; 2]; TRIPLES + 1],
            carries: [[zero; 8]; TRIPLES],
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
        let ones = V::splat(0xff);
        let mut before = V::splat(0);
        for t in 0..TRIPLES {
            let a = V::load(&slices[3 * t]);
            let b = V::load(&slices[3 * t + 1]);
            let c = V::load(&slices[3 * t + 2]);
            let sum = a.xor(b).xor(c);
            let form = if t % 2 == 0 { sum } else { sum.xor(before) };
            self.sums[t] = [form, form.xor(ones)];
            before = sum;
            let (not_a, not_b) = (a.xor(ones), b.xor(ones));
            let forms = [(a, b), (not_a, b), (a, not_b), (not_a, not_b)];
            for (v, (a, b)) in forms.into_iter().enumerate() {
                let carry = V::majority(a, b, c);
                self.carries[t][v] = carry;
                self.carries[t][7 - v] = carry.xor(ones);
            }
        }
        let form = V::load(&slices[63]).xor(before);
        self.sums[TRIPLES] = [form, form.xor(ones)];
    }
}

/// A limb of a query, and for each triple the parity of its bits (at odd
/// places, of the triple before too) at the triple's first bit.
#[derive(Clone, Copy)]
pub(super) struct QueryLimb {
    bits: u64,
    parities: u64,
}

impl QueryLimb {
    #[inline(always)]
    pub(super) fn new(bits: u64) -> QueryLimb {
        const EVEN_PLACES: u64 = 0o101_010_101_010_101_010_101;
        let parities = bits ^ (bits >> 1) ^ (bits >> 2);
        QueryLimb {
            bits,
            parities: parities ^ ((parities & EVEN_PLACES) << 3),
        }
    }
}

/// Adds to `count` the distances of a tile's words to some limbs of a query.
#[inline(always)]
pub(super) fn add_limbs<V: Vector, const P: usize>(
    mut count: [V; P],
    tables: &[LimbTable<V>],
    query: &[QueryLimb],
) -> [V; P] {
    for (table, &query) in tables.iter().zip(query) {
        count = Adder {
            count,
            table,
            query,
        }
        .limb();
    }
    count
}

/// Adds up what a query picks from a limb's table. `count` holds a `P`-bit
/// number per word, slice by slice.
struct Adder<'a, V, const P: usize> {
    count: [V; P],
    table: &'a LimbTable<V>,
    query: QueryLimb,
}

impl<V: Vector, const P: usize> Adder<'_, V, P> {
    #[inline(always)]
    fn sum(&self, t: usize) -> V {
        self.table.sums[t][(self.query.parities >> (3 * t) & 1) as usize]
    }

    #[inline(always)]
    fn carry(&self, t: usize) -> V {
        self.table.carries[t][(self.query.bits >> (3 * t) & 7) as usize]
    }

    /// Adds the sums of triples `t` (even) and `t + 1`; their carry is returned.
    ///
    /// For sums the XOR of two picks has but two forms as well, so the table
    /// holds it in place of the second: an XOR less a full adder.
    #[inline(always)]
    fn add_sums(&mut self, t: usize) -> V {
        let (first, differ, count) = (self.sum(t), self.sum(t + 1), self.count[0]);
        self.count[0] = count.xor(differ);
        V::select(differ, count, first)
    }

    /// Adds two bits of weight `2^level` to the count; their carry is returned.
    #[inline(always)]
    fn add(&mut self, level: usize, a: V, b: V) -> V {
        let (sum, carry) = V::full_add(self.count[level], a, b);
        self.count[level] = sum;
        carry
    }

    /// Four triples from `t` on: three carries of weight 4.
    #[inline(always)]
    fn four(&mut self, t: usize) -> [V; 3] {
        let x = self.add_sums(t);
        let a = self.add(1, self.carry(t), self.carry(t + 1));
        let y = self.add_sums(t + 2);
        let b = self.add(1, self.carry(t + 2), self.carry(t + 3));
        let c = self.add(1, x, y);
        [a, b, c]
    }

    /// Eight triples from `t` on: three carries of weight 8.
    #[inline(always)]
    fn eight(&mut self, t: usize) -> [V; 3] {
        let [a, b, c] = self.four(t);
        let x = self.add(2, a, b);
        let [a, b, d] = self.four(t + 4);
        let y = self.add(2, a, b);
        [x, y, self.add(2, c, d)]
    }

    /// The last five triples and bit 63: two carries of weight 8.
    #[inline(always)]
    fn rest(&mut self) -> [V; 2] {
        let [a, b, c] = self.four(16);
        let x = self.add(2, a, b);
        let twos = self.add_sums(20);
        let d = self.add(1, self.carry(20), twos);
        [x, self.add(2, c, d)]
    }

    /// The whole limb.
    #[inline(always)]
    fn limb(mut self) -> [V; P] {
        let [a, b, c] = self.eight(0);
        let x = self.add(3, a, b);
        let [a, b, d] = self.eight(8);
        let y = self.add(3, c, d);
        let v = self.add(4, x, y);
        let x = self.add(3, a, b);
        let [a, b] = self.rest();
        let y = self.add(3, a, b);
        let w = self.add(4, x, y);
        let mut carry = self.add(5, v, w);
        for slice in &mut self.count[6..] {
            (*slice, carry) = (slice.xor(carry), slice.and(carry));
        }
        self.count
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

    /// Keeps the lesser of `count` and the least so far, which stays if equal.
    #[inline(always)]
    fn take(&mut self, count: [V; P], tile: &[V; RUN_BITS]) {
        // Where the numbers differ in a bit, the higher bit decides: count is
        // less where that bit is set in the other.
        let mut less = V::splat(0);
        for (&c, &l) in count.iter().zip(&self.least) {
            less = V::select(c.xor(l), l, less);
        }
        for (l, c) in self.least.iter_mut().zip(count) {
            *l = V::select(less, c, *l);
        }
        for (t, &number) in self.tile.iter_mut().zip(tile) {
            *t = V::select(less, number, *t);
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
    let query_limbs: Vec<_> = queries.limbs().iter().map(|&l| QueryLimb::new(l)).collect();
    // Groups of equal size, as far as that goes.
    let size = out.len().div_ceil(out.len().div_ceil(GROUP).max(1)).max(1);
    for (queries, out) in query_limbs.chunks(size * limbs).zip(out.chunks_mut(size)) {
        group::<V, P>(codes, queries, out);
    }
}

/// Limbs whose tables (212 vectors each) fit the first-level cache together.
pub(super) const fn strip<V: Vector>() -> usize {
    128 / V::BYTES
}

/// One group of queries over all tiles.
#[inline(always)]
fn group<V: Vector, const P: usize>(
    codes: CodeBlocks<'_>,
    queries: &[QueryLimb],
    out: &mut [Neighbor],
) {
    let strip = strip::<V>();
    let limbs = codes.bits().limbs();
    let mut tables = vec![LimbTable::<V>::zero(); strip.min(limbs)];
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
                for (state, query) in states.iter_mut().zip(picks) {
                    let query = &query[start..end];
                    pass(state, tables, query, tile - run, start == 0, end == limbs);
                }
            }
        }
        for (state, best) in states.iter().zip(out.iter_mut()) {
            *best = best.nearer(state.nearest(run));
        }
    }
}

/// One query over some limbs of one tile.
#[inline(always)]
fn pass<V: Vector, const P: usize>(
    state: &mut State<V, P>,
    tables: &[LimbTable<V>],
    query: &[QueryLimb],
    tile: usize,
    is_first: bool,
    is_last: bool,
) {
    let count = if is_first {
        [V::splat(0); P]
    } else {
        state.count
    };
    let count = add_limbs(count, tables, query);
    if is_last {
        let mut number = [V::splat(0); RUN_BITS];
        for (i, slice) in number.iter_mut().enumerate() {
            *slice = V::splat(0u8.wrapping_sub((tile >> i & 1) as u8));
        }
        state.take(count, &number);
    } else {
        state.count = count;
    }
}

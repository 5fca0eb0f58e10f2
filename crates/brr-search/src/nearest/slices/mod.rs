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
//! Groups of seven bits (two carries of 128 forms each) would leave 22 adders.
//! For 200 queries, their tables take as long to fill as that saves.
//!
//! # Blindness
//!
//! The query picks table entries; the work and the order of tiles never depend
//! on it, nor on how near any word is.

mod least;
mod table;

pub(super) use least::nearest;

use self::table::{LimbTable, Low, Picks, add};
use super::vector::{MAX_BLOCKS, Vector};
use crate::codes::{CodeBits, CodeBlocks};
use std::hint::black_box;

/// A limb's carries of weight 16.
type Sixteens<V> = [V; 4];

/// What is done with counts of `P` bits, made from strips of `S` limbs at a time.
/// `L` is the limbs of a code, or 0 if the compiler need not know.
pub(super) trait Task<V: Vector> {
    /// Whether it is compiled for every usual length of codes, and not for 256 bits alone. That takes
    /// a fifth of the time from codes of other lengths, and most of the time of compiling this crate.
    const EVERY_LENGTH: bool;

    fn run<const P: usize, const L: usize, const S: usize>(self);
}

/// Runs a task for codes of a length: a distance fits the bits of a count, and
/// the tables of a strip (252 vectors a limb) fit the first-level cache. What has no vectors is not
/// worth the compiling.
#[inline(always)]
pub(super) fn run<V: Vector, T: Task<V>>(bits: CodeBits, task: T) {
    let wide = V::BYTES == 64;
    let vectors = V::BYTES > 8;
    let every = vectors && T::EVERY_LENGTH;
    match bits.limbs() {
        1 if every => task.run::<7, 1, 1>(),
        2 if every => task.run::<8, 2, 2>(),
        4 if wide => task.run::<9, 4, 2>(),
        4 if vectors => task.run::<9, 4, 4>(),
        8 if every && wide => task.run::<10, 8, 2>(),
        8 if every => task.run::<10, 8, 4>(),
        _ => task.run::<11, 0, 1>(),
    }
}

/// Counts the distances of a tile's words to many queries.
pub(super) struct Counter<V, const P: usize, const L: usize, const S: usize> {
    /// Strips of a query.
    strips: usize,
    picks: Vec<[Picks<V>; S]>,
    tables: Box<[LimbTable<V>; S]>,
    sixteens: Box<[Sixteens<V>; S]>,
}

/// Something that a query has and that a count in the making can be kept in. One
/// allocation for all of it: an allocator may give several back to the system, and
/// fetch them anew, each time.
pub(super) trait Keeps<V, const P: usize> {
    fn count(&mut self) -> &mut [V; P];
}

impl<V, const P: usize> Keeps<V, P> for [V; P] {
    #[inline(always)]
    fn count(&mut self) -> &mut [V; P] {
        self
    }
}

/// The picks are the queries in another form, and a query may be a private code.
impl<V, const P: usize, const L: usize, const S: usize> Drop for Counter<V, P, L, S> {
    fn drop(&mut self) {
        self.picks.fill_with(|| [Picks::NONE; S]);
        black_box(&self.picks);
    }
}

impl<V: Vector, const P: usize, const L: usize, const S: usize> Counter<V, P, L, S> {
    /// A counter for queries of this many limbs each.
    #[inline(always)]
    pub(super) fn new(queries: &[u64], limbs: usize) -> Counter<V, P, L, S> {
        assert!((L == 0 || limbs == L) && limbs.is_multiple_of(S), "limbs");
        let strips = queries.as_chunks().0.iter();
        Counter {
            strips: limbs / S,
            picks: strips.map(|strip| strip.map(Picks::new)).collect(),
            tables: Box::new([LimbTable::zero(); S]),
            sixteens: Box::new([[V::splat(0); 4]; S]),
        }
    }

    /// Counts over the tile that starts at a block, and hands each query's
    /// distances on, with what is its own and its number.
    #[inline(always)]
    pub(super) fn tile<K: Keeps<V, P>>(
        &mut self,
        codes: CodeBlocks<'_>,
        first: usize,
        keep: &mut [K],
        mut counted: impl FnMut(&mut K, usize, [V; P]),
    ) {
        let strips = if L == 0 { self.strips } else { L / S };
        for strip in 0..strips {
            for (i, table) in self.tables.iter_mut().enumerate() {
                table.fill(codes, first, strip * S + i);
            }
            let queries = self.picks.chunks_exact(strips);
            for (q, (picks, own)) in queries.zip(keep.iter_mut()).enumerate() {
                let before = if strip == 0 {
                    [V::splat(0); P]
                } else {
                    *own.count()
                };
                let (tables, picks) = (V::hide(&*self.tables), V::hide(&picks[strip]));
                let sum = add_strip(before, tables, picks, &mut self.sixteens);
                if strip + 1 == strips {
                    counted(own, q, sum);
                } else {
                    *own.count() = sum;
                }
            }
        }
    }
}

/// The bits of a slice, a block of words in each number.
#[inline(always)]
pub(super) fn lanes<V: Vector>(slice: V) -> [u64; MAX_BLOCKS] {
    let mut bytes = [0; MAX_BLOCKS * 8];
    slice.store(&mut bytes);
    let mut out = [0; MAX_BLOCKS];
    for (lane, bytes) in out.iter_mut().zip(bytes.as_chunks().0) {
        *lane = u64::from_le_bytes(*bytes);
    }
    out
}

/// Adds to `count` the distances of a tile's words to a strip of a query.
///
/// Carries of weight 16 wait until all limbs have theirs: few registers are
/// needed at a time, and the counts of larger weight are out of the way.
#[inline(always)]
fn add_strip<V: Vector, const P: usize, const S: usize>(
    mut count: [V; P],
    tables: &[LimbTable<V>; S],
    picks: &[Picks<V>; S],
    sixteens: &mut [Sixteens<V>; S],
) -> [V; P] {
    const { assert!(S == 1 || S == 2 || S == 4) };
    let mut low = Low {
        count: [count[0], count[1], count[2], count[3]],
    };
    // Not a loop: V8 would carry the count through memory.
    low.add(&tables[0], &picks[0], &mut sixteens[0]);
    if S > 1 {
        low.add(&tables[1], &picks[1], &mut sixteens[1]);
    }
    if S > 2 {
        low.add(&tables[2], &picks[2], &mut sixteens[2]);
        low.add(&tables[3], &picks[3], &mut sixteens[3]);
    }
    count[..4].copy_from_slice(&low.count);
    // Out of the compiler's sight, or it makes vectors of integers, and a slow
    // program.
    let sixteens = match V::BYTES {
        8 => black_box(&*sixteens),
        _ => &*sixteens,
    };
    for &[a, b, c, d] in sixteens {
        let x = add(&mut count[4], a, b);
        let y = add(&mut count[4], c, d);
        let mut carry = add(&mut count[5], x, y);
        for slice in &mut count[6..] {
            (*slice, carry) = (slice.xor(carry), slice.and(carry));
        }
    }
    count
}

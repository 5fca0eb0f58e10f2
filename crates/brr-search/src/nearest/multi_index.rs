//! Multi-index hashing: an exact search that looks at few codes when the
//! nearest is near (Norouzi, Punjani, Fleet: "Fast Exact Search in Hamming
//! Space with Multi-Index Hashing", 2014).
//!
//! # Why it is exact
//!
//! Cut every code into `m` substrings. A code at distance at most `r` from the
//! query is within `r / m` in one substring at least: otherwise the substrings'
//! distances would add up to more. So look up, in a table per substring, all
//! substrings at distance 0 from the query's, then 1, then 2, ... After radius
//! `t` in all substrings, and `t + 1` in the first `k`, a code not yet met is at
//! distance `m (t + 1) + k` or more. Once the best is below that, no code not
//! met can beat it, nor tie with it.
//!
//! # When to use it
//!
//! The work grows as a binomial coefficient in the radius, so it pays at small
//! noise and large vocabularies only (`docs/search.md` has the crossover), and
//! past that point the query is scanned after all. Unlike [`Scan`] its time
//! depends on the noisy code, which tells an observer with a clock more than
//! the word that comes out: that is why it has to be asked for.

use super::{Neighbor, Scan};
use crate::codes::{CodeBlocks, CodeRows, hamming};

use zeroize::Zeroizing;

/// Cost of looking up a bucket and of measuring a code in it, in codes scanned
/// one after the other meanwhile: both are a cache miss or two.
const BUCKET_COST: f64 = 60.0;
const CODE_COST: f64 = 60.0;

/// Shortest and longest substring, in bits. A table has `2^bits` buckets.
const SUBSTRING_BITS: std::ops::RangeInclusive<u32> = 8..=20;

/// An exact index over a code table; same answers as [`Scan`]. It owns what it
/// needs, and is handed a scan of the same table for queries too far off.
pub struct MultiIndex {
    rows: CodeRows,
    substrings: Vec<Substring>,
    /// By distance, from 0 to the largest worth a look: what to XOR onto a
    /// substring to get the others at that distance, in ascending order.
    masks: Vec<Vec<u32>>,
}

/// The words by the value of some of their bits.
struct Substring {
    start: usize,
    bits: u32,
    /// Where each value's words begin in `ids`, and the end of the last.
    buckets: Vec<u32>,
    ids: Vec<u32>,
}

impl MultiIndex {
    /// Indexes a table. Substrings are about `log2(words)` bits long, so that a
    /// bucket holds a word or so; buckets are searched up to the radius at which
    /// scanning the whole table is expected to be cheaper.
    pub fn new(codes: CodeBlocks<'_>) -> MultiIndex {
        let words = codes.len() as f64;
        let bits = substring_bits(codes);
        let count = (codes.bits().get() / bits as usize) as f64;
        let bucket = BUCKET_COST + CODE_COST * words / f64::from(1u32 << bits);
        let mut cost = 0.0;
        let mut buckets = count;
        let mut radii = 0;
        while cost + buckets * bucket <= words && radii <= bits {
            cost += buckets * bucket;
            radii += 1;
            buckets *= f64::from(bits + 1 - radii) / f64::from(radii);
        }
        Self::with_radii(codes, radii)
    }

    /// Same, but buckets are searched at `radii` radii, 0 up to `radii - 1`,
    /// before the table is scanned.
    pub fn with_radii(codes: CodeBlocks<'_>, radii: u32) -> MultiIndex {
        let rows = codes.to_rows();
        let bits = codes.bits().get();
        let count = bits / substring_bits(codes) as usize;
        let substrings = (0..count)
            .map(|i| Substring::new(&rows, i * bits / count..(i + 1) * bits / count))
            .collect::<Vec<_>>();
        let longest = substrings.iter().map(|s| s.bits).max().unwrap_or(0);
        let masks = (0..radii.min(longest + 1))
            .map(|ones| (0..1 << longest).filter(move |m: &u32| m.count_ones() == ones))
            .map(Iterator::collect)
            .collect();
        MultiIndex {
            rows,
            substrings,
            masks,
        }
    }

    /// The nearest word of each query, in the order of the queries.
    ///
    /// # Panics
    /// If the queries' code length is not the table's.
    pub fn nearest(&self, scan: &Scan<'_>, queries: &CodeRows) -> Vec<Neighbor> {
        assert_eq!(queries.bits(), self.rows.bits(), "code length of queries");
        let found: Vec<_> = queries.iter().map(|query| self.look_up(query)).collect();
        // What was not found is scanned in one go: a batch is cheaper.
        let missing = found.iter().filter(|f| f.is_none()).count();
        let mut rest = Zeroizing::new(CodeRows::zeros(queries.bits(), missing));
        let missed = queries.iter().zip(&found).filter(|(_, f)| f.is_none());
        for (i, (query, _)) in missed.enumerate() {
            rest.row_mut(i).copy_from_slice(query);
        }
        let mut scanned = scan.nearest(&rest).into_iter();
        let or_scanned = |found: Option<Neighbor>| found.or_else(|| scanned.next());
        found.into_iter().filter_map(or_scanned).collect()
    }

    /// The nearest word of one query.
    ///
    /// # Panics
    /// If `query` is not `bits / 64` limbs long.
    pub fn nearest_one(&self, scan: &Scan<'_>, query: &[u64]) -> Neighbor {
        assert_eq!(query.len(), self.rows.bits().limbs(), "query length");
        let found = self.look_up(query);
        found.unwrap_or_else(|| scan.nearest_one(query))
    }

    /// Length of the substrings and number of radii searched.
    pub fn shape(&self) -> (usize, usize) {
        let longest = self.substrings.iter().map(|s| s.bits as usize).max();
        (longest.unwrap_or(0), self.masks.len())
    }

    /// `None` if the radii do not suffice to be sure of the nearest.
    fn look_up(&self, query: &[u64]) -> Option<Neighbor> {
        let mut scratch = Scratch::default();
        let mut best = Neighbor::NONE;
        let mut unseen = 0;
        for masks in &self.masks {
            for substring in &self.substrings {
                for &id in substring.words_near(query, masks, &mut scratch) {
                    let distance = hamming(self.rows.row(id as usize), query);
                    best = best.nearer(Neighbor { id, distance });
                }
                // Each substring done puts the codes not yet met one farther.
                unseen += 1;
                if best.distance < unseen {
                    return Some(best);
                }
            }
        }
        None
    }
}

/// Room to gather buckets and words before looking into them. Almost every
/// access is a cache miss: in loops of their own they are under way together,
/// where a loop over each bucket's words would wait for each bucket.
#[derive(Default)]
struct Scratch {
    buckets: Vec<[u32; 2]>,
    ids: Vec<u32>,
}

impl Substring {
    fn new(rows: &CodeRows, range: std::ops::Range<usize>) -> Substring {
        let (start, bits) = (range.start, range.len() as u32);
        let mut buckets = vec![0; (1 << bits) + 1];
        for row in rows.iter() {
            buckets[extract(row, start, bits) as usize + 1] += 1;
        }
        for i in 1..buckets.len() {
            buckets[i] += buckets[i - 1];
        }
        let mut next = buckets.clone();
        let mut ids = vec![0; rows.len()];
        for (id, row) in rows.iter().enumerate() {
            let at = &mut next[extract(row, start, bits) as usize];
            ids[*at as usize] = id as u32;
            *at += 1;
        }
        Substring {
            start,
            bits,
            buckets,
            ids,
        }
    }

    /// Words whose substring differs from the query's by one of `masks`.
    fn words_near<'s>(&self, query: &[u64], masks: &[u32], scratch: &'s mut Scratch) -> &'s [u32] {
        let value = extract(query, self.start, self.bits);
        let fitting = masks.partition_point(|mask| mask >> self.bits == 0);
        scratch.buckets.clear();
        scratch.buckets.extend(masks[..fitting].iter().map(|mask| {
            let bucket = (value ^ mask) as usize;
            [self.buckets[bucket], self.buckets[bucket + 1]]
        }));
        scratch.ids.clear();
        for &[start, end] in &scratch.buckets {
            let ids = &self.ids[start as usize..end as usize];
            scratch.ids.extend_from_slice(ids);
        }
        &scratch.ids
    }
}

fn substring_bits(codes: CodeBlocks<'_>) -> u32 {
    let bits = codes.len().ilog2();
    bits.clamp(*SUBSTRING_BITS.start(), *SUBSTRING_BITS.end())
}

/// `bits` bits of a code from bit `start` on, at most 32.
fn extract(code: &[u64], start: usize, bits: u32) -> u32 {
    let (limb, shift) = (start / 64, start % 64);
    let low = code[limb] >> shift;
    let high = match code.get(limb + 1) {
        Some(next) if shift > 0 => next << (64 - shift),
        _ => 0,
    };
    ((low | high) & ((1 << bits) - 1)) as u32
}

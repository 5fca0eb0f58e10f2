//! A code of its own for every word.
//!
//! Where two words share a code, the one with the higher id can never be an
//! output of BRR (ties go to the lowest id), and a pair of close codes far from
//! all others can set the certificate of the exponential mechanism by itself. So
//! after binarizing, of two codes closer than a minimum the rarer word's (the
//! higher id's) moves away by the bits that mean least for it.
//!
//! What a bit means for a word is its margin: with m_k the mean of all vectors
//! signed by their bit k, z_i.m_k is what the vectors say bit k of word i should
//! be. Bits that the vector is indifferent to, or against, are flipped first.
//! That needs no encoder, so it works for codes of every kind.
//!
//! A word that moves ends at the minimum distance from *all* other words as they
//! stand, so every move takes close pairs away and adds none.

use super::BinarizeError;
use super::spectrum::{center, normalize};
use crate::matrix::{Matrix, Op};
use crate::vectors::Vectors;
use brr::parts::all_pairs::{OnShare, Visitor, for_near, visit, visit_some};
use brr::parts::codes::{CodeBlocks, CodeRows, hamming, to_blocks};
use brr::parts::nearest::Scan;
use std::borrow::Cow;

/// Crowded words whose surroundings are looked up together, by all threads.
const BATCH: usize = 1024;
/// Words whose bits are spread out to numbers at a time.
const PART: usize = 8192;
/// A word walks this many bits before its surroundings are looked up anew.
const SLACK: u32 = 16;

/// Codes after separation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Separated {
    /// The codes.
    pub codes: CodeRows,
    /// Words whose code changed.
    pub moved: usize,
    /// Bits that changed in all.
    pub flipped: usize,
    /// Words that found no place at the minimum distance and stayed where they
    /// were: there are more words than such codes, or nearly so.
    pub stuck: usize,
}

/// Moves codes until any two differ in at least `minimum` bits (at least 1).
/// `progress` gets the share of the work done: a look at all pairs is its first
/// half.
///
/// # Panics
/// If there is not one code for each word.
pub fn separate(
    vectors: &Vectors,
    codes: &CodeRows,
    minimum: u32,
    threads: usize,
    progress: OnShare<'_>,
) -> Result<Separated, BinarizeError> {
    super::check(vectors)?;
    assert_eq!(vectors.words.len(), codes.len(), "one code for each word");
    let minimum = minimum.max(1);
    let mut result = Separated {
        codes: codes.clone(),
        moved: 0,
        flipped: 0,
        stuck: 0,
    };
    let crowded = crowded(codes, minimum, threads, &|share| progress(share / 2.0));
    if crowded.is_empty() {
        return Ok(result);
    }
    let margins = Margins::new(vectors, codes, &crowded, threads);
    for (batch, first) in crowded.chunks(BATCH).zip((0..).step_by(BATCH)) {
        let blocks = to_blocks(&result.codes);
        let table = CodeBlocks::new(codes.bits(), codes.len(), &blocks).expect("some codes");
        let near = surroundings(table, batch, minimum + SLACK, threads);
        let margins = margins.of(codes, batch, first, threads);
        for (at, &word) in batch.iter().enumerate() {
            let place = Walk {
                codes: &result.codes,
                word,
                minimum,
                near: &near[at],
                table,
                moved: &batch[..at],
            }
            .find_place(margins.row(at));
            match place {
                None => result.stuck += 1,
                Some(place) => {
                    let flips = hamming(&place, codes.row(word)) as usize;
                    result.flipped += flips;
                    result.moved += usize::from(flips > 0);
                    result.codes.row_mut(word).copy_from_slice(&place);
                }
            }
        }
        progress(0.5 + 0.5 * (first + batch.len()) as f64 / crowded.len() as f64);
    }
    Ok(result)
}

/// Words that are closer than `minimum` to a word with a lower id, ascending.
fn crowded(codes: &CodeRows, minimum: u32, threads: usize, progress: OnShare<'_>) -> Vec<usize> {
    let blocks = to_blocks(codes);
    let Some(blocks) = CodeBlocks::new(codes.bits(), codes.len(), &blocks) else {
        return Vec::new();
    };
    let new = |_| Crowded {
        minimum,
        words: Vec::new(),
    };
    let groups = visit(blocks, threads, progress, new);
    let mut words: Vec<usize> = groups.into_iter().flat_map(|group| group.words).collect();
    words.sort_unstable();
    words.dedup();
    words
}

/// Words of a group that are too close to an earlier one.
struct Crowded {
    minimum: u32,
    words: Vec<usize>,
}

impl Visitor for Crowded {
    fn visit(&mut self, word: usize, first: usize, distances: &[u16]) {
        let earlier = word.saturating_sub(first).min(distances.len());
        let close = |&distance: &u16| u32::from(distance) < self.minimum;
        if distances[..earlier].iter().any(close) {
            self.words.push(word);
        }
    }
}

/// The words closer than `reach` to each of `words`, themselves included.
fn surroundings(
    table: CodeBlocks<'_>,
    words: &[usize],
    reach: u32,
    threads: usize,
) -> Vec<Vec<usize>> {
    let groups = visit_some(table, words, threads, |places| Surroundings {
        reach: reach as u16,
        words: &words[places.clone()],
        near: vec![Vec::new(); places.len()],
    });
    groups.into_iter().flat_map(|group| group.near).collect()
}

struct Surroundings<'a> {
    reach: u16,
    words: &'a [usize],
    near: Vec<Vec<usize>>,
}

impl Visitor for Surroundings<'_> {
    fn visit(&mut self, word: usize, first: usize, distances: &[u16]) {
        let at = self.words.partition_point(|&w| w < word);
        let near = &mut self.near[at];
        for_near(first, distances, self.reach - 1, |other, _| {
            near.push(other)
        });
    }
}

/// How much vectors speak for each bit of their words.
struct Margins {
    /// The vectors of the words in question.
    own: Matrix,
    /// Z^T B.
    means: Matrix,
}

impl Margins {
    fn new(vectors: &Vectors, codes: &CodeRows, words: &[usize], threads: usize) -> Margins {
        let (n, dim, bits) = (codes.len(), vectors.dim, codes.bits().get());
        let mut z = Matrix {
            rows: n,
            cols: dim,
            data: vectors.data.iter().map(|&v| f64::from(v)).collect(),
        };
        normalize(&mut z);
        center(&mut z);
        let mut own = Matrix::from_fn(words.len(), dim, |i, j| z.row(words[i])[j]);
        own.round(dim);
        // Rounded for the whole sum, so that its parts add up exactly.
        z.round(n);
        let mut means = Matrix::zeros(dim, bits);
        for from in (0..n).step_by(PART) {
            let rows = PART.min(n - from);
            let part = Matrix::from_fn(rows, dim, |i, j| z.row(from + i)[j]);
            let b = Matrix::from_fn(rows, bits, |i, bit| sign(codes, from + i, bit));
            let mut sum = Matrix::zeros(dim, bits);
            sum.set_product(threads, &part, Op::Transposed, &b, Op::Plain);
            let terms = means.data.iter_mut().zip(&sum.data);
            terms.for_each(|(mean, sum)| *mean += sum);
        }
        means.round(dim);
        Margins { own, means }
    }

    /// For the words of `batch`, which begins at place `first`, as `codes` had
    /// them at first.
    fn of(&self, codes: &CodeRows, batch: &[usize], first: usize, threads: usize) -> Matrix {
        let own = Matrix::from_fn(batch.len(), self.own.cols, |i, j| {
            self.own.row(first + i)[j]
        });
        let mut margins = Matrix::zeros(batch.len(), self.means.cols);
        margins.set_product(threads, &own, Op::Plain, &self.means, Op::Plain);
        for (at, &word) in batch.iter().enumerate() {
            for (bit, margin) in margins.row_mut(at).iter_mut().enumerate() {
                // A zero has the sign that the kernel's order of additions left it: + 0.0 takes
                // it away, because margins are put in order.
                *margin = *margin * sign(codes, word, bit) + 0.0;
            }
        }
        margins
    }
}

/// A bit of a word's code as -1 or +1.
fn sign(codes: &CodeRows, word: usize, bit: usize) -> f64 {
    (codes.row(word)[bit / 64] >> (bit % 64) & 1) as f64 * 2.0 - 1.0
}

/// A word's way to a place of its own.
struct Walk<'a> {
    /// The codes as they stand.
    codes: &'a CodeRows,
    word: usize,
    minimum: u32,
    /// The words closer than `minimum + SLACK`, but for some of `moved`.
    near: &'a [usize],
    /// The codes but for the words in `moved`, which have moved since.
    table: CodeBlocks<'a>,
    moved: &'a [usize],
}

impl Walk<'_> {
    /// A code at least `minimum` away from every other, by the bits of least
    /// margin. Where those lead into a corner, bits of more margin come first.
    fn find_place(&self, margins: &[f64]) -> Option<Vec<u64>> {
        const ATTEMPTS: usize = 16;
        let mut order: Vec<usize> = (0..margins.len()).collect();
        order.sort_by(|&i, &j| margins[i].total_cmp(&margins[j]));
        (0..ATTEMPTS).find_map(|_| {
            let place = self.walk_away(order.clone());
            order.rotate_left(margins.len() / ATTEMPTS);
            place
        })
    }

    /// Walks step by step away from whichever code is closest, by the first bit
    /// of `order` in which they agree. No bit is flipped twice, so it ends;
    /// `None` if no bit is left.
    fn walk_away(&self, mut order: Vec<usize>) -> Option<Vec<u64>> {
        let codes = self.codes;
        let mut place = codes.row(self.word).to_vec();
        let mut near = Cow::Borrowed(self.near);
        for step in 1.. {
            let others = near.iter().chain(self.moved).filter(|&&w| w != self.word);
            let closest = others.map(|&other| (hamming(&place, codes.row(other)), other));
            let Some((_, closest)) = closest.min().filter(|found| found.0 < self.minimum) else {
                break;
            };
            let other = codes.row(closest);
            let agree = |&bit: &usize| (place[bit / 64] ^ other[bit / 64]) >> (bit % 64) & 1 == 0;
            let at = order.iter().position(agree)?;
            let bit = order.remove(at);
            place[bit / 64] ^= 1 << (bit % 64);
            // A step changes no distance by more than 1: what was not near is
            // far enough still, for that number of steps.
            if step % SLACK == 0 {
                near = Cow::Owned(self.near_to(&place));
            }
        }
        Some(place)
    }

    fn near_to(&self, place: &[u64]) -> Vec<usize> {
        let mut distances = vec![0; self.table.len()];
        Scan::new(self.table).distances(place, &mut distances);
        let (mut near, reach) = (Vec::new(), self.minimum + SLACK - 1);
        for_near(0, &distances, reach as u16, |other, _| near.push(other));
        near
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use brr::parts::codes::CodeBits;
    use proptest::prelude::*;

    fn table(limbs: &[u64]) -> CodeRows {
        let mut codes = CodeRows::new(CodeBits::new(64).unwrap());
        limbs.iter().for_each(|limb| codes.push(&[*limb]));
        codes
    }

    fn vectors(n: usize) -> Vectors {
        Vectors {
            words: (0..n).map(|i| i.to_string()).collect(),
            dim: 3,
            data: (0..3 * n).map(|i| ((i * 37) % 101) as f32 - 50.0).collect(),
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]
        #[test]
        fn all_codes_end_apart(limbs in prop::collection::vec(0u64..16, 2..60), minimum in 0u32..6) {
            let codes = table(&limbs);
            let got = separate(&vectors(limbs.len()), &codes, minimum, 2, &|_| {}).unwrap();
            prop_assert_eq!(got.stuck, 0);
            let mut moved = 0;
            for i in 0..limbs.len() {
                for j in 0..i {
                    let distance = hamming(got.codes.row(i), got.codes.row(j));
                    prop_assert!(distance >= minimum.max(1));
                }
                moved += usize::from(got.codes.row(i) != codes.row(i));
            }
            prop_assert_eq!(got.moved, moved);
            // The most frequent word never gives way.
            prop_assert_eq!(got.codes.row(0), codes.row(0));
            for threads in [1, 3] {
                let other = separate(&vectors(limbs.len()), &codes, minimum, threads, &|_| {});
                prop_assert_eq!(&got, &other.unwrap());
            }
            let again = separate(&vectors(limbs.len()), &got.codes, minimum, 1, &|_| {}).unwrap();
            prop_assert_eq!((again.moved, again.flipped), (0, 0));
        }
    }

    #[test]
    fn codes_apart_stay() {
        let codes = table(&[0, u64::MAX, 0xffff_ffff]);
        let got = separate(&vectors(3), &codes, 20, 1, &|_| {}).unwrap();
        assert_eq!(
            (got.codes, got.moved, got.flipped, got.stuck),
            (codes, 0, 0, 0)
        );
    }

    #[test]
    fn the_bit_of_least_margin_goes_first() {
        // Words 0 and 1 differ from 2 and 3 in bit 5 along the one dimension that
        // matters; all other bits are the same everywhere, hence mean nothing.
        let vectors = Vectors {
            words: ["a", "b", "c", "d"].map(String::from).to_vec(),
            dim: 2,
            data: vec![1.0, 0.1, 1.0, -0.1, -1.0, 0.1, -1.0, -0.1],
        };
        let got = separate(&vectors, &table(&[0, 0, 32, 32]), 1, 1, &|_| {}).unwrap();
        assert_eq!((got.moved, got.flipped), (2, 2));
        for i in 0..4 {
            assert_eq!(got.codes.row(i)[0] >> 5 & 1, u64::from(i >= 2));
        }
    }

    #[test]
    fn too_many_words_are_counted_not_looped_over() {
        let codes = table(&[0, 0, 0, 0]);
        let got = separate(&vectors(4), &codes, 64, 1, &|_| {}).unwrap();
        assert_eq!(got.stuck, 2);
    }
}

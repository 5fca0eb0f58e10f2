//! 32 bytes in an AVX2 register.

use super::kernels;
use crate::codes::{CodeBlocks, CodeRows};
use crate::nearest::backend::{Backend, Kernels};
use crate::nearest::vector::Vector;
use crate::nearest::weigh::{self, WeightTable};
use crate::nearest::{Neighbor, planes, slices};
use std::arch::x86_64::*;
use std::ops::Range;

kernels!(
    Ymm,
    2,
    Backend::Avx2,
    is_x86_feature_detected!("avx2"),
    #[target_feature(enable = "avx2")]
);

#[derive(Clone, Copy)]
struct Ymm(__m256i);

/// Distance to a query's low and high nibble, by nibble: what `pshufb` looks up.
#[derive(Clone, Copy)]
struct NibbleTables([Ymm; 2]);

/// Wraps intrinsics that are unsafe only because they need AVX2.
macro_rules! avx2 {
    ($e:expr) => {
        // SAFETY: a `Ymm` is used by the kernels above alone, which run only
        // where AVX2 is.
        unsafe { $e }
    };
}

impl Vector for Ymm {
    type Byte = NibbleTables;

    const BYTES: usize = 32;

    #[inline(always)]
    fn load(bytes: &[u8]) -> Ymm {
        let bytes = &bytes[..32];
        Ymm(avx2!(_mm256_loadu_si256(bytes.as_ptr().cast())))
    }

    #[inline(always)]
    fn store(self, bytes: &mut [u8]) {
        let bytes = &mut bytes[..32];
        avx2!(_mm256_storeu_si256(bytes.as_mut_ptr().cast(), self.0))
    }

    #[inline(always)]
    fn splat(byte: u8) -> Ymm {
        Ymm(avx2!(_mm256_set1_epi8(byte as i8)))
    }

    #[inline(always)]
    fn xor(self, other: Ymm) -> Ymm {
        Ymm(avx2!(_mm256_xor_si256(self.0, other.0)))
    }

    #[inline(always)]
    fn and(self, other: Ymm) -> Ymm {
        Ymm(avx2!(_mm256_and_si256(self.0, other.0)))
    }

    #[inline(always)]
    fn majority(a: Ymm, b: Ymm, c: Ymm) -> Ymm {
        Ymm::full_add(a, b, c).1
    }

    #[inline(always)]
    fn select(mask: Ymm, yes: Ymm, no: Ymm) -> Ymm {
        no.xor(mask.and(yes.xor(no)))
    }

    #[inline(always)]
    fn full_add(a: Ymm, b: Ymm, c: Ymm) -> (Ymm, Ymm) {
        let ab = a.xor(b);
        let carry = avx2!(_mm256_or_si256(a.and(b).0, ab.and(c).0));
        (ab.xor(c), Ymm(carry))
    }

    #[inline(always)]
    fn byte(value: u8) -> NibbleTables {
        // Entry i of the first 16 is the popcount of i ^ value, nibbles only.
        const COUNTS: [[u8; 16]; 16] = {
            let mut counts = [[0; 16]; 16];
            let mut i = 0;
            while i < 256 {
                counts[i / 16][i % 16] = ((i / 16) ^ (i % 16)).count_ones() as u8;
                i += 1;
            }
            counts
        };
        let mut tables = [Ymm::splat(0); 2];
        for (table, nibble) in tables.iter_mut().zip([value & 15, value >> 4]) {
            let counts = COUNTS[usize::from(nibble)].as_ptr().cast();
            *table = Ymm(avx2!(_mm256_broadcastsi128_si256(_mm_loadu_si128(counts))));
        }
        NibbleTables(tables)
    }

    #[inline(always)]
    fn add_distance(self, x: Ymm, NibbleTables([low, high]): NibbleTables) -> Ymm {
        avx2!({
            let nibble = _mm256_set1_epi8(0x0f);
            let low_nibbles = _mm256_and_si256(x.0, nibble);
            let high_nibbles = _mm256_and_si256(_mm256_srli_epi16::<4>(x.0), nibble);
            let sum = _mm256_add_epi8(self.0, _mm256_shuffle_epi8(low.0, low_nibbles));
            Ymm(_mm256_add_epi8(
                sum,
                _mm256_shuffle_epi8(high.0, high_nibbles),
            ))
        })
    }

    #[inline(always)]
    fn splat16(value: u16) -> Ymm {
        Ymm(avx2!(_mm256_set1_epi16(value as i16)))
    }

    #[inline(always)]
    fn even(self) -> Ymm {
        Ymm(avx2!(_mm256_and_si256(self.0, _mm256_set1_epi16(0xff))))
    }

    #[inline(always)]
    fn odd(self) -> Ymm {
        Ymm(avx2!(_mm256_srli_epi16::<8>(self.0)))
    }

    #[inline(always)]
    fn add16(self, other: Ymm) -> Ymm {
        Ymm(avx2!(_mm256_add_epi16(self.0, other.0)))
    }

    #[inline(always)]
    fn min16(self, other: Ymm) -> Ymm {
        Ymm(avx2!(_mm256_min_epu16(self.0, other.0)))
    }

    #[inline(always)]
    fn shl16_5(self) -> Ymm {
        Ymm(avx2!(_mm256_slli_epi16::<5>(self.0)))
    }

    #[inline(always)]
    fn store_wide(even: Ymm, odd: Ymm, out: &mut [u16]) {
        let (low, high) = out[..32].split_at_mut(16);
        avx2!({
            let a = _mm256_unpacklo_epi16(even.0, odd.0);
            let b = _mm256_unpackhi_epi16(even.0, odd.0);
            let first = _mm256_permute2x128_si256::<0x20>(a, b);
            let second = _mm256_permute2x128_si256::<0x31>(a, b);
            _mm256_storeu_si256(low.as_mut_ptr().cast(), first);
            _mm256_storeu_si256(high.as_mut_ptr().cast(), second);
        });
    }

    #[inline(always)]
    fn bit_slices(plane: &[u8; 64]) -> [u64; 8] {
        let (mut low, mut high) = (Ymm::load(&plane[..32]).0, Ymm::load(&plane[32..]).0);
        let mut out = [0; 8];
        for slice in out.iter_mut().rev() {
            avx2!({
                let bits = [_mm256_movemask_epi8(low), _mm256_movemask_epi8(high)];
                *slice = u64::from(bits[0] as u32) | u64::from(bits[1] as u32) << 32;
                low = _mm256_add_epi8(low, low);
                high = _mm256_add_epi8(high, high);
            });
        }
        out
    }

    #[inline(always)]
    fn spread<const P: usize>(slices: [Ymm; P], out: &mut [u16]) {
        let mut words = [[0i32; 8]; P];
        for (words, slice) in words.iter_mut().zip(slices) {
            avx2!(_mm256_storeu_si256(words.as_mut_ptr().cast(), slice.0));
        }
        for (i, out) in out[..256].chunks_exact_mut(32).enumerate() {
            avx2!({
                let mut low = _mm256_setzero_si256();
                for (p, words) in words.iter().take(8).enumerate() {
                    let bit = _mm256_set1_epi8((1u8 << p) as i8);
                    low = _mm256_or_si256(low, _mm256_and_si256(ones(words[i]), bit));
                }
                let mut a = _mm256_cvtepu8_epi16(_mm256_castsi256_si128(low));
                let mut b = _mm256_cvtepu8_epi16(_mm256_extracti128_si256::<1>(low));
                for (p, words) in words.iter().enumerate().skip(8) {
                    let (bit, ones) = (_mm256_set1_epi16(1 << p), ones(words[i]));
                    let first = _mm256_cvtepi8_epi16(_mm256_castsi256_si128(ones));
                    let second = _mm256_cvtepi8_epi16(_mm256_extracti128_si256::<1>(ones));
                    a = _mm256_or_si256(a, _mm256_and_si256(first, bit));
                    b = _mm256_or_si256(b, _mm256_and_si256(second, bit));
                }
                _mm256_storeu_si256(out[..16].as_mut_ptr().cast(), a);
                _mm256_storeu_si256(out[16..].as_mut_ptr().cast(), b);
            });
        }
    }
}

/// A byte of ones for each bit of `word` that is set.
#[inline(always)]
fn ones(word: i32) -> __m256i {
    avx2!({
        let eighths = _mm256_setr_epi64x(
            0,
            0x0101_0101_0101_0101,
            0x0202_0202_0202_0202,
            0x0303_0303_0303_0303,
        );
        let bits = _mm256_set1_epi64x(0x8040_2010_0804_0201_u64 as i64);
        let spread = _mm256_shuffle_epi8(_mm256_set1_epi32(word), eighths);
        _mm256_cmpeq_epi8(_mm256_and_si256(spread, bits), bits)
    })
}

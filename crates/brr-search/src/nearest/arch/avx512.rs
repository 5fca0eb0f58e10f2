//! 64 bytes in an AVX-512 register.

use super::kernels;
use crate::WordId;
use crate::codes::{CodeBlocks, CodeRows};
use crate::nearest::backend::{Backend, Kernels};
use crate::nearest::vector::Vector;
use crate::nearest::weigh::{self, WeightTable};
use crate::nearest::{Neighbor, planes, sift, slices};
use std::arch::x86_64::*;
use std::ops::Range;

kernels!(
    Zmm,
    2,
    Backend::Avx512,
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512bitalg")
        && is_x86_feature_detected!("avx512vbmi")
        && is_x86_feature_detected!("gfni")
        && is_x86_feature_detected!("popcnt"),
    #[target_feature(enable = "avx512f,avx512bw,avx512bitalg,avx512vbmi,gfni,popcnt")]
);

#[derive(Clone, Copy)]
struct Zmm(__m512i);

/// Wraps intrinsics that are unsafe only because they need AVX-512.
macro_rules! avx512 {
    ($e:expr) => {
        // SAFETY: a `Zmm` is used by the kernels above alone, which run only
        // where these features are.
        unsafe { $e }
    };
}

/// Truth tables for `vpternlog`, over these three columns.
const A: i32 = 0b1111_0000;
const B: i32 = 0b1100_1100;
const C: i32 = 0b1010_1010;
const XOR: i32 = A ^ B ^ C;
const MAJORITY: i32 = (A & B) | (B & C) | (A & C);
const SELECT: i32 = (A & B) | (!A & 0xff & C);

impl Vector for Zmm {
    type Byte = Zmm;

    const BYTES: usize = 64;

    #[inline(always)]
    fn load(bytes: &[u8]) -> Zmm {
        let bytes = &bytes[..64];
        Zmm(avx512!(_mm512_loadu_si512(bytes.as_ptr().cast())))
    }

    #[inline(always)]
    fn store(self, bytes: &mut [u8]) {
        let bytes = &mut bytes[..64];
        avx512!(_mm512_storeu_si512(bytes.as_mut_ptr().cast(), self.0))
    }

    #[inline(always)]
    fn splat(byte: u8) -> Zmm {
        Zmm(avx512!(_mm512_set1_epi8(byte as i8)))
    }

    #[inline(always)]
    fn xor(self, other: Zmm) -> Zmm {
        Zmm(avx512!(_mm512_xor_si512(self.0, other.0)))
    }

    #[inline(always)]
    fn and(self, other: Zmm) -> Zmm {
        Zmm(avx512!(_mm512_and_si512(self.0, other.0)))
    }

    #[inline(always)]
    fn majority(a: Zmm, b: Zmm, c: Zmm) -> Zmm {
        Zmm(avx512!(_mm512_ternarylogic_epi64::<MAJORITY>(
            a.0, b.0, c.0
        )))
    }

    #[inline(always)]
    fn select(mask: Zmm, yes: Zmm, no: Zmm) -> Zmm {
        Zmm(avx512!(_mm512_ternarylogic_epi64::<SELECT>(
            mask.0, yes.0, no.0
        )))
    }

    #[inline(always)]
    fn full_add(a: Zmm, b: Zmm, c: Zmm) -> (Zmm, Zmm) {
        let sum = avx512!(_mm512_ternarylogic_epi64::<XOR>(a.0, b.0, c.0));
        (Zmm(sum), Zmm::majority(a, b, c))
    }

    #[inline(always)]
    fn byte(value: u8) -> Zmm {
        Zmm::splat(value)
    }

    #[inline(always)]
    fn add_distance(self, x: Zmm, byte: Zmm) -> Zmm {
        let counts = avx512!(_mm512_popcnt_epi8(x.xor(byte).0));
        Zmm(avx512!(_mm512_add_epi8(self.0, counts)))
    }

    #[inline(always)]
    fn splat16(value: u16) -> Zmm {
        Zmm(avx512!(_mm512_set1_epi16(value as i16)))
    }

    #[inline(always)]
    fn even(self) -> Zmm {
        Zmm(avx512!(_mm512_and_si512(self.0, _mm512_set1_epi16(0xff))))
    }

    #[inline(always)]
    fn odd(self) -> Zmm {
        Zmm(avx512!(_mm512_srli_epi16::<8>(self.0)))
    }

    #[inline(always)]
    fn add16(self, other: Zmm) -> Zmm {
        Zmm(avx512!(_mm512_add_epi16(self.0, other.0)))
    }

    #[inline(always)]
    fn min16(self, other: Zmm) -> Zmm {
        Zmm(avx512!(_mm512_min_epu16(self.0, other.0)))
    }

    #[inline(always)]
    fn shl16_5(self) -> Zmm {
        Zmm(avx512!(_mm512_slli_epi16::<5>(self.0)))
    }

    #[inline(always)]
    fn store_wide(even: Zmm, odd: Zmm, out: &mut [u16]) {
        let (low, high) = out[..64].split_at_mut(32);
        avx512!({
            let a = _mm512_unpacklo_epi16(even.0, odd.0);
            let b = _mm512_unpackhi_epi16(even.0, odd.0);
            // Quarters in order: a0 b0 a1 b1, then a2 b2 a3 b3.
            let first =
                _mm512_permutex2var_epi64(a, _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11), b);
            let second =
                _mm512_permutex2var_epi64(a, _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15), b);
            _mm512_storeu_si512(low.as_mut_ptr().cast(), first);
            _mm512_storeu_si512(high.as_mut_ptr().cast(), second);
        });
    }

    #[inline(always)]
    fn bit_slices(plane: &[u8; 64]) -> [u64; 8] {
        let mut bytes = Zmm::load(plane).0;
        let mut out = [0; 8];
        for slice in out.iter_mut().rev() {
            avx512!({
                *slice = _mm512_movepi8_mask(bytes);
                bytes = _mm512_add_epi8(bytes, bytes);
            });
        }
        out
    }

    #[inline(always)]
    fn spread<const P: usize>(slices: [Zmm; P], out: &mut [u16]) {
        let mut words = [[0u64; 8]; P];
        for (words, slice) in words.iter_mut().zip(slices) {
            avx512!(_mm512_storeu_si512(words.as_mut_ptr().cast(), slice.0));
        }
        for (i, out) in out[..512].chunks_exact_mut(64).enumerate() {
            avx512!({
                let mut low = _mm512_setzero_si512();
                for (p, words) in words.iter().take(8).enumerate() {
                    let bits = _mm512_maskz_set1_epi8(words[i], (1u8 << p) as i8);
                    low = _mm512_or_si512(low, bits);
                }
                let mut a = _mm512_cvtepu8_epi16(_mm512_castsi512_si256(low));
                let mut b = _mm512_cvtepu8_epi16(_mm512_extracti64x4_epi64::<1>(low));
                for (p, words) in words.iter().enumerate().skip(8) {
                    let first = _mm512_maskz_set1_epi16(words[i] as u32, 1 << p);
                    let second = _mm512_maskz_set1_epi16((words[i] >> 32) as u32, 1 << p);
                    a = _mm512_or_si512(a, first);
                    b = _mm512_or_si512(b, second);
                }
                _mm512_storeu_si512(out[..32].as_mut_ptr().cast(), a);
                _mm512_storeu_si512(out[32..].as_mut_ptr().cast(), b);
            });
        }
    }

    #[inline(always)]
    fn weigh<const P: usize>(
        slices: [Zmm; P],
        table: &WeightTable,
        words: usize,
        sums: &mut [u64],
    ) {
        if words < 512 || table.longest > 256 {
            let mut distances = [0; 512];
            Zmm::spread(slices, &mut distances);
            return table.sums(&distances[..words], sums);
        }
        // Loops, not closures: those would be compiled without AVX-512.
        let distances = low_bytes(&slices);
        let mut totals = [Zmm::splat(0); 2];
        for (p, plane) in table.bytes[..table.width].iter().enumerate() {
            let a = Zmm::load(&plane[..64]).0;
            let b = Zmm::load(&plane[64..128]).0;
            let c = Zmm::load(&plane[128..192]).0;
            let d = Zmm::load(&plane[192..]).0;
            for (i, low) in distances.iter().enumerate() {
                let total = &mut totals[i / 4];
                *total = Zmm(avx512!({
                    let mut bytes = _mm512_permutex2var_epi8(a, low.0, b);
                    if P >= 8 {
                        let above = _mm512_permutex2var_epi8(c, low.0, d);
                        bytes = _mm512_mask_blend_epi8(_mm512_movepi8_mask(low.0), bytes, above);
                    }
                    let sum = _mm512_sad_epu8(bytes, _mm512_setzero_si512());
                    let shift = _mm_cvtsi32_si128(8 * p as i32);
                    _mm512_add_epi64(total.0, _mm512_sll_epi64(sum, shift))
                }));
            }
        }
        // A lane holds two blocks, each in two halves.
        let sums = &mut sums[..8];
        avx512!({
            let [even, odd] = [totals[0].0, totals[1].0];
            let low = _mm512_unpacklo_epi64(even, odd);
            let sum = _mm512_add_epi64(low, _mm512_unpackhi_epi64(even, odd));
            _mm512_storeu_si512(sums.as_mut_ptr().cast(), sum);
        });
        if P > 8 {
            correct_longest(slices[P - 1], table, sums);
        }
    }
}

/// The lowest byte of the number in each column. Vector `i` has, in lane `l`,
/// the columns `128 l + 16 i` up to `128 l + 16 i + 15`: of block `2 l` if `i` is
/// below 4, else of the next.
#[inline(always)]
fn low_bytes<const P: usize>(slices: &[Zmm; P]) -> [Zmm; 8] {
    let mut s = [Zmm::splat(0); 8];
    s[..P.min(8)].copy_from_slice(&slices[..P.min(8)]);
    let [s0, s1, s2, s3, s4, s5, s6, s7] = [
        s[0].0, s[1].0, s[2].0, s[3].0, s[4].0, s[5].0, s[6].0, s[7].0,
    ];
    let mut out = [Zmm::splat(0); 8];
    avx512!({
        // Byte j of all slices next to each other, the highest slice first...
        let (a0, a1) = (_mm512_unpacklo_epi8(s7, s6), _mm512_unpackhi_epi8(s7, s6));
        let (b0, b1) = (_mm512_unpacklo_epi8(s5, s4), _mm512_unpackhi_epi8(s5, s4));
        let (c0, c1) = (_mm512_unpacklo_epi8(s3, s2), _mm512_unpackhi_epi8(s3, s2));
        let (d0, d1) = (_mm512_unpacklo_epi8(s1, s0), _mm512_unpackhi_epi8(s1, s0));
        let upper = [
            _mm512_unpacklo_epi16(a0, b0),
            _mm512_unpackhi_epi16(a0, b0),
            _mm512_unpacklo_epi16(a1, b1),
            _mm512_unpackhi_epi16(a1, b1),
        ];
        let lower = [
            _mm512_unpacklo_epi16(c0, d0),
            _mm512_unpackhi_epi16(c0, d0),
            _mm512_unpacklo_epi16(c1, d1),
            _mm512_unpackhi_epi16(c1, d1),
        ];
        // ... are an 8 x 8 matrix of bits; its transpose are the numbers.
        let unit = _mm512_set1_epi64(0x8040_2010_0804_0201_u64 as i64);
        for (i, pair) in out.chunks_exact_mut(2).enumerate() {
            let first = _mm512_unpacklo_epi32(upper[i], lower[i]);
            let second = _mm512_unpackhi_epi32(upper[i], lower[i]);
            pair[0] = Zmm(_mm512_gf2p8affine_epi64_epi8::<0>(unit, first));
            pair[1] = Zmm(_mm512_gf2p8affine_epi64_epi8::<0>(unit, second));
        }
    });
    out
}

/// Words at distance 256, the columns set in `slice`, were weighed as at 0.
#[inline(always)]
fn correct_longest(slice: Zmm, table: &WeightTable, sums: &mut [u64]) {
    let mut counts = [0u64; 8];
    avx512!({
        let bits = _mm512_popcnt_epi8(slice.0);
        let count = _mm512_sad_epu8(bits, _mm512_setzero_si512());
        _mm512_storeu_si512(counts.as_mut_ptr().cast(), count);
    });
    let off = table.weight(256).wrapping_sub(table.weight(0));
    for (sum, count) in sums.iter_mut().zip(counts) {
        *sum = sum.wrapping_add(off.wrapping_mul(count));
    }
}

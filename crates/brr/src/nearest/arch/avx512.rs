//! 64 bytes in an AVX-512 register.

use super::kernels;
use crate::codes::{CodeBlocks, CodeRows};
use crate::nearest::backend::{Backend, Kernels};
use crate::nearest::vector::Vector;
use crate::nearest::weigh::{self, WeightTable};
use crate::nearest::{Neighbor, planes, slices};
use std::arch::x86_64::*;
use std::ops::Range;

kernels!(
    Zmm,
    2,
    Backend::Avx512,
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512bitalg")
        && is_x86_feature_detected!("avx512vbmi"),
    #[target_feature(enable = "avx512f,avx512bw,avx512bitalg,avx512vbmi")]
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
    fn weigh<const P: usize>(
        slices: [Zmm; P],
        table: &WeightTable,
        words: usize,
        sums: &mut [u64],
    ) {
        let masks = masks(slices);
        if words < 512 || table.longest > 256 {
            let mut distances = [0; 512];
            Zmm::spread(slices, &mut distances);
            return table.sums(&distances[..words], sums);
        }
        // Lowest byte of the distances, then each byte of their weights.
        let low: [Zmm; 8] = std::array::from_fn(|i| low_bytes(&masks, i));
        let mut totals = [Zmm::splat(0); 8];
        for (p, plane) in table.bytes.iter().enumerate() {
            let quarters: [Zmm; 4] = std::array::from_fn(|q| Zmm::load(&plane[q * 64..]));
            let shift = avx512!(_mm_cvtsi32_si128(8 * p as i32));
            for (i, (total, low)) in totals.iter_mut().zip(low).enumerate() {
                let [a, b, c, d] = quarters.map(|q| q.0);
                *total = Zmm(avx512!({
                    let mut bytes = _mm512_permutex2var_epi8(a, low.0, b);
                    if P >= 8 {
                        let above = _mm512_permutex2var_epi8(c, low.0, d);
                        bytes = _mm512_mask_blend_epi8(masks[7][i], bytes, above);
                    }
                    let sum = _mm512_sad_epu8(bytes, _mm512_setzero_si512());
                    _mm512_add_epi64(total.0, _mm512_sll_epi64(sum, shift))
                }));
            }
        }
        for (i, (sum, total)) in sums.iter_mut().zip(totals).enumerate() {
            *sum = avx512!(_mm512_reduce_add_epi64(total.0)) as u64;
            if P > 8 {
                // Distance 256 was looked up as 0.
                let off = table.weight(256).wrapping_sub(table.weight(0));
                let count = u64::from(masks[8][i].count_ones());
                *sum = sum.wrapping_add(off.wrapping_mul(count));
            }
        }
    }

    #[inline(always)]
    fn spread<const P: usize>(slices: [Zmm; P], out: &mut [u16]) {
        let masks = masks(slices);
        for (i, out) in out[..512].chunks_exact_mut(64).enumerate() {
            let low = low_bytes(&masks, i).0;
            avx512!({
                let mut a = _mm512_cvtepu8_epi16(_mm512_castsi512_si256(low));
                let mut b = _mm512_cvtepu8_epi16(_mm512_extracti64x4_epi64::<1>(low));
                for (p, masks) in masks.iter().enumerate().skip(8) {
                    let bit = _mm512_set1_epi16(1 << p);
                    a = _mm512_mask_add_epi16(a, masks[i] as u32, a, bit);
                    b = _mm512_mask_add_epi16(b, (masks[i] >> 32) as u32, b, bit);
                }
                _mm512_storeu_si512(out[..32].as_mut_ptr().cast(), a);
                _mm512_storeu_si512(out[32..].as_mut_ptr().cast(), b);
            });
        }
    }
}

/// Each slice as a mask a block.
#[inline(always)]
fn masks<const P: usize>(slices: [Zmm; P]) -> [[u64; 8]; P] {
    let mut masks = [[0u64; 8]; P];
    for (masks, slice) in masks.iter_mut().zip(slices) {
        avx512!(_mm512_storeu_si512(masks.as_mut_ptr().cast(), slice.0));
    }
    masks
}

/// The lowest byte of each number of block `i`.
#[inline(always)]
fn low_bytes<const P: usize>(masks: &[[u64; 8]; P], i: usize) -> Zmm {
    let mut low = Zmm::splat(0);
    for (p, masks) in masks.iter().take(8).enumerate() {
        let bit = Zmm::splat(1 << p);
        low = Zmm(avx512!(_mm512_mask_add_epi8(low.0, masks[i], low.0, bit.0)));
    }
    low
}

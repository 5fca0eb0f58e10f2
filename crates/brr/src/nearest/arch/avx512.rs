//! 64 bytes in an AVX-512 register.

use super::kernels;
use crate::codes::{CodeBlocks, CodeRows};
use crate::nearest::backend::{Backend, Kernels};
use crate::nearest::vector::Vector;
use crate::nearest::{Neighbor, planes, slices};
use std::arch::x86_64::*;
use std::ops::Range;

kernels!(
    Zmm,
    2,
    Backend::Avx512,
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512bitalg"),
    #[target_feature(enable = "avx512f,avx512bw,avx512bitalg")]
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
}

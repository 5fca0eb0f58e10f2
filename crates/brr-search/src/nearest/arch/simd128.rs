//! 16 bytes in a WebAssembly `v128`. A build has them or not: nothing to detect.

use super::kernels;
use crate::WordId;
use crate::codes::{CodeBlocks, CodeRows};
use crate::nearest::backend::{Backend, Kernels};
use crate::nearest::vector::{MAX_BLOCKS, Vector};
use crate::nearest::weigh::{self, WeightTable};
use crate::nearest::{Neighbor, planes, sift, slices};
use std::arch::wasm32 as wasm;
use std::ops::Range;

kernels!(V128, 4, Backend::Simd128, true,);

#[derive(Clone, Copy)]
struct V128(wasm::v128);

impl Vector for V128 {
    type Byte = V128;

    const BYTES: usize = 16;

    #[inline(always)]
    fn load(bytes: &[u8]) -> V128 {
        let bytes = &bytes[..16];
        // SAFETY: 16 bytes are there; no alignment is needed.
        V128(unsafe { wasm::v128_load(bytes.as_ptr().cast()) })
    }

    #[inline(always)]
    fn store(self, bytes: &mut [u8]) {
        let bytes = &mut bytes[..16];
        // SAFETY: 16 bytes are there; no alignment is needed.
        unsafe { wasm::v128_store(bytes.as_mut_ptr().cast(), self.0) }
    }

    #[inline(always)]
    fn splat(byte: u8) -> V128 {
        V128(wasm::u8x16_splat(byte))
    }

    #[inline(always)]
    fn xor(self, other: V128) -> V128 {
        V128(wasm::v128_xor(self.0, other.0))
    }

    #[inline(always)]
    fn and(self, other: V128) -> V128 {
        V128(wasm::v128_and(self.0, other.0))
    }

    #[inline(always)]
    fn majority(a: V128, b: V128, c: V128) -> V128 {
        // Where a and b agree they are the majority, elsewhere c decides.
        V128::select(a.xor(b), c, a)
    }

    #[inline(always)]
    fn select(mask: V128, yes: V128, no: V128) -> V128 {
        V128(wasm::v128_bitselect(yes.0, no.0, mask.0))
    }

    #[inline(always)]
    fn full_add(a: V128, b: V128, c: V128) -> (V128, V128) {
        let ab = a.xor(b);
        (ab.xor(c), V128::select(ab, c, a))
    }

    #[inline(always)]
    fn hide<T>(of: &T) -> &T {
        // With a pointer that a loop moves, the compiler adds offsets by
        // instructions of their own, for fear that an address wraps around.
        std::hint::black_box(of)
    }

    #[inline(always)]
    fn byte(value: u8) -> V128 {
        V128::splat(value)
    }

    #[inline(always)]
    fn add_distance(self, x: V128, byte: V128) -> V128 {
        let counts = wasm::u8x16_popcnt(x.xor(byte).0);
        V128(wasm::u8x16_add(self.0, counts))
    }

    #[inline(always)]
    fn splat16(value: u16) -> V128 {
        V128(wasm::u16x8_splat(value))
    }

    #[inline(always)]
    fn even(self) -> V128 {
        self.and(V128::splat16(0xff))
    }

    #[inline(always)]
    fn odd(self) -> V128 {
        V128(wasm::u16x8_shr(self.0, 8))
    }

    #[inline(always)]
    fn add16(self, other: V128) -> V128 {
        V128(wasm::u16x8_add(self.0, other.0))
    }

    #[inline(always)]
    fn min16(self, other: V128) -> V128 {
        V128(wasm::u16x8_min(self.0, other.0))
    }

    #[inline(always)]
    fn shl16_5(self) -> V128 {
        V128(wasm::u16x8_shl(self.0, 5))
    }

    #[inline(always)]
    fn store_wide(even: V128, odd: V128, out: &mut [u16]) {
        let (low, high) = out[..16].split_at_mut(8);
        let first = wasm::i16x8_shuffle::<0, 8, 1, 9, 2, 10, 3, 11>(even.0, odd.0);
        let second = wasm::i16x8_shuffle::<4, 12, 5, 13, 6, 14, 7, 15>(even.0, odd.0);
        // SAFETY: 8 lanes are there in each half; no alignment is needed.
        unsafe {
            wasm::v128_store(low.as_mut_ptr().cast(), first);
            wasm::v128_store(high.as_mut_ptr().cast(), second);
        }
    }

    #[inline(always)]
    fn slices(planes: [&[u8; 64]; MAX_BLOCKS]) -> [V128; 8] {
        let mut x = [V128::splat(0); 8];
        for (i, x) in x.iter_mut().enumerate() {
            *x = V128::load(&planes[i / 4][16 * (i % 4)..]);
        }
        // Word 8 p + q to byte p of vector q.
        for _ in 0..4 {
            let mut next = x;
            for (i, pair) in next.as_chunks_mut().0.iter_mut().enumerate() {
                *pair = zip(x[i], x[i + 4]);
            }
            x = next;
        }
        // Bit k of vector q to bit q of vector k: 8 x 8 bits in each byte.
        for (i, j) in [(0, 4), (1, 5), (2, 6), (3, 7)] {
            (x[i], x[j]) = exchange::<4>(x[i], x[j], 0x0f);
        }
        for (i, j) in [(0, 2), (1, 3), (4, 6), (5, 7)] {
            (x[i], x[j]) = exchange::<2>(x[i], x[j], 0x33);
        }
        for (i, j) in [(0, 1), (2, 3), (4, 5), (6, 7)] {
            (x[i], x[j]) = exchange::<1>(x[i], x[j], 0x55);
        }
        x
    }
}

/// The bytes of two vectors in turn: the lower halves', then the higher ones'.
#[inline(always)]
fn zip(V128(a): V128, V128(b): V128) -> [V128; 2] {
    [
        V128(wasm::i8x16_shuffle::<
            0,
            16,
            1,
            17,
            2,
            18,
            3,
            19,
            4,
            20,
            5,
            21,
            6,
            22,
            7,
            23,
        >(a, b)),
        V128(wasm::i8x16_shuffle::<
            8,
            24,
            9,
            25,
            10,
            26,
            11,
            27,
            12,
            28,
            13,
            29,
            14,
            30,
            15,
            31,
        >(a, b)),
    ]
}

/// Exchanges the bits of `b` under `mask` for those of `a` that are `SHIFT` higher.
#[inline(always)]
fn exchange<const SHIFT: u32>(a: V128, b: V128, mask: u8) -> (V128, V128) {
    let differ = V128(wasm::u16x8_shr(a.0, SHIFT)).xor(b);
    let differ = differ.and(V128::splat(mask));
    (a.xor(V128(wasm::u16x8_shl(differ.0, SHIFT))), b.xor(differ))
}

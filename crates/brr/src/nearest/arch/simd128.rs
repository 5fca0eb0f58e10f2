//! 16 bytes in a WebAssembly `v128`. A build has them or not: nothing to detect.

use super::kernels;
use crate::codes::{CodeBlocks, CodeRows};
use crate::nearest::backend::{Backend, Kernels};
use crate::nearest::vector::Vector;
use crate::nearest::weigh::{self, WeightTable};
use crate::nearest::{Neighbor, planes, slices};
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
    fn bit_slices(plane: &[u8; 64]) -> [u64; 8] {
        let mut out = [0; 8];
        for (i, part) in plane.as_chunks::<16>().0.iter().enumerate() {
            let mut bytes = V128::load(part).0;
            for slice in out.iter_mut().rev() {
                *slice |= u64::from(wasm::u8x16_bitmask(bytes)) << (16 * i);
                bytes = wasm::u8x16_add(bytes, bytes);
            }
        }
        out
    }
}

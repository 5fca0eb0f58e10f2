//! A vector of eight bytes in a 64-bit integer, for any CPU.

use super::kernels;
use crate::WordId;
use crate::codes::{CodeBlocks, CodeRows};
use crate::nearest::backend::{Backend, Kernels};
use crate::nearest::vector::Vector;
use crate::nearest::weigh::{self, WeightTable};
use crate::nearest::{Neighbor, planes, sift, slices};
use std::ops::Range;

kernels!(u64, 4, Backend::Scalar, true,);

impl Vector for u64 {
    type Byte = u64;

    const BYTES: usize = 8;

    #[inline(always)]
    fn load(bytes: &[u8]) -> u64 {
        u64::from_le_bytes(*bytes.first_chunk().expect("8 bytes"))
    }

    #[inline(always)]
    fn store(self, bytes: &mut [u8]) {
        bytes[..8].copy_from_slice(&self.to_le_bytes());
    }

    #[inline(always)]
    fn splat(byte: u8) -> u64 {
        u64::from_le_bytes([byte; 8])
    }

    #[inline(always)]
    fn xor(self, other: u64) -> u64 {
        self ^ other
    }

    #[inline(always)]
    fn and(self, other: u64) -> u64 {
        self & other
    }

    #[inline(always)]
    fn majority(a: u64, b: u64, c: u64) -> u64 {
        (a & b) | (c & (a ^ b))
    }

    #[inline(always)]
    fn select(mask: u64, yes: u64, no: u64) -> u64 {
        no ^ (mask & (yes ^ no))
    }

    #[inline(always)]
    fn full_add(a: u64, b: u64, c: u64) -> (u64, u64) {
        let ab = a ^ b;
        (ab ^ c, (a & b) | (ab & c))
    }

    #[inline(always)]
    fn byte(value: u8) -> u64 {
        u64::splat(value)
    }

    #[inline(always)]
    fn add_distance(self, x: u64, byte: u64) -> u64 {
        const M1: u64 = 0x5555_5555_5555_5555;
        const M2: u64 = 0x3333_3333_3333_3333;
        const M4: u64 = 0x0f0f_0f0f_0f0f_0f0f;
        let x = x ^ byte;
        let x = x - (x >> 1 & M1);
        let x = (x & M2) + (x >> 2 & M2);
        // No lane exceeds 255 (see `planes`), so none carries into the next.
        self + ((x + (x >> 4)) & M4)
    }

    #[inline(always)]
    fn even(self) -> u64 {
        self & 0x00ff_00ff_00ff_00ff
    }

    #[inline(always)]
    fn odd(self) -> u64 {
        (self >> 8) & 0x00ff_00ff_00ff_00ff
    }

    #[inline(always)]
    fn add16(self, other: u64) -> u64 {
        // Distances and keys fit their lanes: nothing carries over.
        self + other
    }

    #[inline(always)]
    fn min16(self, other: u64) -> u64 {
        let mut out = 0;
        for shift in [0, 16, 32, 48] {
            let least = (self >> shift & 0xffff).min(other >> shift & 0xffff);
            out |= least << shift;
        }
        out
    }

    #[inline(always)]
    fn shl16_5(self) -> u64 {
        self << 5
    }

    #[inline(always)]
    fn store_wide(even: u64, odd: u64, out: &mut [u16]) {
        for (i, pair) in out[..8].as_chunks_mut::<2>().0.iter_mut().enumerate() {
            *pair = [(even >> (16 * i)) as u16, (odd >> (16 * i)) as u16];
        }
    }
}

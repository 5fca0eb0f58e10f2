//! 16 bytes in a NEON register.

use super::kernels;
use crate::WordId;
use crate::codes::{CodeBlocks, CodeRows};
use crate::nearest::backend::{Backend, Kernels};
use crate::nearest::vector::Vector;
use crate::nearest::weigh::{self, WeightTable};
use crate::nearest::{Neighbor, planes, sift, slices};
use std::arch::aarch64::*;
use std::ops::Range;

kernels!(
    Neon,
    4,
    Backend::Neon,
    std::arch::is_aarch64_feature_detected!("neon"),
    #[target_feature(enable = "neon")]
);

#[derive(Clone, Copy)]
struct Neon(uint8x16_t);

/// Wraps intrinsics that are unsafe only because they need NEON.
macro_rules! neon {
    ($e:expr) => {
        // SAFETY: a `Neon` is used by the kernels above alone, which run only
        // where NEON is.
        unsafe { $e }
    };
}

/// The same bits as eight 16-bit lanes, and back.
macro_rules! wide {
    ($op:ident $([$shift:literal])? ($($x:expr),*)) => {
        Neon(neon!(vreinterpretq_u8_u16(
            $op$(::<$shift>)?($(vreinterpretq_u16_u8($x.0)),*)
        )))
    };
}

impl Vector for Neon {
    type Byte = Neon;

    const BYTES: usize = 16;

    #[inline(always)]
    fn load(bytes: &[u8]) -> Neon {
        let bytes = &bytes[..16];
        Neon(neon!(vld1q_u8(bytes.as_ptr())))
    }

    #[inline(always)]
    fn store(self, bytes: &mut [u8]) {
        let bytes = &mut bytes[..16];
        neon!(vst1q_u8(bytes.as_mut_ptr(), self.0))
    }

    #[inline(always)]
    fn splat(byte: u8) -> Neon {
        Neon(neon!(vdupq_n_u8(byte)))
    }

    #[inline(always)]
    fn xor(self, other: Neon) -> Neon {
        Neon(neon!(veorq_u8(self.0, other.0)))
    }

    #[inline(always)]
    fn and(self, other: Neon) -> Neon {
        Neon(neon!(vandq_u8(self.0, other.0)))
    }

    #[inline(always)]
    fn majority(a: Neon, b: Neon, c: Neon) -> Neon {
        // Where a and b agree they are the majority, elsewhere c decides.
        Neon::select(a.xor(b), c, a)
    }

    #[inline(always)]
    fn select(mask: Neon, yes: Neon, no: Neon) -> Neon {
        Neon(neon!(vbslq_u8(mask.0, yes.0, no.0)))
    }

    #[inline(always)]
    fn full_add(a: Neon, b: Neon, c: Neon) -> (Neon, Neon) {
        let ab = a.xor(b);
        (ab.xor(c), Neon::select(ab, c, a))
    }

    #[inline(always)]
    fn byte(value: u8) -> Neon {
        Neon::splat(value)
    }

    #[inline(always)]
    fn add_distance(self, x: Neon, byte: Neon) -> Neon {
        Neon(neon!(vaddq_u8(self.0, vcntq_u8(x.xor(byte).0))))
    }

    #[inline(always)]
    fn splat16(value: u16) -> Neon {
        Neon(neon!(vreinterpretq_u8_u16(vdupq_n_u16(value))))
    }

    #[inline(always)]
    fn even(self) -> Neon {
        self.and(Neon::splat16(0xff))
    }

    #[inline(always)]
    fn odd(self) -> Neon {
        wide!(vshrq_n_u16[8](self))
    }

    #[inline(always)]
    fn add16(self, other: Neon) -> Neon {
        wide!(vaddq_u16(self, other))
    }

    #[inline(always)]
    fn min16(self, other: Neon) -> Neon {
        wide!(vminq_u16(self, other))
    }

    #[inline(always)]
    fn shl16_5(self) -> Neon {
        wide!(vshlq_n_u16[5](self))
    }

    #[inline(always)]
    fn store_wide(even: Neon, odd: Neon, out: &mut [u16]) {
        let out = &mut out[..16];
        neon!({
            let pair = uint16x8x2_t(vreinterpretq_u16_u8(even.0), vreinterpretq_u16_u8(odd.0));
            vst2q_u16(out.as_mut_ptr(), pair);
        });
    }
}

//! 32 bytes in an AVX2 register.

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
    Ymm,
    2,
    Backend::Avx2,
    is_x86_feature_detected!("avx2") && is_x86_feature_detected!("popcnt"),
    #[target_feature(enable = "avx2,popcnt")]
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
    #[allow(
        clippy::needless_range_loop,
        reason = "iterators over vectors would be compiled without AVX2"
    )]
    fn spread<const P: usize>(slices: [Ymm; P], out: &mut [u16]) {
        let mut words = [[0i16; 16]; P];
        // Loops, not closures: those would be compiled without AVX2.
        for p in 8..P {
            avx2!(_mm256_storeu_si256(
                words[p].as_mut_ptr().cast(),
                slices[p].0
            ));
        }
        let out = out[..256].as_chunks_mut::<16>().0;
        let low = low_bytes(&slices);
        for (i, low) in low.iter().enumerate() {
            avx2!({
                let halves = [
                    _mm256_castsi256_si128(low.0),
                    _mm256_extracti128_si256::<1>(low.0),
                ];
                for (half, &bytes) in halves.iter().enumerate() {
                    let at = 8 * half + i;
                    let mut numbers = _mm256_cvtepu8_epi16(bytes);
                    for p in 8..P {
                        let bit = _mm256_and_si256(ones(words[p][at]), _mm256_set1_epi16(1 << p));
                        numbers = _mm256_or_si256(numbers, bit);
                    }
                    _mm256_storeu_si256(out[at].as_mut_ptr().cast(), numbers);
                }
            });
        }
    }
}

/// The lowest byte of the number in each column. Vector `i` has the columns from `16 i` on in its first
/// lane, and those from `128 + 16 i` on in its second.
#[inline(always)]
fn low_bytes<const P: usize>(slices: &[Ymm; P]) -> [Ymm; 8] {
    let mut s = [Ymm::splat(0); 8];
    s[..P.min(8)].copy_from_slice(&slices[..P.min(8)]);
    let [s0, s1, s2, s3, s4, s5, s6, s7] = [
        s[0].0, s[1].0, s[2].0, s[3].0, s[4].0, s[5].0, s[6].0, s[7].0,
    ];
    let mut out = [Ymm::splat(0); 8];
    avx2!({
        // Byte j of all slices next to each other...
        let (a0, a1) = (_mm256_unpacklo_epi8(s0, s1), _mm256_unpackhi_epi8(s0, s1));
        let (b0, b1) = (_mm256_unpacklo_epi8(s2, s3), _mm256_unpackhi_epi8(s2, s3));
        let (c0, c1) = (_mm256_unpacklo_epi8(s4, s5), _mm256_unpackhi_epi8(s4, s5));
        let (d0, d1) = (_mm256_unpacklo_epi8(s6, s7), _mm256_unpackhi_epi8(s6, s7));
        let lower = [
            _mm256_unpacklo_epi16(a0, b0),
            _mm256_unpackhi_epi16(a0, b0),
            _mm256_unpacklo_epi16(a1, b1),
            _mm256_unpackhi_epi16(a1, b1),
        ];
        let upper = [
            _mm256_unpacklo_epi16(c0, d0),
            _mm256_unpackhi_epi16(c0, d0),
            _mm256_unpacklo_epi16(c1, d1),
            _mm256_unpackhi_epi16(c1, d1),
        ];
        for (i, pair) in out.as_chunks_mut::<2>().0.iter_mut().enumerate() {
            // ... are an 8 x 8 matrix of bits; its transpose are the numbers.
            pair[0] = Ymm(transpose_8x8(_mm256_unpacklo_epi32(lower[i], upper[i])));
            pair[1] = Ymm(transpose_8x8(_mm256_unpackhi_epi32(lower[i], upper[i])));
        }
    });
    out
}

/// Transposes an 8 x 8 matrix of bits in each quarter, as the function of this name for one.
#[inline(always)]
fn transpose_8x8(x: __m256i) -> __m256i {
    avx2!({
        let mask = _mm256_set1_epi64x(0x00aa_00aa_00aa_00aa);
        let t = _mm256_and_si256(_mm256_xor_si256(x, _mm256_srli_epi64::<7>(x)), mask);
        let x = _mm256_xor_si256(_mm256_xor_si256(x, t), _mm256_slli_epi64::<7>(t));
        let mask = _mm256_set1_epi64x(0x0000_cccc_0000_cccc);
        let t = _mm256_and_si256(_mm256_xor_si256(x, _mm256_srli_epi64::<14>(x)), mask);
        let x = _mm256_xor_si256(_mm256_xor_si256(x, t), _mm256_slli_epi64::<14>(t));
        let mask = _mm256_set1_epi64x(0x0000_0000_f0f0_f0f0);
        let t = _mm256_and_si256(_mm256_xor_si256(x, _mm256_srli_epi64::<28>(x)), mask);
        _mm256_xor_si256(_mm256_xor_si256(x, t), _mm256_slli_epi64::<28>(t))
    })
}

/// Ones in each 16 bits whose bit of `word` is set.
#[inline(always)]
fn ones(word: i16) -> __m256i {
    avx2!({
        let bits = _mm256_setr_epi16(
            1 << 0,
            1 << 1,
            1 << 2,
            1 << 3,
            1 << 4,
            1 << 5,
            1 << 6,
            1 << 7,
            1 << 8,
            1 << 9,
            1 << 10,
            1 << 11,
            1 << 12,
            1 << 13,
            1 << 14,
            i16::MIN,
        );
        let own = _mm256_and_si256(_mm256_set1_epi16(word), bits);
        _mm256_cmpeq_epi16(own, bits)
    })
}

//! What the kernels ask of a vector register.

use super::weigh::WeightTable;

/// Most blocks of 64 columns in a vector: one of 512 bits.
pub(super) const MAX_BLOCKS: usize = 8;

/// A vector of bytes, which is also a vector of bits.
///
/// Every method must be `#[inline(always)]`, so that it is compiled into the
/// `#[target_feature]` functions of [`arch`](super::arch) that call a kernel.
/// Calling one anywhere else, on a CPU without the feature, is undefined
/// behaviour: implementors are private to their backend, and only kernels that
/// a [`Backend`](super::Backend) check has let through ever name them.
pub(super) trait Vector: Copy {
    /// A byte of a query, in the form in which distances to it are fastest.
    type Byte: Copy;

    /// Bytes in a vector: a divisor of 64.
    const BYTES: usize;

    /// The first `BYTES` bytes of `bytes`.
    fn load(bytes: &[u8]) -> Self;

    /// Writes all bytes to the start of `bytes`.
    fn store(self, bytes: &mut [u8]);

    /// `byte` in every lane.
    fn splat(byte: u8) -> Self;

    /// Bitwise `self ^ other`.
    fn xor(self, other: Self) -> Self;

    /// Bitwise `self & other`.
    fn and(self, other: Self) -> Self;

    /// Bitwise majority of three.
    fn majority(a: Self, b: Self, c: Self) -> Self;

    /// Bitwise `if mask { yes } else { no }`.
    fn select(mask: Self, yes: Self, no: Self) -> Self;

    /// Bitwise `a + b + c`, as a sum bit and a carry bit.
    fn full_add(a: Self, b: Self, c: Self) -> (Self, Self);

    /// Hides where a reference comes from, if that makes loads by it cheaper.
    #[inline(always)]
    fn hide<T>(of: &T) -> &T {
        of
    }

    /// Makes a query's byte ready.
    fn byte(value: u8) -> Self::Byte;

    /// Adds to each byte of `self` the Hamming distance of `x`'s to the query's
    /// byte. The caller sees to it that no sum exceeds 255.
    fn add_distance(self, x: Self, byte: Self::Byte) -> Self;

    /// `value` in every 16-bit lane.
    #[inline(always)]
    fn splat16(value: u16) -> Self {
        let mut bytes = [0; 64];
        for pair in bytes.as_chunks_mut::<2>().0 {
            *pair = value.to_le_bytes();
        }
        Self::load(&bytes)
    }

    /// Bytes 0, 2, 4, ... as 16-bit lanes.
    fn even(self) -> Self;

    /// Bytes 1, 3, 5, ... as 16-bit lanes.
    fn odd(self) -> Self;

    /// Sum of 16-bit lanes.
    fn add16(self, other: Self) -> Self;

    /// Lesser of unsigned 16-bit lanes.
    fn min16(self, other: Self) -> Self;

    /// 16-bit lanes times 32.
    fn shl16_5(self) -> Self;

    /// Writes the lanes of `even` and `odd` in turn: `BYTES` of them.
    fn store_wide(even: Self, odd: Self, out: &mut [u16]);

    /// Bit `k` of 64 bytes, for `k` from 0 to 7: byte `i` gives bit `i`.
    #[inline(always)]
    fn bit_slices(plane: &[u8; 64]) -> [u64; 8] {
        let mut out = [0; 8];
        for (i, bytes) in plane.as_chunks::<8>().0.iter().enumerate() {
            let columns = transpose_8x8(u64::from_le_bytes(*bytes)).to_le_bytes();
            for (slice, column) in out.iter_mut().zip(columns) {
                *slice |= u64::from(column) << (8 * i);
            }
        }
        out
    }

    /// As [`Vector::bit_slices`], of a byte for each column of a vector: those of
    /// block `b` are in plane `b`.
    #[inline(always)]
    fn slices(planes: [&[u8; 64]; MAX_BLOCKS]) -> [Self; 8] {
        let mut slices = [[0; MAX_BLOCKS * 8]; 8];
        for (b, plane) in planes[..Self::BYTES / 8].iter().enumerate() {
            for (slice, bits) in slices.iter_mut().zip(Self::bit_slices(plane)) {
                slice[b * 8..][..8].copy_from_slice(&bits.to_le_bytes());
            }
        }
        let mut out = [Self::splat(0); 8];
        for (out, slice) in out.iter_mut().zip(&slices) {
            *out = Self::load(slice);
        }
        out
    }

    /// The sum of weights of each block of 64 columns, of which the first
    /// `words` count. A column's distance is its number in `slices`, lowest bits
    /// first.
    #[inline(always)]
    fn weigh<const P: usize>(
        slices: [Self; P],
        table: &WeightTable,
        words: usize,
        sums: &mut [u64],
    ) {
        let mut distances = [0; 512];
        Self::spread(slices, &mut distances);
        table.sums(&distances[..words], sums);
    }

    /// The number in each column of `slices`: one a bit of a vector.
    #[inline(always)]
    fn spread<const P: usize>(slices: [Self; P], out: &mut [u16]) {
        let mut bytes = [[0; 64]; P];
        for (bytes, slice) in bytes.iter_mut().zip(slices) {
            slice.store(bytes);
        }
        for (i, out) in out[..Self::BYTES * 8].chunks_exact_mut(8).enumerate() {
            let mut low = 0;
            for (p, bytes) in bytes.iter().take(8).enumerate() {
                low |= u64::from(bytes[i]) << (8 * p);
            }
            let low = transpose_8x8(low).to_le_bytes();
            for (j, out) in out.iter_mut().enumerate() {
                *out = low[j].into();
                for (p, bytes) in bytes.iter().enumerate().skip(8) {
                    *out |= u16::from(bytes[i] >> j & 1) << p;
                }
            }
        }
    }
}

/// Transposes an 8 x 8 bit matrix: bit `c` of byte `r` becomes bit `r` of
/// byte `c` (Hacker's Delight, 7-3).
#[inline(always)]
fn transpose_8x8(x: u64) -> u64 {
    let t = (x ^ (x >> 7)) & 0x00aa_00aa_00aa_00aa;
    let x = x ^ t ^ (t << 7);
    let t = (x ^ (x >> 14)) & 0x0000_cccc_0000_cccc;
    let x = x ^ t ^ (t << 14);
    let t = (x ^ (x >> 28)) & 0x0000_0000_f0f0_f0f0;
    x ^ t ^ (t << 28)
}

//! Binary word codes and the one layout in which they are stored and searched.
//!
//! # Layout
//!
//! Words come in blocks of [`LANES`] = 64. Within a block the codes are
//! transposed byte by byte, into *byte planes*: plane `j` holds byte `j` of
//! each of the block's 64 words, next to each other.
//!
//! ```text
//! block b:  plane 0: [w0.0 w1.0 ... w63.0]
//!           plane 1: [w0.1 w1.1 ... w63.1]
//!           ...                             (bits / 8 planes of 64 bytes)
//! ```
//!
//! So one vector register holds the same byte of many words: the distance of
//! 16, 32 or 64 words to a query is a column sum of per-byte popcounts, with no
//! shuffling across lanes. Files hold the codes in this very layout, so that a
//! model is searched where it lies (embedded bytes, a memory map, a browser's
//! buffer) without a copy.
//!
//! The last block is padded with copies of the last word. A copy has the same
//! distance as the word itself and a higher id, and ties go to the lowest id,
//! so padding is never an answer: no backend needs a special last block.

use std::fmt;

use zeroize::Zeroize;

/// Words in a block.
pub const LANES: usize = 64;

/// Length of a code in bits: a multiple of 64 from 64 to 1024.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CodeBits(u16);

impl CodeBits {
    /// The longest code.
    pub const MAX: CodeBits = CodeBits(1024);

    /// `None` unless `bits` is a multiple of 64 from 64 to 1024.
    pub const fn new(bits: usize) -> Option<CodeBits> {
        if bits == 0 || bits > 1024 || !bits.is_multiple_of(64) {
            return None;
        }
        Some(CodeBits(bits as u16))
    }

    /// Number of bits.
    #[inline]
    pub const fn get(self) -> usize {
        self.0 as usize
    }

    /// Number of bytes.
    #[inline]
    pub const fn bytes(self) -> usize {
        self.get() / 8
    }

    /// Number of 64-bit limbs.
    #[inline]
    pub const fn limbs(self) -> usize {
        self.get() / 64
    }
}

impl fmt::Display for CodeBits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Codes as plain rows of 64-bit limbs; bit `i` is bit `i % 64` of limb `i / 64`.
///
/// The shape in which codes are made, noised and handed to a search as queries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeRows {
    bits: CodeBits,
    limbs: Vec<u64>,
}

impl CodeRows {
    /// No rows yet.
    pub fn new(bits: CodeBits) -> CodeRows {
        CodeRows {
            bits,
            limbs: Vec::new(),
        }
    }

    /// `len` rows of zero bits.
    pub fn zeros(bits: CodeBits, len: usize) -> CodeRows {
        CodeRows {
            bits,
            limbs: vec![0; len * bits.limbs()],
        }
    }

    /// Code length.
    #[inline]
    pub fn bits(&self) -> CodeBits {
        self.bits
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.limbs.len() / self.bits.limbs()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.limbs.is_empty()
    }

    /// Appends a row.
    ///
    /// # Panics
    /// If `row` is not `bits / 64` limbs long.
    #[inline]
    pub fn push(&mut self, row: &[u64]) {
        assert_eq!(row.len(), self.bits.limbs(), "row length");
        self.limbs.extend_from_slice(row);
    }

    /// Row `i`.
    #[inline]
    pub fn row(&self, i: usize) -> &[u64] {
        let n = self.bits.limbs();
        &self.limbs[i * n..(i + 1) * n]
    }

    /// Row `i`, to change.
    #[inline]
    pub fn row_mut(&mut self, i: usize) -> &mut [u64] {
        let n = self.bits.limbs();
        &mut self.limbs[i * n..(i + 1) * n]
    }

    /// All rows in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u64]> {
        self.limbs.chunks_exact(self.bits.limbs())
    }

    /// All limbs, row after row.
    pub fn limbs(&self) -> &[u64] {
        &self.limbs
    }
}

/// Mechanisms overwrite the codes of private words after use.
impl Zeroize for CodeRows {
    fn zeroize(&mut self) {
        // By slice: of a vector, each byte of its capacity would be written singly.
        self.limbs.as_mut_slice().zeroize();
    }
}

/// Hamming distance of two codes.
#[inline(always)]
pub fn hamming(a: &[u64], b: &[u64]) -> u32 {
    a.iter().zip(b).map(|(x, y)| (x ^ y).count_ones()).sum()
}

/// A borrowed code table in the block layout of this module.
#[derive(Clone, Copy)]
pub struct CodeBlocks<'a> {
    bits: CodeBits,
    len: usize,
    bytes: &'a [u8],
}

impl<'a> CodeBlocks<'a> {
    /// Bytes that `len` codes of `bits` take; `None` if that overflows.
    pub const fn size(bits: CodeBits, len: usize) -> Option<usize> {
        len.div_ceil(LANES).checked_mul(LANES * bits.bytes())
    }

    /// Views `bytes` as `len` codes. `None` if the size is wrong, there is no
    /// word, or the padding is not made of copies of the last word.
    pub fn new(bits: CodeBits, len: usize, bytes: &'a [u8]) -> Option<CodeBlocks<'a>> {
        if len == 0 || len > u32::MAX as usize || Self::size(bits, len) != Some(bytes.len()) {
            return None;
        }
        let last = (len - 1) % LANES;
        let tail = &bytes[bytes.len() - LANES * bits.bytes()..];
        let padded = tail
            .chunks_exact(LANES)
            .all(|plane| plane[last..].iter().all(|&b| b == plane[last]));
        padded.then_some(CodeBlocks { bits, len, bytes })
    }

    /// Code length.
    pub fn bits(&self) -> CodeBits {
        self.bits
    }

    /// Number of words (padding not counted).
    pub fn len(&self) -> usize {
        self.len
    }

    /// Never true: a table has at least one word.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Number of blocks.
    pub fn blocks(&self) -> usize {
        self.len.div_ceil(LANES)
    }

    /// The table's bytes, block after block.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Bytes of block `b`: `bits / 8` planes of `LANES` bytes.
    #[inline]
    pub fn block(&self, b: usize) -> &'a [u8] {
        let n = self.bits.bytes() * LANES;
        &self.bytes[b * n..(b + 1) * n]
    }

    /// Gathers word `id`'s code into `out` (`bits / 64` limbs).
    ///
    /// # Panics
    /// If `id` is not below [`len`](Self::len) or `out` has another length.
    pub fn read(&self, id: usize, out: &mut [u64]) {
        assert!(id < self.len, "word id out of range");
        assert_eq!(out.len(), self.bits.limbs(), "row length");
        let block = self.block(id / LANES);
        for (l, limb) in out.iter_mut().enumerate() {
            let mut bytes = [0; 8];
            for (j, byte) in bytes.iter_mut().enumerate() {
                *byte = block[(l * 8 + j) * LANES + id % LANES];
            }
            *limb = u64::from_le_bytes(bytes);
        }
    }

    /// All codes as rows.
    pub fn to_rows(&self) -> CodeRows {
        let mut rows = CodeRows::zeros(self.bits, self.len);
        for id in 0..self.len {
            self.read(id, rows.row_mut(id));
        }
        rows
    }
}

/// Lays rows out in blocks. Empty in, empty out.
pub fn to_blocks(rows: &CodeRows) -> Vec<u8> {
    let (bytes, len) = (rows.bits().bytes(), rows.len());
    let mut out = vec![0; len.div_ceil(LANES) * LANES * bytes];
    for (b, block) in out.chunks_exact_mut(LANES * bytes).enumerate() {
        for lane in 0..LANES {
            let row = rows.row((b * LANES + lane).min(len - 1));
            for (j, byte) in row.iter().flat_map(|limb| limb.to_le_bytes()).enumerate() {
                block[j * LANES + lane] = byte;
            }
        }
    }
    out
}

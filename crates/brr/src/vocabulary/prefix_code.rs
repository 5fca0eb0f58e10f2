//! Canonical prefix (Huffman) codes over small alphabets, and bit streams.
//!
//! A code is stored as one length of 0 to 15 bits per symbol; shorter codes
//! come first and equal lengths go by symbol, so lengths say everything.
//! No crate does just this without a compression format around it.

/// The longest code word.
const MAX_LENGTH: usize = 15;

/// Writes bits, least significant first.
#[derive(Default)]
pub struct BitWriter {
    bytes: Vec<u8>,
    used: usize,
}

impl BitWriter {
    /// Appends the lowest `count` bits of `value`.
    pub fn write(&mut self, value: u64, count: usize) {
        for i in 0..count {
            if self.used == self.bytes.len() * 8 {
                self.bytes.push(0);
            }
            self.bytes[self.used / 8] |= ((value >> i & 1) as u8) << (self.used % 8);
            self.used += 1;
        }
    }

    /// The bytes; the last one is filled up with zero bits.
    pub fn finish(self) -> Vec<u8> {
        self.bytes
    }
}

/// Reads what [`BitWriter`] wrote.
pub struct BitReader<'a> {
    bytes: &'a [u8],
    next: usize,
}

impl<'a> BitReader<'a> {
    /// Starts at the first bit.
    pub fn new(bytes: &'a [u8]) -> Self {
        BitReader { bytes, next: 0 }
    }

    /// The next bit; `None` at the end.
    #[inline]
    pub fn bit(&mut self) -> Option<u32> {
        let byte = *self.bytes.get(self.next / 8)?;
        let bit = byte >> (self.next % 8) & 1;
        self.next += 1;
        Some(bit.into())
    }

    /// The next `count` bits as a number.
    pub fn bits(&mut self, count: usize) -> Option<u32> {
        let mut value = 0;
        for i in 0..count {
            value |= self.bit()? << i;
        }
        Some(value)
    }

    /// Whether nothing but a last byte's filling remains.
    pub fn at_end(&self) -> bool {
        self.next.div_ceil(8) == self.bytes.len()
    }
}

/// Code lengths that fit `counts`, none above [`MAX_LENGTH`]; 0 for unused symbols.
pub fn lengths_for(counts: &[u64]) -> Vec<u8> {
    let mut counts = counts.to_vec();
    loop {
        let lengths = huffman_lengths(&counts);
        if lengths.iter().all(|&l| usize::from(l) <= MAX_LENGTH) {
            return lengths;
        }
        // Flatten until the rarest symbols are not too deep: costs next to nothing.
        for count in counts.iter_mut().filter(|c| **c > 0) {
            *count = count.div_ceil(2) + 1;
        }
    }
}

fn huffman_lengths(counts: &[u64]) -> Vec<u8> {
    // Each heap entry is a subtree: weight, then its symbols (ties by first symbol).
    let mut heap: std::collections::BinaryHeap<_> = counts
        .iter()
        .enumerate()
        .filter(|&(_, &c)| c > 0)
        .map(|(symbol, &c)| std::cmp::Reverse((c, vec![symbol])))
        .collect();
    let mut lengths = vec![0u8; counts.len()];
    if heap.len() == 1 {
        lengths[heap.pop().expect("one entry").0.1[0]] = 1;
    }
    while heap.len() > 1 {
        let std::cmp::Reverse((a, mut left)) = heap.pop().expect("two entries");
        let std::cmp::Reverse((b, right)) = heap.pop().expect("two entries");
        left.extend(right);
        for &symbol in &left {
            lengths[symbol] = lengths[symbol].saturating_add(1);
        }
        heap.push(std::cmp::Reverse((a + b, left)));
    }
    lengths
}

/// A canonical code, ready to write and to read with.
pub struct PrefixCode {
    lengths: Vec<u8>,
    /// Symbols in canonical order.
    symbols: Vec<u16>,
    /// How many code words have each length.
    per_length: [u16; MAX_LENGTH + 1],
    /// The code word of each symbol, for writing.
    words: Vec<u16>,
}

impl PrefixCode {
    /// `None` unless the lengths make a code in which no word begins another.
    pub fn new(lengths: &[u8]) -> Option<PrefixCode> {
        if lengths.iter().any(|&l| usize::from(l) > MAX_LENGTH) {
            return None;
        }
        let mut symbols: Vec<u16> = (0..lengths.len() as u16)
            .filter(|&s| lengths[usize::from(s)] > 0)
            .collect();
        symbols.sort_by_key(|&s| (lengths[usize::from(s)], s));
        let mut per_length = [0; MAX_LENGTH + 1];
        let mut words = vec![0; lengths.len()];
        let (mut next, mut previous) = (0u32, 0u8);
        for &s in &symbols {
            let length = lengths[usize::from(s)];
            next <<= length - previous;
            previous = length;
            if next >> length != 0 {
                return None;
            }
            words[usize::from(s)] = next as u16;
            next += 1;
            per_length[usize::from(length)] += 1;
        }
        Some(PrefixCode {
            lengths: lengths.to_vec(),
            symbols,
            per_length,
            words,
        })
    }

    /// Writes a symbol that has a code word.
    pub fn write(&self, symbol: usize, out: &mut BitWriter) {
        let length = usize::from(self.lengths[symbol]);
        let word = u64::from(self.words[symbol]);
        // Most significant bit first: the order in which a reader narrows down.
        out.write(word.reverse_bits() >> (64 - length), length);
    }

    /// Reads a symbol; `None` at the end or at bits that are no code word.
    #[inline]
    pub fn read(&self, bits: &mut BitReader<'_>) -> Option<usize> {
        let (mut word, mut first, mut index) = (0u32, 0u32, 0u32);
        for &count in &self.per_length[1..] {
            word |= bits.bit()?;
            let count = u32::from(count);
            if word < first + count {
                return Some(self.symbols[(index + word - first) as usize].into());
            }
            index += count;
            first = (first + count) << 1;
            word <<= 1;
        }
        None
    }
}

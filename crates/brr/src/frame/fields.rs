//! Reading the small sections, field by field.

use crate::error::{Error, Result};

/// Takes little-endian fields off the front of a section.
pub struct Fields<'a> {
    rest: &'a [u8],
    section: &'static str,
}

impl<'a> Fields<'a> {
    pub fn new(section: &'static str, bytes: &'a [u8]) -> Self {
        Fields {
            rest: bytes,
            section,
        }
    }

    pub fn invalid(&self, reason: &'static str) -> Error {
        Error::ModelInvalid {
            section: self.section,
            reason,
        }
    }

    pub fn take<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (head, rest) = self
            .rest
            .split_first_chunk()
            .ok_or_else(|| self.invalid("ends early"))?;
        self.rest = rest;
        Ok(*head)
    }

    pub fn bytes(&mut self, length: usize) -> Result<&'a [u8]> {
        let (bytes, rest) = self
            .rest
            .split_at_checked(length)
            .ok_or_else(|| self.invalid("ends early"))?;
        self.rest = rest;
        Ok(bytes)
    }

    pub fn u16(&mut self) -> Result<u16> {
        self.take().map(u16::from_le_bytes)
    }

    pub fn u32(&mut self) -> Result<u32> {
        self.take().map(u32::from_le_bytes)
    }

    pub fn u64(&mut self) -> Result<u64> {
        self.take().map(u64::from_le_bytes)
    }

    pub fn u128(&mut self) -> Result<u128> {
        self.take().map(u128::from_le_bytes)
    }

    /// A number in LEB128: seven bits a byte, the lowest first.
    pub fn leb128(&mut self) -> Result<u32> {
        let mut value = 0;
        for shift in (0..u32::BITS).step_by(7) {
            let [byte] = self.take()?;
            let low = u32::from(byte & 0x7f);
            if low.leading_zeros() < shift {
                return Err(self.invalid("a number is too large"));
            }
            value |= low << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(self.invalid("a number is too large"))
    }

    /// A finite number that is not negative.
    pub fn number(&mut self) -> Result<f64> {
        let x = self.take().map(f64::from_le_bytes)?;
        if x.is_finite() && x >= 0.0 {
            Ok(x)
        } else {
            Err(self.invalid("a number is negative or not finite"))
        }
    }

    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    pub fn end(&self) -> Result<()> {
        if self.rest.is_empty() {
            Ok(())
        } else {
            Err(self.invalid("longer than its fields"))
        }
    }
}

/// Appends a number in LEB128.
pub fn push_leb128(out: &mut Vec<u8>, mut value: u32) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

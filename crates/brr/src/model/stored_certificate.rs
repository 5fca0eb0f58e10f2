//! Certificates in a model file, one after the other.
//!
//! A weight has at most 24 significant binary digits: it is stored as those
//! digits with the number of zeros behind them in the highest byte.

use super::calibration::{read_keep, write_keep};
use super::fields::Fields;
use crate::codes::CodeBits;
use crate::error::Result;
use crate::mechanism::{Certificate, WorstPair};

pub fn write_all(certificates: &[&Certificate]) -> Vec<u8> {
    let mut out = Vec::new();
    for c in certificates {
        out.extend(c.identity);
        out.extend(c.epsilon.to_le_bytes());
        out.extend(c.asked.to_le_bytes());
        out.extend(c.scale.to_le_bytes());
        write_keep(c.keep, &mut out);
        out.extend(c.normalizers.start().to_le_bytes());
        out.extend(c.normalizers.end().to_le_bytes());
        out.extend(c.worst_pair.words.0.to_le_bytes());
        out.extend(c.worst_pair.words.1.to_le_bytes());
        out.extend(c.worst_pair.distance.to_le_bytes());
        for weight in &c.weights {
            let zeros = weight.trailing_zeros();
            out.extend(((weight >> zeros) as u32 | zeros << 24).to_le_bytes());
        }
    }
    out
}

pub fn read_all(bytes: &[u8], bits: CodeBits, words: u32) -> Result<Vec<Certificate>> {
    let mut fields = Fields::new("certificates", bytes);
    let mut certificates: Vec<Certificate> = Vec::new();
    while !fields.is_empty() {
        let certificate = read_one(&mut fields, bits, words)?;
        if certificates
            .last()
            .is_some_and(|c| c.epsilon > certificate.epsilon)
        {
            return Err(fields.invalid("not in ascending order"));
        }
        certificates.push(certificate);
    }
    Ok(certificates)
}

fn read_one(fields: &mut Fields<'_>, bits: CodeBits, words: u32) -> Result<Certificate> {
    let identity = fields.take()?;
    let (epsilon, asked, scale) = (fields.number()?, fields.number()?, fields.number()?);
    let keep = read_keep(fields)?;
    let normalizers = fields.u128()?..=fields.u128()?;
    let worst_pair = WorstPair {
        words: (fields.u32()?, fields.u32()?),
        distance: fields.u32()?,
    };
    let mut weight = || {
        let stored = fields.u32()?;
        let digits = u64::from(stored & 0xff_ffff);
        Ok(digits.checked_shl(stored >> 24).unwrap_or(0))
    };
    let weights = (0..=bits.get()).map(|_| weight()).collect::<Result<_>>()?;
    let certificate = Certificate {
        identity,
        epsilon,
        asked,
        scale,
        weights,
        keep,
        normalizers,
        worst_pair,
    };
    let (a, b) = worst_pair.words;
    if !certificate.is_plausible(words) || a >= words || b >= words {
        return Err(fields.invalid("impossible weights or numbers"));
    }
    Ok(certificate)
}

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
        // Digits that would be shifted out make the weight 0, which is refused.
        let zeros = stored >> 24;
        let weight = digits.checked_shl(zeros);
        Ok(weight.filter(|w| w >> zeros == digits).unwrap_or(0))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mechanism::Weights;
    use crate::model::Keep;

    const WORDS: u32 = 1000;

    fn certificate(radius: Option<usize>) -> Certificate {
        let weights = Weights::exponential(bits(), 0.11, radius).table().to_vec();
        let top = u128::from(weights[0]);
        Certificate {
            identity: [7; 32],
            epsilon: 0.131,
            asked: 0.132,
            scale: 0.11,
            weights,
            keep: Keep {
                weighted: 0.75,
                plain: 0.5,
            },
            normalizers: top + 3..=top * 2,
            worst_pair: WorstPair {
                words: (3, WORDS - 1),
                distance: 7,
            },
        }
    }

    fn bits() -> CodeBits {
        CodeBits::new(128).unwrap()
    }

    #[test]
    fn what_is_written_is_read() {
        let (a, b) = (certificate(None), certificate(Some(40)));
        let bytes = write_all(&[&a, &b]);
        assert_eq!(read_all(&bytes, bits(), WORDS).unwrap(), [a, b]);
        assert!(read_all(&[], bits(), WORDS).unwrap().is_empty());
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let good = certificate(None);
        let refused = |change: &dyn Fn(&mut Certificate)| {
            let mut c = good.clone();
            change(&mut c);
            read_all(&write_all(&[&c]), bits(), WORDS).is_err()
        };
        assert!(!refused(&|_| {}));
        assert!(refused(&|c| c.epsilon = c.asked * 1.001));
        assert!(refused(&|c| c.epsilon = -0.1));
        assert!(refused(&|c| c.scale = f64::NAN));
        assert!(refused(&|c| c.keep.plain = 1.1));
        assert!(refused(&|c| c.weights.swap(3, 4)));
        assert!(refused(&|c| c.weights[0] = 1 << 48));
        assert!(refused(&|c| c.normalizers = 1..=*c.normalizers.end()));
        assert!(refused(
            &|c| c.normalizers = *c.normalizers.start()..=1 << 90
        ));
        assert!(refused(&|c| c.worst_pair.words.1 = WORDS));
        let (mut low, high) = (good.clone(), good.clone());
        low.epsilon = 0.1;
        assert!(read_all(&write_all(&[&high, &low]), bits(), WORDS).is_err());
        let bytes = write_all(&[&good]);
        assert!(read_all(&bytes[..bytes.len() - 1], bits(), WORDS).is_err());
        // The last weight: no digits; then more zeros than a number has.
        for stored in [0u32, 200 << 24 | 1, 60 << 24 | 0xff_ffff] {
            let mut bytes = bytes.clone();
            let at = bytes.len() - 4;
            bytes[at..].copy_from_slice(&stored.to_le_bytes());
            assert!(read_all(&bytes, bits(), WORDS).is_err(), "{stored:#x}");
        }
    }
}

//! Certificates in a model file, one after the other.
//!
//! Section CRT2 holds those whose weights are [`Weights::exponential`] of their scale: the weights
//! are computed when they are read, by the same operations on every machine. Section CERT holds
//! any, each with its weights. A weight has at most 24 significant binary digits: it is stored as
//! those digits with the number of zeros behind them in the highest byte.

use crate::calibration::stored::{read_keep, write_keep};
use crate::certify::{Claim, Weights, WorstPair};
use crate::codes::CodeBits;
use crate::error::Result;
use crate::frame::Fields;
use crate::identity::CodesIdentity;

/// Sections CERT and CRT2.
pub fn write_all(claims: &[&Claim]) -> [Vec<u8>; 2] {
    let mut sections = [Vec::new(), Vec::new()];
    for c in claims {
        let short = c.weights == *exponential(c).table();
        let out = &mut sections[usize::from(short)];
        out.extend(c.identity.0);
        out.extend(c.epsilon.to_le_bytes());
        out.extend(c.asked.to_le_bytes());
        out.extend(c.scale.to_le_bytes());
        write_keep(c.keep, out);
        out.extend(c.normalizers.start().to_le_bytes());
        out.extend(c.normalizers.end().to_le_bytes());
        out.extend(c.worst_pair.words.0.to_le_bytes());
        out.extend(c.worst_pair.words.1.to_le_bytes());
        out.extend(c.worst_pair.distance.to_le_bytes());
        if short {
            continue;
        }
        for weight in &c.weights {
            let zeros = weight.trailing_zeros();
            out.extend(((weight >> zeros) as u32 | zeros << 24).to_le_bytes());
        }
    }
    sections
}

/// The weights that a claim's scale stands for.
fn exponential(claim: &Claim) -> Weights {
    let bits = CodeBits::new(claim.weights.len() - 1).unwrap_or(CodeBits::MAX);
    Weights::exponential(bits, claim.scale, None)
}

/// All certificates of sections CERT and CRT2, in ascending order of epsilon.
pub fn read_all(sections: [&[u8]; 2], bits: CodeBits, words: u32) -> Result<Vec<Claim>> {
    let mut claims: Vec<Claim> = Vec::new();
    for (section, short) in sections.into_iter().zip([false, true]) {
        let mut fields = Fields::new("certificates", section);
        let mut last = 0.0;
        while !fields.is_empty() {
            let claim = read_one(&mut fields, bits, short)?;
            if !claim.is_plausible(words) {
                return Err(fields.invalid("impossible weights or numbers"));
            }
            if claim.epsilon < last {
                return Err(fields.invalid("not in ascending order"));
            }
            last = claim.epsilon;
            claims.push(claim);
        }
    }
    claims.sort_by(|a, b| a.epsilon.total_cmp(&b.epsilon));
    Ok(claims)
}

fn read_one(fields: &mut Fields<'_>, bits: CodeBits, short: bool) -> Result<Claim> {
    let identity = CodesIdentity(fields.take()?);
    let (epsilon, asked, scale) = (fields.number()?, fields.number()?, fields.number()?);
    let keep = read_keep(fields)?;
    let normalizers = fields.u128()?..=fields.u128()?;
    let worst_pair = WorstPair {
        words: (fields.u32()?, fields.u32()?),
        distance: fields.u32()?,
    };
    let weights = match short {
        true => Weights::exponential(bits, scale, None).table().to_vec(),
        false => (0..=bits.get())
            .map(|_| read_weight(fields))
            .collect::<Result<_>>()?,
    };
    Ok(Claim {
        identity,
        epsilon,
        asked,
        scale,
        weights,
        keep,
        normalizers,
        worst_pair,
    })
}

fn read_weight(fields: &mut Fields<'_>) -> Result<u64> {
    let stored = fields.u32()?;
    let digits = u64::from(stored & 0xff_ffff);
    // Digits that would be shifted out make the weight 0, which is refused.
    let zeros = stored >> 24;
    let weight = digits.checked_shl(zeros);
    Ok(weight.filter(|w| w >> zeros == digits).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frequency::Keep;

    const WORDS: u32 = 1000;

    fn certificate(radius: Option<usize>) -> Claim {
        let weights = Weights::exponential(bits(), 0.11, radius).table().to_vec();
        let top = u128::from(weights[0]);
        Claim {
            identity: CodesIdentity([7; 32]),
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
        let [long, short] = write_all(&[&a, &b]);
        // Weights that a scale gives are not stored.
        assert!(short.len() < 150 && long.len() > 4 * 128);
        let read = read_all([&long, &short], bits(), WORDS).unwrap();
        assert_eq!(read, [b, a]);
        assert!(read_all([&[], &[]], bits(), WORDS).unwrap().is_empty());
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let good = certificate(Some(40));
        let read = |claims: &[&Claim]| {
            let [long, short] = write_all(claims);
            read_all([&long, &short], bits(), WORDS)
        };
        let refused = |change: &dyn Fn(&mut Claim)| {
            let mut c = good.clone();
            change(&mut c);
            read(&[&c]).is_err()
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
        assert!(read(&[&high, &low]).is_err());
        let bytes = write_all(&[&good])[0].clone();
        assert!(read_all([&bytes[..bytes.len() - 1], &[]], bits(), WORDS).is_err());
        // The last weight: no digits; then more zeros than a number has.
        for stored in [0u32, 200 << 24 | 1, 60 << 24 | 0xff_ffff] {
            let mut bytes = bytes.clone();
            let at = bytes.len() - 4;
            bytes[at..].copy_from_slice(&stored.to_le_bytes());
            assert!(
                read_all([&bytes, &[]], bits(), WORDS).is_err(),
                "{stored:#x}"
            );
        }
    }
}

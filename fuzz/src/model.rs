//! The model reader, and everything that trusts what it read.
//!
//! The checksum would turn nearly every mutation away at the door, so it is made
//! right first, and so are the distances that are computed again when a file is read and
//! the model's identity in its certificates: the author of a hostile model would do the same.

use std::sync::Arc;

use brr::parts::codes::{CodeBits, CodeBlocks};
use brr::parts::distances::{CodeDistances, code_distances};
use brr::{Budget, Choice, Error, Layout, MechanismKind, Model, Options, Privatizer, Standing};
use sha2::{Digest, Sha256};

use crate::noise;

/// Offsets of the frame: see `crates/brr/src/frame/mod.rs`.
const CHECKSUM: std::ops::Range<usize> = 16..48;
const ENTRY: usize = 24;
/// Bytes of a certificate before its weights, and where its identity ends.
const CERTIFICATE: usize = 116;
const IDENTITY: usize = 32;
/// Where the head has the sum of all distances and the number of duplicates.
const SUM: std::ops::Range<usize> = 8..24;
const DUPLICATES: std::ops::Range<usize> = 40..44;

/// Words beyond which pairs of words are not looked at: time, not soundness.
const FEW: usize = 200;

/// Reads the bytes as they are, then with checksum, distances and identities made right.
pub fn model(data: &[u8]) {
    let _ = Model::new(data.to_vec());
    if let Some(fixed) = fixed(data)
        && let Ok(model) = Model::new(fixed)
    {
        let model = Arc::new(model);
        check_unchecked(&model);
        use_it(&model);
        if model.vocabulary().len() <= FEW && model.check(1, &|_| {}).is_ok() {
            check_checked(&model);
            use_it(&model);
        }
    }
}

/// The file with the checksum that belongs to it. `None` if it has no frame.
fn fixed(data: &[u8]) -> Option<Vec<u8>> {
    let mut file = data.to_vec();
    file.get(CHECKSUM.end..)?;
    set_distances(&mut file);
    if let Some(identity) = identity(&file) {
        set_identity(&mut file, identity);
    }
    let checksum = Sha256::digest(&file[CHECKSUM.end..]);
    file[CHECKSUM].copy_from_slice(&checksum);
    Some(file)
}

/// Where a section lies, if it lies within the file.
fn section(file: &[u8], tag: &[u8; 4]) -> Option<std::ops::Range<usize>> {
    let entry = file[CHECKSUM.end..]
        .chunks_exact(ENTRY)
        .take(64)
        .find(|entry| entry.starts_with(tag))?;
    let number = |at: usize| u64::from_le_bytes(entry[at..at + 8].try_into().expect("8 bytes"));
    let start = usize::try_from(number(8)).ok()?;
    let end = start.checked_add(usize::try_from(number(16)).ok()?)?;
    (end <= file.len()).then_some(start..end)
}

/// Writes the distances into the head that a reader can tell without a look at pairs.
fn set_distances(file: &mut [u8]) -> Option<()> {
    let (head, codes) = (section(file, b"HEAD")?, section(file, b"CODE")?);
    let numbers: [u8; 6] = file[head.clone()].get(..6)?.try_into().ok()?;
    let [a, b, c, d, bits @ ..] = numbers;
    let words = u32::from_le_bytes([a, b, c, d]) as usize;
    let bits = CodeBits::new(u16::from_le_bytes(bits).into())?;
    let found = CodeDistances::without_pairs(CodeBlocks::new(bits, words, &file[codes])?);
    let head = &mut file[head];
    head.get_mut(SUM)?.copy_from_slice(&found.sum.to_le_bytes());
    let duplicates = head.get_mut(DUPLICATES)?;
    duplicates.copy_from_slice(&found.duplicates.to_le_bytes());
    Some(())
}

fn identity(file: &[u8]) -> Option<[u8; IDENTITY]> {
    let mut hash = Sha256::new();
    let table = section(file, b"LANG").map(|_| b"LANG");
    for tag in [b"HEAD", b"WORD", b"CODE"].into_iter().chain(table) {
        let content = &file[section(file, tag)?];
        hash.update(tag);
        hash.update((content.len() as u64).to_le_bytes());
        hash.update(content);
    }
    Some(hash.finalize().into())
}

/// Writes the identity into every certificate, those with their weights and those without.
fn set_identity(file: &mut [u8], identity: [u8; IDENTITY]) {
    let bits = section(file, b"HEAD").and_then(|head| file[head].get(4..6));
    let bits = bits.map_or(0, |bits| {
        usize::from(u16::from_le_bytes([bits[0], bits[1]]))
    });
    let weights = 4 * (bits + 1);
    for (tag, length) in [(b"CERT", CERTIFICATE + weights), (b"CRT2", CERTIFICATE)] {
        let certificates = section(file, tag).unwrap_or(0..0);
        for certificate in file[certificates].chunks_mut(length) {
            if let Some(place) = certificate.get_mut(..IDENTITY) {
                place.copy_from_slice(&identity);
            }
        }
    }
}

/// Of what a file claims, nothing is believed that only a look at all pairs tells.
fn check_unchecked(model: &Arc<Model>) {
    assert_eq!(model.standing(), Standing::Unchecked);
    assert!(model.certificates().is_empty() && model.calibration().is_none());
    let options = Options::default().with_budget(Budget::Keep(0.5));
    let refused = Privatizer::new(model.clone(), options).err();
    assert!(matches!(refused, Some(Error::UncheckedModel)));
    if model.vocabulary().len() <= FEW {
        let (bounds, exact) = (model.code_distances(), exact(model));
        assert!(
            bounds.maximum >= exact.maximum,
            "P_max is not below the true one"
        );
        assert!(bounds.nearest_min <= exact.nearest_min);
        assert_eq!(bounds.sum, exact.sum);
    }
}

/// What was found to hold does hold, by another way of looking at all pairs.
fn check_checked(model: &Model) {
    assert_eq!(model.standing(), Standing::Checked);
    assert_eq!(model.certificates().len(), model.claimed_certificates());
    assert_eq!(model.code_distances(), exact(model));
}

fn exact(model: &Model) -> CodeDistances {
    code_distances(model.codes(), 1, &|_| {})
}

/// Whatever the reader lets through must serve without a panic, and give words.
fn use_it(model: &Arc<Model>) {
    let vocabulary = model.vocabulary();
    assert_eq!(vocabulary.len(), model.codes().len());
    let again = model.with_certificates(model.certificates());
    assert!(again.is_ok_and(|m| m.identity() == model.identity()));
    let first = vocabulary.word(0);
    let text = format!("{first} {first} no-such-word <br /> \u{0} {first}.");
    let budgets = [Budget::Epsilon(0.5), Budget::Bound(8.0), Budget::Keep(0.5)];
    for &(_, mechanism, _) in MechanismKind::ALL {
        for budget in budgets {
            let options = Options::default()
                .with_mechanism(mechanism)
                .with_budget(budget)
                .with_layout(Layout::Words);
            let Ok(privatizer) = Privatizer::new(model.clone(), options) else {
                continue;
            };
            let guarantee = privatizer.guarantee();
            assert!(guarantee.epsilon >= 0.0 && guarantee.bound() >= 0.0);
            let private = privatizer.privatize_batch_with(&[&text], &mut noise());
            assert!(private[0].tokens >= private[0].unknown);
            assert!(privatizer.total_loss(private[0].tokens) >= 0.0);
        }
    }
}

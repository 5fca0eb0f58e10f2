//! The model reader, and everything that trusts what it read.
//!
//! The checksum would turn nearly every mutation away at the door, so it is made
//! right first, and so is the model's identity in its certificates: whoever makes
//! a hostile model does the same.

use std::sync::Arc;

use brr::{Budget, Layout, MechanismKind, Model, Options, Privatizer, Unknown, mechanism::Search};
use brr::certify::Certifier;
use sha2::{Digest, Sha256};

use crate::noise;

/// Offsets of the frame: see `crates/brr/src/model/container.rs`.
const CHECKSUM: std::ops::Range<usize> = 16..48;
const ENTRY: usize = 24;
/// Bytes of a certificate before its weights, and where its identity ends.
const CERTIFICATE: usize = 116;
const IDENTITY: usize = 32;

/// Words beyond which pairs of words are not looked at: time, not soundness.
const FEW: usize = 200;

/// Reads the bytes as they are, then with checksum and identities made right.
pub fn model(data: &[u8]) {
    let _ = Model::new(data.to_vec());
    if let Some(fixed) = fixed(data)
        && let Ok(model) = Model::new(fixed)
    {
        use_it(&Arc::new(model));
    }
}

/// The file with the checksum that belongs to it. `None` if it has no frame.
fn fixed(data: &[u8]) -> Option<Vec<u8>> {
    let mut file = data.to_vec();
    file.get(CHECKSUM.end..)?;
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

fn identity(file: &[u8]) -> Option<[u8; IDENTITY]> {
    let mut hash = Sha256::new();
    for tag in [b"HEAD", b"WORD", b"CODE"] {
        let content = &file[section(file, tag)?];
        hash.update(tag);
        hash.update((content.len() as u64).to_le_bytes());
        hash.update(content);
    }
    Some(hash.finalize().into())
}

/// Writes the identity into every certificate.
fn set_identity(file: &mut [u8], identity: [u8; IDENTITY]) {
    let (Some(head), Some(certificates)) = (section(file, b"HEAD"), section(file, b"CERT")) else {
        return;
    };
    let Some(bits) = file[head].get(4..6) else {
        return;
    };
    let bits = usize::from(u16::from_le_bytes([bits[0], bits[1]]));
    let length = CERTIFICATE + 4 * (bits + 1);
    for certificate in file[certificates].chunks_mut(length) {
        if let Some(place) = certificate.get_mut(..IDENTITY) {
            place.copy_from_slice(&identity);
        }
    }
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
    for mechanism in [MechanismKind::Brr, MechanismKind::Exponential] {
        for budget in budgets {
            let options = Options {
                mechanism,
                budget,
                layout: Layout::Words,
                unknown: Unknown::Random,
                search: Search::Scan,
            };
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
    if vocabulary.len() <= FEW && !model.certificates().is_empty() {
        let certifier = Certifier::new(model, 1, &|_| {});
        for certificate in model.certificates().iter().take(4) {
            let _ = certifier.verify(certificate);
        }
    }
}

//! Model files: what is written is read; what is damaged is refused.

use crate::support::{random_codes, random_model};
use brr::Error;
use brr::{Model, Standing};
use proptest::prelude::*;
use sha2::{Digest, Sha256};

/// Makes the checksum fit the content again: damage that only a look at the
/// content can find.
fn reseal(bytes: &mut [u8]) {
    let checksum = Sha256::digest(&bytes[48..]);
    bytes[16..48].copy_from_slice(&checksum);
}

fn error_of(bytes: Vec<u8>) -> Error {
    match Model::new(bytes) {
        Ok(_) => panic!("a damaged model was opened"),
        Err(error) => error,
    }
}

proptest! {
    #[test]
    fn a_model_is_read_as_it_was_written(words in 1usize..200, limbs in 1usize..9, seed in any::<u64>()) {
        let model = random_model(limbs * 64, words, seed);
        let codes = random_codes(limbs * 64, words, seed);
        let again = Model::new(model.bytes().to_vec()).unwrap();
        again.check(1, &|_| {}).unwrap();
        prop_assert_eq!(again.codes().to_rows(), codes);
        prop_assert_eq!(again.vocabulary().len(), words);
        for id in 0..words {
            prop_assert_eq!(again.vocabulary().word(id as u32), crate::support::letters(id));
            prop_assert_eq!(again.find(&crate::support::letters(id).to_uppercase()), Some(id as u32));
        }
        prop_assert_eq!(again.code_distances(), model.code_distances());
        prop_assert_eq!(again.calibration(), model.calibration());
        prop_assert_eq!(again.meta_value("name"), Some("test"));
        prop_assert_eq!(again.identity(), model.identity());
    }

    /// Whatever bytes are put anywhere, with a fitting checksum, there is an
    /// error or a model that answers; never a panic.
    #[test]
    fn hostile_content_is_an_error_or_a_sound_model(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        near_start in any::<bool>(),
    ) {
        let mut bytes = random_model(64, 70, 1).bytes().to_vec();
        let range = if near_start { 320 } else { bytes.len() };
        for (at, value) in changes {
            bytes[at.index(range)] = value;
        }
        reseal(&mut bytes);
        if let Ok(model) = Model::new(bytes) {
            for id in 0..model.vocabulary().len() as u32 {
                prop_assert_eq!(model.vocabulary().id(model.vocabulary().word(id)), Some(id));
            }
            model.codes().to_rows();
            model.pair_distances();
        }
    }
}

#[test]
fn every_single_flipped_bit_and_every_cut_is_noticed() {
    let bytes = random_model(64, 3, 1).bytes().to_vec();
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1 << (at % 8);
        error_of(damaged);
        error_of(bytes[..at].to_vec());
    }
    let mut longer = bytes.clone();
    longer.push(0);
    assert!(matches!(error_of(longer), Error::ModelChecksum));
}

#[test]
fn errors_say_what_is_wrong_and_the_way_out() {
    let bytes = random_model(64, 3, 1).bytes().to_vec();
    let message = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut changed = bytes.clone();
        change(&mut changed);
        error_of(changed).to_string()
    };
    assert!(message(&|b| b[0] = b'x').contains("not a brr model"));
    assert!(message(&|b| b.truncate(3)).contains("not a brr model"));
    assert!(message(&|b| b[8] = 9).contains("found model version 9, this build reads 1 to 1"));
    assert!(message(&|b| b.truncate(100)).contains("cut short"));
    assert!(message(&|b| *b.last_mut().unwrap() ^= 1).contains("checksum"));
}

/// Headers that claim enormous sizes are refused before anything is allocated:
/// each of these would ask for terabytes.
#[test]
fn claims_do_not_drive_allocation() {
    let bytes = random_model(64, 3, 1).bytes().to_vec();
    let with = |at: usize, value: &[u8]| {
        let mut b = bytes.clone();
        b[at..at + value.len()].copy_from_slice(value);
        reseal(&mut b);
        error_of(b)
    };
    with(12, &u32::MAX.to_le_bytes()); // sections
    with(48 + 16, &u64::MAX.to_le_bytes()); // a section's length
    with(48 + 8, &(u64::MAX - 3).to_le_bytes()); // its offset
    let head = 192; // 48 + 5 * 24 = 168, rounded up to 64
    assert_eq!(bytes[head..head + 4], 3u32.to_le_bytes());
    with(head, &u32::MAX.to_le_bytes()); // words
    with(head, &0u32.to_le_bytes());
    with(head + 4, &65535u16.to_le_bytes()); // bits
}

#[test]
fn opening_files() {
    let folder = std::env::temp_dir().join(format!("brr-model-{}", std::process::id()));
    // A run that was killed may have had this number before.
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("m.brr");
    let missing = Model::open(&path).err().unwrap().to_string();
    assert!(missing.contains("m.brr"), "{missing}");
    std::fs::write(&path, random_model(128, 5, 2).bytes()).unwrap();
    assert_eq!(Model::open(&path).unwrap().vocabulary().len(), 5);
    std::fs::remove_dir_all(folder).unwrap();
}

/// Files of every released version stay here, and still open.
#[test]
fn old_files_stay_readable() {
    let model = Model::new(include_bytes!("../fixtures/version-1.brr")).unwrap();
    assert_eq!(model.vocabulary().len(), 20);
    assert_eq!(model.bits().get(), 64);
    assert_eq!(model.find("Don’t"), Some(19));
    // What only a look at all pairs tells is not believed before that look.
    assert_eq!(model.code_distances().maximum, 64);
    assert!(model.certificates().is_empty() && model.calibration().is_none());
    assert_eq!(model.claimed_certificates(), 2);
    model.check(1, &|_| {}).unwrap();
    assert_eq!(model.standing(), Standing::Checked);
    assert_eq!(model.code_distances().maximum, 44);
    assert_eq!(model.meta_value("licence"), Some("CC0"));
    let identity = model.identity().to_string();
    assert!(identity.starts_with("bf95a0cf10a9ff15"), "{identity}");
    let epsilons: Vec<f64> = model.certificates().iter().map(|c| c.asked()).collect();
    assert_eq!(epsilons, [0.5, 1.0]);
    assert!(model.calibration().unwrap().points().len() > 10);
}

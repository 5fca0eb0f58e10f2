//! The language model's file: what is written is read, rows add up, and damage is refused.

use brr::parts::language::{LanguageParts, State};
use brr::parts::vocabulary::Vocabulary;
use brr::{Error, Language};
use proptest::prelude::*;

fn vocabulary() -> Vocabulary {
    let words: Vec<String> = (0..300).map(|i| format!("w{i}")).collect();
    Vocabulary::unpack(&Vocabulary::pack(&words).unwrap(), 300).unwrap()
}

fn parts(vocabulary: &Vocabulary) -> LanguageParts<'_> {
    let states = vocabulary.len() + 2;
    let pairs = (0..states as State).flat_map(|u| {
        let row = (u % 7..states as State).step_by(2 + u as usize % 90);
        row.map(move |v| (u, v, 0.9 / f64::from(states as u32)))
    });
    LanguageParts {
        vocabulary,
        unigrams: vec![1.0 / states as f64; states],
        pairs: pairs.collect(),
        decoded: Vec::new(),
        meta: vec![("name".into(), "a test".into())],
    }
}

#[test]
fn what_is_written_is_read() {
    let vocabulary = vocabulary();
    let parts = parts(&vocabulary);
    let bytes = parts.write().unwrap();
    let language = Language::new(&bytes).unwrap();
    assert_eq!(language.pairs(), parts.pairs.len());
    assert_eq!(language.words(), 300);
    assert_eq!(language.meta(), parts.meta);
    language.check_vocabulary(&vocabulary).unwrap();
    for &(u, v, p) in parts.pairs.iter().step_by(17) {
        let found = f64::from(language.probability(u, v));
        assert!(found <= p * 1.0001 && found > p * 0.93, "{found} {p}");
    }
    assert_eq!(parts.write().unwrap(), bytes);
}

#[test]
fn every_row_adds_up_to_one() {
    let vocabulary = vocabulary();
    let language = Language::new(&parts(&vocabulary).write().unwrap()).unwrap();
    for u in 0..302 {
        let total: f64 = (0..302)
            .map(|v| f64::from(language.probability(u, v)))
            .sum();
        assert!((total - 1.0).abs() < 1e-4, "{u} {total}");
    }
}

#[test]
fn a_row_of_more_than_one_is_refused() {
    let vocabulary = vocabulary();
    let mut parts = parts(&vocabulary);
    parts.pairs.iter_mut().for_each(|pair| pair.2 = 0.9);
    assert!(matches!(parts.write(), Err(Error::ModelInvalid { .. })));
}

#[test]
fn other_files_are_refused_by_their_first_bytes() {
    let model = std::fs::read("../brr-english/src/english.brr").unwrap();
    assert!(matches!(
        Language::new(&model),
        Err(Error::NotALanguageModel)
    ));
    let vocabulary = vocabulary();
    let language = parts(&vocabulary).write().unwrap();
    assert!(matches!(brr::Model::new(language), Err(Error::NotAModel)));
    assert!(matches!(Language::new(b""), Err(Error::NotALanguageModel)));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    /// A damaged file is refused by its checksum; one that was damaged before it was framed is read
    /// without a panic, or refused.
    #[test]
    fn damage_is_refused(at in 0.0f64..1.0, value: u8, cut: bool) {
        let vocabulary = vocabulary();
        let mut bytes = parts(&vocabulary).write().unwrap();
        let at = (at * bytes.len() as f64) as usize;
        if cut {
            bytes.truncate(at);
            prop_assert!(Language::new(&bytes).is_err());
        } else if bytes[at] != value {
            bytes[at] = value;
            prop_assert!(Language::new(&bytes).is_err());
        }
    }
}

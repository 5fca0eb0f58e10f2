//! Sound programs pass; each of the planted faults fails, in the check that is
//! there for it.

use std::sync::Arc;

use super::*;
use crate::fixture;
use brr::parts::codes::{CodeRows, hamming};
use brr::parts::epsilon::Epsilon;
use brr::parts::language::LanguageParts;
use brr::parts::mechanism::Brr;
use brr::parts::nearest::Scan;
use brr::parts::response::FlipThreshold;
use brr::{Options as BrrOptions, Privatizer, Unknown};

const EPSILON: f64 = 1.2;

fn options() -> AuditOptions {
    AuditOptions {
        trials: 6000,
        pairs: 2,
        timings: 3,
        seed: 4,
    }
}

fn epsilon(value: f64) -> Epsilon {
    Epsilon::new(value).unwrap()
}

fn model() -> Arc<Model> {
    fixture::model(400, 64, 8)
}

/// Audits a mechanism that claims to be BRR.
fn audit_words(
    model: &Arc<Model>,
    privatize: &mut dyn FnMut(&[Option<WordId>]) -> Vec<WordId>,
) -> AuditReport {
    let honest = Brr::new(model.clone(), epsilon(EPSILON));
    let claim = Claim {
        model,
        mechanism: &honest,
        language: None,
    };
    let vocabulary = model.vocabulary();
    let mut program = |texts: &[String]| {
        let one = |text: &String| {
            let words: Vec<_> = text
                .split_whitespace()
                .map(|t| vocabulary.id(&t.to_lowercase()))
                .collect();
            let out = privatize(&words);
            let out: Vec<&str> = out.iter().map(|y| vocabulary.word(*y)).collect();
            out.join(" ")
        };
        Ok(texts.iter().map(one).collect())
    };
    audit(&claim, &mut program, &options(), &|_| {}).unwrap()
}

fn failures(report: &AuditReport) -> Vec<&'static str> {
    let failed = report.checks.iter().filter(|c| c.verdict == Verdict::Fail);
    failed.map(|c| c.name).collect()
}

/// False alarms: [`ALPHA`] at most. Three timed runs are too few to fail anybody.
fn assert_sound(report: &AuditReport) {
    assert!(!report.failed(), "{:#?}", report.checks);
}

#[test]
fn the_real_privatizer_passes() {
    for (kind, value) in [
        (brr::MechanismKind::Brr, EPSILON),
        (brr::MechanismKind::Exponential, 0.4),
    ] {
        let report = audit_changed(kind, value, &|_, _, out| out);
        assert_sound(&report);
        assert!(report.disclaimer.starts_with("A pass proves nothing"));
        let kinds: Vec<_> = report.pairs.iter().map(|p| p.kind).collect();
        for kind in [
            PairKind::Duplicate,
            PairKind::Near,
            PairKind::Far,
            PairKind::Unknown,
        ] {
            assert!(kinds.contains(&kind), "{kinds:?}");
        }
    }
}

/// BRR whose search prefers the input if it is within `margin` of the nearest.
fn biased(model: &Model, words: &[Option<WordId>], margin: u32, noise: &mut Noise) -> Vec<WordId> {
    let (codes, threshold) = (model.codes(), FlipThreshold::new(epsilon(EPSILON)));
    let mut rows = CodeRows::zeros(codes.bits(), words.len());
    for (i, word) in words.iter().enumerate() {
        codes.read(word.unwrap_or(0) as usize, rows.row_mut(i));
        threshold.apply(rows.row_mut(i), noise);
    }
    let mut own = vec![0; codes.bits().limbs()];
    let nearest = Scan::new(codes).nearest(&rows);
    let pick = |(i, n): (usize, &brr::parts::nearest::Neighbor)| {
        let Some(word) = words[i] else { return n.id };
        codes.read(word as usize, &mut own);
        let near = hamming(&own, rows.row(i)) <= n.distance + margin;
        if near { word } else { n.id }
    };
    nearest.iter().enumerate().map(pick).collect()
}

#[test]
fn a_tie_broken_toward_the_input_fails() {
    for margin in [0, 6] {
        let model = model();
        let mut noise = Noise::numbered(1);
        let report = audit_words(&model, &mut |words| {
            biased(&model, words, margin, &mut noise)
        });
        assert!(
            failures(&report).contains(&"loss"),
            "{margin}: {:#?}",
            report.checks
        );
    }
}

#[test]
fn a_flip_probability_rounded_down_fails() {
    let model = model();
    // p = 0.2315 is claimed, 0.2 is drawn.
    let weak = Brr::new(model.clone(), epsilon(4f64.ln()));
    let mut noise = Noise::numbered(2);
    let report = audit_words(&model, &mut |words| weak.privatize(words, &mut noise));
    assert!(
        failures(&report).contains(&"conformance"),
        "{:#?}",
        report.checks
    );

    let threshold = FlipThreshold::new(epsilon(4f64.ln()));
    let mut flip = |code: &mut [u64]| threshold.apply(code, &mut noise);
    let bits = model.bits();
    assert_eq!(
        bit_flips(&mut flip, bits, EPSILON, 400).verdict,
        Verdict::Fail
    );
    let honest = FlipThreshold::new(epsilon(EPSILON));
    let mut flip = |code: &mut [u64]| honest.apply(code, &mut noise);
    let check = bit_flips(&mut flip, bits, honest.epsilon(), 400);
    assert_eq!(check.verdict, Verdict::Pass, "{check:?}");
}

#[test]
fn bits_that_flip_together_fail() {
    let threshold = FlipThreshold::new(epsilon(EPSILON));
    let mut noise = Noise::numbered(3);
    let mut flip = |code: &mut [u64]| {
        let mut mask = [0];
        threshold.apply(&mut mask, &mut noise);
        let even = mask[0] & 0x5555_5555_5555_5555;
        code[0] ^= even | even << 1;
    };
    let bits = brr::parts::codes::CodeBits::new(64).unwrap();
    assert_eq!(
        bit_flips(&mut flip, bits, EPSILON, 400).verdict,
        Verdict::Fail
    );
}

#[test]
fn a_seeded_generator_fails() {
    let model = model();
    let honest = Brr::new(model.clone(), epsilon(EPSILON));
    let report = audit_words(&model, &mut |words| {
        honest.privatize(words, &mut Noise::numbered(7))
    });
    assert!(
        failures(&report).contains(&"repeats"),
        "{:#?}",
        report.checks
    );
}

#[test]
fn one_draw_for_equal_words_fails() {
    let model = model();
    let honest = Brr::new(model.clone(), epsilon(EPSILON));
    let mut noise = Noise::numbered(5);
    let report = audit_words(&model, &mut |words| {
        let all: Vec<_> = (0..400).map(Some).collect();
        let table = honest.privatize(&all, &mut noise);
        let of = |w: &Option<WordId>| table[w.unwrap_or(0) as usize];
        words.iter().map(of).collect()
    });
    assert!(
        failures(&report).contains(&"repeats"),
        "{:#?}",
        report.checks
    );
}

#[test]
fn unknown_words_passed_through_fail() {
    let model = model();
    let options = BrrOptions::default()
        .with_budget(brr::Budget::Epsilon(EPSILON))
        .with_unknown(Unknown::Keep);
    let privatizer = Privatizer::new(model.clone(), options).unwrap();
    let claim = Claim {
        model: &model,
        mechanism: privatizer.mechanism(),
        language: None,
    };
    let mut program = |texts: &[String]| {
        let out = privatizer
            .privatize_batch(texts)
            .map_err(|e| e.to_string())?;
        Ok(out.into_iter().map(|p| p.text).collect())
    };
    let report = audit(&claim, &mut program, &super::tests::options(), &|_| {}).unwrap();
    let failed = failures(&report);
    assert!(
        failed.contains(&"canaries") && failed.contains(&"form"),
        "{:#?}",
        report.checks
    );
    assert!(report.failed());
}

#[test]
fn a_program_that_fails_is_an_error() {
    let model = model();
    let honest = Brr::new(model.clone(), epsilon(EPSILON));
    let claim = Claim {
        model: &model,
        mechanism: &honest,
        language: None,
    };
    let mut broken = |_: &[String]| Err("exit status 1".to_owned());
    let error = audit(&claim, &mut broken, &options(), &|_| {}).unwrap_err();
    assert!(error.to_string().contains("exit status 1"));
    let mut mute = |_: &[String]| Ok(Vec::new());
    let error = audit(&claim, &mut mute, &options(), &|_| {}).unwrap_err();
    assert!(error.to_string().contains("gave 0 lines"));
}

/// What is done to a text on its way out: gets the text that went in, too.
type Change<'a> = &'a dyn Fn(&Model, &str, String) -> String;

/// Audits a privatizer whose texts pass through `change` on their way out.
fn audit_changed(kind: brr::MechanismKind, value: f64, change: Change<'_>) -> AuditReport {
    let model = model();
    let options = BrrOptions::default()
        .with_mechanism(kind)
        .with_budget(brr::Budget::Epsilon(value));
    let privatizer = Privatizer::new(model.clone(), options).unwrap();
    let claim = Claim {
        model: &model,
        mechanism: privatizer.mechanism(),
        language: None,
    };
    let mut program = |texts: &[String]| {
        let out = privatizer
            .privatize_batch(texts)
            .map_err(|e| e.to_string())?;
        let pairs = out.into_iter().zip(texts);
        Ok(pairs
            .map(|(p, text)| change(&model, text, p.text))
            .collect())
    };
    audit(&claim, &mut program, &super::tests::options(), &|_| {}).unwrap()
}

#[test]
fn structure_that_depends_on_the_vocabulary_fails() {
    // A contraction whose stem is unknown keeps its apostrophe: "w'w" where others are "w w".
    let cut_by_vocabulary = |model: &Model, text: &str, out: String| {
        let mut stems = text.split_whitespace().filter_map(|w| w.split_once("'ll"));
        match stems.any(|(stem, _)| model.find(stem).is_none()) {
            true => out.replacen(' ', "'", 1),
            false => out,
        }
    };
    let report = audit_changed(brr::MechanismKind::Brr, EPSILON, &cut_by_vocabulary);
    assert_eq!(failures(&report), ["structure"]);
    let check = report
        .checks
        .iter()
        .find(|c| c.name == "structure")
        .unwrap();
    assert!(check.finding.contains("unknown"), "{}", check.finding);
}

#[test]
fn emoticons_and_shapes_of_numbers_that_pass_fail() {
    for (token, shape) in [(":(", ":("), ("123-45-6789", "-"), ("(555)123-4567", "(")] {
        let leaky = |_: &Model, text: &str, out: String| match text.contains(token) {
            true => out + " " + shape,
            false => out,
        };
        let report = audit_changed(brr::MechanismKind::Brr, EPSILON, &leaky);
        assert_eq!(failures(&report), ["structure"], "{token}");
    }
}

/// A language over the fixture's words, in which neighbouring ids follow each other.
fn language(model: &Model) -> Language {
    let words = model.vocabulary().len() as u32;
    let pairs = (0..words).flat_map(|u| {
        let next = [(u + 1) % words, (u + 7) % words];
        let mut next = next.map(|v| (u, v, 0.3));
        next.sort_by_key(|pair| pair.1);
        next
    });
    let parts = LanguageParts {
        vocabulary: model.vocabulary(),
        unigrams: vec![1.0 / f64::from(words + 2); words as usize + 2],
        pairs: pairs.collect(),
        decoded: Vec::new(),
        meta: Vec::new(),
    };
    Language::new(&parts.write().unwrap()).unwrap()
}

/// Audits a program that claims to decode BRR's draws, and writes its own words where `peek` says so.
fn audit_decoded(peek: impl Fn(usize) -> bool) -> AuditReport {
    let model = model();
    let (honest, language) = (
        Brr::new(model.clone(), epsilon(EPSILON)),
        Arc::new(language(&model)),
    );
    let claim = Claim {
        model: &model,
        mechanism: &honest,
        language: Some(&language),
    };
    let options = BrrOptions::default()
        .with_mechanism(brr::MechanismKind::Brr)
        .with_budget(brr::Budget::Epsilon(EPSILON))
        .with_context(Some(language.clone()));
    let privatizer = Privatizer::new(model.clone(), options).unwrap();
    let mut asked = 0;
    let mut program = |texts: &[String]| {
        let mut out = Vec::new();
        for (text, private) in texts.iter().zip(privatizer.privatize_batch(texts).unwrap()) {
            asked += 1;
            let known = model.vocabulary().id(text).is_some();
            out.push(if known && peek(asked) {
                text.clone()
            } else {
                private.text
            });
        }
        Ok(out)
    };
    audit(&claim, &mut program, &self::options(), &|_| {}).unwrap()
}

#[test]
fn a_decoder_passes_and_one_that_peeks_at_the_input_fails() {
    assert_sound(&audit_decoded(|_| false));
    let peeking = audit_decoded(|text| text % 4 == 0);
    assert!(
        failures(&peeking).contains(&"conformance"),
        "{:?}",
        failures(&peeking)
    );
}

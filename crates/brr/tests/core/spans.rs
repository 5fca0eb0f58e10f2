//! Marked parts of a text: what is drawn for them, what is written, and what stays.
//! False-alarm rates are at most 1e-6, and seeds are fixed.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use crate::support::{chi_square_limit, english, letters, random_model};
use brr::parts::language::LanguageParts;
use brr::parts::random::Noise;
use brr::{
    Budget, Case, Error, Language, MechanismKind, Model, Options, Policy, Privatizer, Session,
    Span, Unknown, WordList,
};
use proptest::prelude::*;

pub fn list(model: &Model, name: &str, words: Range<usize>) -> Arc<WordList> {
    let text: Vec<String> = words.map(letters).collect();
    Arc::new(WordList::new(name, &text.join("\n"), model).unwrap())
}

pub fn options(epsilon: f64) -> Options {
    Options::default()
        .with_mechanism(MechanismKind::KAry)
        .with_budget(Budget::Epsilon(epsilon))
}

/// 40 words; spans may name `few`, its first five, and `others`, the 20 behind them.
pub fn privatizer(epsilon: f64) -> Privatizer {
    static MODEL: OnceLock<Arc<Model>> = OnceLock::new();
    let model = MODEL.get_or_init(|| random_model(64, 40, 3)).clone();
    let lists = [list(&model, "few", 0..5), list(&model, "others", 5..25)];
    let privatizer = Privatizer::new(model, options(epsilon)).unwrap();
    let add = |privatizer: Privatizer, list| privatizer.with_list(list).unwrap();
    lists.into_iter().fold(privatizer, add)
}

/// The text between ranges, in the order of the text.
fn gaps<'t>(text: &'t str, ranges: &[Range<usize>]) -> Vec<&'t str> {
    let mut sorted = ranges.to_vec();
    sorted.sort_by_key(|range| (range.start, range.end));
    let mut at = 0;
    let mut gaps = Vec::new();
    for range in sorted {
        gaps.push(&text[at..range.start]);
        at = range.end;
    }
    gaps.push(&text[at..]);
    gaps
}

proptest! {
    /// For any text and any marks, what is outside stays and the new offsets enclose the rest.
    #[test]
    fn offsets_map_for_any_text(
        text in "[a-zA-Z0-9 .,'’()@:/\n\u{200b}éß中😀-]{0,40}",
        cuts in proptest::collection::vec(0usize..200, 0..10),
        backwards: bool,
    ) {
        let places: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| places[cut % places.len()]).collect();
        cuts.sort_unstable();
        let mut ranges: Vec<Range<usize>> = cuts.chunks_exact(2).map(|two| two[0]..two[1]).collect();
        if backwards {
            ranges.reverse();
        }
        let spans: Vec<Span> = ranges.iter().cloned().zip(0..).map(|(range, i)| match i % 2 {
            0 => Span::new(range),
            _ => Span::of(range, "few"),
        }).collect();
        let privatizer = Arc::new(privatizer(1.0));
        let mut session = Session::new(privatizer.clone()).unwrap();
        let both = [
            privatizer.privatize_spans(&text, &spans).unwrap(),
            session.privatize_spans(&text, &spans).unwrap(),
        ];
        for private in both {
            prop_assert_eq!(private.spans.len(), spans.len());
            let (before, after) = (gaps(&text, &ranges), gaps(&private.text, &private.spans));
            for (before, after) in before.iter().zip(&after) {
                let joined = before.is_empty() && *after == " ";
                prop_assert!(before == after || joined, "{before:?} became {after:?}");
            }
            for (range, &tokens) in ranges.iter().zip(&private.tokens) {
                prop_assert_eq!(brr::parts::text::pieces(&text[range.clone()]).iter().filter(|piece| matches!(piece, brr::parts::text::Piece::Token(_))).count() as u64, tokens);
            }
        }
    }
}

#[test]
fn spans_that_make_no_sense_are_refused() {
    let privatizer = privatizer(1.0);
    let fails = |spans: &[Span]| privatizer.privatize_spans("héllo you", spans).unwrap_err();
    let overlap = fails(&[Span::new(0..6), Span::of(3..9, "few")]);
    assert!(matches!(overlap, Error::SpanOverlap { number: 2 }));
    let twice = fails(&[Span::new(0..6), Span::new(0..6)]);
    assert!(matches!(twice, Error::SpanOverlap { .. }));
    #[expect(clippy::reversed_empty_ranges)]
    for outside in [0..11, 2..3, 7..5, 99..99] {
        let error = fails(&[Span::new(0..1), Span::new(outside)]);
        assert!(matches!(error, Error::SpanOutside { number: 2 }), "{error}");
    }
    let unknown = fails(&[Span::of(0..1, "héllo")]).to_string();
    assert!(unknown.contains("few, others") && !unknown.contains("héllo"));
    let touching = [Span::new(0..6), Span::new(6..10)];
    assert!(privatizer.privatize_spans("héllo you", &touching).is_ok());
}

#[test]
fn what_would_show_more_is_refused() {
    let model = random_model(64, 40, 3);
    let language = LanguageParts {
        vocabulary: model.vocabulary(),
        unigrams: vec![1.0 / 42.0; 42],
        pairs: vec![(0, 1, 0.3)],
        decoded: Vec::new(),
        meta: Vec::new(),
    };
    let language = Arc::new(Language::new(&language.write().unwrap()).unwrap());
    let refused = |options: Options| {
        let privatizer = Arc::new(Privatizer::new(model.clone(), options).unwrap());
        let session = Session::new(privatizer.clone()).err().unwrap();
        let spans = privatizer.privatize_spans("qa", &[Span::new(0..2)]);
        assert_eq!(session.to_string(), spans.unwrap_err().to_string());
        session
    };
    let context = refused(options(1.0).with_context(Some(language)));
    assert!(matches!(context, Error::SpansWithContext));
    for rule in [Unknown::Mask, Unknown::Drop, Unknown::Keep] {
        let unknown = refused(options(1.0).with_unknown(rule));
        assert!(matches!(unknown, Error::SpansWithUnknown));
    }
    let twice = privatizer(1.0).with_list(list(privatizer(1.0).model(), "few", 0..3));
    assert!(matches!(twice, Err(Error::ListTwice)));
}

/// How often each of the first `words` words was drawn for `token`.
fn counts(privatizer: &Privatizer, token: &str, list: Option<&str>, draws: usize) -> Vec<f64> {
    let text = vec![token; draws].join(" ");
    let range = 0..text.len();
    let span = list.map_or(Span::new(range.clone()), |list| Span::of(range, list));
    let mut noise = Noise::numbered(5);
    let private = privatizer.privatize_spans_with(&text, &[span], &mut noise);
    let names: Vec<String> = (0..40).map(letters).collect();
    let mut counts = vec![0.0; 40];
    for word in private.unwrap().text.split(' ') {
        counts[names.iter().position(|name| name == word).unwrap()] += 1.0;
    }
    counts
}

fn chi_square(counts: &[f64], expected: impl Fn(usize) -> f64) -> f64 {
    let draws: f64 = counts.iter().sum();
    let term = |(i, &count): (usize, &f64)| {
        let mean = draws * expected(i);
        (count - mean).powi(2) / mean
    };
    counts.iter().enumerate().map(term).sum()
}

/// A word of the list as the mechanism over the list draws; whatever else uniformly over the list.
#[test]
fn spans_draw_from_their_list_alone() {
    let (privatizer, draws) = (privatizer(1.5), 20_000);
    let (few, own) = (5.0, 1.5f64.exp());
    let kept = own / (own + few - 1.0);
    let other = 1.0 / (own + few - 1.0);
    let inside = counts(&privatizer, &letters(2), Some("few"), draws);
    assert!(inside[5..].iter().all(|&count| count == 0.0));
    let fit = chi_square(&inside[..5], |i| if i == 2 { kept } else { other });
    assert!(fit < chi_square_limit(4), "{fit}");
    for outside in [letters(30), "xyzzy".into(), "ken@a.org".into()] {
        let drawn = counts(&privatizer, &outside, Some("few"), draws);
        assert!(drawn[5..].iter().all(|&count| count == 0.0));
        let fit = chi_square(&drawn[..5], |_| 0.2);
        assert!(fit < chi_square_limit(4), "{fit}");
    }
    // Without a list, from all words.
    let all = own + 39.0;
    let drawn = counts(&privatizer, &letters(30), None, draws);
    let fit = chi_square(&drawn, |i| if i == 30 { own / all } else { 1.0 / all });
    assert!(fit < chi_square_limit(39), "{fit}");
}

#[test]
fn losses_add_up_over_the_tokens_of_all_lists() {
    let privatizer = privatizer(1.5);
    let text = "qa xyzzy. Qb, not me";
    let spans = [Span::of(0..8, "few"), Span::of(10..12, "others")];
    let private = privatizer.privatize_spans(text, &spans).unwrap();
    assert_eq!(private.tokens, [2, 1]);
    assert!(private.loss >= 3.0 * 1.499_999 && private.loss <= 4.500_001);
    assert!(private.text.ends_with(", not me"));
    let none = privatizer.privatize_spans(text, &[]).unwrap();
    assert_eq!((none.text.as_str(), none.loss), (text, 0.0));
    let said = privatizer.spans_adjacency().to_string();
    for public in [
        "outside the marked spans",
        "same list",
        "conditional on the marks",
        "same number of tokens",
    ] {
        assert!(said.contains(public), "{said}");
    }
}

/// A public word in a span is private all the same.
#[test]
fn a_policy_makes_nothing_public_in_a_span() {
    let model = random_model(64, 40, 3);
    let public = list(&model, "public", 0..20);
    let options = options(1e-6).with_policy(Policy::AllBut(public));
    let privatizer = Privatizer::new(model, options).unwrap();
    let text = vec![letters(1); 300].join(" ");
    let private = privatizer
        .privatize_spans(&text, &[Span::new(0..text.len())])
        .unwrap();
    // It is unknown to the mechanism over the private words.
    let drawn: Vec<&str> = private.text.split(' ').collect();
    assert!(
        drawn
            .iter()
            .all(|word| (20..40).map(letters).any(|name| name == *word))
    );
}

/// 10,000 words that no model knows, in spans of all kinds, in whole texts and in spans of a session.
#[test]
fn canaries_in_spans_never_pass() {
    let privatizer = Arc::new(privatizer(20.0));
    let mut session = Session::new(privatizer.clone()).unwrap();
    let canary = |i: usize| match i % 4 {
        0 => format!("Zz{}zz", letters(i)),
        1 => format!("zz{}@zz.org", letters(i)),
        2 => format!("zz{i}-77"),
        _ => format!("zz{}'s", letters(i)),
    };
    for at in (0..10_000).step_by(500) {
        let mut text = String::from("qa ");
        let mut spans = Vec::new();
        for i in at..at + 500 {
            let start = text.len();
            text.push_str(&canary(i));
            let range = start..text.len();
            spans.push(match i % 3 {
                0 => Span::new(range),
                1 => Span::of(range, "few"),
                _ => Span::of(range, "others"),
            });
            text.push_str(", ");
        }
        let outputs = [
            privatizer.privatize_spans(&text, &spans).unwrap().text,
            session.privatize_spans(&text, &spans).unwrap().text,
            session.privatize(&text).unwrap().text,
        ];
        for output in outputs {
            assert!(!output.to_lowercase().contains("zz"));
        }
    }
    let said = format!("{session:?}");
    assert!(!said.contains("zz"), "{said}");
}

#[test]
fn case_is_that_of_the_output() {
    let model = english();
    let names = WordList::known("names", "kenneth\nsusan\nmary\nbill\n", &model).unwrap();
    let proper = WordList::known("proper", "kenneth\nsusan\nmary\n", &model).unwrap();
    let with_case = options(0.1)
        .with_case(Case::Sentence)
        .with_proper_nouns(Some(Arc::new(proper)));
    let privatizer = Privatizer::new(model, with_case).unwrap();
    let privatizer = privatizer.with_list(Arc::new(names)).unwrap();
    for text in ["so JOHN left", "so john left", "so Mary left"] {
        let private = privatizer
            .privatize_spans(text, &[Span::of(3..7, "names")])
            .unwrap();
        let name = &private.text[private.spans[0].clone()];
        assert!(name.starts_with(char::is_uppercase) && name[1..].chars().all(char::is_lowercase));
    }
    let ordinary = privatizer
        .privatize_spans("It ended. COLD it was", &[Span::new(10..14)])
        .unwrap();
    let word = &ordinary.text[ordinary.spans[0].clone()];
    assert!(word.starts_with(|c: char| !c.is_lowercase()), "{word}");
    assert!(word.chars().skip(1).all(|c| !c.is_uppercase()), "{word}");
}

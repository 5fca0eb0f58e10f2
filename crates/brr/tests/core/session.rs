//! Sessions: one draw for each word, what fails, and what is exported. False-alarm rates are at most 1e-6.

use std::sync::Arc;

use crate::spans::{list, options, privatizer};
use crate::support::{chi_square_limit, letters, random_model};
use brr::parts::random::Noise;
use brr::{Error, Privatizer, Session, Span};

pub fn session(epsilon: f64) -> Session {
    Session::new(Arc::new(privatizer(epsilon))).unwrap()
}

#[test]
fn a_word_has_one_surrogate_for_each_list() {
    let mut session = session(0.5);
    let first = session.privatize("Qa xyzzy QA, qa XYZZY").unwrap();
    let words: Vec<&str> = first
        .text
        .split([' ', ','])
        .filter(|w| !w.is_empty())
        .collect();
    assert_eq!((words[0], words[0]), (words[2], words[3]));
    assert_eq!(words[1], words[4]);
    assert_eq!(session.words(), 2);
    let one = session.loss();
    assert!((0.999_999..=1.000_001).contains(&one), "{one}");
    let again = session
        .privatize_spans("so qa", &[Span::new(3..5)])
        .unwrap();
    assert_eq!(&again.text[3..], words[0]);
    assert_eq!((again.loss, session.loss()), (0.0, one));
    // Another list is another draw, and costs again.
    let other = session
        .privatize_spans("so qa", &[Span::of(3..5, "few")])
        .unwrap();
    assert!(
        other.loss > 0.499_999 && other.loss <= 0.500_001,
        "{}",
        other.loss
    );
    assert!(session.loss() > 1.499_999 && session.words() == 3);
    // A session that is begun anew charges anew.
    let mut new = Session::new(session.privatizer().clone()).unwrap();
    assert!(
        new.privatize_spans("so qa", &[Span::new(3..5)])
            .unwrap()
            .loss
            > 0.499_999
    );
}

#[test]
fn what_is_public_is_said() {
    let said = session(1.0).adjacency().to_string();
    for public in [
        "partition of all private positions into equal words",
        "unknown words included",
        "folded form and list",
        "outside the marked spans",
        "once for each list",
    ] {
        assert!(said.contains(public), "{said}");
    }
    assert_ne!(said, session(1.0).privatizer().adjacency().to_string());
}

/// Two unknown words become each pair of the five with the same probability: nobody draws again because they met,
/// and the second does not look at the first.
#[test]
fn draws_are_independent_and_collisions_are_kept() {
    let privatizer = Arc::new(privatizer(1.0));
    let mut noise = Noise::numbered(21);
    let runs = 10_000;
    let mut pairs = [0.0; 25];
    let mut collisions = 0;
    for _ in 0..runs {
        let mut session = Session::new(privatizer.clone()).unwrap();
        let spans = [Span::of(0..5, "few"), Span::of(6..11, "few")];
        let private = session
            .privatize_spans_with("xyzzy plugh", &spans, &mut noise)
            .unwrap();
        let place = |i: usize| {
            let word = &private.text[private.spans[i].clone()];
            (0..5).position(|w| letters(w) == word).unwrap()
        };
        let (a, b) = (place(0), place(1));
        pairs[5 * a + b] += 1.0;
        assert_eq!(session.collisions(), u64::from(a == b));
        collisions += session.collisions();
    }
    let mean = runs as f64 / 25.0;
    let fit: f64 = pairs.iter().map(|n| (n - mean).powi(2) / mean).sum();
    assert!(fit < chi_square_limit(24), "{fit}");
    assert!(collisions > 0);
}

/// What failed was not released: it is forgotten, and drawn and charged if it comes again.
#[test]
fn what_failed_costs_nothing() {
    let mut session = session(1.0);
    session.privatize("qa").unwrap();
    let (loss, bytes) = (session.loss(), session.export());
    let failed: Result<(), &str> = session.attempt(|session| {
        session.privatize("qb qc").unwrap();
        session.add_public("public");
        Err("no")
    });
    assert_eq!(failed, Err("no"));
    assert_eq!((session.loss(), session.export()), (loss, bytes));
    let done = session.attempt(|session| session.privatize("qa qb"));
    assert_eq!((done.unwrap().tokens, session.words()), (2, 2));
    // Ways of writing, collisions and what is remembered are as before too, and so is what lies around an attempt
    // that fails within one that does not.
    let state = |session: &Session| {
        let counts = (session.collisions(), session.remembered());
        (counts, session.loss(), session.bytes(), session.export())
    };
    let words: String = (0..40).map(|i| format!("{} ", letters(i))).collect();
    let before = state(&session);
    let done: Result<(), ()> = session.attempt(|session| {
        session.privatize("QA Qb").unwrap();
        let within = state(session);
        let failed: Result<(), ()> = session.attempt(|session| {
            session.privatize(&words).unwrap();
            session.privatize("qA").unwrap();
            session
                .privatize_spans("public qd", &[Span::of(7..9, "few")])
                .unwrap();
            assert!(session.collisions() > 0 && session.remembered() > session.words());
            Err(())
        });
        assert!(failed.is_err() && state(session) == within && within != before);
        Err(())
    });
    assert!(done.is_err() && state(&session) == before);
}

/// An attempt that fails leaves nothing behind, whatever it did, and also not for what comes later: the session goes on like
/// one that was exported before the attempt.
#[test]
fn what_is_taken_back_was_never_there() {
    let privatizer = Arc::new(privatizer(1.0));
    let mut noise = Noise::numbered(8);
    let state = |session: &Session| {
        let counts = (session.collisions(), session.remembered(), session.bytes());
        (counts, session.loss().to_bits(), session.export())
    };
    let mut taken_back = 0;
    for run in 0..60 {
        let mut session = Session::new(privatizer.clone()).unwrap();
        for step in 0..12 {
            let seed = 100 * run + step;
            let mut other = Session::import(privatizer.clone(), &session.export()).unwrap();
            assert!(state(&other) == state(&session), "{seed}");
            let before = state(&session);
            let tried: Result<(), ()> = session.attempt(|session| {
                change(session, &mut noise);
                // Within the first, a second that fails, and what comes behind it.
                let within = state(session);
                let inner: Result<(), ()> = session.attempt(|session| {
                    change(session, &mut noise);
                    Err(())
                });
                assert!(inner.is_err() && state(session) == within, "{seed}");
                change(session, &mut noise);
                Err(())
            });
            assert!(tried.is_err() && state(&session) == before, "{seed}");
            taken_back += 1;
            // What comes now is the same for both.
            for session in [&mut session, &mut other] {
                change(session, &mut Noise::numbered(seed));
            }
            assert!(state(&other) == state(&session), "{seed}");
            let answer: String = (0..60).map(|i| format!("{} ", letters(i))).collect();
            assert!(session.restore(&answer) == other.restore(&answer), "{seed}");
        }
    }
    assert_eq!(taken_back, 60 * 12);
}

/// Draws some words in some spelling from some list, or makes them public.
fn change(session: &mut Session, noise: &mut Noise) {
    for _ in 0..1 + noise.limb() % 8 {
        let limb = noise.limb();
        let word = match limb % 60 {
            known @ 0..40 => letters(known as usize),
            unknown => format!("x{}x", letters(unknown as usize)),
        };
        let word = match limb >> 8 & 3 {
            0 => word.to_uppercase(),
            1 => format!("{}{}", word[..1].to_uppercase(), &word[1..]),
            _ => word,
        };
        let spans = match limb >> 16 & 3 {
            0 => vec![],
            1 => vec![Span::of(0..word.len(), "few")],
            2 => vec![Span::of(0..word.len(), "others")],
            _ => vec![Span::new(0..word.len())],
        };
        session.privatize_spans_with(&word, &spans, noise).unwrap();
    }
}

#[test]
fn exported_sessions_go_on() {
    let mut session = session(0.5);
    let text = "Qa xyzzy QA plugh, public";
    let spans = [Span::new(0..11), Span::of(12..17, "few")];
    let private = session.privatize_spans(text, &spans).unwrap();
    let bytes = session.export();
    let mut later = Session::import(session.privatizer().clone(), &bytes).unwrap();
    assert_eq!(later.loss(), session.loss());
    assert_eq!(later.collisions(), session.collisions());
    assert_eq!(
        later.restore(&private.text).text,
        session.restore(&private.text).text
    );
    let again = later.privatize_spans(text, &spans).unwrap();
    assert_eq!((again.text, again.loss), (private.text, 0.0));
    let refused = |privatizer, bytes: &[u8]| Session::import(privatizer, bytes).err().unwrap();
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1;
        refused(session.privatizer().clone(), &damaged);
        let short = refused(session.privatizer().clone(), &bytes[..at]);
        assert!(matches!(short, Error::SessionInvalid));
    }
    let more = Arc::new(privatizer(0.6));
    assert!(matches!(refused(more, &bytes), Error::SessionMismatch));
    let model = random_model(64, 40, 3);
    let lists = [list(&model, "few", 0..4), list(&model, "others", 5..25)];
    let other = Privatizer::new(model, options(0.5)).unwrap();
    let other = lists
        .into_iter()
        .fold(other, |p, list| p.with_list(list).unwrap());
    assert!(matches!(
        refused(Arc::new(other), &bytes),
        Error::SessionMismatch
    ));
}

/// Integers become integers of the range, identifiers keep their shape, and both come back.
#[test]
fn numbers_become_numbers() {
    let numbers = brr::Numbers::new(0..=120, 5).unwrap();
    let model = random_model(64, 40, 3);
    let few = list(&model, "few", 0..5);
    let privatizer = Privatizer::new(model, options(1.0)).unwrap();
    let privatizer = Arc::new(privatizer.with_list(few).unwrap().with_numbers(numbers));
    let text = "Qa, 47 and 1,000, card 4111 1111 1111 1111, 47";
    let mut session = Session::new(privatizer.clone()).unwrap();
    let private = session.privatize(text).unwrap().text;
    let written: Vec<&str> = private
        .split([' ', ','])
        .filter(|w| !w.is_empty())
        .collect();
    for at in [1, 3] {
        let number: i64 = written[at].parse().unwrap();
        assert!((0..=120).contains(&number) && written[at] == number.to_string());
    }
    let card = written[5..9].concat();
    assert!(
        card.len() == 16 && card.bytes().all(|b| b.is_ascii_digit()),
        "{card}"
    );
    assert_eq!(written[9], written[1]);
    // Three words, two integers; identifiers cost nothing.
    let loss = session.loss();
    assert!(loss > 50.9 && loss < 51.001, "{loss}");
    let restored = session.restore(&private);
    assert!(restored.ambiguous > 0 || restored.text == text);
    let mut later = Session::import(privatizer.clone(), &session.export()).unwrap();
    assert_eq!(later.privatize(text).unwrap().text, private);
    // A span that names a list draws from it, numbers too.
    let span = [Span::of(0..2, "few")];
    let word = privatizer.privatize_spans("47", &span).unwrap().text;
    assert!((0..5).any(|w| letters(w) == word));
    let free = privatizer
        .privatize_spans("007", &[Span::new(0..3)])
        .unwrap();
    assert_eq!((free.loss, free.text.len()), (0.0, 3));
    let said = session.adjacency().to_string();
    assert!(
        said.contains("number of its digits") && said.contains("integers"),
        "{said}"
    );
    assert!(!privatizer.adjacency().to_string().contains("digits"));
}

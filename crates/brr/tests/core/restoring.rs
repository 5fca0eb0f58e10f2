//! The way back from surrogates to originals.

use std::sync::Arc;

use crate::session::session;
use crate::spans::options;
use crate::support::{english, letters};
use brr::parts::text::{Piece, pieces};
use brr::{Case, Privatizer, Session, Span};
use proptest::prelude::*;

fn tokens(text: &str) -> Vec<String> {
    let token = |piece: Piece<'_>| match piece {
        Piece::Token(token) => Some(token.to_lowercase()),
        _ => None,
    };
    pieces(text).into_iter().filter_map(token).collect()
}

proptest! {
    /// Every word that is not ambiguous comes back, wherever the parts of the answer are cut.
    #[test]
    fn what_went_in_comes_back(
        words in proptest::collection::vec((0usize..60, "[,;!?]?[ \n]"), 1..30),
        cuts in proptest::collection::vec(0usize..200, 0..8),
    ) {
        let mut text = String::new();
        for (word, behind) in &words {
            let word = match *word {
                known @ 0..40 => letters(known),
                unknown => format!("X{}x", letters(unknown)),
            };
            text.push_str(&word);
            text.push_str(behind);
        }
        let mut session = session(1.0);
        let private = session.privatize(&text).unwrap();
        let restored = session.restore(&private.text);
        let (before, after) = (tokens(&text), tokens(&restored.text));
        let different = before.iter().zip(&after).filter(|(a, b)| a != b).count();
        prop_assert_eq!(before.len(), after.len());
        prop_assert_eq!(restored.restored + restored.ambiguous, private.tokens);
        prop_assert!(different as u64 <= restored.ambiguous);
        if restored.ambiguous == 0 {
            prop_assert_eq!(&restored.text, &text);
        }
        prop_assert!(restored.ambiguous == 0 || session.collisions() > 0);
        prop_assert_eq!(in_parts(&session, &private.text, &cuts), restored.text);
    }

    /// The same for any answer.
    #[test]
    fn an_answer_in_parts_is_restored_like_a_whole_one(
        answer in "[ab .,'’()<>@:/\\[\\]\n\u{a0}é😀_-]{0,60}",
        cuts in proptest::collection::vec(0usize..200, 0..8),
    ) {
        let session = named("a", "b");
        let whole = session.restore(&answer);
        prop_assert_eq!(in_parts(&session, &answer, &cuts), whole.text);
    }
}

/// Pushes an answer, cut at these places and some more.
pub fn in_parts(session: &Session, answer: &str, cuts: &[usize]) -> String {
    let places: Vec<usize> = answer
        .char_indices()
        .map(|(at, _)| at)
        .chain([answer.len()])
        .collect();
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| places[cut % places.len()]).collect();
    cuts.extend([0, answer.len()]);
    cuts.sort_unstable();
    let mut restorer = session.restorer();
    let parts = cuts
        .windows(2)
        .map(|two| restorer.push(&answer[two[0]..two[1]]));
    let mut text: String = parts.collect();
    text.push_str(&restorer.finish());
    text
}

/// A session in which `original` became `surrogate`, for certain.
pub fn named(original: &str, surrogate: &str) -> Session {
    let model = english();
    let only = brr::WordList::new("only", surrogate, &model).unwrap();
    let privatizer = Privatizer::new(model, options(1.0).with_case(Case::Sentence)).unwrap();
    let privatizer = privatizer.with_list(Arc::new(only)).unwrap();
    let mut session = Session::new(Arc::new(privatizer)).unwrap();
    let span = Span::of(0..original.len(), "only");
    session.privatize_spans(original, &[span]).unwrap();
    session
}

#[test]
fn originals_come_back_with_case_possessive_and_plural() {
    for (original, surrogate, answer, expected) in [
        (
            "John",
            "kenneth",
            "Dear Kenneth, kenneth.",
            "Dear John, John.",
        ),
        (
            "John",
            "kenneth",
            "KENNETH's and Kenneth’s car",
            "John's and John’s car",
        ),
        (
            "John",
            "kenneth",
            "The Kenneths' house, 2 Kenneths",
            "The Johns' house, 2 Johns",
        ),
        (
            "John",
            "james",
            "James' car, James's car",
            "John's car, John's car",
        ),
        ("Chris", "james", "James' car", "Chris' car"),
        ("Chris", "kenneth", "two Kenneths", "two Chrises"),
        (
            "John",
            "james",
            "she said 'ask James' twice",
            "she said 'ask John' twice",
        ),
        ("John", "james", "two Jameses", "two Johns"),
        ("lady", "kenneth", "kenneths", "ladies"),
        ("Kennedy", "kenneth", "the Kenneths", "the Kennedys"),
        ("JOHN", "kenneth", "Kenneth and Kenneths", "JOHN and JOHNS"),
        (
            "john@a.org",
            "kenneth",
            "write to Kenneth",
            "write to john@a.org",
        ),
        (
            "John",
            "kenneth",
            "**Kenneth** _Kenneth_ \"Kenneth\"",
            "**John** _John_ \"John\"",
        ),
        (
            "John",
            "kenneth",
            "Kenneth-19 kenneth_x Kenneth/Mary",
            "John-19 John_x John/Mary",
        ),
        ("John", "kenneth", "Kennethson kennet", "Kennethson kennet"),
        (
            "John",
            "kenneth",
            "[Kenneth](http://a.b/Kenneth) k@kenneth.org",
            "[Kenneth](http://a.b/Kenneth) k@kenneth.org",
        ),
        (
            "John",
            "kenneth",
            "{\"name\":\"Kenneth\",\"n\":1}",
            "{\"name\":\"John\",\"n\":1}",
        ),
        ("John", "new", "news is new", "news is John"),
        ("John", "new", "The News are new", "The Johns are John"),
        ("film", "new", "news is new", "films is film"),
    ] {
        let restored = named(original, surrogate).restore(answer);
        assert_eq!(restored.text, expected);
        assert_eq!(restored.ambiguous, 0);
        assert_eq!(restored.restored > 0, answer != expected);
    }
    // The plural of an address is not one.
    let left = named("john@a.org", "kenneth").restore("Kenneths");
    assert_eq!((left.text.as_str(), left.ambiguous), ("Kenneths", 1));
}

/// A restorer goes by what the session knew when it began, whatever is drawn, or taken back, in the meantime.
#[test]
fn a_restorer_knows_what_was_known() {
    let mut session = named("John", "kenneth");
    let span = [Span::of(0..4, "only")];
    let mut before = session.restorer();
    let failed: Result<(), ()> = session.attempt(|session| {
        session.privatize_spans("Mary", &span).unwrap();
        assert_eq!(
            (session.collisions(), before.push("kenneth ")),
            (1, "John ".into())
        );
        assert_eq!(session.restore("kenneth").ambiguous, 1);
        Err(())
    });
    assert!(failed.is_err());
    assert_eq!(session.restore("kenneth").text, "John");
    session.add_public("Kenneth");
    assert_eq!(before.push("kenneth "), "John ");
    assert_eq!(session.restore("kenneth").ambiguous, 1);
}

/// Integers come back in the tokens that answers have them in, and not where they are a part of another number.
#[test]
fn numbers_come_back_within_tokens() {
    let numbers = brr::Numbers::new(0..=100_000, 1).unwrap();
    let privatizer = Privatizer::new(english(), options(1.0)).unwrap();
    let privatizer = Arc::new(privatizer.with_numbers(numbers));
    let mut session = Session::new(privatizer).unwrap();
    let drawn = session.privatize("12,345").unwrap().text;
    assert!(drawn.len() == 5 && drawn.parse::<u32>().is_ok(), "{drawn}");
    let grouped = format!("{},{}", &drawn[..2], &drawn[2..]);
    for form in [&drawn, &grouped] {
        for (before, behind) in [
            ("", ""),
            ("", "%"),
            ("$", ""),
            ("", "kg"),
            ("", "-year-old"),
            ("~", "€"),
            ("(", "),"),
        ] {
            let restored = session.restore(&format!("{before}{form}{behind}"));
            assert_eq!(restored.text, format!("{before}12,345{behind}"));
            assert_eq!((restored.restored, restored.ambiguous), (1, 0));
        }
    }
    for other in [
        format!("{drawn}.5"),
        format!("-{drawn}%"),
        format!("x{drawn}y"),
        format!("0{drawn}%"),
        format!("{drawn}{drawn}%"),
        format!("{drawn}-1a"),
    ] {
        let restored = session.restore(&other);
        assert_eq!((restored.text, restored.restored), (other, 0));
    }
    let ordinal = session.restore(&format!("the {drawn}th"));
    assert_eq!((ordinal.restored, ordinal.ambiguous), (0, 1));
}

#[test]
fn all_ways_of_writing_a_word_come_back() {
    let mut session = session(1.0);
    let private = session.privatize("Qz qz").unwrap().text;
    let surrogate = private.split(' ').next().unwrap().to_owned();
    let capital = surrogate[..1].to_uppercase() + &surrogate[1..];
    let restored = session.restore(&format!("{capital} {surrogate}"));
    assert_eq!(restored.text, "Qz qz");
}

#[test]
fn what_is_ambiguous_is_left_and_counted() {
    let model = english();
    let only = brr::WordList::new("only", "kenneth", &model).unwrap();
    let privatizer = Privatizer::new(model, options(1.0)).unwrap();
    let privatizer = Arc::new(privatizer.with_list(Arc::new(only)).unwrap());
    let mut session = Session::new(privatizer.clone()).unwrap();
    let spans = [Span::of(0..4, "only"), Span::of(9..13, "only")];
    let met = session.privatize_spans("John met Mary", &spans).unwrap();
    assert_eq!(
        (met.text.as_str(), session.collisions()),
        ("kenneth met kenneth", 1)
    );
    let restored = session.restore("Kenneth and the Kenneths, Kenneth's");
    assert_eq!(restored.text, "Kenneth and the Kenneths, Kenneth's");
    assert_eq!((restored.restored, restored.ambiguous), (0, 3));
    // A surrogate that also stands in public text, before or after.
    for texts in [["Kenneth asked", "John"], ["John", "kenneth asked"]] {
        let mut session = Session::new(privatizer.clone()).unwrap();
        for text in texts {
            let spans = (text == "John").then(|| Span::of(0..4, "only"));
            session.privatize_spans(text, spans.as_slice()).unwrap();
        }
        let restored = session.restore("Kenneth");
        assert_eq!((restored.text.as_str(), restored.ambiguous), ("Kenneth", 1));
        assert_eq!(session.collisions(), 0);
    }
    let mut session = Session::new(privatizer.clone()).unwrap();
    session
        .privatize_spans("John", &[Span::of(0..4, "only")])
        .unwrap();
    session.add_public("a text by Kenneth");
    assert_eq!(session.restore("kenneth").ambiguous, 1);
    // The plural of a surrogate in public text.
    let mut plural = Session::new(privatizer).unwrap();
    plural
        .privatize_spans("John kenneths", &[Span::of(0..4, "only")])
        .unwrap();
    assert_eq!(plural.restore("kenneths kenneth").text, "kenneths John");
}

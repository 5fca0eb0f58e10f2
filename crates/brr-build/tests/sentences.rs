//! 200 sentences in 20 languages: what is structure and what are tokens.
//!
//! `sentences/cut.txt` has two lines for each: the code of the language and the sentence, then the sentence with each
//! token in brackets. Languages without a table of their own are cut as English. No model plays a part: a stretch of letters of
//! a script without spaces is one token here.

use brr::Orthography;
use brr::parts::text::Piece;
use brr_build::orthography::find;

fn table(code: &str) -> Orthography {
    let found = find(code).unwrap_or_default();
    found.unwrap_or_else(|| Orthography::english().clone())
}

/// With characters for what is written `\u{...}`.
fn unescaped(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once("\\u{") {
        let (code, after) = behind.split_once('}').unwrap();
        out.push_str(before);
        out.push(char::from_u32(u32::from_str_radix(code, 16).unwrap()).unwrap());
        rest = after;
    }
    out + rest
}

/// What shows in a file and in a terminal as it is.
fn escaped(text: &str) -> String {
    let one = |c: char| match c {
        '\u{ad}'
        | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{feff}'
        | '\u{300}'..='\u{36f}'
        | '\u{3099}'
        | '\u{93c}'
        | '\u{1112}'
        | '\u{1161}'
        | '\u{11ab}' => format!("\\u{{{:x}}}", u32::from(c)),
        c => c.to_string(),
    };
    text.chars().map(one).collect()
}

fn shown(pieces: &[Piece<'_>]) -> String {
    let one = |piece: &Piece<'_>| match piece {
        Piece::Token(token) => format!("[{}]", escaped(token)),
        Piece::Space(c) | Piece::Mark(c) => c.to_string(),
        Piece::Break => "<br />".to_owned(),
    };
    pieces.iter().map(one).collect()
}

fn sentences() -> Vec<(&'static str, String, &'static str)> {
    let lines: Vec<&str> = include_str!("sentences/cut.txt").lines().collect();
    let each = lines.chunks_exact(2).map(|two| {
        let (code, sentence) = two[0].split_once(' ').unwrap();
        (code, unescaped(sentence), two[1])
    });
    each.collect()
}

#[test]
fn sentences_are_cut_as_they_were() {
    let all = sentences();
    assert_eq!(all.len(), 200);
    let mut codes: Vec<_> = all.iter().map(|(code, ..)| *code).collect();
    codes.dedup();
    assert_eq!(codes.len(), 20);
    for (code, sentence, expected) in &all {
        assert_eq!(shown(&table(code).pieces(sentence)), *expected, "{code}");
    }
}

/// Putting another word of the same class in the place of a token, a known one or one that nobody knows, long or short,
/// changes nothing but that token.
#[test]
fn structure_does_not_depend_on_which_words_there_are() {
    let words = [
        "zzqxv",
        "a",
        "été",
        "Жук",
        "ὕβρις",
        "كتاب",
        "e\u{301}te\u{301}",
        "ILIK",
        "한국",
    ];
    for (code, sentence, _) in &sentences() {
        let table = table(code);
        let pieces = table.pieces(sentence);
        let is_token = |at: usize| matches!(pieces.get(at), Some(Piece::Token(_)));
        let alone = |at: usize| is_token(at) && !is_token(at + 1) && (at == 0 || !is_token(at - 1));
        let is_word = |text: &str| text.chars().all(char::is_alphabetic);
        for word in words {
            let mut other = String::new();
            for (at, piece) in pieces.iter().enumerate() {
                match piece {
                    Piece::Token(token) if alone(at) && is_word(token) => other.push_str(word),
                    Piece::Token(token) => other.push_str(token),
                    Piece::Space(c) | Piece::Mark(c) => other.push(*c),
                    Piece::Break => other.push_str("<br />"),
                }
            }
            let structure = |pieces: &[Piece<'_>]| -> Vec<Option<char>> {
                let one = |piece: &Piece<'_>| match piece {
                    Piece::Token(_) => None,
                    Piece::Space(c) | Piece::Mark(c) => Some(*c),
                    Piece::Break => Some('\u{0}'),
                };
                pieces.iter().map(one).collect()
            };
            assert_eq!(
                structure(&table.pieces(&other)),
                structure(&pieces),
                "{code}: {other}"
            );
        }
    }
}

/// One text in two normal forms is the same structure, and the same words when they are looked up.
#[test]
fn normal_forms_are_cut_alike() {
    use unicode_normalization::UnicodeNormalization;
    for (code, sentence, _) in &sentences() {
        let table = table(code);
        let forms = |text: &str| -> Vec<String> {
            let one = |piece: Piece<'_>| match piece {
                Piece::Token(token) => table.form(token, true),
                other => format!("{other:?}"),
            };
            table.pieces(text).into_iter().map(one).collect()
        };
        let (nfc, nfd): (String, String) = (sentence.nfc().collect(), sentence.nfd().collect());
        assert_eq!(forms(&nfc), forms(&nfd), "{code}: {nfc}");
    }
}

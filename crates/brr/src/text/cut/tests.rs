use super::*;
use crate::text::{PUNCTUATION, Piece, pieces};
use proptest::prelude::*;

/// Tokens in brackets, structure as it is written.
fn show(text: &str) -> String {
    let mut out = String::new();
    Cutter::new(Orthography::english(), None).cut(text, |s| match s {
        Segment::Token(t) => out.push_str(&format!("[{}]", t.text)),
        Segment::Space(c) | Segment::Mark(c) => out.push(c),
        Segment::Break => out.push_str("<br />"),
    });
    out
}

fn expect(cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        assert_eq!(show(text), *expected, "{text:?}");
    }
}

#[test]
fn words_and_ordinary_punctuation() {
    expect(&[
        ("The film, sadly.", "[The] [film], [sadly]."),
        (
            "well-known and/or yes,no",
            "[well]-[known] [and]/[or] [yes],[no]",
        ),
        (
            "\"So it is,\" (he said).",
            "\"[So] [it] [is],\" ([he] [said]).",
        ),
        ("wait... what?! no -- yes", "[wait]. [what]! [no] - [yes]"),
        (
            "end.Then the dogs' 'tis",
            "[end].[Then] [the] [dogs]' '[tis]",
        ),
        (
            "cafe\u{301} na\u{ef}ve snake_case",
            "[cafe\u{301}] [na\u{ef}ve] [snake_case]",
        ),
        (
            "one<br /><BR>two <br/> <brx>",
            "[one]<br /><br />[two] <br /> [<][brx][>]",
        ),
        ("a\u{a0}b\u{2003}c", "[a] [b] [c]"),
        ("الكتاب، مرحبا", "[الكتاب]، [مرحبا]"),
        ("", ""),
    ]);
}

#[test]
fn contractions_are_cut_by_their_ending_alone() {
    expect(&[
        (
            "John'll Priyanka'll zzqx’LL",
            "[John]['ll] [Priyanka]['ll] [zzqx][’LL]",
        ),
        ("don't shouldn't've", "[do][n't] [should][n't]['ve]"),
        (
            "O'Brien's o'clock l'homme",
            "[O'Brien]['s] [o'clock] [l'homme]",
        ),
        ("he 's 'quoted' it's.", "[he] ['s] '[quoted]' [it]['s]."),
    ]);
}

#[test]
fn emoticons_and_emoji_are_tokens() {
    expect(&[
        ("fine :( ;) :-/", "[fine] [:(] [;)] [:-/]"),
        ("fine:( fine;) :D :o)", "[fine][:(] [fine][;)] [:D] [:o)]"),
        (">.< -_- ^.^ ... --- !!!", "[>.<] [-_-] [^.^] . - !"),
        ("fine=) fine=( x( )x", "[fine][=)] [fine][=(] [x][(] [)][x]"),
        ("so good 😀👍🏽 ok😀", "[so] [good] [😀👍🏽] [ok][😀]"),
        ("C++ a&b #tag", "[C][++] [a][&][b] [#][tag]"),
        (".\u{301} \u{7}\u{0}", "[.\u{301}] [\u{7}\u{0}]"),
    ]);
}

#[test]
fn numbers_and_addresses_are_one_token() {
    expect(&[
        (
            "3.14 1,000 10/10 B2B 90's",
            "[3.14] [1,000] [10/10] [B2B] [90's]",
        ),
        ("12/05/2020, 123-45-6789.", "[12/05/2020], [123-45-6789]."),
        (
            "(555) 123-4567 (555)123-4567",
            "[(555)] [123-4567] [(555)123-4567]",
        ),
        (
            "$100 50% -5 covid-19 well-known-19",
            "[$100] [50%] [-5] [covid-19] [well]-[known-19]",
        ),
        ("(in 1997) 10:30am", "([in] [1997]) [10:30am]"),
        ("(http://a.b/c?d=e).", "([http://a.b/c?d=e])."),
        (
            "WWW.example.com x.y@z.org, hi",
            "[WWW.example.com] [x.y@z.org], [hi]",
        ),
        ("1\u{fe0f}\u{20e3}", "[1\u{fe0f}\u{20e3}]"),
    ]);
}

#[test]
fn scripts_without_spaces_have_one_token_a_run() {
    expect(&[
        (
            "日本 日本語テキスト。東京",
            "[日本] [日本語テキスト]。[東京]",
        ),
        ("ภาษาไทยไม่มีช่องว่าง", "[ภาษาไทยไม่มีช่องว่าง]"),
        ("私はJohnです 2019年", "[私は][John][です] [2019][年]"),
        ("他说：“你好。”她", "[他说]：“[你好]。”[她]"),
    ]);
}

#[test]
fn invisible_characters_are_passed_over() {
    expect(&[
        ("\u{feff}the film", "[the] [film]"),
        ("\u{feff} \u{200b}", " "),
        (
            "a\u{200b}b fi\u{ad}lm .\u{200e}",
            "[a\u{200b}b] [fi\u{ad}lm] .",
        ),
    ]);
}

/// Texts as people and attackers write them.
fn texts() -> impl Strategy<Value = String> {
    "(\\PC|[ a-z'.<>/@\\n\\t:;()-]|<br ?/?>|\u{301}|\u{feff}|😀|[0-9]|n't|'s|日本){0,40}"
}

/// What is put in place of a token: known to some models and to others not, short and long.
fn substitute(number: usize, salt: usize) -> &'static str {
    const WORDS: [&str; 6] = ["a", "film", "zzqxv", "Incomprehensibilities", "ÉTÉ", "the"];
    WORDS[(number * 7 + salt) % WORDS.len()]
}

/// The text with each whole token replaced by a word. Where tokens touch, or are parts of a
/// contraction, nothing is replaced.
fn substituted(text: &str, salt: usize) -> String {
    let all = pieces(text);
    let touching = |i: usize| {
        let is_token = |at: Option<&Piece<'_>>| matches!(at, Some(Piece::Token(_)));
        is_token(all.get(i + 1)) || (i > 0 && is_token(all.get(i - 1)))
    };
    let mut out = String::new();
    for (i, piece) in all.iter().enumerate() {
        match piece {
            Piece::Token(token) if touching(i) => out.push_str(token),
            Piece::Token(_) => out.push_str(substitute(i, salt)),
            Piece::Space(c) | Piece::Mark(c) => out.push(*c),
            Piece::Break => out.push_str("<br />"),
        }
    }
    out
}

fn skeleton(text: &str) -> Vec<Piece<'_>> {
    let plain = |piece| match piece {
        Piece::Token(_) => Piece::Token(""),
        other => other,
    };
    pieces(text).into_iter().map(plain).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Tokens are not empty, lie in the text in order, and what lies between them is
    /// structure or passed over: no other character is lost.
    #[test]
    fn every_character_is_in_a_token_structure_or_passed_over(text in texts()) {
        let mut at = 0;
        let between = |gap: &str| gap.chars().all(|c| {
            c.is_whitespace() || PUNCTUATION.contains(c) || is_ignorable(c) || "<br/>BR".contains(c)
        });
        for piece in pieces(&text) {
            if let Piece::Token(token) = piece {
                let start = token.as_ptr() as usize - text.as_ptr() as usize;
                prop_assert!(!token.is_empty() && start >= at);
                prop_assert!(between(&text[at..start]), "{:?}", &text[at..start]);
                at = start + token.len();
            }
        }
        prop_assert!(between(&text[at..]));
    }

    /// Writing words into a text's structure gives texts of one structure, whichever words.
    #[test]
    fn structure_does_not_depend_on_the_words(text in texts(), a in 0usize..6, b in 0usize..6) {
        let (one, other) = (substituted(&text, a), substituted(&text, b));
        prop_assert_eq!(skeleton(&one), skeleton(&other));
    }

    /// The stem of a contraction does not decide how it is cut.
    #[test]
    fn stems_do_not_decide(a in 0usize..6, b in 0usize..6, ending in 0usize..7, around in "[ .,()\"]{0,3}") {
        const ENDINGS: [&str; 7] = ["n't", "'ll", "'re", "'ve", "'m", "'d", "'s"];
        let ending = ENDINGS[ending];
        let text = |salt| format!("{around}{}{ending}{around}", substitute(0, salt));
        let (one, other) = (text(a), text(b));
        prop_assert_eq!(skeleton(&one), skeleton(&other));
    }

    /// Only single marks and white space reach the output besides tokens: two marks in a row
    /// are ordinary, and never the same mark twice.
    #[test]
    fn marks_in_a_row_never_repeat(text in texts()) {
        for pair in pieces(&text).windows(2) {
            if let [Piece::Mark(a), Piece::Mark(b)] = pair {
                prop_assert_ne!(a, b);
            }
        }
    }
}

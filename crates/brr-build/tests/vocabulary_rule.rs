//! Which tokens may enter a model.

use std::sync::Arc;

use brr::parts::text::is_one_token;
use brr_build::vocabulary_rule::{Case, MAX_BYTES, Numbers, Rejection, VocabularyRule};
use proptest::prelude::*;

const RELEASE: VocabularyRule = VocabularyRule {
    numbers: Numbers::Drop,
    case: Case::Fold,
    orthography: None,
};
const NUMBERS: VocabularyRule = VocabularyRule {
    numbers: Numbers::Keep,
    case: Case::Fold,
    orthography: None,
};

fn assert_out(reason: Rejection, tokens: &[&str]) {
    for token in tokens {
        assert_eq!(RELEASE.admit(token), Err(reason), "{token:?}");
    }
}

#[test]
fn the_default_is_the_rule_for_release() {
    assert_eq!(VocabularyRule::default(), RELEASE);
}

#[test]
fn words_enter_in_lower_case_and_composed() {
    let same = [
        "the",
        "o'clock",
        "n't",
        "'s",
        "日本",
        "naïve",
        "col·lega",
        "привет",
    ];
    for word in same {
        assert_eq!(RELEASE.admit(word).as_deref(), Ok(word));
    }
    let changed = [
        ("The", "the"),
        ("O’Clock", "o'clock"),
        ("ΟΔΟΣ", "οδο\u{3c2}"),
        ("cafe\u{301}", "café"),
        ("\u{212a}elvin", "kelvin"),
    ];
    for (token, word) in changed {
        assert_eq!(RELEASE.admit(token).as_deref(), Ok(word), "{token}");
    }
    // A Persian word with a zero-width non-joiner.
    assert!(RELEASE.admit("می\u{200c}خواهم").is_ok());
}

#[test]
fn case_can_be_kept() {
    let rule = VocabularyRule {
        case: Case::Keep,
        ..RELEASE
    };
    assert_eq!(rule.admit("Wrocław").as_deref(), Ok("Wrocław"));
}

#[test]
fn what_the_tokenizer_splits_stays_out() {
    assert_out(Rejection::Empty, &[""]);
    assert_out(
        Rejection::WhiteSpace,
        &[
            "a b",
            "at\u{a0}name@domain.com",
            "a\u{202f}b",
            "\t",
            "a\u{85}b",
        ],
    );
    assert_out(
        Rejection::NotOneWord,
        &[
            "well-known",
            "'tis",
            "dogs'",
            "c++",
            "at&t",
            "</s>",
            "don't",
            "u.s",
            "<unk>",
        ],
    );
}

#[test]
fn what_is_no_word_stays_out() {
    assert_out(
        Rejection::Invisible,
        &[
            "a\u{7}",
            "co\u{ad}op",
            "\u{feff}the",
            "a\u{202e}b",
            "\u{fffd}",
            "a\u{e000}",
        ],
    );
    assert_out(
        Rejection::NoLetter,
        &[".", "...", "&", "😀", "@", "--", "_"],
    );
    assert_out(
        Rejection::Address,
        &[
            "a@b.org",
            "name@domain.com",
            "http://x",
            "www.x.y",
            "mylot.com",
        ],
    );
    assert_out(Rejection::Symbol, &["new_york", "_x"]);
    let long = "a".repeat(MAX_BYTES + 1);
    assert_out(Rejection::TooLong, &[&long]);
    assert!(RELEASE.admit(&long[1..]).is_ok());
}

#[test]
fn compatibility_forms_stay_out() {
    assert_out(
        Rejection::Compatibility,
        &["ﬁ", "ª", "ℝ", "ℓ", "µ", "ｆｕｌｌ", "ˡ", "ﬁre", "ſo"],
    );
}

#[test]
fn numbers_stay_out_unless_kept() {
    let numbers = ["2012", "mp3", "1st", "1,000", "3.14", "٣"];
    assert_out(Rejection::Number, &numbers);
    assert_out(Rejection::Number, &["½", "²", "⁸", "Ⅷ"]);
    for token in numbers {
        assert_eq!(NUMBERS.admit(token).as_deref(), Ok(token));
    }
    assert_eq!(NUMBERS.admit("½"), Err(Rejection::Compatibility));
    assert_eq!(NUMBERS.admit("1/2").as_deref(), Ok("1/2"));
    assert_eq!(NUMBERS.admit("$5"), Err(Rejection::Symbol));
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| word.to_string()).collect()
}

#[test]
fn a_lone_letter_stays_where_it_is_at_home() {
    let english = words(&["the", "a", "i", "x", "ʂ", "в", "日", "ø", "smørrebrød"]);
    let longer = (0..2000).map(|i| format!("word{}", "abcdefghij".repeat(i % 7)));
    let english: Vec<String> = english.into_iter().chain(longer).collect();
    assert_eq!(RELEASE.stray_letters(&english), [4, 5, 6, 7]);

    let russian = words(&["в", "и", "с", "ʂ", "видеть", "снег", "x"]);
    assert_eq!(RELEASE.stray_letters(&russian), [3]);
    let azerbaijani = words(&["ə", "və", "ʂ"]);
    assert_eq!(RELEASE.stray_letters(&azerbaijani), [2]);
    // A function word of the language is at home however few words have its letter.
    let french = brr_build::orthography::find("fr").unwrap().map(Arc::new);
    let words: Vec<String> = ["vie", "à", "ŵ"].map(str::to_owned).to_vec();
    assert_eq!(RELEASE.stray_letters(&words), [1, 2]);
    let rule = VocabularyRule {
        orthography: french,
        ..RELEASE
    };
    assert_eq!(rule.stray_letters(&words), [2]);
}

#[test]
fn chinese_characters_are_words_among_their_like() {
    let chinese = words(&["日", "月", "的", "は", "ə", "word"]);
    assert_eq!(RELEASE.stray_letters(&chinese), [4]);
}

#[test]
fn marks_do_not_make_a_letter_a_word() {
    let list = words(&["и\u{301}", "the", "dog"]);
    assert_eq!(RELEASE.stray_letters(&list), [0]);
}

proptest! {
    /// What is admitted is what the tokenizer would make of it: one word, and the same again.
    #[test]
    fn admitted_words_are_stable_single_words(token in "\\PC{1,12}|[a-zA-Zéü'’.·_-]{1,10}") {
        for rule in [RELEASE, NUMBERS] {
            if let Ok(word) = rule.admit(&token) {
                let again = rule.admit(&word);
                prop_assert_eq!(again.as_deref(), Ok(&*word));
                prop_assert!(is_one_token(&word));
                prop_assert_eq!(&word.to_lowercase(), &*word);
            }
        }
    }
}

#[test]
fn words_of_other_languages_enter_as_they_are_cut_and_folded() {
    let rule = |code| VocabularyRule {
        orthography: brr_build::orthography::find(code).unwrap().map(Arc::new),
        ..RELEASE
    };
    let french = rule("fr");
    for (token, word) in [
        ("L’", "l'"),
        ("Qu'", "qu'"),
        ("Été", "été"),
        ("aujourd'hui", "aujourd'hui"),
    ] {
        assert_eq!(french.admit(token).as_deref(), Ok(word));
    }
    assert_eq!(french.admit("l'homme"), Err(Rejection::NotOneWord));
    assert_eq!(RELEASE.admit("l'homme").as_deref(), Ok("l'homme"));
    assert_eq!(french.admit("fi\u{ad}lm"), Err(Rejection::Invisible));
    assert_eq!(rule("tr").admit("IŞIK").as_deref(), Ok("ışık"));
    assert_eq!(rule("el").admit("ΟΔΟΣ").as_deref(), Ok("οδος"));
    assert_eq!(rule("ja").admit("ｶﾞﾗｽ").as_deref(), Ok("ガラス"));
    assert_eq!(rule("ja").admit("「東京」"), Err(Rejection::NotOneWord));
}

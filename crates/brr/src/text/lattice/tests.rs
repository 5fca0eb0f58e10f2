use super::*;
use proptest::prelude::*;

const TABLE: &str = "orthography 1\nlanguage ja Japanese\nscript Jpan\nwords lattice\nfold plain\nform compatible\n";

fn vocabulary(words: &[&str]) -> Vocabulary {
    Vocabulary::unpack(&Vocabulary::pack(words).unwrap(), words.len()).unwrap()
}

fn tokens<'t>(v: &Vocabulary, text: &'t str) -> Vec<&'t str> {
    let table = Orthography::parse(TABLE).unwrap();
    let mut out = Vec::new();
    Lattice::new(v, &table, true).cut(text, &mut Memory::default(), |token| out.push(token));
    out
}

/// Most frequent first.
const WORDS: [&str; 16] = [
    "の",
    "は",
    "に",
    "東京",
    "京都",
    "都",
    "住む",
    "東",
    "大学",
    "大",
    "学",
    "京",
    "学生",
    "生",
    "私",
    "ガラス",
];

#[test]
fn stretches_are_cut_into_the_models_words() {
    let v = vocabulary(&WORDS);
    for (text, expected) in [
        ("私は東京に住む", "私|は|東京|に|住む"),
        ("東京都の大学生", "東京|都|の|大|学生"),
        ("東京の京都", "東京|の|京都"),
        // Unknown characters in a row are one token, whatever their number.
        ("私は鎌倉に住む", "私|は|鎌倉|に|住む"),
        ("私は鎌倉鎌倉鎌倉に住む", "私|は|鎌倉鎌倉鎌倉|に|住む"),
        ("鎌倉", "鎌倉"),
        // Beside and between unknown characters, too, a word is a word, however rare.
        ("鎌生倉は", "鎌|生|倉|は"),
        ("鎌倉私は", "鎌倉|私|は"),
        // Forms that stand for others, and marks that belong to the character before.
        ("ｶﾞﾗｽの大学", "ｶﾞﾗｽ|の|大学"),
        ("カ\u{3099}ラスは", "カ\u{3099}ラス|は"),
        // A space without a width ends a word.
        ("東\u{200b}京", "東|京"),
        ("鎌\u{200b}\u{200b}倉", "鎌|倉"),
    ] {
        assert_eq!(tokens(&v, text).join("|"), expected, "{text}");
    }
}

#[test]
fn a_stretch_that_is_a_word_is_one_token() {
    let v = vocabulary(&["東", "京", "x", "東京"]);
    for word in ["東", "京", "東京"] {
        assert_eq!(tokens(&v, word), [word]);
    }
}

#[test]
fn an_unknown_stretch_is_one_token_through_windows() {
    let v = vocabulary(&WORDS);
    for length in [
        1,
        WINDOW - 1,
        WINDOW,
        WINDOW + 1,
        3 * WINDOW - MARGIN,
        20_000,
    ] {
        let unknown = "鎌".repeat(length);
        let text = format!("東京の{unknown}の大学");
        assert_eq!(
            tokens(&v, &text),
            ["東京", "の", &unknown, "の", "大学"],
            "{length}"
        );
        assert_eq!(tokens(&v, &unknown), [&unknown], "{length}");
        let ends = format!("{unknown}は");
        assert_eq!(tokens(&v, &ends), [&unknown, "は"], "{length}");
    }
}

#[test]
fn long_stretches_are_cut_as_short_ones_are() {
    let v = vocabulary(&WORDS);
    let sentence = "私は東京に住む学生の鎌倉は";
    let one = tokens(&v, sentence);
    let text = sentence.repeat(1000);
    let all = tokens(&v, &text);
    assert_eq!(all.len(), 1000 * one.len());
    assert!(all.iter().zip(one.iter().cycle()).all(|(a, b)| a == b));
}

/// The smallest cost of any way to cut a stretch of plain characters, by a look at all.
fn naive(v: &Vocabulary, chars: &[char], after_unknown: bool) -> u32 {
    if chars.is_empty() {
        return 0;
    }
    let rarest = WORD + log2(v.len() as u32 + 2);
    let mut best = u32::MAX;
    for n in 1..=chars.len() {
        let part: String = chars[..n].iter().collect();
        if let Some(id) = v.id(&part) {
            best = best.min(naive(v, &chars[n..], false).saturating_add(WORD + log2(id + 2)));
        }
        if !after_unknown {
            let unknown = rarest + 2 * rarest * n as u32;
            best = best.min(naive(v, &chars[n..], true).saturating_add(unknown));
        }
    }
    best
}

fn cost(v: &Vocabulary, tokens: &[&str]) -> u32 {
    let rarest = WORD + log2(v.len() as u32 + 2);
    let one = |token: &&str| match v.id(token) {
        Some(id) => WORD + log2(id + 2),
        None => rarest + 2 * rarest * token.chars().count() as u32,
    };
    tokens.iter().map(one).sum()
}

proptest! {
    #[test]
    fn no_other_way_to_cut_costs_less(text in "[のは東京都大学生私鎌]{1,9}") {
        let v = vocabulary(&WORDS);
        let found = tokens(&v, &text);
        prop_assert_eq!(found.concat(), text.clone());
        let unknown = |token: &str| v.id(token).is_none();
        prop_assert!(!found.windows(2).any(|two| unknown(two[0]) && unknown(two[1])));
        // A stretch that is a word as it stands is not cut at all.
        if v.id(&text).is_none() {
            let chars: Vec<char> = text.chars().collect();
            prop_assert_eq!(cost(&v, &found), naive(&v, &chars, false));
        }
    }

    #[test]
    fn every_character_is_in_a_token(text in "([のは東京都鎌ｶﾞ\u{200b}\u{3099}]|\\PC){1,60}") {
        let v = vocabulary(&WORDS);
        let found = tokens(&v, &text);
        prop_assert!(found.iter().all(|token| !token.is_empty()));
        let kept: String = text.chars().filter(|c| !is_ignorable(*c)).collect();
        let shown: String = found.concat().chars().filter(|c| !is_ignorable(*c)).collect();
        prop_assert_eq!(kept, shown);
    }
}

#[test]
fn costs_grow_with_the_rank() {
    let costs: Vec<u32> = (2..5000).map(log2).collect();
    assert!(costs.windows(2).all(|two| two[0] <= two[1]));
    assert_eq!((log2(2), log2(4), log2(1 << 20)), (BIT, 2 * BIT, 20 * BIT));
}

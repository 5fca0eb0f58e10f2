//! What holds in every language that comes with brr, for texts as people and attackers write them: in any normal form,
//! width and direction, with marks that combine, emoji in sequences, and scripts mixed within a word.

use std::sync::{Arc, LazyLock};

use brr::parts::calibration::Calibration;
use brr::parts::codes::{CodeBits, CodeBlocks, CodeRows, to_blocks};
use brr::parts::distances::code_distances;
use brr::parts::model::ModelParts;
use brr::parts::text::{MARKS, PUNCTUATION, Piece, Words, is_spaceless};
use brr::{Budget, Layout, MechanismKind, Model, Options, Orthography, Privatizer};
use brr_build::orthography::{TABLES, find};
use proptest::prelude::*;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// A script in which no text of these tests is written: whatever comes out in it was drawn.
const RUNES: [&str; 3] = ["ᚠᚢᚦ", "ᚨᚱᚲ", "ᚷᚹᚺ"];

/// Words that people write, of which a model knows some and others not.
const WRITTEN: [&str; 32] = [
    "the",
    "l'homme",
    "d’un",
    "aujourd'hui",
    "Qu'il",
    "don't",
    "Zzqxv's",
    "ÉTÉ",
    "e\u{301}te\u{301}",
    "E\u{200f}\u{301}te\u{ad}\u{301}",
    "Straße",
    "IŞIK",
    "İzmir'in",
    "I\u{307}Z",
    "ılık",
    "Жуковский",
    "и\u{306}",
    "ΟΔΟΣ",
    "σ'",
    "كِتَابٌ",
    "זְכַרְיָה",
    "हिन्दी",
    "한국어",
    "\u{1112}\u{1161}\u{11ab}",
    "ประเทศไทย",
    "東京都",
    "ガラス",
    "ｶﾞﾗｽ",
    "カ\u{3099}",
    "ﾊﾟﾝ",
    "Ｆｕｌｌ",
    "aбγاאक",
];

/// What stands between and around them.
const BETWEEN: [&str; 34] = [
    " ", " ", "\n", "\u{3000}", ", ", ". ", "!", "?", "'", "’", "-", " – ", "(", ")", "« ", " »",
    "„", "“", "「", "」。", "｢", "｣｡", "･", "、", "؟", "\u{200f}", "\u{202b}", "\u{2067}",
    "\u{200b}", "\u{200d}", "\u{ad}", "<br>", "\u{301}", "\u{ff9e}",
];

/// What is neither.
const OTHERS: [&str; 14] = [
    "👩\u{200d}👩\u{200d}👧",
    "👍🏽",
    "🇬🇧",
    "1\u{fe0f}\u{20e3}",
    "🏴\u{e0067}\u{e0062}\u{e007f}",
    ":-)",
    ">.<",
    "12/05/2020",
    "１２３",
    "٣٤",
    "a.b@c.example",
    "http://x.example/ü?y",
    "#tag",
    "C++",
];

fn any_of(list: &'static [&'static str]) -> impl Strategy<Value = String> {
    prop::sample::select(list).prop_map(str::to_owned)
}

fn texts() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        4 => any_of(&WRITTEN),
        4 => any_of(&BETWEEN),
        1 => any_of(&OTHERS),
        1 => "\\PC{1,3}",
    ];
    let no_runes = |text: &String| !text.contains(|c| ('\u{16a0}'..='\u{16ff}').contains(&c));
    prop::collection::vec(part, 0..14)
        .prop_map(|parts| parts.concat())
        .prop_filter("runes are what comes out", no_runes)
}

struct Language {
    code: &'static str,
    table: Orthography,
    /// With words in runes alone, and with the words that the texts are made of, and function words.
    strange: Arc<Model>,
    own: Arc<Model>,
}

static LANGUAGES: LazyLock<Vec<Language>> = LazyLock::new(|| {
    let language = |(code, _): &(&'static str, &str)| {
        let own = find(code).unwrap();
        let table = own
            .clone()
            .unwrap_or_else(|| Orthography::english().clone());
        let mut words: Vec<String> = RUNES.map(str::to_owned).into();
        let strange = model(&words, own.clone());
        words.extend(WRITTEN.iter().step_by(2).map(|word| table.form(word, true)));
        words.extend(table.function_words().iter().cloned());
        // Parts of which a stretch can be made, with a voiced mark and without.
        words.extend(["カ", "ガ", "ハ", "パ", "ン", "ラス"].map(str::to_owned));
        words.retain(|word| table.is_one_token(word));
        words.sort();
        words.dedup();
        let own = model(&words, own);
        Language {
            code,
            table,
            strange,
            own,
        }
    };
    TABLES.iter().map(language).collect()
});

fn model(words: &[String], orthography: Option<Orthography>) -> Arc<Model> {
    let bits = CodeBits::new(64).unwrap();
    let mut codes = CodeRows::zeros(bits, words.len());
    let mut state = 1u64;
    for i in 0..words.len() {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        codes.row_mut(i)[0] = state;
    }
    let blocks = to_blocks(&codes);
    let parts = ModelParts {
        words,
        codes: &codes,
        lowercase: true,
        distances: code_distances(
            CodeBlocks::new(bits, words.len(), &blocks).unwrap(),
            1,
            &|_| {},
        ),
        calibration: Calibration::default(),
        meta: Vec::new(),
        orthography,
    };
    Arc::new(parts.write().unwrap())
}

/// With so large a budget that every known word stays.
fn faithful(model: &Arc<Model>, layout: Layout) -> Privatizer {
    let options = Options::default()
        .with_mechanism(MechanismKind::KAry)
        .with_budget(Budget::Epsilon(60.0))
        .with_layout(layout);
    Privatizer::new(model.clone(), options).unwrap()
}

/// The structure, with a sign for each token. Tokens that touch have a space between them.
fn skeleton(pieces: &[Piece<'_>]) -> String {
    let mut out = String::new();
    for (at, piece) in pieces.iter().enumerate() {
        let touches = at > 0 && matches!(pieces[at - 1], Piece::Token(_));
        match piece {
            Piece::Token(_) if touches => out.push_str(" \u{0}"),
            Piece::Token(_) => out.push('\u{0}'),
            Piece::Space(c) | Piece::Mark(c) => out.push(*c),
            Piece::Break => out.push_str("<br />"),
        }
    }
    out
}

/// Tokens in the form in which they are looked up, and structure.
fn forms(table: &Orthography, pieces: Vec<Piece<'_>>) -> Vec<String> {
    let one = |piece| match piece {
        Piece::Token(token) => table.form(token, true),
        other => format!("{other:?}"),
    };
    pieces.into_iter().map(one).collect()
}

/// Whether one cut is the other but for stretches of letters without spaces, which it may cut further.
fn refines(text: &str, fine: &[Piece<'_>], coarse: &[Piece<'_>]) -> bool {
    let start = |token: &str| token.as_ptr().addr() - text.as_ptr().addr();
    let mut fine = fine.iter().peekable();
    for piece in coarse {
        let Piece::Token(whole) = piece else {
            if fine.next() != Some(piece) {
                return false;
            }
            continue;
        };
        let end = start(whole) + whole.len();
        let mut parts = Vec::new();
        while let Some(Piece::Token(part)) =
            fine.next_if(|piece| matches!(piece, Piece::Token(part) if start(part) < end))
        {
            parts.push(*part);
        }
        let spaceless = |c: char| is_spaceless(c) || is_combining_mark(c) || !c.is_alphanumeric();
        let within = |part: &&str| start(part) + part.len() <= end;
        let cut_further = whole.chars().all(spaceless) && parts.iter().all(within);
        if parts != [*whole] && !cut_further {
            return false;
        }
    }
    fine.next().is_none()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Which words a model has plays no part, but where the table says that it cuts stretches without spaces.
    #[test]
    fn structure_is_a_function_of_characters(text in texts()) {
        for language in LANGUAGES.iter() {
            let expected = language.table.pieces(&text);
            for model in [&language.strange, &language.own] {
                let pieces = model.pieces(&text);
                match language.table.words() {
                    Words::Spaces => prop_assert_eq!(&pieces, &expected, "{}", language.code),
                    Words::Lattice => prop_assert!(refines(&text, &pieces, &expected), "{}: {:?}", language.code, pieces),
                }
            }
        }
    }

    /// If the model has none of a text's words, its structure comes out, and of its tokens only how many there are.
    #[test]
    fn nothing_but_structure_passes(text in texts()) {
        for language in LANGUAGES.iter() {
            let private = faithful(&language.strange, Layout::Keep).privatize(&text).unwrap();
            prop_assert_eq!(private.unknown, private.tokens);
            let hidden = RUNES.iter().fold(private.text, |text, word| text.replace(word, "\u{0}"));
            prop_assert_eq!(&hidden, &skeleton(&language.strange.pieces(&text)), "{}", language.code);
            let listed = |c| PUNCTUATION.contains(c) || MARKS.contains(c) || " \t\n\r\u{0}".contains(c);
            prop_assert!(hidden.replace("<br />", "").chars().all(listed), "{}", language.code);
        }
    }

    /// If it has some, words of the model come out and nothing else, one for each token.
    #[test]
    fn words_of_the_model_come_out_and_nothing_else(text in texts()) {
        for language in LANGUAGES.iter() {
            let private = faithful(&language.own, Layout::Words).privatize(&text).unwrap();
            let words: Vec<&str> = private.text.split(' ').filter(|word| !word.is_empty()).collect();
            prop_assert_eq!(words.len() as u64, private.tokens, "{}", language.code);
            for word in words {
                prop_assert!(language.own.vocabulary().id(word).is_some(), "{}: {}", language.code, word);
            }
        }
    }

    /// One text in two normal forms is one structure and the same words.
    #[test]
    fn normal_forms_are_alike(text in texts()) {
        let (nfc, nfd): (String, String) = (text.nfc().collect(), text.nfd().collect());
        for Language { code, table, own, .. } in LANGUAGES.iter() {
            prop_assert_eq!(forms(table, table.pieces(&nfc)), forms(table, table.pieces(&nfd)), "{}", code);
            prop_assert_eq!(forms(table, own.pieces(&nfc)), forms(table, own.pieces(&nfd)), "{}", code);
        }
    }

    /// Where letters of any width are letters, half and full width are one structure and the same words.
    #[test]
    fn widths_are_alike(text in "([ｦ-ﾝ]ﾞ?|[ﾊ-ﾎ]ﾟ|[Ａ-Ｚａ-ｚ０-９]|[｡､｢｣･ ]|の){0,20}") {
        let wide: String = text.nfkc().collect();
        for Language { code, table, own, .. } in LANGUAGES.iter().filter(|language| language.code == "ja") {
            let wide_marks = |pieces| -> Vec<String> {
                forms(table, pieces).iter().map(|form| form.nfkc().collect()).collect()
            };
            prop_assert_eq!(wide_marks(table.pieces(&text)), wide_marks(table.pieces(&wide)), "{}", code);
            prop_assert_eq!(wide_marks(own.pieces(&text)), wide_marks(own.pieces(&wide)), "{}", code);
        }
    }

    /// A word that was drawn is found again when it is read.
    #[test]
    fn forms_are_forms_of_themselves(text in texts()) {
        for Language { code, table, .. } in LANGUAGES.iter() {
            for piece in table.pieces(&text) {
                if let Piece::Token(token) = piece {
                    let form = table.form(token, true);
                    prop_assert_eq!(&table.form(&form, true), &form, "{}", code);
                }
            }
        }
    }
}

/// The rest of a word does not decide whether an elision or ending is taken off it.
#[test]
fn stems_do_not_decide() {
    let stems = [
        "homme",
        "zzqxv",
        "Incomprehensibilities",
        "ÉTÉ",
        "e\u{301}te\u{301}",
        "İ",
        "ΟΔΟΣ",
        "жук",
        "كتاب",
        "한국",
    ];
    for Language { code, table, .. } in LANGUAGES.iter() {
        let lines = table.to_lines();
        let parts = |key: &str| -> Vec<String> {
            let of = lines
                .lines()
                .filter_map(|line| line.strip_prefix(key)?.split(' ').next());
            of.map(str::to_owned).collect()
        };
        let elisions = parts("elision ").into_iter().map(|part| (part, true));
        let endings = parts("ending ").into_iter().map(|part| (part, false));
        for (part, before) in elisions.chain(endings) {
            let forms = [
                part.clone(),
                part.replace('\'', "’"),
                part.nfd().collect(),
                part.replace('\'', "ʼ"),
            ];
            for part in forms {
                for stem in stems {
                    let text = if before {
                        format!("{part}{stem}")
                    } else {
                        format!("{stem}{part}")
                    };
                    let pieces = table.pieces(&text);
                    let expected = if before {
                        [part.as_str(), stem]
                    } else {
                        [stem, part.as_str()]
                    };
                    assert_eq!(pieces, expected.map(Piece::Token), "{code}: {text}");
                }
            }
        }
    }
}

//! Models of other languages, in every entrance: whole texts, spans, sessions, batches, caps, traces, and released text.

use std::sync::Arc;

use crate::support::{model_in, random_model};
use brr::parts::language::Evidence;
use brr::parts::text::Piece;
use brr::{
    Budget, Error, Layout, MechanismKind, Model, Options, Policy, Privatizer, Session, Span,
    Unknown, WordList,
};
use sha2::{Digest, Sha256};

const FRENCH: &str = "orthography 1\nlanguage fr French\nscript Latn\nwords spaces\nfold plain\nform canonical\n\
    elision l' le\nelision d' de\nelision qu' que\nfunction-words le la l'\n";
const JAPANESE: &str = "orthography 1\nlanguage ja Japanese\nscript Jpan\nwords lattice\nfold plain\n\
    form compatible\nmarks 「」\nfunction-words は に の\n";
const TURKISH: &str = "orthography 1\nlanguage tr Turkish\nscript Latn\nwords spaces\nfold dotless\n\
    form canonical\nending 'da da\n";
const FRENCH_WORDS: [&str; 8] = ["le", "la", "l'", "homme", "maison", "été", "que", "il"];
const JAPANESE_WORDS: [&str; 10] = [
    "の", "は", "に", "東京", "京都", "住む", "大学", "私", "学生", "film",
];

fn japanese(layout: Layout) -> Privatizer {
    let options = Options::default()
        .with_mechanism(MechanismKind::KAry)
        .with_budget(Budget::Epsilon(1.0))
        .with_layout(layout);
    Privatizer::new(model_in(JAPANESE, &JAPANESE_WORDS), options).unwrap()
}

/// With so large a budget that every known word stays.
fn faithful(table: &str, words: &[&str], options: Options) -> Privatizer {
    let options = options
        .with_mechanism(MechanismKind::KAry)
        .with_budget(Budget::Epsilon(60.0));
    Privatizer::new(model_in(table, words), options).unwrap()
}

#[test]
fn elisions_are_found_and_written_without_a_space() {
    let privatizer = faithful(FRENCH, &FRENCH_WORDS, Options::default());
    let private = privatizer.privatize("L'homme, qu’il l'été. «l'»").unwrap();
    assert_eq!(private.text, "l'homme, que il l'été. «l'»");
    assert_eq!((private.tokens, private.unknown), (7, 0));
    let words = faithful(
        FRENCH,
        &FRENCH_WORDS,
        Options::default().with_layout(Layout::Words),
    );
    assert_eq!(words.privatize("L'homme").unwrap().text, "l' homme");
}

#[test]
fn letters_are_folded_as_in_the_language() {
    let model = model_in(TURKISH, &["ılık", "izmir", "'da", "ışık"]);
    for (written, found) in [("ILIK", 0), ("İZMİR", 1), ("I\u{307}ZMIR", 9), ("Işık", 3)] {
        assert_eq!(model.find(written).unwrap_or(9), found, "{written}");
    }
    let tokens: Vec<_> = model
        .tokens("İzmir'da")
        .into_iter()
        .map(|(id, _)| id)
        .collect();
    assert_eq!(tokens, [Some(1), Some(2)]);
}

#[test]
fn function_words_of_the_table_can_be_public() {
    let model = model_in(FRENCH, &FRENCH_WORDS);
    let words = model.orthography().function_words().join("\n");
    let list = WordList::known("function-words", &words, &model).unwrap();
    let options = Options::default()
        .with_mechanism(MechanismKind::KAry)
        .with_budget(Budget::Epsilon(0.01))
        .with_policy(Policy::AllBut(Arc::new(list)));
    let private = Privatizer::new(model, options)
        .unwrap()
        .privatize("La maison, l'homme")
        .unwrap();
    assert!(
        private.text.starts_with("la ") && private.text.contains(", l'"),
        "{}",
        private.text
    );
    assert_eq!((private.tokens, private.public), (4, 2));
}

/// The words of a stretch, its structure otherwise.
fn counts(model: &Model, text: &str) -> Vec<Result<usize, char>> {
    let mut out = Vec::new();
    for piece in model.pieces(text) {
        match (piece, out.last_mut()) {
            (Piece::Token(_), Some(Ok(n))) => *n += 1,
            (Piece::Token(_), _) => out.push(Ok(1)),
            (Piece::Space(c) | Piece::Mark(c), _) => out.push(Err(c)),
            (Piece::Break, _) => out.push(Err('\u{0}')),
        }
    }
    out
}

#[test]
fn stretches_without_spaces_are_cut_and_joined() {
    let privatizer = faithful(JAPANESE, &JAPANESE_WORDS, Options::default());
    let text = "「私は東京に住む」。学生のfilm";
    let private = privatizer.privatize(text).unwrap();
    assert_eq!(private.text, "「私は東京に住む」。学生の film");
    assert_eq!((private.tokens, private.unknown), (8, 0));
    // An unknown stretch is one token, whatever it is, and does not pass.
    for unknown in ["鎌倉", "鎌", "鎌倉鎌倉鎌倉鎌倉"] {
        let private = privatizer
            .privatize(&format!("私は{unknown}に住む"))
            .unwrap();
        assert_eq!((private.tokens, private.unknown), (5, 1));
        assert!(!private.text.contains('鎌'));
    }
    let adjacency = privatizer.adjacency().to_string();
    assert!(adjacency.contains("without spaces"), "{adjacency}");
    let french = faithful(FRENCH, &FRENCH_WORDS, Options::default());
    assert!(!french.adjacency().to_string().contains("without spaces"));
}

/// What reaches the output besides the draws: the number of tokens of each stretch, and nothing else of it.
#[test]
fn outputs_have_as_many_words_as_the_stretch_has_tokens() {
    let privatizer = japanese(Layout::Words);
    let model = privatizer.model().clone();
    for text in [
        "私は東京に住む",
        "「私は鎌倉に」 大学の学生",
        "ｆｉｌｍの私",
        "東京",
    ] {
        for _ in 0..50 {
            let private = privatizer.privatize(text).unwrap();
            let words: Vec<&str> = private.text.split(' ').collect();
            assert_eq!(words.len() as u64, private.tokens);
            assert!(words.iter().all(|word| JAPANESE_WORDS.contains(word)));
            assert_eq!(model.count(text) as u64, private.tokens);
        }
    }
    // Texts of equal structure, though their words differ in length and in whether they are known.
    for (one, other) in [
        ("私は東京に住む", "学生の鎌倉倉は大学"),
        ("「鎌」に", "「京都」の"),
    ] {
        assert_eq!(counts(&model, one), counts(&model, other));
    }
}

#[test]
fn released_words_are_read_back_as_they_were_drawn() {
    let privatizer = japanese(Layout::Words);
    for _ in 0..200 {
        let private = privatizer.privatize("私は東京に住む、大学の鎌倉").unwrap();
        let texts = [&private.text];
        let released = privatizer.released(&texts);
        assert_eq!(released.drawn().len() as u64, private.tokens);
        assert!(
            released
                .evidence()
                .iter()
                .all(|e| matches!(e, Evidence::Observed(_)))
        );
    }
}

#[test]
fn every_entrance_cuts_alike() {
    let text = "私は東京に住む。鎌倉の大学";
    let privatizer = Arc::new(japanese(Layout::Keep));
    let model = privatizer.model();
    assert_eq!(model.tokens(text).len(), 8);
    assert_eq!(model.count(text), 8);
    let batch = privatizer.privatize_batch(&[text, "学生"]).unwrap();
    assert_eq!((batch[0].tokens, batch[1].tokens), (8, 1));
    let capped = privatizer.privatize_capped(&[text], |_| 3).unwrap();
    assert_eq!((capped[0].tokens, capped[0].cut), (3, 5));
    let parallel = privatizer
        .privatize_parallel(&[text], 2, || true)
        .unwrap()
        .unwrap();
    assert_eq!(parallel[0].tokens, 8);
    let trace = brr::explain::trace(&privatizer, text).unwrap();
    assert_eq!((trace.tokens, trace.unknown), (8, 1));
    let end = "私は東京に住む".len();
    let spans = privatizer
        .privatize_spans(text, &[Span::new(0..end)])
        .unwrap();
    assert_eq!(spans.tokens, [5]);
    assert!(spans.text.ends_with("。鎌倉の大学"));
    // Japanese words come out without spaces between, whatever stands beside "film".
    let mut japanese = spans.text[spans.spans[0].clone()].split("film");
    assert!(japanese.all(|words| !words.trim().contains(' ')));
    let mut session = Session::new(privatizer.clone()).unwrap();
    let first = session.privatize("東京に住む").unwrap();
    let again = session.privatize("東京に住む").unwrap();
    assert_eq!(first.text, again.text);
    assert_eq!(session.words(), 3);
    assert!(session.adjacency().to_string().contains("without spaces"));
}

/// Canaries of many scripts: not one of their characters that no word of the model has comes out.
#[test]
fn nothing_unknown_passes() {
    let canaries = [
        "鎌倉幕府",
        "カマクラ",
        "ｶﾏｸﾗ",
        "Ｋａｍａｋｕｒａ",
        "Žižkov",
        "Жуковский",
        "Ζωγράφος",
        "زكريا",
        "זְכַרְיָה",
        "ประเทศไทย",
        "हिन्दी",
        "한국어",
        "👩‍👩‍👧‍👦",
        "e\u{301}e\u{301}",
        "İIıi",
        "㍿",
        "ﬁx",
        "🇯🇵",
    ];
    for (table, words) in [
        (JAPANESE, &JAPANESE_WORDS[..]),
        (FRENCH, &FRENCH_WORDS),
        (TURKISH, &["ok"]),
    ] {
        for layout in [Layout::Keep, Layout::Words] {
            let options = Options::default().with_layout(layout);
            let privatizer = faithful(table, words, options);
            for canary in canaries {
                for text in [
                    canary.to_owned(),
                    format!("私は{canary}に"),
                    format!("l'{canary}'da {canary}.{canary}"),
                    format!("x {canary}\u{200b}{canary} 「{canary}」"),
                ] {
                    let out = privatizer.privatize(&text).unwrap().text;
                    let passed = |c: &char| !is_in(words, *c) && !STRUCTURE.contains(*c);
                    assert_eq!(out.chars().find(passed), None, "of {canary}");
                }
            }
        }
    }
}

const STRUCTURE: &str = " .'「」";

fn is_in(words: &[&str], c: char) -> bool {
    words.iter().any(|word| word.contains(c))
}

#[test]
fn masks_and_kept_words_stand_where_they_stood() {
    let options = Options::default().with_unknown(Unknown::Mask);
    let masked = faithful(JAPANESE, &JAPANESE_WORDS, options);
    assert_eq!(
        masked.privatize("私は鎌倉に").unwrap().text,
        "私は <unk> に"
    );
    let options = Options::default().with_unknown(Unknown::Keep);
    let kept = faithful(JAPANESE, &JAPANESE_WORDS, options);
    assert_eq!(kept.privatize("私は鎌倉に").unwrap().text, "私は鎌倉に");
}

#[test]
fn the_table_is_kept_in_the_file_and_in_its_identity() {
    let model = model_in(FRENCH, &FRENCH_WORDS);
    let again = Model::new(model.bytes().to_vec()).unwrap();
    assert!(again.has_orthography());
    assert_eq!(again.orthography(), model.orthography());
    assert_eq!(again.identity(), model.identity());
    let other = model_in(&FRENCH.replace("elision d' de\n", ""), &FRENCH_WORDS);
    assert_ne!(other.identity(), model.identity());
    let subset = model.subset(&["homme", "maison"]).unwrap();
    assert_eq!(subset.orthography(), model.orthography());
    let english = random_model(64, 5, 1);
    assert!(!english.has_orthography());
    assert_eq!(english.orthography().code(), "en");
}

#[test]
fn a_table_that_makes_no_sense_is_a_typed_error() {
    let bytes = model_in(FRENCH, &FRENCH_WORDS).bytes().to_vec();
    let find = |text: &str| {
        bytes
            .windows(text.len())
            .position(|w| w == text.as_bytes())
            .unwrap()
    };
    for (from, to) in [
        ("words spaces", "words speces"),
        ("elision l' le", "elision l' l\u{7f}"),
        ("elision l' le", "elision d' le"),
        ("orthography 1", "orthography 2"),
        ("language fr French", "language FR French"),
        ("form canonical\n", "form canonical "),
    ] {
        let mut damaged = bytes.clone();
        damaged[find(from)..][..to.len()].copy_from_slice(to.as_bytes());
        let checksum = Sha256::digest(&damaged[48..]);
        damaged[16..48].copy_from_slice(&checksum);
        match Model::new(damaged) {
            Err(Error::ModelInvalid { section, .. }) => assert_eq!(section, "language", "{from}"),
            other => panic!("{from} {to}: {:?}", other.err()),
        }
    }
}

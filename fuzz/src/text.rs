//! Text in, text out: nothing but words of the vocabulary and declared structure.

use std::sync::{Arc, LazyLock};

use brr::parts::calibration::Calibration;
use brr::parts::codes::{CodeBits, CodeRows};
use brr::parts::distances::CodeDistances;
use brr::parts::model::ModelParts;
use brr::parts::text::PUNCTUATION;
use brr::{Budget, Layout, MechanismKind, Model, Options, Orthography, Privatizer, Unknown};

use crate::noise;

/// Words without any character of the structure, so that an output can be taken
/// apart with certainty.
const PLAIN: [&str; 12] = [
    "the", "film", "do", "not", "can", "will", "we", "are", "s", "café", "日", "straße",
];

/// As GloVe has them: contractions in two parts, and punctuation in words.
const CONTRACTED: [&str; 8] = ["do", "n't", "'s", "he", "rock'n'roll", "x-ray", "café", "İ"];

/// Of a script without spaces, which is cut by these words.
const SPACELESS: [&str; 9] = ["の", "は", "日", "日本", "本", "語", "ガラス", "film", "ท"];

const TABLE: &str = "orthography 1\nlanguage ja Japanese\nscript Jpan\nwords lattice\nfold plain\n\
    form compatible\nmarks 「」・\nelision l' le\n";

static MODELS: LazyLock<[Arc<Model>; 3]> = LazyLock::new(|| {
    let table = Orthography::parse(TABLE).expect("a table");
    [
        tiny(&PLAIN, true, None),
        tiny(&CONTRACTED, false, None),
        tiny(&SPACELESS, true, Some(table)),
    ]
});

fn tiny(words: &[&str], lowercase: bool, orthography: Option<Orthography>) -> Arc<Model> {
    let words: Vec<String> = words.iter().map(|w| w.to_string()).collect();
    let mut codes = CodeRows::new(CodeBits::new(64).expect("a code length"));
    for i in 0..words.len() {
        codes.push(&[0x0f << (4 * i)]);
    }
    let n = words.len() as u64;
    let parts = ModelParts {
        words: &words,
        codes: &codes,
        lowercase,
        distances: CodeDistances {
            sum: u128::from(n * (n - 1) * 8),
            maximum: 8,
            nearest_sum: n * 8,
            nearest_min: 8,
            duplicates: 0,
        },
        calibration: Calibration::default(),
        meta: Vec::new(),
        orthography,
    };
    Arc::new(parts.write().expect("a sound model"))
}

/// A model of words without any character of the structure.
pub(crate) fn plain_model() -> Arc<Model> {
    MODELS[0].clone()
}

/// The first byte chooses model, mechanism, layout and rule for unknown words;
/// the rest is the text.
pub fn text(data: &[u8]) {
    let Some((&choice, text)) = data.split_first() else {
        return;
    };
    let text = String::from_utf8_lossy(text);
    let pick = |bit: u8| choice >> bit & 1 == 1;
    let options = Options::default()
        .with_mechanism(if pick(0) {
            MechanismKind::Exponential
        } else {
            MechanismKind::Brr
        })
        .with_budget(Budget::Epsilon(0.4))
        .with_layout(if pick(1) { Layout::Words } else { Layout::Keep })
        .with_unknown(match choice >> 2 & 3 {
            0 => Unknown::Random,
            1 => Unknown::Mask,
            2 => Unknown::Drop,
            _ => Unknown::Keep,
        });
    let model = match pick(5) {
        true => &MODELS[2],
        false => &MODELS[usize::from(pick(4))],
    };
    let privatizer = Privatizer::new(model.clone(), options).expect("a sound budget");
    let options = privatizer.options();
    let outputs = privatizer.privatize_batch_with(&[&*text, "", &*text], &mut noise());
    assert_eq!(outputs[1].text, "", "nothing of nothing");
    assert_eq!(
        (outputs[0].tokens, outputs[0].unknown),
        (outputs[2].tokens, outputs[2].unknown),
        "counts depend on the text alone"
    );
    for output in [&outputs[0], &outputs[2]] {
        assert!(output.unknown <= output.tokens);
        if options.unknown == Unknown::Keep {
            continue;
        }
        if pick(5) && options.layout == Layout::Words && options.unknown == Unknown::Random {
            let words = output.text.split(' ').filter(|word| !word.is_empty());
            let known = words.filter(|word| SPACELESS.contains(word)).count();
            assert_eq!(known as u64, output.tokens, "a word for each token");
        } else if !pick(4) && !pick(5) {
            let words = match options.unknown {
                Unknown::Drop => output.tokens - output.unknown,
                _ => output.tokens,
            };
            check_words(&output.text, Some(words), options.layout);
        }
        if options.layout == Layout::Keep {
            check_structure(&text, &output.text);
        }
    }
}

/// Nothing but vocabulary and structure, and as many words as there were tokens.
pub(crate) fn check_words(output: &str, words: Option<u64>, layout: Layout) {
    let is_structure = |c: char| match layout {
        Layout::Keep => matches!(c, ' ' | '\t' | '\n' | '\r') || PUNCTUATION.contains(c),
        Layout::Words => c == ' ',
    };
    let without_breaks = match layout {
        Layout::Keep => output.replace("<br />", " "),
        Layout::Words => output.to_owned(),
    };
    let mut found = 0;
    for word in without_breaks.split(is_structure).filter(|w| !w.is_empty()) {
        // `check_words` is not called with words kept, so this is the mask.
        assert!(
            PLAIN.contains(&word) || word == Unknown::MASK,
            "something else came through"
        );
        found += 1;
    }
    assert!(
        words.is_none_or(|words| words == found),
        "a word for each token"
    );
}

/// Line ends and tabs come out as they went in, one for one; the number of
/// line-break tags does not grow.
fn check_structure(input: &str, output: &str) {
    let lines = |text: &str| -> String {
        let kept = text.chars().filter(|c| matches!(c, '\n' | '\r' | '\t'));
        kept.collect()
    };
    assert_eq!(lines(input), lines(output), "line ends and tabs");
    let tags = input.to_ascii_lowercase().matches("<br").count();
    assert!(output.matches("<br />").count() <= tags, "line-break tags");
}

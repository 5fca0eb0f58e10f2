//! Capital letters are a function of the output and of public structure.

use std::sync::Arc;

use crate::support::english;
use brr::parts::random::Noise;
use brr::{Budget, Case, Layout, MechanismKind, Options, Policy, Privatizer, Unknown, WordList};

fn options() -> Options {
    let model = english();
    let proper = WordList::new("proper", "susan\nparis", &model).unwrap();
    Options::default()
        .with_mechanism(MechanismKind::Tree)
        .with_budget(Budget::Epsilon(0.8))
        .with_case(Case::Sentence)
        .with_proper_nouns(Some(Arc::new(proper)))
}

fn drawn(options: &Options, text: &str) -> String {
    let privatizer = Privatizer::new(english(), options.clone()).unwrap();
    let mut drawn = privatizer.privatize_batch_with(&[text], &mut Noise::numbered(17));
    drawn.remove(0).text
}

const TEXT: &str =
    "my friend susan and i saw IBM in Paris. was it nice? \"no,\" she said! e.g. xyzzy";

/// Two texts that differ in case alone come out the same, letter by letter.
#[test]
fn the_case_of_the_input_does_not_show() {
    let model = english();
    let list = WordList::new("some", "my\nand\nin\nit\nsusan\ni\nno", &model).unwrap();
    let policy = Policy::AllBut(Arc::new(list));
    for options in [options(), options().with_policy(policy)] {
        let plain = drawn(&options, TEXT);
        let upper = TEXT.to_uppercase();
        let title: String = TEXT
            .split_inclusive(' ')
            .flat_map(|w| {
                w[..1]
                    .to_uppercase()
                    .chars()
                    .chain(w[1..].chars())
                    .collect::<Vec<_>>()
            })
            .collect();
        for other in [upper, TEXT.to_lowercase(), title] {
            assert_eq!(drawn(&options, &other), plain, "{other}");
        }
        // And beside it the same draws without capitals, which the comparison tells apart.
        let without = drawn(&options.clone().with_case(Case::Plain), TEXT);
        assert_ne!(without, plain);
        assert_eq!(without, plain.to_lowercase());
    }
}

#[test]
fn sentences_i_and_proper_nouns_have_capital_letters() {
    let model = english();
    // A policy under which every word of the text is public: what is written is known.
    let list = WordList::new("secret", "doctor\nnurse", &model).unwrap();
    let options = options().with_policy(Policy::Only(Arc::new(list)));
    let written = drawn(
        &options,
        "she SAW Susan and i was in PARIS. \"was it?\" we ask. ok",
    );
    let expected = "She saw Susan and I was in Paris. \"Was it?\" We ask. Ok";
    assert_eq!(written, expected);
    // Without structure, a text is one sentence.
    let words = options.clone().with_layout(Layout::Words);
    assert_eq!(drawn(&words, "i am. it is"), "I am it is");
    // What is no word of the model is left alone.
    let masked = options.with_unknown(Unknown::Mask);
    assert_eq!(drawn(&masked, "xyzzy is. it"), "<unk> is. It");
}

/// By what is written: the letters that come out, and the full stops between.
#[test]
fn letters_with_full_stops_that_are_a_name_have_capital_letters() {
    let model = english();
    let words = "the\nu\ns\na\nk\ne\ng\nin\nis\ndr\nsusan\nmet\nshe";
    let list = Arc::new(WordList::new("some", words, &model).unwrap());
    let options = options().with_policy(Policy::AllBut(list));
    for (text, expected) in [
        (
            "in the u.s. dr. susan met, e.g. in the U.K, the u.s.a. is u.",
            "In the U.S. Dr. Susan met, e.g. in the U.K, the U.S.A. is u.",
        ),
        ("u. s. is u.s.k.e. in u.s", "U. s. is u.s.k.e. in U.S"),
        (
            "she met (the dr. she is. she met",
            "She met (the Dr. she is. she met",
        ),
    ] {
        assert_eq!(drawn(&options, text), expected);
    }
    let words = drawn(&options.with_layout(Layout::Words), "in the u.s. she is");
    assert_eq!(words, "In the u s she is");
}

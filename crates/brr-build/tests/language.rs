//! Language models from text and from ARPA files.

use std::path::Path;

use brr::parts::language::State;
use brr::{Language, Model};
use brr_build::Error;
use brr_build::language::{Pairs, TextCounter, perplexity, read_arpa};

fn english() -> Model {
    Model::open("../brr-english/src/english.brr").unwrap()
}

fn counted(model: &Model, texts: &[&str]) -> Pairs {
    let mut counter = TextCounter::new(model);
    texts.iter().for_each(|text| counter.add(text));
    counter.pairs()
}

fn of(pairs: &Pairs, model: &Model) -> Language {
    Language::new(&pairs.write(model, 2_000_000, &[], &[]).unwrap()).unwrap()
}

fn id(model: &Model, word: &str) -> State {
    model.find(word).unwrap()
}

#[test]
fn what_is_read_often_is_probable() {
    let model = english();
    let texts = [
        "The cat sleeps. The cat eats.",
        "A dog sleeps! The dog, too, eats.",
    ];
    let language = of(&counted(&model, &texts), &model);
    let [the, cat, dog, sleeps, a] = ["the", "cat", "dog", "sleeps", "a"].map(|w| id(&model, w));
    let p = |u, v| language.probability(u, v);
    assert!(p(the, cat) > p(the, dog) && p(the, dog) > p(the, sleeps));
    let boundary = language.boundary();
    assert!(p(boundary, the) > p(boundary, a) && p(boundary, a) > p(boundary, cat));
    assert!(p(sleeps, boundary) > p(the, boundary));
    // A comma ends no sentence.
    assert!(p(dog, id(&model, "too")) > p(cat, id(&model, "too")));
    let (seen, _) = perplexity(&language, &model, &["the cat sleeps."]);
    let (unseen, tokens) = perplexity(&language, &model, &["sleeps the a cat."]);
    assert!(seen < unseen && tokens == 5, "{seen} {unseen} {tokens}");
}

#[test]
fn a_model_is_reproducible_and_no_larger_than_asked() {
    let model = english();
    let words: Vec<&str> = model.vocabulary().iter().take(3000).collect();
    let text: Vec<&str> = (0..60_000usize)
        .map(|i| words[i.wrapping_mul(2_654_435_761) >> 7 & 2047])
        .collect();
    let text = text.join(" ");
    let bytes = counted(&model, &[&text])
        .write(&model, 102_000, &[], &[])
        .unwrap();
    assert!(
        bytes.len() <= 102_000 && bytes.len() > 101_000,
        "{}",
        bytes.len()
    );
    assert_eq!(
        counted(&model, &[&text])
            .write(&model, 102_000, &[], &[])
            .unwrap(),
        bytes
    );
    let refused = counted(&model, &[&text]).write(&model, 1_000, &[], &[]);
    assert!(matches!(refused, Err(Error::LanguageTooSmall { least, .. }) if least > 60_000));
}

const ARPA: &str = "\
\\data\\
ngram 1=6
ngram 2=5

\\1-grams:
-0.6 </s>
-99 <s> -0.3
-0.6 don't -0.2
-0.9 go -0.1
-0.9 now
-1.5 qqqqq

\\2-grams:
-0.1 <s> don't
-0.2 don't go
-0.3 go now
-0.2 now </s>
-2.0 qqqqq now

\\3-grams:
-0.1 <s> don't go

\\end\\
";

fn arpa(model: &Model, text: &str) -> Result<Pairs, Error> {
    read_arpa(model, Path::new("x.arpa"), text.as_bytes())
}

#[test]
fn arpa_files_are_read_by_tokens() {
    let model = english();
    let language = of(&arpa(&model, ARPA).unwrap(), &model);
    let tokens: Vec<State> = model
        .tokens("don't")
        .into_iter()
        .filter_map(|(w, _)| w)
        .collect();
    let [first, second] = tokens[..] else {
        panic!("two tokens: {tokens:?}")
    };
    let p = |u, v| language.probability(u, v);
    assert!(
        p(language.boundary(), first) > 0.7,
        "a sentence starts with it"
    );
    assert!(p(first, second) > 0.9, "its parts follow each other");
    let (go, now) = (id(&model, "go"), id(&model, "now"));
    assert!((p(second, go) - 10f32.powf(-0.2)).abs() < 0.06);
    assert!((p(go, now) - 10f32.powf(-0.3)).abs() < 0.05);
    assert!(p(now, language.boundary()) > 0.55);
    assert!(p(language.unknown(), now) > 0.0);
}

#[test]
fn what_is_not_arpa_is_told_by_its_line() {
    let model = english();
    let broken = ARPA.replace("-0.3 go now", "go now");
    assert!(matches!(
        arpa(&model, &broken),
        Err(Error::BadArpa { line: 16, .. })
    ));
    assert!(matches!(
        arpa(&model, "just text\n"),
        Err(Error::BadArpa { .. })
    ));
}

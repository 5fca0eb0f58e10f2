//! Decoding after release, against the core's exact decoder.

use std::sync::Arc;

use brr::parts::language::{Decoder, LanguageParts, Sentence};
use brr::parts::mechanism::{Emission, Mechanism, Observations};
use brr::parts::random::Noise;
use brr::parts::vocabulary::WordId;
use brr::{Budget, Language, MechanismKind, Model, Options, Policy, Privatizer, WordList};
use brr_estimate::TextDecoder;
use brr_estimate::posterior::Estimation;

use crate::fixture;

const WORDS: usize = 12;

fn language(model: &Model) -> Language {
    let share = |v: usize| (v + 1) as f64 / 105.0;
    let parts = LanguageParts {
        vocabulary: model.vocabulary(),
        unigrams: (0..WORDS + 2).map(share).collect(),
        pairs: vec![
            (0, 3, 0.5),
            (3, 1, 0.6),
            (3, 7, 0.2),
            (7, 0, 0.8),
            (8, 2, 0.4),
        ],
        decoded: Vec::new(),
        meta: Vec::new(),
    };
    Language::new(&parts.write().unwrap()).unwrap()
}

fn privatizer(model: &Arc<Model>, kind: MechanismKind, epsilon: f64, policy: Policy) -> Privatizer {
    let options = Options::default()
        .with_mechanism(kind)
        .with_budget(Budget::Epsilon(epsilon))
        .with_policy(policy);
    Privatizer::new(model.clone(), options).unwrap()
}

fn estimation() -> Estimation {
    Estimation {
        noise: super::seeded(3).noise,
        ..Estimation::default()
    }
}

/// Words of the model, some of which end a sentence.
fn texts(model: &Model) -> Vec<String> {
    let text = |i: usize| {
        let word = |j: usize| {
            model
                .vocabulary()
                .word(((i * i + 3 * j + j * j) % WORDS) as WordId)
        };
        let words: Vec<&str> = (0..2 + i % 5).map(word).collect();
        format!("{}. {}", words.join(" "), word(1))
    };
    (0..40).map(text).collect()
}

/// The steps of a mechanism with these parts of the words: with -ln Z of each it is the channel of the exponential
/// mechanism, whose step counts for both words alike, and without any the channel transposed.
struct With<'a>(&'a dyn Emission, Vec<f32>);

impl Emission for With<'_> {
    fn table(&self) -> &[f32] {
        self.0.table()
    }
    fn offsets(&self) -> &[f32] {
        &self.1
    }
    fn unknown(&self) -> f32 {
        self.0.unknown()
    }
    fn steps_of(&self, observations: &Observations, i: usize, words: &[WordId]) -> Vec<u16> {
        self.0.steps_of(observations, i, words)
    }
}

/// -ln Z of every word, from its row of the channel.
fn normalizers(mechanism: &dyn Mechanism) -> Vec<f32> {
    let first = mechanism.emission().unwrap().table()[0];
    let of = |word: usize| {
        let mut row = vec![0.0; WORDS];
        mechanism.channel().unwrap().row(word as WordId, &mut row);
        row[word].ln() as f32 - first
    };
    (0..WORDS).map(of).collect()
}

/// The largest difference of a posterior from what the core's exact decoder finds with this emission.
fn difference(privatizer: &Privatizer, language: &Language, emission: &dyn Emission) -> f64 {
    let texts = texts(privatizer.model());
    let decoder = TextDecoder::new(privatizer, language, &estimation()).unwrap();
    let found = decoder.posteriors(&texts, WORDS - 1).unwrap();
    let mut most = 0.0f64;
    for (text, found) in texts.iter().zip(found) {
        let ids: Vec<_> = privatizer.model().tokens(text);
        let ids: Vec<WordId> = ids.into_iter().map(|(id, _)| id.unwrap()).collect();
        let last = ids.len() - 1;
        let sentence = |tokens, ends| Sentence { tokens, ends };
        let sentences = [sentence(0..last, true), sentence(last..last + 1, false)];
        let observed = Observations::Words(ids);
        let expected = Decoder::new(language, emission).posteriors(&observed, &sentences);
        for (guess, expected) in found.tokens.iter().zip(expected) {
            let total: f64 = expected.iter().sum();
            let chosen = [(guess.word.unwrap(), guess.posterior)];
            for (word, p) in chosen.iter().chain(&guess.others) {
                most = most.max((p - expected[*word as usize] / total).abs());
            }
        }
    }
    most
}

#[test]
fn posteriors_are_exact_and_a_transposed_channel_is_noticed() {
    let model = fixture::model(WORDS, 64, 3);
    let language = language(&model);
    for (kind, epsilon) in [
        (MechanismKind::KAry, 2.0),
        (MechanismKind::Exponential, 0.3),
    ] {
        let privatizer = privatizer(&model, kind, epsilon, Policy::All);
        let emission = privatizer.mechanism().emission().unwrap();
        let exact = With(emission, normalizers(privatizer.mechanism()));
        let off = difference(&privatizer, &language, &exact);
        assert!(off < 5e-4, "{kind:?} {off}");
        if kind == MechanismKind::Exponential {
            let off = difference(&privatizer, &language, &With(emission, Vec::new()));
            assert!(off > 5e-3, "{off}");
        }
    }
}

/// With fewer words than candidates, looking at candidates is looking at all. BRR's steps are rounded to a 64th, so
/// that words with nearly equal posteriors may change places.
#[test]
fn candidates_find_what_all_words_give() {
    let model = fixture::model(WORDS, 64, 3);
    let language = language(&model);
    for (kind, epsilon) in [
        (MechanismKind::KAry, 2.0),
        (MechanismKind::Exponential, 0.3),
        (MechanismKind::Brr, 0.3),
    ] {
        let privatizer = privatizer(&model, kind, epsilon, Policy::All);
        let private = privatizer.privatize_batch_with(&texts(&model), &mut Noise::numbered(5));
        let private: Vec<String> = private.into_iter().map(|p| p.text).collect();
        let decoder = TextDecoder::new(&privatizer, &language, &estimation()).unwrap();
        let decoded = decoder.decode(&private).unwrap();
        let posteriors = decoder.posteriors(&private, 0).unwrap();
        let same = decoded
            .iter()
            .zip(&posteriors)
            .filter(|(d, p)| **d == p.text);
        let least = if kind == MechanismKind::Brr { 34 } else { 40 };
        assert!(same.count() >= least, "{kind:?}");
    }
}

/// Public words, marks and what the model does not know stay where they are.
#[test]
fn what_was_not_drawn_stays() {
    let model = fixture::model(WORDS, 64, 3);
    let language = language(&model);
    let list = Arc::new(WordList::new("some", "aab\naad\n", &model).unwrap());
    for kind in [MechanismKind::KAry, MechanismKind::Brr] {
        let privatizer = privatizer(&model, kind, 0.2, Policy::AllBut(list.clone()));
        let decoder = TextDecoder::new(&privatizer, &language, &estimation()).unwrap();
        let text = ["aab aac, zzzz aad!  aae\taab", "", "zzzz"];
        let found = decoder.posteriors(&text, 2).unwrap();
        let decoded = decoder.decode(&text).unwrap();
        for (found, decoded) in found.iter().zip(&decoded) {
            let structure = |text: &str| text.replace(|c: char| c.is_alphabetic(), "");
            assert_eq!(structure(&found.text), structure(decoded));
        }
        let words: Vec<&str> = decoded[0].split_whitespace().collect();
        assert_eq!((words[0], words[2], words[3]), ("aab", "zzzz", "aad!"));
        assert_eq!((words[5], &*decoded[1], &*decoded[2]), ("aab", "", "zzzz"));
        let tokens = &found[0].tokens;
        let drawn: Vec<bool> = tokens.iter().map(|guess| guess.drawn).collect();
        assert_eq!(drawn, [false, true, false, false, true, false]);
        assert_eq!((tokens[2].word, tokens[1].others.len()), (None, 2));
        // No word that is public can be behind one that was drawn.
        let private = |word: WordId| !list.contains(word);
        assert!(
            tokens[1]
                .others
                .iter()
                .all(|(word, p)| private(*word) || *p == 0.0)
        );
        assert!(private(tokens[1].word.unwrap()) && private(tokens[4].word.unwrap()));
    }
}

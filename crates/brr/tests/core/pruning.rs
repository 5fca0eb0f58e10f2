//! The decoder of the device against the exact one, on the built-in models: what it loses by looking at few words.

use std::sync::Arc;

use brr::parts::language::{Decoder, Sentence, sentences};
use brr::parts::mechanism::{Emission, Mechanism, Observations};
use brr::parts::random::Noise;
use brr::parts::vocabulary::WordId;
use brr::{Budget, Language, Layout, MechanismKind, Model, Options, Privatizer};

/// Lines of the public sample.
const LINES: usize = 8;

struct Text {
    model: Arc<Model>,
    language: Language,
    words: Vec<Option<WordId>>,
    sentences: Vec<Sentence>,
}

fn text() -> Text {
    let model = crate::support::english();
    let language = Language::open("../brr-english/src/english.lm").unwrap();
    let sample = std::fs::read_to_string("../brr-english/words/sample.txt").unwrap();
    let lines: Vec<&str> = sample.lines().take(LINES).collect();
    let text = lines.join("<br>");
    Text {
        words: model
            .tokens(&text)
            .into_iter()
            .map(|(word, _)| word)
            .collect(),
        sentences: sentences(&model.pieces(&text), Layout::Keep),
        model,
        language,
    }
}

fn mechanism(model: &Arc<Model>, kind: MechanismKind, budget: Budget) -> Box<dyn Mechanism> {
    let options = Options::default().with_mechanism(kind).with_budget(budget);
    let privatizer = Privatizer::new(model.clone(), options).unwrap();
    privatizer.into_mechanism()
}

impl Text {
    /// The share of known words that a decoder is expected to get right, by the posterior of the
    /// exact decoder, and what that one is expected to: far less noise than to count words.
    fn expected(&self, emission: &dyn Emission, observed: &Observations) -> (f64, f64) {
        let decoder = Decoder::new(&self.language, emission);
        let posteriors = decoder.posteriors(observed, &self.sentences);
        let decoded = decoder.decode(observed, &self.sentences);
        let (mut found, mut most) = (0.0, 0.0);
        for (posterior, word) in posteriors.iter().zip(decoded) {
            let total: f64 = posterior.iter().sum();
            let words = &posterior[..self.language.words()];
            found += posterior[word as usize] / total;
            most += words.iter().fold(0.0, |a: f64, &p| a.max(p)) / total;
        }
        (found, most)
    }
}

/// At budgets at which text reads, and at smaller ones, where most of the probability of a position lies outside
/// its candidates.
#[test]
fn few_words_are_as_good_as_all() {
    let text = text();
    for (kind, budget) in [
        (MechanismKind::Brr, Budget::Bound(40.0)),
        (MechanismKind::Brr, Budget::Bound(50.0)),
        (MechanismKind::Exponential, Budget::Epsilon(0.080)),
        (MechanismKind::Exponential, Budget::Epsilon(0.092)),
        (MechanismKind::KAry, Budget::Epsilon(9.2)),
        (MechanismKind::KAry, Budget::Epsilon(10.6)),
        (MechanismKind::Tree, Budget::Epsilon(0.7)),
        (MechanismKind::Tree, Budget::Epsilon(0.9)),
    ] {
        let mechanism = mechanism(&text.model, kind, budget);
        let observed = mechanism.observe(&text.words, &mut Noise::numbered(7));
        let (found, most) = text.expected(mechanism.emission().unwrap(), &observed);
        assert!(
            found > 0.99 * most,
            "{kind:?} {budget:?}: {found} of {most}"
        );
    }
}

/// An emission with another table.
struct Faulty<'a> {
    sound: &'a dyn Emission,
    table: Vec<f32>,
}

impl Emission for Faulty<'_> {
    fn table(&self) -> &[f32] {
        &self.table
    }
    fn offsets(&self) -> &[f32] {
        self.sound.offsets()
    }
    fn unknown(&self) -> f32 {
        self.sound.unknown()
    }
    fn steps_of(&self, observations: &Observations, i: usize, words: &[WordId]) -> Vec<u16> {
        self.sound.steps_of(observations, i, words)
    }
}

/// The measure above finds planted faults: a decoder that takes the noise for another one is expected to get less
/// right under the true channel.
#[test]
fn planted_faults_are_found() {
    let text = text();
    let budget = Budget::Epsilon(0.080);
    let mechanism = mechanism(&text.model, MechanismKind::Exponential, budget);
    let observed = mechanism.observe(&text.words, &mut Noise::numbered(7));
    let sound = mechanism.emission().unwrap();
    let posteriors = Decoder::new(&text.language, sound).posteriors(&observed, &text.sentences);
    let expected = |emission: &dyn Emission| -> f64 {
        let decoded = Decoder::new(&text.language, emission).decode(&observed, &text.sentences);
        let right = posteriors.iter().zip(decoded);
        right
            .map(|(p, word)| p[word as usize] / p.iter().sum::<f64>())
            .sum()
    };
    let most = expected(sound);
    for (fault, factor) in [("half the noise", 2.0), ("twice the noise", 0.5)] {
        let faulty = Faulty {
            sound,
            table: sound.table().iter().map(|ln| factor * ln).collect(),
        };
        let found = expected(&faulty);
        assert!(found < 0.99 * most, "{fault}: {found} of {most}");
    }
}

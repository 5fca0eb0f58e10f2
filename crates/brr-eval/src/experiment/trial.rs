//! One trial: privatize, train, measure, attack.

use std::time::Instant;

use brr::Language;
use brr::parts::language::{Decoder, Sentence};
use brr::parts::mechanism::Mechanism;
use brr::parts::random::Noise;
use brr::parts::vocabulary::WordId;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::attackers::{Attacked, Attackers};
use super::conditions::{Condition, Treatment};
use super::definition::Definition;
use super::texts::{Text, Texts};
use crate::attack::Target;
use crate::classifier::{self, Classifier, accuracy};
use crate::error::Result;
use crate::membership::{self, Answer, Answers, Leak};
use crate::reconstruction::{Recovered, recover};

/// Texts privatized with one generator.
const CHUNK: usize = 64;

/// What a trial found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// The condition's key.
    pub key: String,
    /// Its number within the condition.
    pub number: usize,
    /// Words privatized for training.
    pub words: usize,
    /// Accuracy on test texts as they are.
    pub accuracy: f64,
    /// Accuracy on test texts privatized alike, if measured.
    pub accuracy_privatized: Option<f64>,
    /// The membership attack, if made.
    pub membership: Option<Leak>,
    /// What an attacker recovers of the words who sees one at a time, if there was noise.
    pub recovered: Option<Recovered>,
    /// What an attacker names who reads context, if he was tried.
    #[serde(default)]
    pub context: Option<Attacked>,
    /// Seconds to privatize the training texts, with one thread.
    pub seconds: f64,
}

/// Runs a trial. Everything random comes from the experiment's seed, the
/// condition's key and the number.
pub fn run(
    condition: &Condition,
    number: usize,
    texts: &Texts,
    attackers: Option<&Attackers>,
    definition: &Definition,
) -> Result<Trial> {
    let seeds = Seeds {
        experiment: definition.seed,
        key: &condition.key,
        number,
    };
    let train = &texts.train[..condition.documents];
    let started = Instant::now();
    let (learned, outputs) = treat(condition, train, texts, &seeds, "train");
    let seconds = started.elapsed().as_secs_f64();
    let settings = settings(condition, definition);
    let target = learn(
        &learned,
        train,
        texts,
        &settings,
        seeds.number_for("target"),
    )?;
    let plain = |part: &[Text]| {
        part.iter()
            .map(|t| target.probabilities(&t.plain))
            .collect::<Vec<_>>()
    };
    let labels = |part: &[Text]| part.iter().map(|t| t.label).collect::<Vec<_>>();
    let accuracy_on = |found: &[Vec<f64>], part: &[Text]| accuracy(found, labels(part).into_iter());
    let privatized_test = match &condition.treatment {
        Treatment::Privatized(..) if definition.privatize_test => {
            let (texts, _) = treat(condition, &texts.test, texts, &seeds, "test");
            Some(
                texts
                    .iter()
                    .map(|t| target.probabilities(t))
                    .collect::<Vec<_>>(),
            )
        }
        _ => None,
    };
    let attacked = number < condition.attacked;
    let read = attackers.filter(|_| number < condition.read);
    let context = match (read, &condition.treatment) {
        // The draws, also where what leaves is decoded from them: they say no less.
        (Some(attackers), Treatment::Privatized(mechanism, _)) => {
            let target = Target::new(&**mechanism, &condition.model);
            let seed = seeds.number_for("context") as u64;
            Some(attackers.attack(&target, seed)?)
        }
        _ => None,
    };
    Ok(Trial {
        key: condition.key.clone(),
        number,
        words: train.iter().map(|t| t.words.len()).sum(),
        accuracy: accuracy_on(&plain(&texts.test), &texts.test),
        accuracy_privatized: privatized_test.map(|found| accuracy_on(&found, &texts.test)),
        membership: attacked
            .then(|| attack(condition, &target, texts, definition, &seeds))
            .transpose()?,
        recovered: outputs.map(|outputs| {
            recover(
                train.iter().map(|t| &t.words[..]),
                &outputs,
                texts.vocabulary.vocabulary().len(),
            )
        }),
        context,
        seconds,
    })
}

/// A control classifier learns its few texts by heart.
fn settings(condition: &Condition, definition: &Definition) -> classifier::Settings {
    match condition.treatment {
        Treatment::Overfitted => classifier::Settings {
            epochs: 100,
            ngrams: 2,
            ..definition.classifier
        },
        _ => definition.classifier,
    }
}

/// Where a trial's randomness comes from.
struct Seeds<'c> {
    experiment: u64,
    key: &'c str,
    number: usize,
}

impl Seeds<'_> {
    fn bytes(&self, role: &str) -> [u8; 32] {
        let mut hash = Sha256::new();
        hash.update(format!(
            "{} {} {} {role}",
            self.experiment, self.key, self.number
        ));
        hash.finalize().into()
    }

    /// A positive number for fastText.
    fn number_for(&self, role: &str) -> i32 {
        let b = self.bytes(role);
        i32::from_le_bytes([b[0], b[1], b[2], b[3] & 0x7f]).max(1)
    }
}

/// The texts as the classifier gets them, and the words that came out, if noise did it.
fn treat(
    condition: &Condition,
    part: &[Text],
    texts: &Texts,
    seeds: &Seeds<'_>,
    role: &str,
) -> (Vec<String>, Option<Vec<Vec<WordId>>>) {
    let Treatment::Privatized(mechanism, language) = &condition.treatment else {
        return (part.iter().map(|t| t.plain.clone()).collect(), None);
    };
    let outputs = privatize(&**mechanism, language.as_deref(), part, seeds.bytes(role));
    (
        outputs.iter().map(|ids| texts.join(ids)).collect(),
        Some(outputs),
    )
}

fn privatize(
    mechanism: &dyn Mechanism,
    language: Option<&Language>,
    part: &[Text],
    seed: [u8; 32],
) -> Vec<Vec<WordId>> {
    let emission = || {
        mechanism
            .emission()
            .expect("what has no emission is refused")
    };
    let decoder = language.map(|language| Decoder::new(language, emission()));
    let mut outputs = Vec::with_capacity(part.len());
    for (stream, chunk) in part.chunks(CHUNK).enumerate() {
        let mut noise = Noise::seeded(seed).with_stream(stream as u64);
        let words: Vec<Option<WordId>> =
            chunk.iter().flat_map(|t| t.words.iter().copied()).collect();
        let observed = mechanism.observe(&words, &mut noise);
        let drawn = match &decoder {
            None => mechanism.words(&observed),
            Some(decoder) => decoder.decode(&observed, &sentences_of(chunk)),
        };
        let mut drawn = drawn.into_iter();
        outputs.extend(
            chunk
                .iter()
                .map(|t| drawn.by_ref().take(t.words.len()).collect::<Vec<_>>()),
        );
    }
    outputs
}

/// The sentences of some texts, by their tokens' places among all.
fn sentences_of(texts: &[Text]) -> Vec<Sentence> {
    let mut first = 0;
    let mut all = Vec::new();
    for text in texts {
        all.extend(text.sentences.iter().map(|sentence| Sentence {
            tokens: sentence.tokens.start + first..sentence.tokens.end + first,
            ends: sentence.ends,
        }));
        first += text.words.len();
    }
    all
}

fn learn(
    learned: &[String],
    part: &[Text],
    texts: &Texts,
    settings: &classifier::Settings,
    seed: i32,
) -> Result<Classifier> {
    let pairs = learned
        .iter()
        .map(String::as_str)
        .zip(part.iter().map(|t| t.label));
    Classifier::train(pairs, texts.labels, settings, seed)
}

/// The attacker's shadow is treated and trained as the target was, and both are
/// asked about original texts.
fn attack(
    condition: &Condition,
    target: &Classifier,
    texts: &Texts,
    definition: &Definition,
    seeds: &Seeds<'_>,
) -> Result<Leak> {
    let cap = |part: &'_ [Text]| condition.documents.min(part.len());
    let shadow_part = &texts.shadow[..cap(&texts.shadow)];
    let (learned, _) = treat(condition, shadow_part, texts, seeds, "shadow");
    let settings = settings(condition, definition);
    let shadow = learn(
        &learned,
        shadow_part,
        texts,
        &settings,
        seeds.number_for("shadow"),
    )?;
    let ask = |of: &Classifier, part: &[Text]| {
        let answer = |t: &Text| Answer {
            confidences: of.probabilities(&t.plain),
            label: t.label,
        };
        part[..cap(part)].iter().map(answer).collect()
    };
    let of_shadow = Answers {
        members: ask(&shadow, &texts.shadow),
        others: ask(&shadow, &texts.test),
    };
    let of_target = Answers {
        members: ask(target, &texts.train),
        others: ask(target, &texts.validation),
    };
    Ok(membership::attack(
        &of_shadow,
        &of_target,
        texts.labels,
        seeds.number_for("attack") as u64,
    ))
}

//! What becomes of one word, and from which other words it is hardest to tell.

use brr::explain::{Chance, Likely, Method, outcomes_with};
use brr::parts::mechanism::{Channel, Mechanism};
use brr::parts::random::Noise;
use brr::parts::vocabulary::WordId;
use brr::{Metric, Model};
use serde::Serialize;

use crate::channel::{Draws, Sampling, Similarity, draw};
use crate::interval::{Binomial, Estimate};

/// How much to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExplainOptions {
    /// Outputs to list.
    pub outputs: usize,
    /// Confusable words to list.
    pub confusable: usize,
    /// Nearest words among which the confusable ones are sought.
    pub neighbors: usize,
    /// Draws, seed and threads, where outputs are simulated.
    pub plan: Sampling,
    /// Draws of each of two words that are to be told apart, where outputs are simulated.
    pub attacks: usize,
}

impl Default for ExplainOptions {
    fn default() -> ExplainOptions {
        ExplainOptions {
            outputs: 10,
            confusable: 8,
            neighbors: 12,
            plan: Sampling {
                draws: 4000,
                ..Sampling::default()
            },
            attacks: 500,
        }
    }
}

/// A word that an input can become.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Output {
    /// The word.
    pub word: String,
    /// Its probability.
    pub probability: Estimate,
}

/// A word that could have been the input as well.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Confusable {
    /// The word.
    pub word: String,
    /// Its distance in the mechanism's metric.
    pub distance: f64,
    /// How often an attacker is right who knows that the input was one of the two,
    /// both as likely, and sees the output. 0.5 is a coin toss. If exact, the best
    /// attacker; if simulated, one who names the word nearer to the output.
    pub attacker: Estimate,
    /// What the guarantee promises about any attacker: at most this often.
    pub attacker_at_most: f64,
}

/// What becomes of a word.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explanation {
    /// The word.
    pub word: String,
    /// Whether probabilities were computed or simulated.
    pub exact: bool,
    /// N_w: the probability that it stays.
    pub stays: Estimate,
    /// Its likeliest outputs, itself among them.
    pub outputs: Vec<Output>,
    /// Probability of all other outputs together.
    pub others: f64,
    /// Whether all other words are outputs with the same probability and as hard to tell from it. Then none of
    /// them is among the outputs.
    pub others_alike: bool,
    /// The words hardest to tell from it.
    pub confusable: Vec<Confusable>,
}

impl Explanation {
    /// The same in plain sentences.
    pub fn sentences(&self) -> Vec<String> {
        let about = if self.exact { "" } else { "about " };
        let times = |p: f64| format!("{about}{:.1} times in 100", 100.0 * p);
        let mut out = vec![format!(
            "\"{}\" stays as it is {}.",
            self.word,
            times(self.stays.value)
        )];
        let others = self.outputs.iter().filter(|o| o.word != self.word).take(3);
        let listed: Vec<String> = others
            .map(|o| format!("\"{}\" ({})", o.word, times(o.probability.value)))
            .collect();
        if self.others_alike {
            let all = times(self.others);
            out.push(format!(
                "It becomes one of the other words {all}, each of them as likely as any other."
            ));
        } else if !listed.is_empty() {
            out.push(format!("It most often becomes {}.", listed.join(", ")));
        }
        if let Some(c) = self.confusable.first() {
            let from = match self.others_alike {
                true => "as hard to tell from every other word".to_owned(),
                false => format!("hardest to tell from \"{}\"", c.word),
            };
            out.push(format!(
                "It is {from}: an observer who knows that it was one of the two and \
                 sees the output is right {}, where guessing blindly is right 50 times, and by \
                 the guarantee never more than {:.1} times.",
                times(c.attacker.value),
                100.0 * c.attacker_at_most
            ));
        }
        out
    }
}

/// Explains a word: what it becomes, as the core computes it, and what it is hardest to tell from.
pub fn explain(
    mechanism: &dyn Mechanism,
    model: &Model,
    word: WordId,
    similarity: &Similarity,
    options: &ExplainOptions,
) -> Explanation {
    let name = |id: WordId| model.vocabulary().word(id).to_owned();
    // Draws of its own for each word: with shared ones, all words would err to the same side.
    let mut noise = Noise::numbered(options.plan.seed).with_stream(word.into());
    let draws = options.plan.draws;
    let outcomes = outcomes_with(model, mechanism, word, options.outputs, draws, &mut noise);
    let nearest = nearest_words(word, similarity, options.neighbors);
    let attackers = match mechanism.channel() {
        Some(channel) => best_attackers(channel, model.vocabulary().len(), word, &nearest),
        None => simulated_attackers(mechanism, word, &nearest, similarity, options),
    };
    let guarantee = mechanism.guarantee();
    let mut confusable: Vec<Confusable> = nearest
        .iter()
        .zip(attackers)
        .map(|(&other, attacker)| {
            let distance = metric_distance(guarantee.metric, word, other, similarity);
            Confusable {
                word: name(other),
                distance,
                attacker,
                attacker_at_most: 1.0 / (1.0 + libm::exp(-guarantee.loss_at(distance))),
            }
        })
        .collect();
    confusable.sort_by(|a, b| a.attacker.value.total_cmp(&b.attacker.value));
    confusable.truncate(options.confusable);
    let equal = |c: &[Confusable]| c[0].attacker == c[1].attacker;
    let others_alike = mechanism
        .channel()
        .is_some_and(|channel| alike(channel, model.vocabulary().len(), word))
        && confusable.windows(2).all(equal);
    let listed = outcomes.likely.iter();
    let listed: Vec<_> = listed.filter(|l| !others_alike || l.word == word).collect();
    let total: f64 = listed.iter().map(|l| l.chance.probability).sum();
    let output = |likely: &&Likely| Output {
        word: name(likely.word),
        probability: estimate(likely.chance),
    };
    Explanation {
        word: name(word),
        exact: outcomes.method == Method::Exact,
        stays: estimate(outcomes.stays),
        others: (1.0 - total).max(0.0),
        others_alike,
        outputs: listed.iter().map(output).collect(),
        confusable,
    }
}

/// Whether a word becomes each of the others, of which there are several, with the same probability.
fn alike(channel: &dyn Channel, words: usize, word: WordId) -> bool {
    let mut row = vec![0.0; words];
    channel.row(word, &mut row);
    row.remove(word as usize);
    row.len() > 1 && row.iter().all(|p| *p == row[0])
}

fn estimate(chance: Chance) -> Estimate {
    Estimate {
        value: chance.probability,
        low: chance.low,
        high: chance.high,
    }
}

/// The best attacker between w and w' is right with probability
/// 1 - (sum over y of min(Pr[y | w], Pr[y | w'])) / 2.
fn best_attackers(
    channel: &dyn Channel,
    words: usize,
    word: WordId,
    nearest: &[WordId],
) -> Vec<Estimate> {
    let (mut row, mut other) = (vec![0.0; words], vec![0.0; words]);
    channel.row(word, &mut row);
    let attackers = nearest.iter().map(|&w| {
        channel.row(w, &mut other);
        let overlap: f64 = row.iter().zip(&other).map(|(a, b)| a.min(*b)).sum();
        Estimate::exact((1.0 - overlap / 2.0).max(0.5))
    });
    attackers.collect()
}

fn simulated_attackers(
    mechanism: &dyn Mechanism,
    word: WordId,
    nearest: &[WordId],
    similarity: &Similarity,
    options: &ExplainOptions,
) -> Vec<Estimate> {
    let words: Vec<WordId> = std::iter::once(word)
        .chain(nearest.iter().copied())
        .collect();
    let salt = u64::from(word) << 2 | 3;
    let plan = Sampling {
        draws: options.attacks,
        ..options.plan
    };
    let draws = draw(mechanism, &words, salt, &plan);
    let attackers = draws[1..].iter();
    attackers
        .map(|d| tell_apart(&draws[0], d, similarity))
        .collect()
}

/// How often the word nearer to the output is the input; ties are tossed, every
/// second one right.
fn tell_apart(a: &Draws, b: &Draws, similarity: &Similarity) -> Estimate {
    let (Some(to_a), Some(to_b)) = (similarity.distances(a.word), similarity.distances(b.word))
    else {
        return Binomial::new(0, 0).estimate();
    };
    let mut halves = 0;
    for (draws, own, other) in [(a, &to_a, &to_b), (b, &to_b, &to_a)] {
        for &y in &draws.outputs {
            let (own, other) = (own[y as usize], other[y as usize]);
            halves += 2 * u64::from(own < other) + u64::from(own == other);
        }
    }
    let trials = (a.outputs.len() + b.outputs.len()) as u64;
    Binomial::new(halves / 2, trials).estimate()
}

fn nearest_words(word: WordId, similarity: &Similarity, count: usize) -> Vec<WordId> {
    let distances = similarity.distances(word).unwrap_or_default();
    let mut ids: Vec<WordId> = (0..distances.len() as WordId)
        .filter(|w| *w != word)
        .collect();
    ids.sort_by(|a, b| {
        let of = |w: &WordId| distances[*w as usize];
        of(a).total_cmp(&of(b)).then(a.cmp(b))
    });
    ids.truncate(count);
    ids
}

fn metric_distance(metric: Metric, a: WordId, b: WordId, similarity: &Similarity) -> f64 {
    match metric {
        Metric::Hamming(_) => similarity.hamming(a, b),
        Metric::Tree { .. } => {
            let tree = similarity.model.as_ref().and_then(|model| model.tree());
            tree.map(|tree| tree.level(a, b).into())
        }
        Metric::Euclidean { .. } => similarity.space.as_ref().map(|s| s.distance(a, b)),
        _ => Some(1.0),
    }
    .unwrap_or(f64::INFINITY)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use crate::mechanisms::{Family, ShippedFamily};
    use brr::MechanismKind;

    fn explained(family: &dyn Family, epsilon: f64) -> Explanation {
        let model = fixture::model(200, 64, 5);
        let similarity = Similarity {
            model: Some(model.clone()),
            space: None,
        };
        let mechanism = family
            .at(brr::parts::epsilon::Epsilon::new(epsilon).unwrap())
            .unwrap();
        let options = ExplainOptions {
            plan: Sampling {
                draws: 2000,
                threads: 2,
                ..Sampling::default()
            },
            ..ExplainOptions::default()
        };
        explain(&*mechanism, &model, 3, &similarity, &options)
    }

    #[test]
    fn probabilities_add_up_and_attackers_keep_their_bounds() {
        let model = fixture::model(200, 64, 5);
        let exponential = ShippedFamily {
            model: model.clone(),
            kind: MechanismKind::Exponential,
        };
        for e in [
            explained(
                &ShippedFamily {
                    model,
                    kind: MechanismKind::Brr,
                },
                1.0,
            ),
            explained(&exponential, 0.5),
        ] {
            let listed: f64 = e.outputs.iter().map(|o| o.probability.value).sum();
            assert!((listed + e.others - 1.0).abs() < 1e-9);
            assert!(
                e.outputs
                    .is_sorted_by(|a, b| a.probability.value >= b.probability.value)
            );
            assert_eq!(e.confusable.len(), 8);
            for c in &e.confusable {
                assert!(c.attacker.low <= c.attacker_at_most, "{c:?}");
                assert!(c.attacker.high >= 0.5, "{c:?}");
            }
            assert!(e.sentences()[0].contains("stays as it is"));
        }
    }

    /// Nothing is said of any one of them, which was the most frequent.
    #[test]
    fn all_other_words_are_alike_under_k_ary_response_alone() {
        let model = fixture::model(200, 64, 5);
        let shipped = |kind, epsilon| {
            let model = model.clone();
            explained(&ShippedFamily { model, kind }, epsilon)
        };
        let e = shipped(MechanismKind::KAry, 6.0);
        assert!(e.others_alike && e.outputs.len() == 1 && e.outputs[0].word == e.word);
        assert!((e.stays.value + e.others - 1.0).abs() < 1e-12);
        let said = e.sentences().join(" ");
        assert!(
            said.contains("each of them as likely as any other"),
            "{said}"
        );
        assert!(
            said.contains("as hard to tell from every other word"),
            "{said}"
        );
        assert!(
            !said.contains("most often") && !said.contains("0.0 times"),
            "{said}"
        );
        let e = shipped(MechanismKind::Exponential, 0.5);
        assert!(!e.others_alike && e.sentences()[1].contains("most often becomes"));
    }

    /// Two words with one code have one distribution; with shared noise they had the same draws.
    #[test]
    fn each_word_has_draws_of_its_own() {
        let model = fixture::model(200, 64, 5);
        let brr = ShippedFamily {
            model: model.clone(),
            kind: MechanismKind::Brr,
        };
        let mechanism = brr
            .at(brr::parts::epsilon::Epsilon::new(0.7).unwrap())
            .unwrap();
        let counted = |word| {
            let (none, options) = (Similarity::default(), ExplainOptions::default());
            explain(&*mechanism, &model, word, &none, &options).outputs
        };
        assert_ne!(counted(198), counted(199));
    }

    #[test]
    fn words_with_one_code_are_a_coin_toss() {
        let model = fixture::model(200, 64, 5);
        let similarity = Similarity {
            model: Some(model.clone()),
            space: None,
        };
        let family = ShippedFamily {
            model: model.clone(),
            kind: MechanismKind::Exponential,
        };
        let mechanism = family
            .at(brr::parts::epsilon::Epsilon::new(0.5).unwrap())
            .unwrap();
        let options = ExplainOptions::default();
        let e = explain(&*mechanism, &model, 199, &similarity, &options);
        assert_eq!(e.confusable[0].word, model.vocabulary().word(198));
        assert!((e.confusable[0].attacker.value - 0.5).abs() < 1e-12);
    }
}

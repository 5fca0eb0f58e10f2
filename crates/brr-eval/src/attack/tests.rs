use std::sync::Arc;

use brr::parts::epsilon::Epsilon;
use brr::parts::language::{Decoder, LanguageParts, Sentence, State};
use brr::parts::mechanism::{Brr, Channel, Exponential, Kary, Mechanism, Observations};
use brr::parts::random::Noise;
use brr::parts::tree::WordTree;
use brr::parts::vocabulary::WordId;
use brr::{
    Budget, Guarantee, Language, MechanismKind, Model, Options, Policy, Privatizer, WordList,
};
use rand_core::Rng;

use super::*;
use crate::channel::Similarity;
use crate::fixture;

/// Words of the tiny vocabulary.
const WORDS: usize = 7;
/// Longest sequence of which all are enumerated: 8^4 with the unknown token.
const LENGTH: usize = 4;

/// A bigram model in which some pairs are listed, by its matrix.
fn chain(seed: u64) -> (Chain, Vec<Vec<f64>>) {
    let states = WORDS + 2;
    let mut rng = brr_build::seeded::generator(seed, 0);
    let mut uniform = || (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
    let mut unigrams: Vec<f64> = (0..states).map(|_| 0.05 + uniform()).collect();
    let total: f64 = unigrams.iter().sum();
    unigrams.iter_mut().for_each(|p| *p /= total);
    let (mut pairs, mut matrix) = (Vec::new(), Vec::new());
    for u in 0..states {
        let listed: Vec<usize> = (0..states).filter(|_| uniform() < 0.4).collect();
        let weights: Vec<f64> = listed.iter().map(|_| 0.05 + uniform()).collect();
        let mass = 0.8 / weights.iter().sum::<f64>();
        let covered: f64 = listed.iter().map(|&v| unigrams[v]).sum();
        let mass = if covered > 0.95 { 0.0 } else { mass };
        let given: f64 = weights.iter().map(|w| w * mass).sum();
        let rest = (1.0 - given) / (1.0 - covered);
        let mut row: Vec<f64> = unigrams.iter().map(|p| p * rest).collect();
        for (&v, w) in listed.iter().zip(&weights) {
            row[v] = w * mass;
            pairs.push((u as State, v as State, row[v]));
        }
        matrix.push(row);
    }
    (Chain::new(&unigrams, &pairs), matrix)
}

/// The posteriors of a stretch by all sequences of words and unknown tokens. `rows[w][y]` is the channel, and
/// its last row that of unknown tokens.
fn brute_force(
    matrix: &[Vec<f64>],
    rows: &[Vec<f64>],
    outputs: &[WordId],
    before: State,
    after: Option<State>,
) -> Vec<Vec<f64>> {
    let hidden: Vec<usize> = (0..WORDS).chain([WORDS + 1]).collect();
    let emitted = |token: usize, state: usize| rows[state.min(WORDS)][outputs[token] as usize];
    sequences(
        matrix,
        &vec![hidden; outputs.len()],
        &emitted,
        before,
        after,
    )
}

/// The posteriors of tokens by all sequences of the states that each may have, of which `emitted` tells how
/// likely they give what was seen.
fn sequences(
    matrix: &[Vec<f64>],
    states: &[Vec<usize>],
    emitted: &dyn Fn(usize, usize) -> f64,
    before: State,
    after: Option<State>,
) -> Vec<Vec<f64>> {
    let mut posteriors = vec![vec![0.0; WORDS + 2]; states.len()];
    for mut number in 0..states.iter().map(Vec::len).product() {
        let mut sequence = Vec::new();
        for states in states {
            sequence.push(states[number % states.len()]);
            number /= states.len();
        }
        let mut p = 1.0;
        let mut last = before as usize;
        for (token, &state) in sequence.iter().enumerate() {
            p *= matrix[last][state] * emitted(token, state);
            last = state;
        }
        p *= after.map_or(1.0, |after| matrix[last][after as usize]);
        for (posterior, &state) in posteriors.iter_mut().zip(&sequence) {
            posterior[state] += p;
        }
    }
    for posterior in &mut posteriors {
        let total: f64 = posterior.iter().sum();
        posterior.iter_mut().for_each(|p| *p /= total);
    }
    posteriors
}

fn rows(channel: &dyn Channel, words: usize) -> Vec<Vec<f64>> {
    let row = |word: usize| {
        let mut row = vec![0.0; words];
        channel.row(word as WordId, &mut row);
        row
    };
    let mut unknown = vec![0.0; words];
    channel.row_of_unknown(&mut unknown);
    (0..words).map(row).chain([unknown]).collect()
}

/// What the engine finds for each stretch and time.
fn found(chain: &Chain, evidence: &dyn Evidence, stretches: &[Stretch]) -> Vec<Vec<Vec<f64>>> {
    let mut found: Vec<Vec<Vec<f64>>> = stretches
        .iter()
        .map(|stretch| vec![Vec::new(); stretch.tokens.len()])
        .collect();
    Batch::new(chain, evidence, stretches).posteriors(|t, values| {
        for (lane, stretch) in stretches.iter().enumerate() {
            if t < stretch.tokens.len() {
                let of_lane = values.iter().map(|value| f64::from(value[lane]));
                let total: f64 = of_lane.clone().sum();
                found[lane][t] = of_lane.map(|p| p / total).collect();
            }
        }
    });
    found
}

/// Stretches of all lengths in a row, some before a word or a boundary and some before nothing known.
fn stretches(count: usize) -> Vec<Stretch> {
    let mut start = 0;
    let stretch = |i: usize| {
        let tokens = start..start + i % LENGTH + 1;
        start = tokens.end;
        Stretch {
            tokens,
            before: (i * 3 % (WORDS + 1)) as State,
            after: (!i.is_multiple_of(3)).then_some((i * 5 % (WORDS + 1)) as State),
        }
    };
    (0..count).map(stretch).collect()
}

/// The largest difference of a posterior between the engine, which sees `evidence` of these outputs,
/// and brute force over the channel of a mechanism.
fn difference(mechanism: &dyn Mechanism, outputs: &[WordId], evidence: &dyn Evidence) -> f64 {
    let rows = rows(mechanism.channel().expect("a channel"), WORDS);
    let mut most = 0.0f64;
    for seed in 0..5 {
        let (chain, matrix) = chain(seed);
        let stretches = stretches(13);
        for (stretch, found) in stretches.iter().zip(found(&chain, evidence, &stretches)) {
            let seen = &outputs[stretch.tokens.clone()];
            let expected = brute_force(&matrix, &rows, seen, stretch.before, stretch.after);
            let pairs = found.iter().flatten().zip(expected.iter().flatten());
            most = pairs.fold(most, |most, (f, e)| most.max((f - e).abs()));
        }
    }
    most
}

/// Eight words' worth of outputs for all stretches.
fn outputs() -> Vec<WordId> {
    (0..40).map(|i| (i * i + i / 3) % WORDS as WordId).collect()
}

fn tree_model() -> Arc<Model> {
    // Two words share a place, one place of a pair and one whole pair are empty.
    let tree = WordTree::new(3, vec![0, 0, 1, 2, 4, 5, 3]).unwrap();
    let model = fixture::model(WORDS, 64, 3);
    Arc::new(model.with_tree(&tree).unwrap())
}

fn mechanisms() -> Vec<(Arc<Model>, Box<dyn Mechanism>)> {
    let (codes, tree) = (fixture::model(WORDS, 64, 3), tree_model());
    let epsilon = |e| Epsilon::new(e).unwrap();
    let exponential = Exponential::new(codes.clone(), epsilon(0.3));
    let options = Options::default()
        .with_mechanism(MechanismKind::Tree)
        .with_budget(Budget::Epsilon(0.7));
    let by_tree = Privatizer::new(tree.clone(), options).unwrap();
    vec![
        (codes.clone(), Box::new(Kary::new(WORDS, epsilon(1.5)))),
        (codes.clone(), Box::new(exponential)),
        (tree, by_tree.into_mechanism()),
        (codes, Box::new(RowsOnly(Kary::new(WORDS, epsilon(1.5))))),
    ]
}

/// A mechanism of somebody else's, of which rows are all that is known.
struct RowsOnly(Kary);

impl Mechanism for RowsOnly {
    fn name(&self) -> &'static str {
        "rows"
    }
    fn guarantee(&self) -> Guarantee {
        self.0.guarantee()
    }
    fn channel(&self) -> Option<&dyn Channel> {
        self.0.channel()
    }
    fn privatize(&self, words: &[Option<WordId>], noise: &mut Noise) -> Vec<WordId> {
        self.0.privatize(words, noise)
    }
}

#[test]
fn the_posteriors_are_those_of_all_sequences() {
    for (model, mechanism) in mechanisms() {
        let target = Target::new(&*mechanism, &model);
        let seen = seen(&target, outputs(), &Plan::default()).unwrap();
        let difference = difference(&*mechanism, &outputs(), &seen);
        // Stored columns are rounded to 0.1 %.
        assert!(difference < 5e-4, "{} {difference}", mechanism.name());
    }
}

/// With public words: the sentences as a whole, in which public words are what they are and private ones
/// any private word, by all sequences.
#[test]
fn the_posteriors_beside_public_words_are_those_of_all_sequences() {
    let model = fixture::model(WORDS, 64, 3);
    let word = |i: WordId| model.vocabulary().word(i).to_owned();
    let public = [1, 4, 5].map(word).join("\n");
    let list = Arc::new(WordList::new("some", &public, &model).unwrap());
    let words = [0, 1, 2, 3, 4, 9, 6, 1, 4, 3, 0, 9, 5, 2, 2, 6, 5];
    let passage = Passage {
        words: words.map(|w| (w < 9).then_some(w)).to_vec(),
        sentences: [(0..7, true), (7..11, true), (11..17, false)]
            .map(|(tokens, ends)| Sentence { tokens, ends })
            .to_vec(),
    };
    for kind in [MechanismKind::KAry, MechanismKind::Exponential] {
        let options = Options::default()
            .with_mechanism(kind)
            .with_budget(Budget::Epsilon(match kind {
                MechanismKind::KAry => 1.5,
                _ => 0.3,
            }))
            .with_policy(Policy::AllBut(list.clone()));
        let privatizer = Privatizer::certified(model.clone(), options, 1, &|_| {}).unwrap();
        let target = Target::of(&privatizer);
        let private: Vec<usize> = (0..4).map(|i| target.whole(i) as usize).collect();
        assert_eq!(private, [0, 2, 3, 6]);
        let rows = rows(privatizer.mechanism().channel().unwrap(), private.len());
        let released = Released::new(&target, &passage, &Plan::default()).unwrap();
        let (chain, matrix) = chain(2);
        let found = found(&chain, &released.seen, &released.stretches);
        let mut found: Vec<_> = released.stretches.iter().zip(found).collect();
        found.sort_by_key(|(stretch, _)| stretch.tokens.start);
        let found: Vec<Vec<f64>> = found.into_iter().flat_map(|(_, f)| f).collect();
        let expected = |neighbour: &dyn Fn(usize) -> usize| -> Vec<Vec<f64>> {
            let mut outputs = released.outputs.iter();
            let of = |sentence: &Sentence| {
                let (mut states, mut seen) = (Vec::new(), Vec::new());
                for word in &passage.words[sentence.tokens.clone()] {
                    let known = word.filter(|w| target.place(*w).is_none());
                    states.push(match known {
                        Some(public) => vec![neighbour(public as usize)],
                        None => [&private[..], &[WORDS + 1]].concat(),
                    });
                    seen.push(known.is_none().then(|| *outputs.next().unwrap() as usize));
                }
                let emitted = |token: usize, state: usize| match seen[token] {
                    None => 1.0,
                    Some(y) => match private.iter().position(|&p| p == state) {
                        Some(place) => rows[place][y],
                        None => 1.0 / private.len() as f64,
                    },
                };
                let after = sentence.ends.then_some(WORDS as State);
                let all = sequences(&matrix, &states, &emitted, WORDS as State, after);
                let drawn = all
                    .into_iter()
                    .zip(&seen)
                    .filter(|(_, seen)| seen.is_some());
                drawn.map(|(posterior, _)| posterior).collect::<Vec<_>>()
            };
            passage.sentences.iter().flat_map(of).collect()
        };
        let difference = |expected: &[Vec<f64>]| {
            assert_eq!(expected.len(), found.len());
            let pairs = found.iter().flatten().zip(expected.iter().flatten());
            pairs.fold(0.0f64, |most, (f, e)| most.max((f - e).abs()))
        };
        let right = expected(&|public| public);
        assert!(difference(&right) < 5e-4, "{}", difference(&right));
        // Who took public words for others would be noticed.
        assert!(difference(&expected(&|public| if public == 1 { 4 } else { 1 })) > 5e-3);
        let guesses = released.attack(&chain, &|_| {});
        for (guess, posterior) in guesses.iter().zip(&right) {
            let best = posterior[..WORDS]
                .iter()
                .fold(0.0f64, |best, p| best.max(*p));
            assert!(posterior[guess.context as usize] > best - 1e-3);
        }
    }
}

/// Evidence with an error in it.
struct Planted<'a> {
    rows: Vec<Vec<f64>>,
    outputs: Vec<WordId>,
    error: Error,
    seen: &'a dyn Evidence,
}

#[derive(Clone, Copy, PartialEq)]
enum Error {
    None,
    Transposed,
    NoNormalizer,
    NoUnknown,
}

impl Evidence for Planted<'_> {
    fn likelihoods(&self, token: usize, out: &mut [f32]) {
        self.seen.likelihoods(token, out);
        let y = self.outputs[token] as usize;
        for (w, out) in out[..WORDS].iter_mut().enumerate() {
            match self.error {
                Error::Transposed => *out = self.rows[y][w] as f32,
                Error::NoNormalizer => *out /= self.rows[w][w] as f32,
                _ => {}
            }
        }
        if self.error == Error::NoUnknown {
            out[WORDS + 1] = 0.0;
        }
    }
}

/// The comparison above notices what could go wrong. The exponential mechanism is the one whose
/// channel is not symmetric.
#[test]
fn planted_errors_are_noticed() {
    let (model, mechanism) = mechanisms().swap_remove(1);
    let target = Target::new(&*mechanism, &model);
    let seen = seen(&target, outputs(), &Plan::default()).unwrap();
    let with = |error: Error| {
        let planted = Planted {
            rows: rows(mechanism.channel().unwrap(), WORDS),
            outputs: outputs(),
            error,
            seen: &seen,
        };
        difference(&*mechanism, &outputs(), &planted)
    };
    assert!(with(Error::None) < 5e-4);
    for error in [Error::Transposed, Error::NoNormalizer, Error::NoUnknown] {
        let difference = with(error);
        assert!(difference > 5e-3, "{difference}");
    }
    // So does a chain that is walked the wrong way.
    let (chain, matrix) = chain(0);
    let turned: Vec<Vec<f64>> = (0..matrix.len())
        .map(|v| matrix.iter().map(|row| row[v]).collect())
        .collect();
    let rows = rows(mechanism.channel().unwrap(), WORDS);
    let one = &stretches(13)[3..4];
    let seen_words = &outputs()[one[0].tokens.clone()];
    let expected = brute_force(&turned, &rows, seen_words, one[0].before, one[0].after);
    let found = found(&chain, &seen, one);
    let pairs = found[0].iter().flatten().zip(expected.iter().flatten());
    assert!(pairs.fold(0.0f64, |most, (f, e)| most.max((f - e).abs())) > 5e-3);
}

/// A long sentence goes in parts, and a language model file becomes the chain that it is: as the
/// core's own exact decoder has it.
#[test]
fn long_sentences_of_a_language_model() {
    let model = fixture::model(WORDS, 64, 3);
    let parts = LanguageParts {
        vocabulary: model.vocabulary(),
        unigrams: (0..WORDS + 2).map(|v| (v + 1) as f64 / 45.0).collect(),
        pairs: vec![
            (0, 3, 0.5),
            (3, 1, 0.7),
            (3, 7, 0.1),
            (7, 0, 0.8),
            (8, 2, 0.4),
        ],
        decoded: Vec::new(),
        meta: Vec::new(),
    };
    let language = Language::new(&parts.write().unwrap()).unwrap();
    let chain = Chain::from_language(&language);
    let outputs: Vec<WordId> = (0..150)
        .map(|i| (i * i + i / 7) % WORDS as WordId)
        .collect();
    let mechanism = Kary::new(WORDS, Epsilon::new(1.2).unwrap());
    let target = Target::new(&mechanism, &model);
    let seen = seen(&target, outputs.clone(), &Plan::default()).unwrap();
    for ends in [false, true] {
        let whole = Stretch {
            tokens: 0..outputs.len(),
            before: chain.boundary(),
            after: ends.then(|| chain.boundary()),
        };
        let short = Stretch {
            tokens: 0..2,
            ..whole.clone()
        };
        let found = found(&chain, &seen, &[whole, short]);
        let sentence = Sentence {
            tokens: 0..outputs.len(),
            ends,
        };
        let decoder = Decoder::new(&language, mechanism.emission().unwrap());
        let observed = Observations::Words(outputs.clone());
        let expected = decoder.posteriors(&observed, &[sentence]);
        for (mut found, expected) in found[0].clone().into_iter().zip(expected) {
            assert_eq!(found.remove(WORDS), 0.0);
            let pairs = found.iter().zip(&expected);
            assert!(pairs.into_iter().all(|(f, e)| (f - e).abs() < 1e-4));
        }
    }
}

/// How often each output comes of each word, by drawing.
fn drawn(mechanism: &dyn Mechanism, draws: usize) -> Vec<Vec<f64>> {
    let row = |word: usize| {
        let mut noise = Noise::numbered(77).with_stream(word as u64);
        let outputs = mechanism.privatize(&vec![Some(word as WordId); draws], &mut noise);
        let mut row = vec![0.0; WORDS];
        let each = 1.0 / draws as f64;
        outputs.iter().for_each(|&y| row[y as usize] += each);
        row
    };
    (0..WORDS).map(row).collect()
}

/// Columns that are estimated from draws around an output are those that drawing from every word
/// gives.
///
/// Both means are of 20,000 draws at least with a standard deviation of at most 0.5 each: 0.03 is
/// more than 6 of the difference's, which 49 pairs exceed by chance less than once in 1e7. The seed is fixed.
#[test]
fn estimated_columns_are_those_of_the_channel() {
    let model = fixture::model(WORDS, 64, 3);
    let space = crate::mechanisms::test_space(
        3,
        vec![
            0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 2.0, 0.0, 1.0, 1.0, 1.0, -1.0, 0.0, 1.0, 0.0, -2.0,
            0.5, 3.0, 1.0, 0.0,
        ],
    );
    let epsilon = |e| Epsilon::new(e).unwrap();
    let brr = Brr::new(model.clone(), epsilon(0.15));
    let madlib = crate::mechanisms::Madlib::new(Arc::new(space), epsilon(2.0));
    for mechanism in [&brr as &dyn Mechanism, &madlib] {
        let target = Target::new(mechanism, &model);
        let plan = Plan {
            seed: 5,
            draws: Draws {
                hits: usize::MAX,
                most: 40_000,
            },
            ..Plan::default()
        };
        let outputs: Vec<WordId> = (0..WORDS as WordId).collect();
        let seen = seen(&target, outputs, &plan).unwrap();
        let rows = drawn(mechanism, 20_000);
        // Of two words with one code the first is drawn; nobody has to explain the other.
        let drawn = |&y: &usize| rows.iter().any(|row| row[y] > 0.0);
        for y in (0..WORDS).filter(drawn) {
            let mut column = vec![0.0; WORDS + 2];
            seen.likelihoods(y, &mut column);
            for (row, p) in rows.iter().zip(&column) {
                assert!(
                    (row[y] - f64::from(*p)).abs() < 0.03,
                    "{} {} {p}",
                    mechanism.name(),
                    row[y]
                );
            }
            let mean: f32 = column[..WORDS].iter().sum::<f32>() / WORDS as f32;
            assert!((column[WORDS + 1] - mean).abs() < 1e-6);
        }
    }
}

/// Text in which every second word tells the next.
fn alternating(model: &Model, sentences: usize) -> String {
    let word = |i: usize| model.vocabulary().word(i as WordId);
    let sentence = |i: usize| {
        let pairs = (0..6).map(|j| (i * 7 + j * j) % 60);
        let pairs = pairs.map(|w| format!("{} {}", word(2 * w), word(2 * w + 1)));
        pairs.collect::<Vec<_>>().join(" ") + ". "
    };
    (0..sentences).map(sentence).collect()
}

#[test]
fn context_names_more_and_public_words_are_given() {
    let model = fixture::model(200, 64, 5);
    let text = alternating(&model, 120);
    let chain = Chain::from_texts(&model, [&text[..]].into_iter());
    let passage = Passage::read(&model, [&text[..], "zzzz aaa."], 600);
    assert_eq!(passage.words.len(), 600);
    let list = WordList::new("some", "aab\naad\naag\n", &model).unwrap();
    let classes = Classes::new(&model, &chain, Some(&list), None);
    let success = |policy: Policy, epsilon: f64| {
        let options = Options::default()
            .with_mechanism(MechanismKind::KAry)
            .with_budget(Budget::Epsilon(epsilon))
            .with_policy(policy);
        let privatizer = Privatizer::new(model.clone(), options).unwrap();
        let target = Target::of(&privatizer);
        let plan = Plan::default();
        let guesses = attack(&chain, &target, &passage, &plan, &|_| {}).unwrap();
        (
            guesses.clone(),
            classes.score(&guesses, &Similarity::default()),
        )
    };
    let (guesses, all) = success(Policy::All, 5.0);
    assert_eq!(guesses.len(), 600);
    let [all, content, rare] = &all[..] else {
        panic!("three kinds");
    };
    assert!(
        all.output < 0.55 && all.alone < 0.55 && all.context > 0.65,
        "{all:?}"
    );
    assert_eq!(
        (&*all.class, &*content.class, &*rare.class),
        ("all", "content", "rare")
    );
    assert_eq!((all.words, rare.words), (600, 0));
    let listed = passage.words.iter().filter(|w| list.contains(w.unwrap()));
    assert_eq!(content.words, 600 - listed.count());
    // Nobody needs to guess what is public, and nobody may guess it elsewhere.
    let public = Policy::AllBut(Arc::new(list.clone()));
    let (guesses, _) = success(public.clone(), 1.0);
    assert_eq!(guesses.len(), content.words);
    assert!(
        guesses
            .iter()
            .all(|g| !list.contains(g.context) && !list.contains(g.output))
    );
    let (_, certain) = success(public, 30.0);
    assert_eq!(certain[0].context, 1.0);
    // More loss, more success: halving finds where.
    let of = |epsilon: f64| Ok(success(Policy::All, epsilon).1[0].context);
    let found = epsilon_for_success((0.5, 8.0), 6, 0.6, of).unwrap();
    assert!((of(found).unwrap() - 0.6).abs() < 0.1, "{found}");
    assert!(epsilon_for_success((2.0, 1.0), 6, 0.6, of).is_err());
}

/// An attacker of `text` with the bigrams of `public`.
fn sample(model: &Arc<Model>, public: &str, text: &str) -> Sample {
    let mut counter = brr_build::language::TextCounter::new(model);
    counter.add(public);
    let language = counter.pairs().write(model, 100_000, &[], &[]).unwrap();
    let language = Language::new(&language).unwrap();
    assert!(Sample::new(fixture::model(199, 64, 5), &language, text).is_err());
    Sample::new(model.clone(), &language, text).unwrap()
}

/// A ladder has the attacker who reads a public sample at every step, where the language model fits.
#[test]
fn a_sample_is_attacked_at_every_step() {
    let model = fixture::model(200, 64, 5);
    let text = alternating(&model, 40);
    let sample = sample(&model, &text, &text);
    let (plan, none) = (crate::channel::Sampling::default(), Similarity::default());
    let family = crate::mechanisms::KaryFamily(200);
    let ladder = [1.0, 4.0, 30.0];
    let table = crate::calibrate::table(&family, &ladder, &none, &plan, Some(&sample), &|_| {});
    let steps = table.unwrap().steps;
    let named: Vec<f64> = steps.iter().map(|s| s.context.unwrap().value).collect();
    assert!(
        named[0] < named[1] && named[1] < 0.8 && named[2] == 1.0,
        "{named:?}"
    );
}

/// Who asks that no more than half of the words be named is answered about the attacker who names the most: of
/// a text like the attacker's own by its context, of one unlike it by the single words.
#[test]
fn an_epsilon_is_solved_for_the_stronger_attacker() {
    use crate::calibrate::{Target, solve};
    let model = fixture::model(200, 64, 5);
    let text = alternating(&model, 40);
    let word = |i: usize| model.vocabulary().word(i as WordId).to_owned();
    let unlike = (120..200).map(|i| word(i) + " " + &word(i) + ". ");
    let unlike: String = unlike.collect();
    let (plan, none) = (crate::channel::Sampling::default(), Similarity::default());
    let family = crate::mechanisms::KaryFamily(200);
    let solved = |sample: Option<&Sample>| {
        let target = Target::MaxGuess(0.5);
        let found = solve(&family, target, &none, &plan, sample, &|_| {});
        found.unwrap().unwrap()
    };
    let [alone, own, other] = [
        solved(None),
        solved(Some(&sample(&model, &text, &text))),
        solved(Some(&sample(&model, &text, &unlike))),
    ];
    let by_word = |s: &crate::calibrate::Step| s.summary.guess_by_use.unwrap().success.high;
    let context = |s: &crate::calibrate::Step| s.context.unwrap();
    assert!(context(&own.step).high <= 0.5 && context(&own.step).high > 0.45);
    assert!(own.step.epsilon < alone.step.epsilon - 0.3);
    // A mistaken attacker names less than one who sees one word alone.
    assert!(context(&other.step).value < 0.4, "{:?}", other.step.context);
    assert_eq!(other.step.epsilon, alone.step.epsilon);
    assert!(by_word(&other.step) <= 0.5 && by_word(&alone.step) > 0.49);
    // And the answer says of whom it speaks.
    let said = crate::report::solution_text;
    assert!(
        said(&own).contains("who reads whole sentences name at most 0.5 of the words of a public")
    );
    assert!(
        said(&alone).starts_with("To let an attacker who sees one output word name at most 0.5")
    );
}

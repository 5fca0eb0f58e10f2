//! Decoding with context: against brute force, against the exact decoder, and what it may not see.

use std::sync::Arc;

use brr::parts::epsilon::Epsilon;
use brr::parts::language::{Decoder, Evidence, LanguageParts, Sentence, State, sentences};
use brr::parts::mechanism::{Brr, Emission, Exponential, Mechanism, Observations};
use brr::parts::random::Noise;
use brr::parts::text::pieces;
use brr::parts::vocabulary::{Vocabulary, WordId};
use brr::{Budget, Error, Language, Layout, MechanismKind, Model, Options, Privatizer};
use proptest::prelude::*;

/// Observations are numbers of rows; each row has a step for every word, and each word an offset.
struct Table {
    rows: Vec<Vec<u16>>,
    log_steps: Vec<f32>,
    offsets: Vec<f32>,
}

/// For a token without a code.
const UNKNOWN: f32 = -2.5;

impl Table {
    fn log_likelihood(&self, row: u32, place: usize) -> f64 {
        let of_word = |&step: &u16| self.log_steps[usize::from(step)] + self.offsets[place];
        f64::from(self.rows[row as usize].get(place).map_or(UNKNOWN, of_word))
    }
}

impl Emission for Table {
    fn table(&self) -> &[f32] {
        &self.log_steps
    }

    fn offsets(&self) -> &[f32] {
        &self.offsets
    }

    fn unknown(&self) -> f32 {
        UNKNOWN
    }

    fn steps_of(&self, observations: &Observations, i: usize, words: &[WordId]) -> Vec<u16> {
        let Observations::Words(rows) = observations else {
            unreachable!("rows are numbered")
        };
        let row = &self.rows[rows[i] as usize];
        words.iter().map(|&word| row[word as usize]).collect()
    }
}

/// ln Pr[observation `i` | w] of every word, up to a constant.
fn log_likelihoods(
    emission: &dyn Emission,
    observed: &Observations,
    i: usize,
    n: usize,
) -> Vec<f32> {
    let mut steps = vec![0; n];
    emission.steps(observed, i, &mut steps);
    let offsets = emission.offsets();
    let ln = |(w, &step): (usize, &u16)| {
        emission.table()[usize::from(step)] + offsets.get(w).copied().unwrap_or(0.0)
    };
    steps.iter().enumerate().map(ln).collect()
}

fn vocabulary(words: usize) -> Vocabulary {
    let words: Vec<String> = (0..words).map(|i| format!("w{i}")).collect();
    Vocabulary::unpack(&Vocabulary::pack(&words).unwrap(), words.len()).unwrap()
}

/// A language in which about every third pair is listed.
fn language(words: usize, seed: u64) -> Language {
    let mut noise = Noise::numbered(seed);
    let mut uniform = move || (noise.limb() >> 11) as f64 / (1u64 << 53) as f64;
    let states = words + 2;
    let unigrams: Vec<f64> = (0..states).map(|_| 0.05 + uniform()).collect();
    let total: f64 = unigrams.iter().sum();
    let mut pairs = Vec::new();
    for u in 0..states as State {
        for v in 0..states as State {
            if uniform() < 0.3 {
                pairs.push((u, v, (0.9 * uniform() + 0.01) / states as f64));
            }
        }
    }
    let parts = LanguageParts {
        vocabulary: &vocabulary(words),
        unigrams: unigrams.iter().map(|p| p / total).collect(),
        pairs,
        decoded: Vec::new(),
        meta: Vec::new(),
    };
    Language::new(&parts.write().unwrap()).unwrap()
}

/// Steps of any size up to `spread` nats.
fn table(rows: usize, words: usize, spread: f32, seed: u64) -> Table {
    let mut noise = Noise::numbered(seed);
    let steps = 300u16;
    let mut step = move || (noise.limb() % u64::from(steps)) as u16;
    Table {
        rows: (0..rows)
            .map(|_| (0..words).map(|_| step()).collect())
            .collect(),
        log_steps: (0..steps)
            .map(|s| -spread * f32::from(s) / f32::from(steps))
            .collect(),
        offsets: (0..words).map(|w| 0.3 * (w % 3) as f32).collect(),
    }
}

/// Every sequence of states there is, one by one.
fn brute_force(language: &Language, table: &Table, rows: &[u32], ends: bool) -> Vec<Vec<f64>> {
    let words = language.words();
    let states: Vec<State> = (0..words as State).chain([language.unknown()]).collect();
    let mut posteriors = vec![vec![0.0; states.len()]; rows.len()];
    let count = states.len().pow(rows.len() as u32);
    for number in 0..count {
        let (mut rest, mut before, mut p) = (number, language.boundary(), 1.0);
        let places: Vec<usize> = rows
            .iter()
            .map(|_| {
                let place = rest % states.len();
                rest /= states.len();
                place
            })
            .collect();
        for (&place, &row) in places.iter().zip(rows) {
            p *= f64::from(language.probability(before, states[place]));
            p *= table.log_likelihood(row, place).exp();
            before = states[place];
        }
        if ends {
            p *= f64::from(language.probability(before, language.boundary()));
        }
        for (posterior, &place) in posteriors.iter_mut().zip(&places) {
            posterior[place] += p;
        }
    }
    for posterior in &mut posteriors {
        let total: f64 = posterior.iter().sum();
        posterior.iter_mut().for_each(|p| *p /= total);
    }
    posteriors
}

fn sentence(tokens: std::ops::Range<usize>, ends: bool) -> Sentence {
    Sentence { tokens, ends }
}

/// A table read by the wrong side and one without the words' own parts are told from the right one.
#[test]
fn brute_force_finds_planted_faults() {
    for seed in 0..20 {
        let words = 4;
        let (language, table) = (language(words, seed), table(words, words, 6.0, seed + 1));
        let rows: Vec<u32> = (0..words as u32).collect();
        let expected = brute_force(&language, &table, &rows, true);
        let observed = Observations::Words(rows);
        let column = |i: usize| table.rows.iter().map(|row| row[i]).collect();
        let transposed = Table {
            rows: (0..words).map(column).collect(),
            log_steps: table.log_steps.clone(),
            offsets: table.offsets.clone(),
        };
        let bare = Table {
            offsets: vec![0.0; words],
            ..table
        };
        for faulty in [transposed, bare] {
            let decoder = Decoder::new(&language, &faulty);
            let found = decoder.posteriors(&observed, &[sentence(0..words, true)]);
            let pairs = found.iter().flatten().zip(expected.iter().flatten());
            let apart = pairs.fold(0.0, |most: f64, (f, e)| most.max((f - e).abs()));
            assert!(apart > 1e-3, "{seed}: {apart}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_exact_decoder_is_brute_force(
        words in 2usize..6, length in 1usize..6, seed in 0u64..1000, ends: bool,
    ) {
        let (language, table) = (language(words, seed), table(length, words, 6.0, seed + 1));
        let rows: Vec<u32> = (0..length as u32).collect();
        let expected = brute_force(&language, &table, &rows, ends);
        let decoder = Decoder::new(&language, &table);
        let observed = Observations::Words(rows);
        let found = decoder.posteriors(&observed, &[sentence(0..length, ends)]);
        for (found, expected) in found.iter().zip(&expected) {
            for (f, e) in found.iter().zip(expected) {
                prop_assert!((f - e).abs() < 1e-5, "{f} {e}");
            }
        }
    }

    #[test]
    fn the_pruned_decoder_gives_a_most_probable_word(
        words in 2usize..24, length in 1usize..60, seed in 0u64..1000, ends: bool,
    ) {
        let (language, table) = (language(words, seed), table(length, words, 6.0, seed + 1));
        let observed = Observations::Words((0..length as u32).collect());
        let decoder = Decoder::new(&language, &table);
        let cut = length / 3;
        let parts = [sentence(0..cut, true), sentence(cut..length, ends)];
        let parts = &parts[usize::from(cut == 0)..];
        let posteriors = decoder.posteriors(&observed, parts);
        let decoded = decoder.decode(&observed, parts);
        prop_assert_eq!(decoded.len(), length);
        for (posterior, &word) in posteriors.iter().zip(&decoded) {
            let most = posterior[..words].iter().fold(0.0, |a: f64, &b| a.max(b));
            prop_assert!(posterior[word as usize] > most - 0.02, "{} {most}", posterior[word as usize]);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    /// Known words stay, help to decode those beside them, and words that cannot be there are not
    /// chosen: as the exact decoder has it.
    #[test]
    fn known_words_stay_and_impossible_ones_stay_away(
        words in 4usize..24, length in 2usize..40, seed in 0u64..1000, ends: bool,
    ) {
        let (language, mut table) = (language(words, seed), table(length, words, 6.0, seed + 1));
        let possible = |w: usize| w % 3 != 1;
        for w in (0..words).filter(|&w| !possible(w)) {
            table.offsets[w] = f32::NEG_INFINITY;
        }
        let known = |i: usize| i.is_multiple_of(2);
        let mut observed = 0;
        let evidence: Vec<Evidence> = (0..length).map(|i| match known(i) {
            true => Evidence::Known((i * 5 % words) as u32),
            false => {
                observed += 1;
                Evidence::Observed(observed - 1)
            }
        }).collect();
        let observed = Observations::Words((0..observed as u32).collect());
        let decoder = Decoder::new(&language, &table).with_evidence(&evidence);
        let whole = [sentence(0..length, ends)];
        let posteriors = decoder.posteriors(&observed, &whole);
        let decoded = decoder.decode(&observed, &whole);
        prop_assert_eq!(decoded.len(), length);
        for (i, (posterior, &word)) in posteriors.iter().zip(&decoded).enumerate() {
            let most = posterior[..words].iter().fold(0.0, |a: f64, &b| a.max(b));
            prop_assert!(posterior[word as usize] > most - 0.02, "{} {most}", posterior[word as usize]);
            match evidence[i] {
                Evidence::Known(known) => prop_assert_eq!(word, known),
                Evidence::Observed(_) => prop_assert!(possible(word as usize)),
            }
        }
    }
}

/// Windows overlap by as much as matters.
#[test]
fn a_long_sentence_is_decoded_in_windows() {
    let (words, length) = (30, 1000);
    let (language, table) = (language(words, 5), table(length, words, 5.0, 6));
    let observed = Observations::Words((0..length as u32).collect());
    let decoder = Decoder::new(&language, &table);
    let whole = [sentence(0..length, true)];
    let posteriors = decoder.posteriors(&observed, &whole);
    for (posterior, &word) in posteriors.iter().zip(&decoder.decode(&observed, &whole)) {
        let most = posterior[..words].iter().fold(0.0, |a: f64, &b| a.max(b));
        assert!(posterior[word as usize] > most - 1e-2);
    }
}

/// The emission is the channel read by columns: for words that were drawn, and words all over the vocabulary. It has one
/// normalizer for all words, which is off by a few percent.
#[test]
fn the_exponential_mechanisms_emission_is_its_channel() {
    let model = crate::support::english();
    let mechanism = Exponential::for_budget(model.clone(), Budget::Keep(0.5)).unwrap();
    let n = model.vocabulary().len();
    let drawn = [0u32, 77, 4_000, 31_000];
    let observed = Observations::Words(drawn.to_vec());
    let mut row = vec![0.0; n];
    let emissions = |i: usize| log_likelihoods(&mechanism, &observed, i, n);
    let emissions: Vec<Vec<f32>> = (0..drawn.len()).map(emissions).collect();
    assert!((mechanism.unknown() + (n as f32).ln()).abs() < 1e-3);
    let (mut sum, mut squares, mut count) = (0.0, 0.0, 0.0);
    for word in (0..n as u32).step_by(331) {
        mechanism.channel().unwrap().row(word, &mut row);
        for (out, &y) in emissions.iter().zip(&drawn) {
            let off = f64::from(out[word as usize]) - row[y as usize].ln();
            assert!(off.abs() < 0.25, "{word} {y}: {off}");
            (sum, squares, count) = (sum + off, squares + off * off, count + 1.0);
        }
    }
    assert!(f64::abs(sum / count) < 0.02, "{}", sum / count);
    assert!(f64::sqrt(squares / count) < 0.06, "{}", squares / count);
}

/// Pr[r | w] = p^d (1 - p)^(n - d), and 2^-n without a code.
#[test]
fn brrs_emission_is_the_probability_of_its_noisy_code() {
    let model = crate::support::english();
    let mechanism = Brr::new(model.clone(), Epsilon::new(0.5).unwrap());
    let observed = mechanism.observe(&[Some(12)], &mut Noise::numbered(3));
    let Observations::Codes(noisy) = &observed else {
        panic!("BRR observes codes")
    };
    let (n, p) = (256.0, 1.0 / (1.0 + 0.5f64.exp()));
    let out = log_likelihoods(&mechanism, &observed, 0, model.vocabulary().len());
    let unknown = f64::from(mechanism.unknown());
    let codes = model.codes().to_rows();
    for word in [0usize, 12, 30_000] {
        let d = f64::from(brr::parts::codes::hamming(codes.row(word), noisy.row(0)));
        let expected = d * p.ln() + (n - d) * (1.0 - p).ln() + n * 2f64.ln();
        let found = f64::from(out[word]) - unknown;
        assert!((found - expected).abs() < 0.01, "{found} {expected}");
    }
}

/// The words are what the observations say, whichever way they are asked for.
#[test]
fn drawing_is_observing_and_reading() {
    let model = crate::support::english();
    let words: Vec<_> = (0..200).map(|i| (i % 7 > 0).then_some(i * 11)).collect();
    for kind in [MechanismKind::Brr, MechanismKind::Exponential] {
        let options = Options::default()
            .with_mechanism(kind)
            .with_budget(Budget::Keep(0.4));
        let mechanism = Privatizer::new(model.clone(), options)
            .unwrap()
            .into_mechanism();
        let drawn = mechanism.privatize(&words, &mut Noise::numbered(9));
        let observed = mechanism.observe(&words, &mut Noise::numbered(9));
        assert_eq!(mechanism.words(&observed), drawn);
    }
}

fn with_context(model: &Arc<Model>, kind: MechanismKind, budget: Budget) -> Privatizer {
    let language = Language::open("../brr-english/src/english.lm").unwrap();
    let options = Options::default()
        .with_mechanism(kind)
        .with_budget(budget)
        .with_context(Some(Arc::new(language)));
    Privatizer::new(model.clone(), options).unwrap()
}

/// Where the mechanism tells next to nothing, the decoded text must not either. A decoder that favours
/// the words that went in, or looks among them for candidates, writes them more often when
/// they went in. Over 2 x 2,400 independent words and Hoeffding's inequality, the test fails on a
/// decoder that is right with a probability below 1e-6.
#[test]
fn the_decoder_does_not_see_what_went_in() {
    let model = crate::support::english();
    let texts = ["my doctor lives abroad", "her lawyer sleeps late"];
    for kind in [MechanismKind::Brr, MechanismKind::Exponential] {
        let privatizer = with_context(&model, kind, Budget::Epsilon(1e-5));
        let hits = |input: &str| {
            let private = privatizer.privatize_batch(&vec![input; 600]).unwrap();
            let first: Vec<&str> = texts[0].split(' ').collect();
            let words = private.iter().flat_map(|p| p.text.split(' ').zip(&first));
            words.filter(|(out, word)| out == *word).count() as f64 / 2400.0
        };
        // Words of one text share a decoding: 600 texts are independent, not 2,400 words.
        let slack = 2.0 * (2f64.ln() + 1e6f64.ln()).sqrt() / (2.0 * 600f64).sqrt();
        assert!((hits(texts[0]) - hits(texts[1])).abs() < slack);
    }
}

/// What it is for: more of the original words than as drawn, from the same noise.
#[test]
fn decoding_finds_more_words_than_drawing() {
    let model = crate::support::english();
    let text = "i have never been so happy in my life . we are going to see a film tonight . \
                thank you very much for your help with the report . let me know if you have any \
                questions about the meeting tomorrow .";
    let words: Vec<_> = model
        .tokens(text)
        .into_iter()
        .map(|(word, _)| word)
        .collect();
    let language = Language::open("../brr-english/src/english.lm").unwrap();
    let parts = sentences(&pieces(text), Layout::Keep);
    let mechanism = Brr::new(model.clone(), Epsilon::new(0.5).unwrap());
    let decoder = Decoder::new(&language, &mechanism);
    let (mut drawn, mut decoded) = (0, 0);
    for seed in 0..40 {
        let observed = mechanism.observe(&words, &mut Noise::numbered(seed));
        let same = |out: Vec<u32>| {
            out.iter()
                .zip(&words)
                .filter(|(a, b)| Some(**a) == **b)
                .count()
        };
        drawn += same(mechanism.words(&observed));
        decoded += same(decoder.decode(&observed, &parts));
    }
    // Seeded. Measured: twice as many and more.
    assert!(decoded > 3 * drawn / 2, "{decoded} {drawn}");
}

#[test]
fn parallel_and_plain_decode_the_same_documents() {
    let model = crate::support::english();
    let privatizer = with_context(&model, MechanismKind::Brr, Budget::Bound(400.0));
    let texts = vec!["All is well. Nothing changes at so large a bound!"; 900];
    let plain = privatizer.privatize_batch(&texts).unwrap();
    let parallel = privatizer.privatize_parallel(&texts, 2, || true).unwrap();
    assert_eq!(plain, parallel.unwrap());
    assert_eq!(
        plain[0].text,
        "all is well. nothing changes at so large a bound!"
    );
    assert!(
        privatizer
            .privatize_parallel(&texts, 2, || false)
            .unwrap()
            .is_none()
    );
}

/// Marks are looked at where they are public, and only there.
#[test]
fn sentences_are_public_structure() {
    let text = "One two, three. Four<br />five six";
    let kept = sentences(&pieces(text), Layout::Keep);
    let expected = [(0..3, true), (3..4, true), (4..6, false)];
    assert_eq!(kept, expected.map(|(tokens, ends)| sentence(tokens, ends)));
    assert_eq!(
        sentences(&pieces(text), Layout::Words),
        [sentence(0..6, false)]
    );
    assert_eq!(sentences(&pieces("... !"), Layout::Keep), []);
}

#[test]
fn a_language_for_other_words_is_refused() {
    let language = Arc::new(language(5, 1));
    let options = Options::default().with_context(Some(language));
    let refused = Privatizer::new(crate::support::english(), options);
    assert!(matches!(refused.err(), Some(Error::LanguageMismatch)));
}

//! Public and private words: what reaches the mechanism, what it draws, and what is written.
//! False-alarm rates are at most 1e-6, and seeds are fixed.

use std::sync::{Arc, OnceLock};

use crate::support::{Mix, chi_square_limit, english, letters, random_model};
use brr::parts::language::{LanguageParts, State};
use brr::parts::random::Noise;
use brr::parts::tree::WordTree;
use brr::{
    Budget, Choice, Error, Language, Layout, MechanismKind, Model, Options, Policy, Privatizer,
    Standing, Unknown, WordList,
};

const WORDS: usize = 40;

/// 40 words with codes and a tree.
fn model() -> Arc<Model> {
    static MODEL: OnceLock<Arc<Model>> = OnceLock::new();
    let make = || {
        let model = random_model(64, WORDS, 11);
        let places = (0..WORDS as u32).map(|i| i * 27 % 64).collect();
        let tree = WordTree::new(6, places).unwrap();
        Arc::new(model.with_tree(&tree).unwrap())
    };
    MODEL.get_or_init(make).clone()
}

fn list(model: &Model, words: impl Iterator<Item = usize>) -> Arc<WordList> {
    let text: Vec<String> = words.map(letters).collect();
    Arc::new(WordList::new("some", &text.join("\n"), model).unwrap())
}

/// Every third word is public.
fn is_public(word: usize) -> bool {
    word.is_multiple_of(3)
}

/// The same division, stated in both ways.
fn policies(model: &Model) -> [Policy; 2] {
    [
        Policy::AllBut(list(model, (0..WORDS).filter(|&w| is_public(w)))),
        Policy::Only(list(model, (0..WORDS).filter(|&w| !is_public(w)))),
    ]
}

fn options(kind: MechanismKind, epsilon: f64, policy: &Policy) -> Options {
    Options::default()
        .with_mechanism(kind)
        .with_budget(Budget::Epsilon(epsilon))
        .with_policy(policy.clone())
}

fn kinds() -> impl Iterator<Item = MechanismKind> {
    MechanismKind::ALL.iter().map(|(_, kind, _)| *kind)
}

/// A language for the model's words in which any word may follow any.
fn language(model: &Model) -> Arc<Language> {
    let states = model.vocabulary().len() + 2;
    let mut mix = Mix(9);
    let shares: Vec<f64> = (0..states).map(|_| 0.1 + mix.unit()).collect();
    let total: f64 = shares.iter().sum();
    let pairs = (0..states as State).map(|u| (u, (u * 7 + 1) % states as State, 0.3));
    let parts = LanguageParts {
        vocabulary: model.vocabulary(),
        unigrams: shares.iter().map(|p| p / total).collect(),
        pairs: pairs.collect(),
        decoded: Vec::new(),
        meta: Vec::new(),
    };
    Arc::new(Language::new(&parts.write().unwrap()).unwrap())
}

/// A text of all words, in a case that changes from letter to letter, with an unknown one after
/// each third.
fn text() -> (String, Vec<Option<usize>>) {
    let mut tokens = Vec::new();
    for word in (0..3 * WORDS).map(|i| i * 7 % WORDS) {
        tokens.push(Some(word));
        if word % 3 == 1 {
            tokens.push(None);
        }
    }
    let odd = |word: String| -> String {
        let cased = word.chars().enumerate().map(|(i, c)| match i % 2 {
            0 => c.to_ascii_uppercase(),
            _ => c,
        });
        cased.collect()
    };
    let spelled = tokens
        .iter()
        .map(|word| odd(word.map_or("xyzzy".into(), letters)));
    (spelled.collect::<Vec<_>>().join(" "), tokens)
}

/// What the rules say of an output: every public word as the model spells it, every other token
/// a private word. What is wrong, if anything is.
fn fault(tokens: &[Option<usize>], output: &str) -> Option<&'static str> {
    let words: Vec<String> = (0..WORDS).map(letters).collect();
    let written: Vec<&str> = output.split(' ').collect();
    if written.len() != tokens.len() {
        return Some("the number of words");
    }
    for (&token, &written) in tokens.iter().zip(&written) {
        let Some(drawn) = words.iter().position(|word| word == written) else {
            return Some("not a word as the model spells it");
        };
        match token {
            Some(word) if is_public(word) && drawn != word => return Some("a public word changed"),
            Some(word) if is_public(word) => {}
            _ if is_public(drawn) => return Some("a public word drawn for a private one"),
            _ => {}
        }
    }
    None
}

#[test]
fn private_words_become_private_words_and_public_ones_stay() {
    let (model, (text, tokens)) = (model(), text());
    let public = tokens.iter().flatten().filter(|&&w| is_public(w)).count();
    for policy in policies(&model) {
        for kind in kinds() {
            for context in [None, Some(language(&model))] {
                let options = options(kind, 0.3, &policy).with_context(context);
                let privatizer = Privatizer::new(model.clone(), options).unwrap();
                for _ in 0..20 {
                    let private = privatizer.privatize(&text).unwrap();
                    assert_eq!(fault(&tokens, &private.text), None, "{kind:?}");
                    assert_eq!(private.public, public as u64);
                    assert_eq!(private.private(), (tokens.len() - public) as u64);
                    let parallel = privatizer.privatize_parallel(&[&text], 2, || true).unwrap();
                    assert_eq!(fault(&tokens, &parallel.unwrap()[0].text), None);
                }
            }
        }
    }
}

/// What the rule above must notice.
#[test]
fn planted_faults_are_found() {
    let (model, (text, tokens)) = (model(), text());
    let run = |policy: &Policy| {
        let privatizer =
            Privatizer::new(model.clone(), options(MechanismKind::KAry, 0.1, policy)).unwrap();
        privatizer.privatize(&text).unwrap().text
    };
    let [right, _] = policies(&model);
    let good = run(&right);
    assert_eq!(fault(&tokens, &good), None);
    // A mechanism over all words.
    assert!(fault(&tokens, &run(&Policy::All)).is_some());
    // A list with a public word too few: it is drawn, or drawn for another.
    let short = list(&model, (3..WORDS).filter(|&w| is_public(w)));
    assert!(fault(&tokens, &run(&Policy::AllBut(short))).is_some());
    // The text itself, in its case.
    assert!(fault(&tokens, &text).is_some());
    // A public word for a private one.
    let private = tokens.iter().position(|t| *t == Some(1)).unwrap();
    let mut words: Vec<&str> = good.split(' ').collect();
    let zero = letters(0);
    words[private] = &zero;
    assert!(fault(&tokens, &words.join(" ")).is_some());
}

/// Whether counts of private draws are of the distribution `expected`, by id of the whole model.
fn agrees(counts: &[u64], expected: &[f64]) -> bool {
    let runs: u64 = counts.iter().sum();
    let cells = counts.iter().zip(expected);
    if cells.clone().any(|(&c, &p)| p == 0.0 && c > 0) {
        return false;
    }
    let cells = cells.filter(|(_, p)| **p > 0.0).map(|(&c, &p)| {
        let e = p * runs as f64;
        assert!(e > 5.0, "too few runs for this cell");
        (c as f64 - e).powi(2) / e
    });
    let cells: Vec<f64> = cells.collect();
    cells.iter().sum::<f64>() < chi_square_limit(cells.len() - 1)
}

fn counts(privatizer: &Privatizer, word: Option<usize>) -> Vec<u64> {
    let runs = 60_000;
    let text = vec![word.map_or("xyzzy".into(), letters); runs].join(" ");
    let private = privatizer.privatize_batch_with(&[text], &mut Noise::numbered(5));
    let mut counts = vec![0; WORDS];
    for written in private[0].text.split(' ') {
        let id = privatizer.model().vocabulary().id(written).unwrap();
        counts[id as usize] += 1;
    }
    counts
}

/// Pr[y | w] of k-ary response over the private words, from its definition.
fn kary(word: Option<usize>, epsilon: f64) -> Vec<f64> {
    let private = (0..WORDS).filter(|&w| !is_public(w)).count() as f64;
    let p = |y: usize| match word {
        _ if is_public(y) => 0.0,
        None => 1.0 / private,
        Some(w) if w == y => epsilon.exp() / (epsilon.exp() + private - 1.0),
        Some(_) => 1.0 / (epsilon.exp() + private - 1.0),
    };
    (0..WORDS).map(p).collect()
}

/// Pr[y | w] of tree response over a tree's places, from its definition: each place by its level, to the
/// words of the smallest subtree around it that has any.
/// Without a place of its own, each alike.
fn tree(places: &[u32], levels: u32, own: Option<u32>, epsilon: f64) -> Vec<f64> {
    let level = |place: u32| own.map_or(0, |own| 32 - (place ^ own).leading_zeros());
    let weight = |place: u32| (-epsilon * f64::from(level(place))).exp();
    let total: f64 = (0..1 << levels).map(weight).sum();
    let mut row = vec![0.0; places.len()];
    for place in 0..1 << levels {
        let at = |height: u32| -> Vec<usize> {
            let near = |&w: &usize| places[w] >> height == place >> height;
            (0..places.len()).filter(near).collect()
        };
        let there = (0..=levels).map(at).find(|there| !there.is_empty());
        let there = there.expect("the root has words");
        for &w in &there {
            row[w] += weight(place) / total / there.len() as f64;
        }
    }
    row
}

#[test]
fn restricted_draws_have_the_distribution_of_their_definition() {
    let model = model();
    let [policy, _] = policies(&model);
    let private: Vec<usize> = (0..WORDS).filter(|&w| !is_public(w)).collect();
    for word in [Some(1), Some(23), None] {
        let options = options(MechanismKind::KAry, 2.0, &policy);
        let privatizer = Privatizer::new(model.clone(), options).unwrap();
        let counts = counts(&privatizer, word);
        assert!(agrees(&counts, &kary(word, 2.0)), "k-ary, {word:?}");
        // Planted: the distribution over all words, and that of another word.
        let over_all = 2f64.exp() + WORDS as f64 - 1.0;
        assert!(!agrees(&counts, &[1.0 / over_all; WORDS]));
        assert!(!agrees(&counts, &kary(Some(2), 2.0)));
    }
    let privatizer =
        Privatizer::new(model.clone(), options(MechanismKind::Tree, 0.6, &policy)).unwrap();
    let places = privatizer.private_model().tree().unwrap();
    let (levels, places) = (places.levels(), places.places());
    for word in [Some(1), Some(23), Some(38), None] {
        let own = private.iter().position(|&w| Some(w) == word);
        let own = own.map(|id| places[id]);
        let expected = |own: Option<u32>| {
            let mut whole = vec![0.0; WORDS];
            let row = tree(places, levels, own, 0.6);
            private.iter().zip(row).for_each(|(&w, p)| whole[w] = p);
            whole
        };
        let counts = counts(&privatizer, word);
        assert!(agrees(&counts, &expected(own)), "tree, {word:?}");
        let wrong = own.map_or(places[0], |own| own ^ 2);
        assert!(
            !agrees(&counts, &expected(Some(wrong))),
            "a wrong place passes"
        );
    }
}

/// No two words of the restricted channel are told apart by more than is stated, for each mechanism
/// whose channel can be computed.
#[test]
fn the_stated_losses_are_those_of_the_restricted_channel() {
    let model = model();
    let [policy, _] = policies(&model);
    for kind in [
        MechanismKind::Exponential,
        MechanismKind::Tree,
        MechanismKind::KAry,
    ] {
        let options = options(kind, 0.2, &policy);
        for certify in [false, true] {
            let privatizer = match certify {
                false => Privatizer::new(model.clone(), options.clone()),
                true => Privatizer::certified(model.clone(), options.clone(), 1, &|_| {}),
            };
            let privatizer = privatizer.unwrap();
            let n = privatizer.private_model().vocabulary().len();
            let channel = privatizer.mechanism().channel().unwrap();
            let rows: Vec<Vec<f64>> = (0..n as u32)
                .map(|w| {
                    let mut row = vec![0.0; n];
                    channel.row(w, &mut row);
                    row
                })
                .collect();
            let pairs = rows.iter().flat_map(|a| rows.iter().map(move |b| (a, b)));
            let loss = |(a, b): (&Vec<f64>, &Vec<f64>)| {
                let ratios = a.iter().zip(b).map(|(a, b)| (a / b).ln());
                ratios.fold(0.0, f64::max)
            };
            let largest = pairs.map(loss).fold(0.0, f64::max);
            let guarantee = privatizer.guarantee();
            assert!(largest <= guarantee.worst() + 1e-9, "{kind:?} {largest}");
            assert!(guarantee.epsilon <= 0.2 + 1e-12);
            let mut unknown = vec![0.0; n];
            channel.row_of_unknown(&mut unknown);
            let both = |row: &Vec<f64>| loss((row, &unknown)).max(loss((&unknown, row)));
            let unknown = rows.iter().map(both).fold(0.0, f64::max);
            assert!(unknown <= guarantee.unknown_loss + 1e-9, "{kind:?}");
        }
    }
}

/// Case, like everything else that the look-up folds, does not show.
#[test]
fn the_case_of_the_input_reaches_no_output() {
    let model = model();
    let [policy, _] = policies(&model);
    let outputs = |text: &str, context: Option<Arc<Language>>| {
        let options = options(MechanismKind::Tree, 0.5, &policy).with_context(context);
        let privatizer = Privatizer::new(model.clone(), options).unwrap();
        privatizer.privatize_batch_with(&[text], &mut Noise::numbered(3))[0].clone()
    };
    let (text, _) = text();
    for context in [None, Some(language(&model))] {
        let mixed = outputs(&text, context.clone());
        assert_eq!(mixed, outputs(&text.to_lowercase(), context.clone()));
        assert_eq!(mixed, outputs(&text.to_uppercase(), context));
        assert!(!mixed.text.contains(|c: char| c.is_uppercase()));
    }
}

#[test]
fn the_adjacency_and_the_total_tell_of_public_words() {
    let model = model();
    let [but, only] = policies(&model);
    let of = |policy: &Policy, unknown| {
        let options = options(MechanismKind::KAry, 1.0, policy).with_unknown(unknown);
        Privatizer::new(model.clone(), options).unwrap()
    };
    let plain = of(&Policy::All, Unknown::Random);
    let [but, only] = [but, only].map(|policy| of(&policy, Unknown::Random));
    assert!(!plain.adjacency().to_string().contains("public list"));
    assert!(but.adjacency().to_string().contains("public list some"));
    assert!(only.adjacency().to_string().contains("private list some"));
    assert!(but.adjacency().is_covered() && only.adjacency().is_covered());
    let public = but.privatize(&letters(3)).unwrap();
    assert_eq!((public.tokens, public.private()), (1, 0));
    assert_eq!(but.total_loss(public.private()), 0.0);
    // Which tokens are unknown still shows under other rules.
    let masked = of(&but.options().policy, Unknown::Mask);
    assert!(!masked.adjacency().is_covered());
    let text = format!("xyzzy {}", letters(3));
    let expected = format!("<unk> {}", letters(3));
    assert_eq!(masked.privatize(&text).unwrap().text, expected);
}

#[test]
fn a_list_holds_words_of_the_model_alone_and_errors_name_none() {
    let model = model();
    let text = format!(
        "# a remark\n\n{}\n  {}  \nsecretname\n",
        letters(1),
        letters(2).to_uppercase()
    );
    let error = WordList::new("x", &text, &model).unwrap_err();
    assert!(matches!(error, Error::ListWord { line: 5 }), "{error}");
    assert!(!error.to_string().contains("secretname"));
    let known = WordList::known("x", &text, &model).unwrap();
    assert_eq!(known.len(), 2);
    // Order, case and repetition do not change which list it is; the words do.
    let again = format!("{}\n{}\n{}", letters(2), letters(1), letters(2));
    let again = WordList::new("y", &again, &model).unwrap();
    assert_eq!(again.identity(), known.identity());
    let other = WordList::new("y", &letters(2), &model).unwrap();
    assert_ne!(other.identity(), known.identity());
    let all = Arc::new(
        WordList::new(
            "all",
            &(0..WORDS).map(letters).collect::<Vec<_>>().join("\n"),
            &model,
        )
        .unwrap(),
    );
    let nothing =
        |policy| Privatizer::new(model.clone(), options(MechanismKind::KAry, 1.0, &policy));
    assert!(matches!(
        nothing(Policy::AllBut(all)),
        Err(Error::NothingPrivate)
    ));
    for one in [
        Policy::Only(list(&model, 7..8)),
        Policy::AllBut(list(&model, 1..WORDS)),
    ] {
        let error = nothing(one).err().unwrap();
        assert!(matches!(error, Error::OnePrivateWord), "{error}");
    }
    assert!(nothing(Policy::Only(list(&model, 7..9))).is_ok());
    assert!(matches!(
        WordList::new("x", "# none\n", &model),
        Err(Error::ListEmpty)
    ));
    let foreign = Arc::new(WordList::new("x", &letters(1), &random_model(64, 50, 3)).unwrap());
    assert!(matches!(
        nothing(Policy::AllBut(foreign)),
        Err(Error::ListMismatch)
    ));
}

#[test]
fn a_subset_is_a_model_of_its_own() {
    let whole = english();
    let words = [
        "Paris", "london", "rome", "berlin", "london", "madrid", "vienna", "oslo",
    ];
    let subset = whole.subset(&words).unwrap();
    assert_eq!(subset.vocabulary().len(), 7);
    assert_ne!(subset.identity(), whole.identity());
    assert_eq!(subset.standing(), Standing::Unchecked);
    assert!(subset.certificates().is_empty() && subset.calibration().is_none());
    assert_eq!(subset.claimed_certificates(), 0);
    assert_eq!(subset.tree().unwrap().levels(), 3);
    let [mut a, mut b] = [vec![0; 4], vec![0; 4]];
    whole
        .codes()
        .read(whole.find("oslo").unwrap() as usize, &mut a);
    subset
        .codes()
        .read(subset.find("oslo").unwrap() as usize, &mut b);
    assert_eq!(a, b);
    // A look at the pairs replaces the bounds, in this process and from a file.
    let bounds = subset.code_distances();
    let file = Model::new(subset.bytes().to_vec()).unwrap();
    file.check(1, &|_| {}).unwrap();
    assert_eq!(file.standing(), Standing::Checked);
    assert!(file.code_distances().maximum < bounds.maximum);
    assert_eq!(file.code_distances().sum, bounds.sum);
    assert!(matches!(
        whole.subset(&["paris", "qwxzv"]),
        Err(Error::ListWord { line: 2 })
    ));
    assert!(matches!(whole.subset(&[""; 0]), Err(Error::ListEmpty)));
}

/// Where nothing was measured of the private words, a share of kept words is refused, unless it is
/// measured on the spot.
#[test]
fn shares_of_kept_words_are_of_the_private_words() {
    let model = model();
    let [policy, _] = policies(&model);
    let with = |kind| options(kind, 1.0, &policy).with_budget(Budget::Keep(0.5));
    for kind in [MechanismKind::Exponential, MechanismKind::Brr] {
        let error = Privatizer::new(model.clone(), with(kind)).err().unwrap();
        assert!(matches!(error, Error::NoPolicyKeep), "{error}");
    }
    for kind in [
        MechanismKind::Tree,
        MechanismKind::KAry,
        MechanismKind::Exponential,
    ] {
        let privatizer = Privatizer::certified(model.clone(), with(kind), 1, &|_| {}).unwrap();
        let keep = privatizer.expected_keep().unwrap();
        assert!(keep <= 0.5 && keep > 0.45, "{kind:?} {keep}");
    }
}

#[test]
fn explaining_speaks_of_private_words() {
    let model = model();
    let [policy, _] = policies(&model);
    let options = options(MechanismKind::Tree, 0.3, &policy).with_layout(Layout::Words);
    let privatizer = Privatizer::new(model.clone(), options).unwrap();
    let outcomes = brr::explain::outcomes(&privatizer, 1, WORDS, 10).unwrap();
    assert!(outcomes.likely.iter().all(|l| !is_public(l.word as usize)));
    assert_eq!(outcomes.likely[0].word, 1);
    let behind = brr::explain::posterior(&privatizer, 1, WORDS, 10).unwrap();
    assert!(behind.likely.iter().all(|l| !is_public(l.word as usize)));
    assert_eq!(behind.likely[0].word, 1);
    let refused = brr::explain::outcomes(&privatizer, 3, 5, 10).unwrap_err();
    assert!(matches!(refused, Error::PublicWord));
    assert!(brr::explain::posterior(&privatizer, 3, 5, 10).is_err());
    let trace = brr::explain::trace(&privatizer, &format!("{} xyzzy", letters(3))).unwrap();
    assert_eq!((trace.tokens, trace.unknown, trace.public), (2, 1, 1));
}

/// What comes out of a text of which these words alone are private, or alone public.
fn english_under(
    private: Option<&str>,
    public: Option<&str>,
    layout: Layout,
    text: &str,
) -> String {
    let model = english();
    let list = |words: &str| Arc::new(WordList::new("some", words, &model).unwrap());
    let policy = match (private, public) {
        (Some(words), _) => Policy::Only(list(words)),
        (_, words) => Policy::AllBut(list(words.unwrap())),
    };
    let options = options(MechanismKind::KAry, 1e-3, &policy).with_layout(layout);
    let privatizer = Privatizer::new(model.clone(), options).unwrap();
    privatizer.privatize(text).unwrap().text
}

/// A public part of a contraction is written as it stands, whatever is drawn for what it touches.
#[test]
fn public_parts_of_contractions_stay() {
    let names = "john\nmary\npeter\n";
    let text = "The company's profit rose; John's dog isn't here, I’M sure he can't, won't \
                or ain't. MARY'll see, 's and n't. Xyzzyq's tree";
    let drawn = |name: &str, text: &str| text.replacen('@', name, 1);
    let expected = "the company's profit rose; @'s dog isn't here, i'm sure he can't, won't \
                    or ain't. @'ll see, 's and not. @'s tree";
    for _ in 0..20 {
        let found = english_under(Some(names), None, Layout::Keep, text);
        let mut rest = expected.to_owned();
        let words: Vec<&str> = found.split(|c: char| !c.is_alphanumeric()).collect();
        for name in words.iter().filter(|w| names.lines().any(|n| n == **w)) {
            rest = drawn(name, &rest);
        }
        assert_eq!(found, rest);
    }
    // Without structure, words are words.
    let found = english_under(Some(names), None, Layout::Words, "it's John's");
    assert!(
        found.starts_with("it is ") && found.ends_with(" is"),
        "{found}"
    );
}

/// An ending that begins with a letter stays only behind a public stem, and a stem only before a public ending.
/// Nothing private decides: all that is written beside the draws is the same for every private word.
#[test]
fn contractions_with_private_parts_are_written_as_words() {
    let under = |public, text| english_under(None, Some(public), Layout::Keep, text);
    let [with_private_stem, with_private_ending] = [under("not", "can't"), under("can", "can't")];
    let words: Vec<&str> = with_private_stem.split(' ').collect();
    assert!(words.len() == 2 && words[1] == "not", "{with_private_stem}");
    assert!(
        with_private_ending.starts_with("can "),
        "{with_private_ending}"
    );
    assert_eq!(under("can\nnot", "can't _CAN’T"), "can't can't");
    let both = [under("is", "John's"), under("is", "qwxzvk's")];
    assert!(
        both.iter()
            .all(|text| text.ends_with("'s") && !text.contains(' ')),
        "{both:?}"
    );
    // Endings that are private are words like all others.
    let drawn = under("john", "John's");
    assert!(
        drawn.starts_with("john ") && !drawn.contains('\''),
        "{drawn}"
    );
}

#[test]
fn the_adjacency_tells_of_contractions_where_they_show() {
    let model = model();
    let [but, _] = policies(&model);
    let said = |layout| {
        let options = options(MechanismKind::KAry, 1.0, &but).with_layout(layout);
        let privatizer = Privatizer::new(model.clone(), options).unwrap();
        privatizer.adjacency().to_string().contains("contracted")
    };
    assert!(said(Layout::Keep) && !said(Layout::Words));
}

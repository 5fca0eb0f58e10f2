//! The whole way from text to text.

use crate::support::whole_model;
use brr::parts::random::Noise;
use brr::parts::text::PUNCTUATION;
use brr::{Budget, Error, Layout, MechanismKind, Options, Privatizer, Unknown};
use proptest::prelude::*;

fn privatizer(options: Options) -> Privatizer {
    Privatizer::new(whole_model(), options).unwrap()
}

fn with_budget(mechanism: MechanismKind, budget: Budget) -> Result<Privatizer, Error> {
    let options = Options::default()
        .with_mechanism(mechanism)
        .with_budget(budget);
    Privatizer::new(whole_model(), options)
}

/// A text with every word replaced by `_`: what is declared public.
fn layout(text: &str) -> String {
    let mut out = String::new();
    let mut in_word = false;
    for c in text.replace("<br />", "\u{1}").chars() {
        let structure = c == '\u{1}' || c.is_whitespace() || PUNCTUATION.contains(c);
        if structure {
            out.push(c);
        } else if !in_word {
            out.push('_');
        }
        in_word = !structure;
    }
    out
}

proptest! {
    /// Words of the alphabet a-p never meet the model's, which begin with q.
    #[test]
    fn the_layout_stays_and_no_word_does(
        words in prop::collection::vec(("[a-pA-P0-9]{1,8}", "[ \\n\\t]|, |\\. |! |<br />"), 0..20)
    ) {
        let text: String = words.iter().flat_map(|(word, gap)| [word.as_str(), gap]).collect();
        let private = privatizer(Options::default()).privatize(&text).unwrap();
        prop_assert_eq!(layout(&private.text), layout(&text));
        prop_assert_eq!(private.tokens, words.len() as u64);
        prop_assert_eq!(private.unknown, words.len() as u64);
        let is_models = |w: &str| w.starts_with('q');
        let out = private.text.replace("<br />", " ");
        prop_assert!(out.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()).all(is_models));
    }

    /// Whatever goes in, what comes out is the model's words and listed structure.
    #[test]
    fn nothing_but_words_and_declared_structure_comes_out(text in "\\PC{0,80}", words_only in any::<bool>()) {
        let layout = if words_only { Layout::Words } else { Layout::Keep };
        let p = privatizer(Options::default().with_layout(layout));
        let out = p.privatize(&text).unwrap().text.replace("<br />", " ");
        for word in out.split(|c: char| " \n\r\t".contains(c) || (!words_only && PUNCTUATION.contains(c))) {
            prop_assert!(word.is_empty() || p.model().vocabulary().id(word).is_some(), "{:?}", word);
        }
    }
}

/// A known word, an unknown one, a long one, a number, an emoticon, an address.
const TOKENS: [&str; 6] = [
    "qa",
    "zebra",
    "Qincomprehensibilities",
    "12/05",
    ":-(",
    "a@b.org",
];

proptest! {
    /// Texts of equal structure have outputs of equal structure, whichever tokens they are made
    /// of: known or not, short or long, in contractions or not.
    #[test]
    fn the_structure_of_what_comes_out_does_not_depend_on_the_tokens(
        places in prop::collection::vec((0usize..6, 0usize..6, " |\\n|  |<br />| - | "), 1..12),
        contractions in prop::collection::vec(
            (prop::sample::select(vec!["qa", "qb", "zebra", "Priyanka"]),
             prop::sample::select(vec!["qa", "qb", "zebra", "Priyanka"]),
             prop::sample::select(vec!["'ll", "n't", "’s", "'D"])), 0..4),
    ) {
        let text = |side: fn(&(usize, usize, String)) -> usize, stem: fn(&(&'static str, &'static str, &'static str)) -> &'static str| {
            let places = places.iter().map(|place| format!("{}{}", TOKENS[side(place)], place.2));
            let stems = contractions.iter().map(|c| format!("{}{}, ", stem(c), c.2));
            places.chain(stems).collect::<String>()
        };
        let p = privatizer(Options::default());
        let out = p.privatize_batch(&[text(|p| p.0, |c| c.0), text(|p| p.1, |c| c.1)]).unwrap();
        prop_assert_eq!(layout(&out[0].text), layout(&out[1].text));
        prop_assert_eq!(out[0].tokens, out[1].tokens);
    }
}

proptest! {
    /// A cap keeps the first tokens of the one cut of the whole text: what is left has a
    /// structure that depends on the structure of the whole alone.
    #[test]
    fn a_cap_cuts_the_pieces_and_not_the_characters(
        text in "(\\PC|[ a-z'.<>/@\\n:;()&-]|\u{b7}|\u{2bc}|n't|'s|😀|[0-9]){0,30}", cap in 0u64..8,
    ) {
        let p = privatizer(Options::default());
        let whole = p.privatize(&text).unwrap();
        let capped = p.privatize_capped(&[&text], |_| cap).unwrap().remove(0);
        prop_assert_eq!(capped.tokens, whole.tokens.min(cap));
        prop_assert_eq!(capped.cut, whole.tokens - capped.tokens);
        let (short, long) = (layout(&capped.text), layout(&whole.text));
        prop_assert!(long.starts_with(&short), "{:?} {:?}", short, long);
        prop_assert!(capped.cut == 0 || short.is_empty() || short.ends_with('_'));
    }
}

/// Both are an apostrophe and four tokens: the first one left must not tell which it was.
#[test]
fn what_a_cap_leaves_does_not_depend_on_the_tokens() {
    let p = privatizer(Options::default());
    let texts = ["'D&D rocks", "'R&B rocks", "'S&P rocks"];
    let out = p.privatize_capped(&texts, |_| 1).unwrap();
    assert!(out.iter().all(|o| layout(&o.text) == "'_"), "{out:?}");
    let out = p.privatize_capped(&["a\u{b7}\u{2bc}s b"], |_| 1).unwrap();
    assert_eq!((out[0].tokens, out[0].cut), (1, 2));
}

#[test]
fn the_relation_is_stated_and_says_what_unknown_tokens_show() {
    let with = |layout, unknown| {
        let p = privatizer(Options::default().with_layout(layout).with_unknown(unknown));
        (p.adjacency().to_string(), p.total_loss(3).is_finite())
    };
    let (keep, finite) = with(Layout::Keep, Unknown::Random);
    assert!(finite && keep.contains("equal public structure") && keep.contains("punctuation"));
    let (words, _) = with(Layout::Words, Unknown::Random);
    assert!(words.contains("number of tokens") && !words.contains("punctuation"));
    for unknown in [Unknown::Mask, Unknown::Drop, Unknown::Keep] {
        let (stated, finite) = with(Layout::Keep, unknown);
        assert!(!finite && stated.contains("infinite loss"), "{stated}");
    }
}

#[test]
fn unknown_rules() {
    let text = "QA, zebra 42!";
    let run = |unknown| {
        let budget = Budget::Epsilon(40.0);
        privatizer(Options::default().with_unknown(unknown).with_budget(budget))
            .privatize(text)
            .unwrap()
    };
    assert_eq!(run(Unknown::Mask).text, "qa, <unk> <unk>!");
    assert_eq!(run(Unknown::Drop).text, "qa,  !");
    assert_eq!(run(Unknown::Keep).text, "qa, zebra 42!");
    let random = run(Unknown::Random);
    assert!(random.text.starts_with("qa, q") && random.unknown == 2 && random.tokens == 3);
}

#[test]
fn words_layout_keeps_nothing_else() {
    let p = privatizer(
        Options::default()
            .with_layout(Layout::Words)
            .with_budget(Budget::Epsilon(40.0)),
    );
    assert_eq!(p.privatize(" (Qa)\n\t“qb”... ").unwrap().text, "qa qb");
    assert_eq!(p.privatize("  ").unwrap().text, "");
}

#[test]
fn texts_of_a_batch_stay_apart() {
    let p = privatizer(Options::default().with_budget(Budget::Epsilon(40.0)));
    let out = p.privatize_batch(&["qa qb", "", "qc.", "..."]).unwrap();
    let texts: Vec<&str> = out.iter().map(|o| o.text.as_str()).collect();
    assert_eq!(texts, ["qa qb", "", "qc.", "."]);
    assert_eq!(
        out.iter().map(|o| o.tokens).collect::<Vec<_>>(),
        [2, 0, 1, 0]
    );
    assert!(p.privatize_batch(&[""; 0]).unwrap().is_empty());
}

#[test]
fn equal_calls_draw_different_noise() {
    let p = privatizer(Options::default().with_budget(Budget::Epsilon(0.01)));
    let text = "qa ".repeat(60);
    // 60 words, each nearly uniform over 100: equal with probability below 1e-100.
    assert_ne!(p.privatize(&text).unwrap(), p.privatize(&text).unwrap());
}

#[test]
fn budgets_are_solved_and_never_exceeded() {
    let close = |asked: f64, got: f64, within: f64| got <= asked && got > within * asked;
    for (kind, within) in [
        (MechanismKind::Brr, 0.9999),
        // The nearest certificate below, or the textbook.
        (MechanismKind::Exponential, 0.5),
    ] {
        let solve = |budget| with_budget(kind, budget);
        let bound = solve(Budget::Bound(20.0)).unwrap().guarantee().bound();
        assert!(close(20.0, bound, within), "{bound}");
        let epsilon = solve(Budget::Epsilon(0.3)).unwrap().guarantee().epsilon;
        assert!(close(0.3, epsilon, within), "{epsilon}");
        for bad in [
            Budget::Epsilon(0.0),
            Budget::Epsilon(f64::NAN),
            Budget::Bound(-1.0),
            Budget::Keep(1.2),
            Budget::Keep(0.0),
        ] {
            assert!(solve(bad).is_err(), "{bad:?}");
        }
        let out_of_reach = solve(Budget::Keep(0.005)).err().unwrap();
        assert!(matches!(out_of_reach, Error::KeepOutOfReach { .. }));
    }
}

/// The share of words that stays, drawn by use, is at most what was asked for. 40,000 draws of
/// a share have a standard error of 0.0025 at most: five of them are exceeded by chance
/// once in 3 million times, for each of the budgets.
#[test]
fn a_share_of_kept_words_is_met_from_below() {
    let shares = brr::parts::frequency::Sampler::new(100);
    let words: Vec<_> = (0..40_000)
        .map(|i| Some(shares.word((f64::from(i) + 0.5) / 40_000.0)))
        .collect();
    for kind in [MechanismKind::Brr, MechanismKind::Exponential] {
        let mut last = 0.0;
        for keep in [0.1, 0.3, 0.5, 0.7, 0.9, 0.999] {
            let p = with_budget(kind, Budget::Keep(keep)).unwrap();
            let out = p.mechanism().privatize(&words, &mut Noise::seeded([9; 32]));
            let stayed = out.iter().zip(&words).filter(|(y, w)| Some(**y) == **w);
            let share = stayed.count() as f64 / words.len() as f64;
            assert!(
                share <= keep + 0.0125,
                "{kind:?}: asked {keep}, got {share}"
            );
            assert!(share > keep - 0.08, "{kind:?}: asked {keep}, got {share}");
            let expected = p.expected_keep().unwrap();
            assert!(expected <= keep && expected > last, "{expected}");
            last = expected;
        }
    }
}

/// What is said about kept words holds at every epsilon, far beyond the model's tables too. The share
/// of 40,000 draws is off by 0.0125, five standard errors, once in 3 million times.
#[test]
fn claims_about_kept_words_hold_beyond_the_tables() {
    let shares = brr::parts::frequency::Sampler::new(100);
    let words: Vec<_> = (0..40_000)
        .map(|i| Some(shares.word((f64::from(i) + 0.5) / 40_000.0)))
        .collect();
    for kind in [MechanismKind::Brr, MechanismKind::Exponential] {
        for epsilon in [1e-9, 1e-3, 0.05, 0.2, 0.5, 1.0, 3.0, 10.0, 1e9] {
            let p = with_budget(kind, Budget::Epsilon(epsilon)).unwrap();
            let out = p.mechanism().privatize(&words, &mut Noise::seeded([8; 32]));
            let stayed = out.iter().zip(&words).filter(|(y, w)| Some(**y) == **w);
            let share = stayed.count() as f64 / words.len() as f64;
            let (low, high) = p.keep_within().into_inner();
            let about = format!("{kind:?} at {epsilon}: {share} in {low}..{high}");
            assert!(low - 0.0125 <= share && share <= high + 0.0125, "{about}");
            if let Some(keep) = p.expected_keep() {
                assert!((keep - share).abs() < 0.05, "{about}");
            }
        }
    }
    let brr = |epsilon| with_budget(MechanismKind::Brr, Budget::Epsilon(epsilon)).unwrap();
    assert_eq!(brr(1e-9).expected_keep(), None);
    assert_eq!(brr(1e9).expected_keep(), None);
    assert!(*brr(1e9).keep_within().start() > 0.999);
}

#[test]
fn losses_add_up_and_rules_that_tell_unknown_words_have_no_bound() {
    let p = privatizer(Options::default());
    let g = p.guarantee();
    assert_eq!(p.total_loss(0), 0.0);
    assert!(p.total_loss(10) >= 10.0 * g.worst() && p.total_loss(10) >= 10.0 * g.unknown_loss);
    let masked = privatizer(Options::default().with_unknown(Unknown::Mask));
    assert_eq!(masked.total_loss(1), f64::INFINITY);
}

/// One text and many, whatever the threads: every word at its place, and noise of its own.
#[test]
fn threads_share_a_text_and_not_its_noise() {
    let brr = |epsilon| with_budget(MechanismKind::Brr, Budget::Epsilon(epsilon)).unwrap();
    let long = "qa, qb qc. ".repeat(5_000);
    let texts = ["", long.as_str(), "qd"];
    for threads in [1, 2, 5] {
        let out = brr(20.0).privatize_parallel(&texts, threads, || true);
        let out = out.unwrap().expect("nobody said no");
        let same: Vec<&str> = out.iter().map(|o| o.text.as_str()).collect();
        assert_eq!(same, texts);
        assert_eq!([0, 15_000, 1], [0, 1, 2].map(|i| out[i].tokens));
    }
    // 64 words that all come out alike by chance: far below 1e-6, with hundreds to draw from.
    let out = brr(0.01).privatize_parallel(&["qa ".repeat(20_000)], 2, || true);
    let text = &out.unwrap().expect("nobody said no")[0].text;
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut runs: Vec<_> = words.chunks_exact(64).collect();
    runs.sort_unstable();
    assert!(runs.windows(2).all(|pair| pair[0] != pair[1]));
    let stopped = brr(1.0).privatize_parallel(&texts, 2, || false).unwrap();
    assert!(stopped.is_none());
}

/// Fixed randomness gives a fixed text: any change to what is drawn shows here.
#[test]
fn golden_run() {
    let p = privatizer(
        Options::default()
            .with_mechanism(MechanismKind::Brr)
            .with_budget(Budget::Epsilon(0.2)),
    );
    let mut noise = Noise::seeded([42; 32]);
    let texts = ["Qa qb, qc <br/> unknown QD!", "qe"];
    let out = p.privatize_batch_with(&texts, &mut noise);
    let texts: Vec<&str> = out.iter().map(|o| o.text.as_str()).collect();
    assert_eq!(texts, ["qjd qtd, qt <br /> qr qhd!", "qvb"]);

    // Another search gives the same words.
    let indexed = privatizer(p.options().clone().with_search(brr::Search::MultiIndex));
    let again = ["Qa qb, qc <br/> unknown QD!", "qe"];
    let mut same = Noise::seeded([42; 32]);
    assert_eq!(indexed.privatize_batch_with(&again, &mut same), out);

    let p = privatizer(
        Options::default()
            .with_mechanism(MechanismKind::Exponential)
            .with_budget(Budget::Epsilon(0.12)),
    );
    let mut noise = Noise::seeded([42; 32]);
    let out = p.privatize_batch_with(&["Qa qb, qc unknown QD!"], &mut noise);
    assert_eq!(out[0].text, "qa qad, qpb qvc qd!");
}

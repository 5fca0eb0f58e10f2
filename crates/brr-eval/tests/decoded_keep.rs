//! A share of kept words asked for is met by the text that leaves, under every built-in policy. Noise is seeded,
//! with other seeds than the tables were made with.

use std::sync::Arc;

use brr::parts::parallel::cores;
use brr::parts::random::Noise;
use brr::{Budget, Choice, Error, KeptWords, Language, MechanismKind, Model, Options, Privatizer};
use brr_english::{NAMED_SAMPLE, POLICIES, SAMPLE};

/// Five standard errors of a share of 1,000 independent words, the fewest there are.
const TOLERANCE: f64 = 0.08;

fn english() -> (Arc<Model>, Arc<Language>) {
    let language = brr_english::language().unwrap();
    (Arc::new(brr_english::model().unwrap()), Arc::new(language))
}

/// The share of a text's private words that leave as they came.
fn kept(privatizer: &Privatizer, text: &str, draws: u64) -> f64 {
    let (mut all, mut same) = (0, 0);
    for draw in 0..draws {
        for (i, line) in text.lines().enumerate() {
            let mut noise = Noise::numbered((1000 + draw) << 32 | i as u64);
            let out = privatizer.words_with(line, &mut noise);
            let words = privatizer.model().tokens(line).into_iter();
            for ((word, _), out) in words.zip(out) {
                let Some(word) = word.filter(|&word| privatizer.private_id(word).is_some()) else {
                    continue;
                };
                all += 1;
                same += u64::from(word == out);
            }
        }
    }
    assert!(all >= 1000, "{all}");
    same as f64 / all as f64
}

#[test]
fn decoded_text_keeps_the_share_of_private_words_that_was_asked_for() {
    let (model, language) = english();
    for (public, private) in POLICIES {
        let policy = brr_english::policy(public, private, &model).unwrap();
        let (sample, draws) = match public {
            Some(_) => (SAMPLE, 4),
            None => (NAMED_SAMPLE, 24),
        };
        for &(name, kind, _) in MechanismKind::ALL {
            for share in [0.2, 0.5] {
                let options = Options::default()
                    .with_mechanism(kind)
                    .with_budget(Budget::Keep(share))
                    .with_policy(policy.clone())
                    .with_context(Some(language.clone()));
                let privatizer =
                    Privatizer::certified(model.clone(), options, cores(), &|_| {}).unwrap();
                let told = privatizer.expected_keep().unwrap();
                let about = format!("{name} {public:?} {private:?}: asked {share}, told {told}");
                assert_eq!(privatizer.kept_words(), KeptWords::Private);
                assert!(told <= share && told > share - 0.06, "{about}");
                let found = kept(&privatizer, sample, draws);
                assert!((found - told).abs() < TOLERANCE, "{about}, found {found}");
            }
        }
    }
}

/// Nobody has measured what stays of the words of a user's own list: a share is one of the draws, and says so.
#[test]
fn shares_under_other_lists_are_of_the_draws_and_say_so() {
    let (model, language) = english();
    let policy = brr_english::policy(None, Some("doctor\nnurse\nlawyer\n"), &model).unwrap();
    let options = Options::default()
        .with_budget(Budget::Keep(0.5))
        .with_policy(policy);
    for (kind, known) in [
        (MechanismKind::Tree, true),
        (MechanismKind::KAry, true),
        (MechanismKind::Brr, false),
    ] {
        let options = options.clone().with_mechanism(kind);
        let with = |context| Privatizer::new(model.clone(), options.clone().with_context(context));
        if !known {
            let refused = with(Some(language.clone())).err();
            assert!(matches!(refused, Some(Error::NoPolicyKeep)), "{refused:?}");
            continue;
        }
        let (drawn, decoded) = (with(None).unwrap(), with(Some(language.clone())).unwrap());
        assert_eq!(drawn.guarantee(), decoded.guarantee());
        assert_eq!(drawn.expected_keep(), decoded.expected_keep());
        assert_eq!(drawn.kept_words(), KeptWords::Private);
        assert_eq!(decoded.kept_words(), KeptWords::Drawn);
        let said = decoded.kept_words().to_string();
        assert!(said.contains("decoded text may keep more"), "{said}");
    }
}

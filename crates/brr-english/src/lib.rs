//! The default English model, language model and lists of words as bytes, and nothing else.
//!
//! Made by `scripts/default-model` from GloVe vectors (Pennington, Socher and
//! Manning 2014; Common Crawl 840B, 300d; Public Domain Dedication and License
//! 1.0). NOTICE says where they come from.

mod lists;

pub use lists::{LISTS, POLICIES, list, policy, proper_nouns, with_case, with_lists};

/// The model file.
pub static MODEL: &[u8] = include_bytes!("english.brr");

/// The model, ready for use.
pub fn model() -> brr::Result<brr::Model> {
    brr::Model::new(MODEL)
}

/// The language model file, made by `scripts/default-language`. NOTICE says from what.
pub static LANGUAGE: &[u8] = include_bytes!("english.lm");

/// The language model for the model's words, ready for use.
pub fn language() -> brr::Result<brr::Language> {
    brr::Language::new(LANGUAGE)
}

/// Messages as people write them, one on each line, written for brr: what attackers and decoders are tried on
/// where there is no other text.
pub static SAMPLE: &str = include_str!("../words/sample.txt");

/// The same with names of people and places in them, of which [`SAMPLE`] has hardly any.
pub static NAMED_SAMPLE: &str = include_str!("../words/named.txt");

#[cfg(test)]
mod tests {
    use brr::Standing;

    /// The core believes what this file says without a look: here is the look.
    #[test]
    fn everything_that_the_pinned_file_says_holds() {
        let model = super::model().unwrap();
        assert_eq!(model.standing(), Standing::Pinned);
        model.check_again(2, &|_| {}).unwrap();
        assert_eq!(model.certificates().len(), model.claimed_certificates());
        assert!(model.calibration().is_some());
    }

    #[test]
    fn the_language_model_is_for_the_models_words() {
        let (model, language) = (super::model().unwrap(), super::language().unwrap());
        language.check_vocabulary(model.vocabulary()).unwrap();
        assert!(super::LANGUAGE.len() <= 2_000_000);
    }

    /// Words that a text's tokens can be, and none that nobody wants to show.
    #[test]
    fn every_word_is_one_token_and_none_is_obscene() {
        let model = super::model().unwrap();
        assert!(
            model
                .vocabulary()
                .iter()
                .all(brr::parts::text::is_one_token)
        );
        assert_eq!(model.find("scrotum"), None);
    }

    /// The numbers of docs/mechanisms.md: how much farther apart two words can be in a tree of some words.
    #[test]
    fn a_subset_puts_some_near_words_farther_apart() {
        let model = super::model().unwrap();
        let list = super::list("names", &model).unwrap();
        let words = list.words().iter().map(|&id| model.vocabulary().word(id));
        let words: Vec<&str> = words.collect();
        let subset = model.subset(&words).unwrap();
        let trees = [model.tree().unwrap(), subset.tree().unwrap()];
        assert_eq!((words.len(), trees[1].levels()), (3498, 12));
        let level = |a: &str, b: &str| {
            let of = |model: &brr::Model, word| model.find(word).unwrap();
            [(&model, trees[0]), (&subset, trees[1])]
                .map(|(model, tree)| tree.level(of(model, a), of(model, b)))
        };
        assert_eq!(level("neumann", "adler"), [2, 8]);
        let (mut farther, mut most) = (0, 0);
        for (i, &a) in (0..).zip(list.words()) {
            for (j, &b) in (0..i).zip(list.words()) {
                let more = trees[1].level(i, j).saturating_sub(trees[0].level(a, b));
                farther += u64::from(more > 0);
                most = most.max(more);
            }
        }
        let pairs = words.len() * (words.len() - 1) / 2;
        assert_eq!((farther * 1000 / pairs as u64, most), (16, 6));
    }

    /// What a default run promises: at most 20 a token, unknown words included.
    #[test]
    fn the_default_loss_can_be_defended() {
        let model = std::sync::Arc::new(super::model().unwrap());
        let p = brr::Privatizer::new(model, brr::Options::default()).unwrap();
        assert!(p.guarantee().worst_token() <= 20.0);
        let keep = p.expected_keep().unwrap();
        assert!(keep <= 0.5 && keep > 0.4, "{keep}");
    }
}

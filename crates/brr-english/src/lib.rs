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

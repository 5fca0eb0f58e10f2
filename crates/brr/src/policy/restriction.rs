//! A policy over a model: which tokens reach the mechanism, and as what.

use std::sync::Arc;

use zeroize::Zeroizing;

use super::{Policy, WordList};
use crate::context::Evidence;
use crate::error::{Error, Result};
use crate::model::Model;
use crate::vocabulary::WordId;

/// Not a private word.
const PUBLIC: WordId = WordId::MAX;

/// The private words of a model, by themselves and among all.
pub struct Restriction {
    /// A model of the private words alone: the mechanism's.
    pub model: Arc<Model>,
    /// The whole model's id of each of them, in ascending order.
    words: Vec<WordId>,
    /// By id of the whole model: the id among the private words, or [`PUBLIC`].
    places: Vec<WordId>,
    /// By id of the whole model: whether it is public.
    public: Vec<bool>,
}

/// Tokens, divided by what a policy makes of them.
pub struct Split {
    /// The private ones in order, by their ids among the private words: the mechanism's input.
    pub private: Zeroizing<Vec<Option<WordId>>>,
    /// For every token, what will be known of it.
    pub evidence: Vec<Evidence>,
}

impl Restriction {
    /// None if all words are private.
    pub fn new(model: &Model, policy: &Policy) -> Result<Option<Restriction>> {
        let (list, listed): (&WordList, bool) = match policy {
            Policy::All => return Ok(None),
            Policy::AllBut(list) => (list, false),
            Policy::Only(list) => (list, true),
        };
        list.check_model(model)?;
        let all = 0..model.vocabulary().len() as WordId;
        let words: Vec<WordId> = all.filter(|&id| list.contains(id) == listed).collect();
        if words.is_empty() {
            return Err(Error::NothingPrivate);
        }
        let mut places = vec![PUBLIC; model.vocabulary().len()];
        for (place, &word) in (0..).zip(&words) {
            places[word as usize] = place;
        }
        Ok(Some(Restriction {
            model: Arc::new(model.of_words(&words)?),
            words,
            public: places.iter().map(|&place| place == PUBLIC).collect(),
            places,
        }))
    }

    /// The whole model's ids of the private words.
    pub fn words(&self) -> &[WordId] {
        &self.words
    }

    /// Whether each of the whole model's words is public.
    pub fn public(&self) -> &[bool] {
        &self.public
    }

    /// The id of a word among the private ones, if it is one.
    pub fn place(&self, word: WordId) -> Option<WordId> {
        let place = self.places[word as usize];
        (place != PUBLIC).then_some(place)
    }

    /// Divides tokens, given by their words.
    pub fn split(&self, words: &[Option<WordId>]) -> Split {
        let mut private = Zeroizing::new(Vec::with_capacity(words.len()));
        let token = |word: &Option<WordId>| {
            let place = word.map(|word| (word, self.place(word)));
            match place {
                Some((word, None)) => Evidence::Known(word),
                private_or_unknown => {
                    private.push(private_or_unknown.and_then(|(_, place)| place));
                    Evidence::Observed(private.len() - 1)
                }
            }
        };
        let evidence = words.iter().map(token).collect();
        Split { private, evidence }
    }

    /// The whole model's word for every token, from those drawn for the private ones.
    pub fn join(&self, evidence: &[Evidence], drawn: &[WordId]) -> Vec<WordId> {
        let word = |evidence: &Evidence| match *evidence {
            Evidence::Known(word) => word,
            Evidence::Observed(i) => self.words[drawn[i] as usize],
        };
        evidence.iter().map(word).collect()
    }
}

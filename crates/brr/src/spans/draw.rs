//! What surrogates are drawn from.

use std::collections::BTreeMap;

use zeroize::Zeroizing;

use super::Slot;
use crate::epsilon::round_up;
use crate::error::{Error, Result};
use crate::mechanism::Mechanism;
use crate::numbers;
use crate::policy::Restriction;
use crate::privatizer::{ListWords, Privatizer};
use crate::random::Noise;
use crate::text::Unknown;
use crate::vocabulary::{Vocabulary, WordId};

/// What a token is drawn from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Pool {
    /// The private words of the privatizer.
    Words,
    /// The list of this number.
    List(usize),
    /// The integers of a range.
    Integer,
    /// Digits.
    Identifier,
}

/// What is written for a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Surrogate {
    /// A word of the whole model.
    Word(WordId),
    /// A number.
    Number(Box<str>),
}

impl Surrogate {
    /// As it is written, but for capital letters.
    pub fn spelled<'a>(&'a self, vocabulary: &'a Vocabulary) -> &'a str {
        match self {
            Surrogate::Word(word) => vocabulary.word(*word),
            Surrogate::Number(number) => number,
        }
    }

    /// The word; any, if it is none.
    pub fn word(&self) -> WordId {
        match *self {
            Surrogate::Word(word) => word,
            Surrogate::Number(_) => 0,
        }
    }

    /// What is written in place of a word.
    pub fn text(&self) -> Option<Box<str>> {
        match self {
            Surrogate::Word(_) => None,
            Surrogate::Number(number) => Some(number.clone()),
        }
    }
}

impl Privatizer {
    /// Spans and sessions are written as drawn, and never tell which tokens are unknown.
    pub(crate) fn check_spans(&self) -> Result<()> {
        match (&self.options().context, self.options().unknown) {
            (Some(_), _) => Err(Error::SpansWithContext),
            (None, Unknown::Random) => Ok(()),
            (None, _) => Err(Error::SpansWithUnknown),
        }
    }

    /// The words of this list, or the privatizer's own.
    pub(crate) fn pool(&self, list: Option<&str>) -> Result<Pool> {
        let Some(name) = list else {
            return Ok(Pool::Words);
        };
        let lists = self.list_words();
        let found = lists.iter().position(|list| list.name() == name);
        found.map(Pool::List).ok_or_else(|| {
            let names: Vec<&str> = lists.iter().map(ListWords::name).collect();
            Error::UnknownChoice {
                what: "list of words for spans",
                names: names.join(", "),
            }
        })
    }

    /// The mechanism of a pool of words.
    fn words_of(&self, pool: Pool) -> Option<(&dyn Mechanism, Option<&Restriction>)> {
        match pool {
            Pool::Words => Some((self.mechanism(), self.restriction())),
            Pool::List(list) => {
                let list = &self.list_words()[list];
                Some((list.mechanism(), Some(list.restriction())))
            }
            Pool::Integer | Pool::Identifier => None,
        }
    }

    /// The pool of this number, as exported sessions name it.
    pub(crate) fn pool_numbered(&self, number: u32) -> Option<Pool> {
        match number.checked_sub(3) {
            None => match number {
                0 => Some(Pool::Words),
                _ if self.numbers().is_none() => None,
                1 => Some(Pool::Integer),
                _ => Some(Pool::Identifier),
            },
            Some(list) if (list as usize) < self.list_words().len() => {
                Some(Pool::List(list as usize))
            }
            Some(_) => None,
        }
    }

    /// Whether a pool has this word of the whole model.
    pub(crate) fn can_draw(&self, pool: Pool, word: WordId) -> bool {
        (word as usize) < self.model().vocabulary().len()
            && self.input_of(pool, Some(word)).is_some()
    }

    /// A word as the mechanism of a pool gets it: none, if it is not one of the pool's.
    pub(crate) fn input_of(&self, pool: Pool, word: Option<WordId>) -> Option<WordId> {
        let (_, restriction) = self.words_of(pool)?;
        word.and_then(|word| restriction.map_or(Some(word), |r| r.place(word)))
    }

    /// Words that have a capital letter wherever they stand, if drawn from this pool.
    pub(crate) fn proper_in(&self, pool: Pool) -> &[WordId] {
        match pool {
            Pool::List(list) if self.list_words()[list].is_proper() => {
                self.list_words()[list].list().words()
            }
            _ => {
                let nouns = self.options().proper_nouns.as_ref();
                nouns.map_or(&[], |list| list.words())
            }
        }
    }

    /// The largest loss of one draw from each of these.
    pub(crate) fn loss_of(&self, pools: impl Iterator<Item = Pool>) -> f64 {
        let mut draws = BTreeMap::<Pool, u64>::new();
        pools.for_each(|pool| *draws.entry(pool).or_default() += 1);
        self.loss_of_draws(&draws)
    }

    /// The largest loss of so many draws from each of these.
    pub(crate) fn loss_of_draws(&self, draws: &BTreeMap<Pool, u64>) -> f64 {
        let one = |pool: Pool| match (self.words_of(pool), self.numbers()) {
            (Some((mechanism, _)), _) => mechanism.guarantee().worst_token(),
            (None, Some(numbers)) if pool == Pool::Integer => numbers.worst(),
            (None, _) => 0.0,
        };
        let costs = draws
            .iter()
            .filter(|&(&pool, &n)| pool != Pool::Identifier && n > 0);
        let each = costs.map(|(&pool, &n)| round_up(one(pool) * n as f64));
        each.fold(0.0, |all, loss| {
            if all == 0.0 {
                loss
            } else {
                round_up(all + loss)
            }
        })
    }

    /// A number for a number of this class.
    fn draw_number(&self, pool: Pool, text: &str, noise: &mut Noise) -> String {
        match (self.numbers(), numbers::value(text)) {
            (Some(numbers), Some(value)) if pool == Pool::Integer => {
                numbers.draw(value, noise).to_string()
            }
            _ => numbers::redraw(text, noise),
        }
    }

    /// What comes out for each token: one independent draw for each that is private.
    pub(crate) fn surrogates(&self, slots: &[Slot<'_>], noise: &mut Noise) -> Vec<Surrogate> {
        let mut surrogates: Vec<Surrogate> = slots
            .iter()
            .map(|slot| Surrogate::Word(slot.public().unwrap_or(0)))
            .collect();
        let mut pools: Vec<Pool> = slots.iter().filter_map(Slot::pool).collect();
        pools.sort_unstable();
        pools.dedup();
        for pool in pools {
            let of_pool = |slot: &Slot<'_>| slot.pool() == Some(pool);
            let places: Vec<usize> = (0..slots.len()).filter(|&i| of_pool(&slots[i])).collect();
            let Some((mechanism, restriction)) = self.words_of(pool) else {
                for place in places {
                    let number = self.draw_number(pool, slots[place].text, noise);
                    surrogates[place] = Surrogate::Number(number.into());
                }
                continue;
            };
            let inputs = places.iter().map(|&i| slots[i].input());
            let inputs: Zeroizing<Vec<_>> = Zeroizing::new(inputs.collect());
            let drawn = mechanism.privatize(&inputs, noise);
            for (&place, &word) in places.iter().zip(&drawn) {
                let word = restriction.map_or(word, |r| r.words()[word as usize]);
                surrogates[place] = Surrogate::Word(word);
            }
        }
        surrogates
    }
}

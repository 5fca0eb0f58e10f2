//! How often an attacker is right, by kind of word.

use brr::Model;
use brr::WordList;
use brr::parts::vocabulary::WordId;
use serde::{Deserialize, Serialize};

use super::{Chain, Guess};
use crate::channel::Similarity;
use crate::interval::{Binomial, Estimate};

/// Words this frequent or more are not rare.
pub const COMMON: usize = 1000;

/// Kinds of words, each word in as many as fit.
pub struct Classes {
    all: Vec<(&'static str, Vec<bool>)>,
}

impl Classes {
    /// `all` words; `content` words, which are not in the list of function words; `names` and places, by a
    /// list of them; `rare` words, which are not among the 1,000 most frequent of the attacker's texts.
    /// Without a list there is no such kind.
    pub fn new(
        model: &Model,
        chain: &Chain,
        function: Option<&WordList>,
        names: Option<&WordList>,
    ) -> Classes {
        let words = model.vocabulary().len();
        let of = |is: &dyn Fn(WordId) -> bool| (0..words as WordId).map(is).collect::<Vec<bool>>();
        let mut by_use: Vec<usize> = (0..words).collect();
        by_use.sort_by(|&a, &b| chain.shares()[b].total_cmp(&chain.shares()[a]));
        let mut rare = vec![true; words];
        by_use.iter().take(COMMON).for_each(|&w| rare[w] = false);
        let mut all = vec![("all", of(&|_| true))];
        all.extend(function.map(|list| ("content", of(&|w| !list.contains(w)))));
        all.extend(names.map(|list| ("names", of(&|w| list.contains(w)))));
        all.push(("rare", rare));
        Classes { all }
    }

    /// What the guesses reached, kind by kind.
    pub fn score(&self, guesses: &[Guess], similarity: &Similarity) -> Vec<Success> {
        let of = |(class, has): &(&str, Vec<bool>)| {
            let known = guesses.iter().filter_map(|g| g.word.map(|word| (word, *g)));
            let known: Vec<_> = known.filter(|(word, _)| has[*word as usize]).collect();
            Success::new(class, &known, similarity)
        };
        self.all.iter().map(of).collect()
    }
}

/// Mean cosines with the words that were there.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Similarities {
    /// Of the output.
    pub output: f64,
    /// Of what Bayes' attacker says who sees one word alone.
    pub alone: f64,
    /// Of what the attacker says who reads context.
    pub context: f64,
}

/// Shares of the private words of a kind that are named.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Success {
    /// The kind: `all`, `content`, `names` or `rare`.
    pub class: String,
    /// How many words of it there were.
    pub words: usize,
    /// By taking the output for the input: the words that stayed.
    pub output: f64,
    /// By Bayes' attacker who sees one word alone.
    pub alone: f64,
    /// By the attacker who reads context.
    pub context: f64,
    /// How alike these are to the words, if there are vectors.
    pub similarity: Option<Similarities>,
}

impl Success {
    pub(super) fn new(class: &str, known: &[(WordId, Guess)], similarity: &Similarity) -> Success {
        let mean = |of: &dyn Fn(WordId, &Guess) -> f64| {
            let sum: f64 = known.iter().map(|(word, guess)| of(*word, guess)).sum();
            sum / known.len().max(1) as f64
        };
        let named = |pick: fn(&Guess) -> WordId| {
            mean(&|word, guess| f64::from(u8::from(pick(guess) == word)))
        };
        let alike = |pick: fn(&Guess) -> WordId| {
            mean(&|word, guess| similarity.cosine(word, pick(guess)).unwrap_or(0.0))
        };
        let space = similarity.space.as_ref();
        Success {
            class: class.to_owned(),
            words: known.len(),
            output: named(|g| g.output),
            alone: named(|g| g.alone),
            context: named(|g| g.context),
            similarity: space.map(|_| Similarities {
                output: alike(|g| g.output),
                alone: alike(|g| g.alone),
                context: alike(|g| g.context),
            }),
        }
    }

    /// The mean of several attacks on the same kinds of words, by the number of words; none of none.
    pub fn mean(attacks: &[&[Success]]) -> Option<Vec<Success>> {
        let kinds = attacks.first()?.iter().enumerate();
        let over = |(i, first): (usize, &Success)| {
            let all = || attacks.iter().map(|attack| &attack[i]);
            let words: usize = all().map(|s| s.words).sum();
            let mean = |of: &dyn Fn(&Success) -> f64| {
                all().map(|s| s.words as f64 * of(s)).sum::<f64>() / words.max(1) as f64
            };
            let alike =
                |of: fn(&Similarities) -> f64| mean(&|s| s.similarity.as_ref().map_or(0.0, of));
            Success {
                class: first.class.clone(),
                words,
                output: mean(&|s| s.output),
                alone: mean(&|s| s.alone),
                context: mean(&|s| s.context),
                similarity: first.similarity.map(|_| Similarities {
                    output: alike(|s| s.output),
                    alone: alike(|s| s.alone),
                    context: alike(|s| s.context),
                }),
            }
        };
        Some(kinds.map(over).collect())
    }

    /// The share that the attacker who reads context names, with its interval over words.
    pub fn estimate(&self) -> Estimate {
        let right = (self.context * self.words as f64).round() as u64;
        Binomial::new(right, self.words as u64).estimate()
    }
}

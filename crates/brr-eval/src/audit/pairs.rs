//! Pairs of tokens at which a broken mechanism is most likely to show.

use std::collections::{BTreeSet, HashMap};

use brr::parts::vocabulary::WordId;
use brr::{Metric, Model};
use serde::Serialize;

use super::AuditOptions;
use super::program::Token;
use crate::channel::{Prior, distances_in, spread_words};

/// Words whose neighbours are looked at.
const LOOKED_AT: usize = 400;

/// Why a pair was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PairKind {
    /// Words with the same code, or at the same place of a tree: their outputs must not differ at
    /// all.
    Duplicate,
    /// Close together: the smallest loss is promised.
    Near,
    /// Both among the least frequent tenth, and close.
    Rare,
    /// Far apart.
    Far,
    /// A word and a token without a code.
    Unknown,
}

/// Two tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct WordPair {
    /// Why it was chosen.
    pub kind: PairKind,
    /// A word.
    pub a: WordId,
    /// Another word, or none for a token without a code.
    pub b: Option<WordId>,
    /// Their distance in the mechanism's metric.
    pub distance: Option<u32>,
}

/// Chooses pairs of every kind that the model has, by their distances in this metric.
pub fn choose(model: &Model, metric: Metric, options: &AuditOptions) -> Vec<WordPair> {
    let words = model.vocabulary().len();
    let plain: BTreeSet<WordId> = (0..words as WordId)
        .filter(|w| is_plain(model, *w))
        .collect();
    let sample = spread_words(words, LOOKED_AT, options.seed, Prior::Uniform);
    let mut pairs: Vec<WordPair> = duplicates(model, metric, &plain);
    for a in sample.into_iter().filter(|w| plain.contains(w)) {
        let distances = distances_in(metric, model, a);
        let others = plain
            .iter()
            .filter(|b| **b != a && distances[**b as usize] > 0);
        let Some(&near) = others.clone().min_by_key(|b| distances[**b as usize]) else {
            continue;
        };
        let far = *others
            .max_by_key(|b| distances[**b as usize])
            .unwrap_or(&near);
        let pair = |kind, b: WordId| WordPair {
            kind,
            a,
            b: Some(b),
            distance: Some(distances[b as usize].into()),
        };
        let rare = a.min(near) as usize >= words - words / 10;
        pairs.push(pair(
            if rare { PairKind::Rare } else { PairKind::Near },
            near,
        ));
        pairs.push(pair(PairKind::Far, far));
        pairs.push(WordPair {
            kind: PairKind::Unknown,
            a,
            b: None,
            distance: None,
        });
    }
    select(pairs, options.pairs)
}

/// Of each kind the closest pairs; of far ones the farthest.
fn select(mut pairs: Vec<WordPair>, each: usize) -> Vec<WordPair> {
    let key = |p: &WordPair| {
        let d = i64::from(p.distance.unwrap_or(0));
        let far = p.kind == PairKind::Far;
        (p.kind, if far { -d } else { d }, p.a, p.b)
    };
    pairs.sort_by_key(key);
    // A pair found from both of its words counts once.
    let mut seen = BTreeSet::new();
    let mut taken: HashMap<_, usize> = HashMap::new();
    pairs.retain(|p| {
        let ends = (p.b.unwrap_or(p.a).min(p.a), p.b.unwrap_or(p.a).max(p.a));
        let count = taken.entry(p.kind as u8).or_default();
        let take = *count < each && seen.insert((p.kind, ends));
        *count += usize::from(take);
        take
    });
    pairs
}

/// What words have in common that lie at distance 0 of each other.
fn position(model: &Model, metric: Metric, word: WordId) -> Vec<u64> {
    match (metric, model.tree()) {
        (Metric::Tree { .. }, Some(tree)) => vec![tree.places()[word as usize].into()],
        (Metric::Discrete, _) => vec![word.into()],
        _ => {
            let mut code = vec![0; model.bits().limbs()];
            model.codes().read(word as usize, &mut code);
            code
        }
    }
}

fn duplicates(model: &Model, metric: Metric, plain: &BTreeSet<WordId>) -> Vec<WordPair> {
    let mut first: HashMap<Vec<u64>, WordId> = HashMap::new();
    let mut pairs = Vec::new();
    for &b in plain {
        let a = *first.entry(position(model, metric, b)).or_insert(b);
        if a != b {
            pairs.push(WordPair {
                kind: PairKind::Duplicate,
                a,
                b: Some(b),
                distance: Some(0),
            });
        }
    }
    pairs
}

/// A word that any tokenizer takes whole and in any case.
pub fn is_plain(model: &Model, word: WordId) -> bool {
    let word = model.vocabulary().word(word);
    word.len() > 1 && word.bytes().all(|b| b.is_ascii_lowercase())
}

/// All tokens of the pairs, each once.
pub fn tokens(pairs: &[WordPair], model: &Model) -> Vec<Token> {
    let ids: BTreeSet<Option<WordId>> = pairs.iter().flat_map(|p| [Some(p.a), p.b]).collect();
    let text = |word: Option<WordId>| match word {
        Some(word) => model.vocabulary().word(word).to_owned(),
        None => unknown(model),
    };
    let token = |word: Option<WordId>| Token {
        word,
        text: text(word),
    };
    ids.into_iter().map(token).collect()
}

/// A plain token that is no word of the model.
pub fn unknown(model: &Model) -> String {
    let mut token = String::from("zxqvjkwq");
    while model.vocabulary().id(&token).is_some() {
        token.push('q');
    }
    token
}

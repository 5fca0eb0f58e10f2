//! Pairs of tokens at which a broken mechanism is most likely to show.

use std::collections::{BTreeSet, HashMap};

use brr::Model;
use brr::parts::vocabulary::WordId;
use serde::Serialize;

use super::AuditOptions;
use super::program::Token;
use super::space::WordSpace;
use crate::channel::{Prior, spread_words};

/// Words whose neighbours are looked at.
const LOOKED_AT: usize = 400;

/// Why a pair was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PairKind {
    /// Words with the same code or vector, or at the same place of a tree: their outputs must not
    /// differ at all.
    Duplicate,
    /// Close together: the smallest loss is promised.
    Near,
    /// Both among the least frequent tenth, and close.
    Rare,
    /// Far apart.
    Far,
    /// A word and a token that no vocabulary has, or two such tokens.
    Unknown,
    /// Two stop words, or a stop word and another: programs are tempted to let them pass.
    Stop,
    /// A word and the same word with a capital letter.
    Capital,
}

/// Two tokens.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct WordPair {
    /// Why it was chosen.
    pub kind: PairKind,
    /// A word.
    pub a: WordId,
    /// Another word, or none for a token without a code.
    pub b: Option<WordId>,
    /// Their distance.
    pub distance: Option<f64>,
}

/// Chooses pairs of every kind that the words have, by their distances.
pub fn choose(space: &dyn WordSpace, options: &AuditOptions) -> Vec<WordPair> {
    let words = space.count();
    let plain: BTreeSet<WordId> = space.plain().into_iter().collect();
    let sample = spread_words(words, LOOKED_AT, options.seed, Prior::Uniform);
    let duplicate = |[a, b]: [WordId; 2]| WordPair {
        kind: PairKind::Duplicate,
        a,
        b: Some(b),
        distance: Some(0.0),
    };
    let mut pairs: Vec<WordPair> = space.duplicates().into_iter().map(duplicate).collect();
    for a in sample.into_iter().filter(|w| plain.contains(w)) {
        let distances = space.distances(a);
        let at = |b: &WordId| distances[*b as usize];
        let others = plain.iter().filter(|b| **b != a && at(b) > 0.0);
        let Some(&near) = others.clone().min_by(|b, c| at(b).total_cmp(&at(c))) else {
            continue;
        };
        let far = others.max_by(|b, c| at(b).total_cmp(&at(c)).then(c.cmp(b)));
        let pair = |kind, b: WordId| WordPair {
            kind,
            a,
            b: Some(b),
            distance: Some(at(&b)),
        };
        let rare = a.min(near) as usize >= words - words / 10;
        pairs.push(pair(
            if rare { PairKind::Rare } else { PairKind::Near },
            near,
        ));
        pairs.push(pair(PairKind::Far, *far.unwrap_or(&near)));
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
        let d = p.distance.unwrap_or(0.0);
        if p.kind == PairKind::Far { -d } else { d }
    };
    pairs.sort_by(|p, q| {
        let nearer = p.kind.cmp(&q.kind).then(key(p).total_cmp(&key(q)));
        nearer.then((p.a, p.b).cmp(&(q.a, q.b)))
    });
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

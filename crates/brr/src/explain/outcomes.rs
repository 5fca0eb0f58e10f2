//! What comes out when a word goes in.

use super::{Chance, Likely, Method, most_likely, whole};
use crate::error::{Error, Result};
use crate::mechanism::{Channel, Mechanism};
use crate::model::Model;
use crate::nearest::Scan;
use crate::privatizer::Privatizer;
use crate::random::Noise;
use crate::vocabulary::WordId;

/// What comes out when a word goes in.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcomes {
    /// How likely the word stays.
    pub stays: Chance,
    /// The most likely outputs, the word itself among them.
    pub likely: Vec<Likely>,
    /// How far outputs scatter: the share of them among the k words nearest to
    /// the input, itself counted, for each k of [`Outcomes::REACH`].
    pub reach: [f64; Outcomes::REACH.len()],
    /// How the numbers were found.
    pub method: Method,
}

impl Outcomes {
    /// Sizes of the neighbourhoods in [`reach`](Self::reach).
    pub const REACH: [usize; 4] = [1, 10, 100, 1000];
}

/// The `top` most likely outputs for `word`: computed if the mechanism's
/// probabilities are known, else estimated from `draws` outputs.
///
/// ```
/// # use std::sync::Arc;
/// # use brr::{Options, Privatizer};
/// # let model = Arc::new(brr::Model::open("../brr-english/src/english.brr")?);
/// # let privatizer = Privatizer::new(model, Options::default())?;
/// let secret = privatizer.model().find("secret").expect("a word of the model");
/// let found = brr::explain::outcomes(&privatizer, secret, 5, 10_000)?;
/// for likely in &found.likely {
///     let word = privatizer.model().vocabulary().word(likely.word);
///     println!("{word} {:.3}", likely.chance.probability);
/// }
/// assert_eq!(found.likely.len(), 5);
/// # Ok::<(), brr::Error>(())
/// ```
///
/// Under a policy, a public word is an error: it stays as it is.
///
/// # Panics
/// If the model has no such word.
pub fn outcomes(
    privatizer: &Privatizer,
    word: WordId,
    top: usize,
    draws: usize,
) -> Result<Outcomes> {
    let (model, mechanism) = (privatizer.private_model(), privatizer.mechanism());
    let private = privatizer.private_id(word).ok_or(Error::PublicWord)?;
    if draws == 0 && mechanism.channel().is_none() {
        return Err(Error::NoDraws);
    }
    let noise = &mut Noise::from_os()?;
    let mut found = outcomes_with(model, mechanism, private, top, draws, noise);
    whole(privatizer, &mut found.likely);
    Ok(found)
}

/// As [`outcomes`], for any mechanism over a model's words, with noise of the caller's.
pub fn outcomes_with(
    model: &Model,
    mechanism: &dyn Mechanism,
    word: WordId,
    top: usize,
    draws: usize,
    noise: &mut Noise,
) -> Outcomes {
    let mut distances = vec![0; model.vocabulary().len()];
    Scan::new(model.codes()).distances_from(word, &mut distances);
    let (all, stays, method) = match mechanism.channel() {
        Some(channel) => {
            let all = computed(channel, word, distances.len());
            let stays = all[word as usize].chance;
            (all, stays, Method::Exact)
        }
        None => {
            let outputs = mechanism.privatize(&vec![Some(word); draws], noise);
            let stayed = outputs.iter().filter(|&&y| y == word).count();
            let stays = Chance::drawn(stayed, draws);
            (counted(outputs), stays, Method::Drawn { draws })
        }
    };
    Outcomes {
        stays,
        reach: reach(&all, &ranks(&distances, word)),
        likely: most_likely(all, top),
        method,
    }
}

fn computed(channel: &dyn Channel, word: WordId, words: usize) -> Vec<Likely> {
    let mut row = vec![0.0; words];
    channel.row(word, &mut row);
    let likely = |(word, p)| Likely {
        word,
        chance: Chance::exact(p),
    };
    (0..).zip(row).map(likely).collect()
}

pub(super) fn counted(mut outputs: Vec<WordId>) -> Vec<Likely> {
    outputs.sort_unstable();
    let draws = outputs.len();
    let likely = |same: &[WordId]| Likely {
        word: same[0],
        chance: Chance::drawn(same.len(), draws),
    };
    outputs.chunk_by(|a, b| a == b).map(likely).collect()
}

/// How many words come before each, by distance to `word`: itself is first, and
/// among words at equal distance the lower id.
fn ranks(distances: &[u16], word: WordId) -> Vec<usize> {
    let mut order: Vec<usize> = (0..distances.len()).collect();
    order.sort_by_key(|&id| (distances[id], id != word as usize));
    let mut ranks = vec![0; distances.len()];
    for (rank, id) in order.into_iter().enumerate() {
        ranks[id] = rank;
    }
    ranks
}

fn reach(all: &[Likely], ranks: &[usize]) -> [f64; Outcomes::REACH.len()] {
    Outcomes::REACH.map(|size| {
        let near = all.iter().filter(|l| ranks[l.word as usize] < size);
        near.map(|l| l.chance.probability).sum::<f64>().min(1.0)
    })
}

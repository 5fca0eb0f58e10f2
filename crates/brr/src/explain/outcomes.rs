//! What comes out when a word goes in.

use super::{Chance, Likely, Method, most_likely};
use crate::error::Result;
use crate::mechanism::Channel;
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
/// # Panics
/// If the model has no such word.
pub fn outcomes(
    privatizer: &Privatizer,
    word: WordId,
    top: usize,
    draws: usize,
) -> Result<Outcomes> {
    let model = privatizer.model();
    let mut distances = vec![0; model.vocabulary().len()];
    scan_from(model, word, &mut distances);
    let (all, stays, method) = match privatizer.mechanism().channel() {
        Channel::Weights(weights) => {
            let all = computed(&distances, weights);
            let stays = all[word as usize].chance;
            (all, stays, Method::Exact)
        }
        _ => {
            let inputs = vec![Some(word); draws];
            let outputs = privatizer
                .mechanism()
                .privatize(&inputs, &mut Noise::from_os()?);
            let stayed = outputs.iter().filter(|&&y| y == word).count();
            let stays = Chance::drawn(stayed, draws);
            (counted(outputs), stays, Method::Drawn { draws })
        }
    };
    Ok(Outcomes {
        stays,
        reach: reach(&all, &ranks(&distances, word)),
        likely: most_likely(all, top),
        method,
    })
}

/// The distances of all words to one.
pub(super) fn scan_from(model: &Model, word: WordId, distances: &mut [u16]) {
    let codes = model.codes();
    let mut code = vec![0; codes.bits().limbs()];
    codes.read(word as usize, &mut code);
    Scan::new(codes).distances(&code, distances);
}

fn computed(distances: &[u16], weights: &[u64]) -> Vec<Likely> {
    let weight = |&d: &u16| weights[usize::from(d)];
    let z: u128 = distances.iter().map(|d| u128::from(weight(d))).sum();
    let likely = |(id, d)| Likely {
        word: id as WordId,
        chance: Chance::exact(weight(d) as f64 / z as f64),
    };
    distances.iter().enumerate().map(likely).collect()
}

fn counted(mut outputs: Vec<WordId>) -> Vec<Likely> {
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

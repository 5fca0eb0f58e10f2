//! The attacker who reads context: what he recovers of the words from privatized text.
//!
//! He knows the mechanism, the model, the public structure and the public words, and how words follow
//! each other. To him a text is a hidden Markov chain: its words are the hidden states, a bigram model
//! that he learned from texts of his own says which word follows which ([`Chain`]), and the mechanism's
//! channel says what comes out of a word. Forward-backward over *all* words
//! ([`brr_estimate::posterior`]) gives the probability of every word at every position given the whole sentence, and he
//! names the most probable: under his model no attacker names more words.
//!
//! ```text
//! his texts -> Chain ─┐
//! Target (mechanism) ─┼─> attack -> Guesses -> Success, class by class
//! Passage (the text) ─┘
//! ```
//!
//! The same text and channel without the chain is Bayes' attacker who sees one word alone.
//!
//! A token that the model does not know is a state of its own, and drawn like any other; what he makes of
//! it is not counted, as there is no word to name. Public words are given to him and not counted.

mod sample;
mod success;
#[cfg(test)]
mod tests;

pub use brr_estimate::posterior::{Batch, Chain, Draws, Evidence, LANES, Lane, Stretch, Target};
pub use sample::Sample;
pub use success::{Classes, Similarities, Success};

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use brr::parts::language::{Sentence, State, sentences};
use brr::parts::parallel;
use brr::parts::random::Noise;
use brr::parts::vocabulary::WordId;
use brr::{Layout, Model};
use brr_estimate::posterior::{Estimation, Seen, largest, stretches};

use crate::calibrate::OnShare;
use crate::error::{Error, Result};

/// Text to attack.
#[derive(Clone, Debug, Default)]
pub struct Passage {
    /// The word of every token, if it has one.
    pub words: Vec<Option<WordId>>,
    /// Which tokens belong together.
    pub sentences: Vec<Sentence>,
}

impl Passage {
    /// The tokens of texts, in order, whole sentences of them until there are `most`.
    pub fn read<'t>(
        model: &Model,
        texts: impl IntoIterator<Item = &'t str>,
        most: usize,
    ) -> Passage {
        let mut passage = Passage::default();
        for text in texts {
            let words: Vec<_> = model.tokens(text).into_iter().map(|(w, _)| w).collect();
            passage.add(&words, &sentences(&model.pieces(text), Layout::Keep), most);
        }
        passage
    }

    /// Adds the sentences of a text until there are `most` tokens.
    pub fn add(&mut self, words: &[Option<WordId>], sentences: &[Sentence], most: usize) {
        for sentence in sentences {
            if self.words.len() >= most {
                break;
            }
            let first = self.words.len();
            self.words.extend(&words[sentence.tokens.clone()]);
            self.sentences.push(Sentence {
                tokens: first..self.words.len(),
                ends: sentence.ends,
            });
        }
    }
}

/// How an attack is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Seed of the noise.
    pub seed: u64,
    /// How long channels are estimated that cannot be computed.
    pub draws: Draws,
    /// Threads; they change nothing but the time.
    pub threads: usize,
}

impl Default for Plan {
    fn default() -> Plan {
        Plan {
            seed: 1,
            draws: Draws::default(),
            threads: parallel::cores(),
        }
    }
}

/// What became of a token, and what the attackers make of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guess {
    /// The word that was there; none of a token that the model does not know.
    pub word: Option<WordId>,
    /// What was drawn.
    pub output: WordId,
    /// The likeliest word by the output alone.
    pub alone: WordId,
    /// The likeliest word by all outputs of the sentence.
    pub context: WordId,
}

/// Draws a passage with seeded noise and attacks it: a guess for each private token, in order.
///
/// Fails if the mechanism can neither compute nor estimate its channel.
pub fn attack(
    chain: &Chain,
    target: &Target<'_>,
    passage: &Passage,
    plan: &Plan,
    progress: OnShare<'_>,
) -> Result<Vec<Guess>> {
    Ok(Released::new(target, passage, plan)?.attack(chain, progress))
}

/// A passage, privatized: for several attackers.
pub struct Released<'a> {
    target: &'a Target<'a>,
    /// The words of private tokens.
    private: Vec<Option<WordId>>,
    stretches: Vec<Stretch>,
    /// What was drawn for them, by the mechanism's ids.
    outputs: Vec<WordId>,
    seen: Seen<'a>,
    threads: usize,
}

impl<'a> Released<'a> {
    /// Draws the private tokens of a passage with seeded noise, and works out what the outputs say.
    ///
    /// Fails if the mechanism can neither compute nor estimate its channel.
    pub fn new(target: &'a Target<'a>, passage: &Passage, plan: &Plan) -> Result<Released<'a>> {
        let (private, stretches) = divide(target, passage);
        let place = |word: &Option<WordId>| word.and_then(|word| target.place(word));
        let inputs: Vec<Option<WordId>> = private.iter().map(place).collect();
        let mut noise = Noise::numbered(plan.seed);
        let outputs = target.mechanism.privatize(&inputs, &mut noise);
        Ok(Released {
            seen: seen(target, outputs.clone(), plan)?,
            target,
            private,
            stretches,
            outputs,
            threads: plan.threads,
        })
    }

    /// What an attacker who believes in this chain names: a guess for each private token, in order.
    ///
    /// # Panics
    /// If the chain is over other words.
    pub fn attack(&self, chain: &Chain, progress: OnShare<'_>) -> Vec<Guess> {
        assert_eq!(
            chain.words(),
            self.target.all(),
            "a chain over the model's words"
        );
        let alone = alone(chain, &self.seen, &self.outputs, self.threads);
        let found = most_probable(chain, &self.seen, &self.stretches, self.threads, progress);
        let mut context = vec![0; self.outputs.len()];
        found.into_iter().for_each(|(i, word)| context[i] = word);
        let guess = |(i, word): (usize, &Option<WordId>)| Guess {
            word: *word,
            output: self.target.whole(self.outputs[i]),
            alone: alone[&self.outputs[i]],
            context: context[i],
        };
        self.private.iter().enumerate().map(guess).collect()
    }
}

/// What outputs say, by seeded noise where that is estimated.
fn seen<'a>(target: &'a Target<'a>, outputs: Vec<WordId>, plan: &Plan) -> Result<Seen<'a>> {
    let seed = plan.seed;
    let estimation = Estimation {
        draws: plan.draws,
        noise: Arc::new(move |stream| Ok(Noise::numbered(seed).with_stream(stream))),
        threads: plan.threads,
    };
    let name = target.mechanism.name();
    let unknown = || Error::Settings(format!("the channel of {name} is not known"));
    Seen::new(target, outputs, &estimation)?.ok_or_else(unknown)
}

/// The words of private tokens, and the stretches of them.
fn divide(target: &Target<'_>, passage: &Passage) -> (Vec<Option<WordId>>, Vec<Stretch>) {
    let public = |word: &WordId| target.place(*word).is_none();
    let known = |token: usize| passage.words[token].filter(public);
    let tokens = passage.sentences.iter().flat_map(|s| s.tokens.clone());
    let private = tokens.filter(|&token| known(token).is_none());
    let private = private.map(|token| passage.words[token]).collect();
    let boundary = target.all() as State;
    (private, stretches(&passage.sentences, boundary, known))
}

/// The likeliest word behind each output that occurs.
fn alone(
    chain: &Chain,
    seen: &Seen<'_>,
    outputs: &[WordId],
    threads: usize,
) -> HashMap<WordId, WordId> {
    let mut first: HashMap<WordId, usize> = HashMap::new();
    for (i, &output) in outputs.iter().enumerate() {
        first.entry(output).or_insert(i);
    }
    let first: Vec<(WordId, usize)> = first.into_iter().collect();
    let guesses = parallel::map(threads, first.len(), |i| {
        let mut likelihoods = vec![0.0; chain.states()];
        seen.likelihoods(first[i].1, &mut likelihoods);
        let joint = likelihoods.iter().zip(chain.shares()).map(|(l, s)| l * s);
        let mut best = (0.0, 0);
        for (word, joint) in joint.take(chain.words()).enumerate() {
            if joint > best.0 {
                best = (joint, word);
            }
        }
        (first[i].0, best.1 as WordId)
    });
    guesses.into_iter().collect()
}

/// The most probable word of every token of the stretches.
pub fn most_probable(
    chain: &Chain,
    evidence: &dyn Evidence,
    stretches: &[Stretch],
    threads: usize,
    progress: OnShare<'_>,
) -> Vec<(usize, WordId)> {
    let mut stretches = stretches.to_vec();
    stretches.sort_by_key(|stretch| std::cmp::Reverse(stretch.tokens.len()));
    let batches: Vec<&[Stretch]> = stretches.chunks(LANES).collect();
    let done = AtomicUsize::new(0);
    let found = parallel::map(threads, batches.len(), |i| {
        let mut found = Vec::new();
        Batch::new(chain, evidence, batches[i]).posteriors(|t, posteriors| {
            let best = largest(posteriors, chain.words());
            let lanes = batches[i].iter().zip(best);
            let lanes = lanes.filter(|(stretch, _)| stretch.tokens.len() > t);
            found.extend(lanes.map(|(stretch, word)| (stretch.tokens.start + t, word)));
        });
        let done = done.fetch_add(1, Ordering::Relaxed) + 1;
        progress(done as f64 / batches.len() as f64);
        found
    });
    found.concat()
}

/// The epsilon between `low` and `high` at which `success` is nearest to `wanted`, of those that halving the
/// logarithm of the range so many times comes by. `success` must grow.
pub fn epsilon_for_success(
    (mut low, mut high): (f64, f64),
    halvings: usize,
    wanted: f64,
    mut success: impl FnMut(f64) -> Result<f64>,
) -> Result<f64> {
    if !(low > 0.0 && high > low) {
        return Err(Error::Settings("there is no such range of epsilons".into()));
    }
    let mut nearest = (f64::INFINITY, low);
    for _ in 0..halvings {
        let middle = (low * high).sqrt();
        let found = success(middle)?;
        if (found - wanted).abs() < nearest.0 {
            nearest = ((found - wanted).abs(), middle);
        }
        match found > wanted {
            true => high = middle,
            false => low = middle,
        }
    }
    Ok(nearest.1)
}

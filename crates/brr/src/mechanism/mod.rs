//! Mechanisms: words in, words out, with a guarantee.

mod brr;
mod exponential;
mod kary;
mod observation;
mod tree;

pub use self::brr::{Brr, Search};
pub use exponential::Exponential;
pub use kary::Kary;
pub use observation::{Emission, Observations};
pub use tree::TreeResponse;

use crate::guarantee::Guarantee;
use crate::random::Noise;
use crate::vocabulary::WordId;

/// Which mechanism draws the words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum MechanismKind {
    /// The exponential mechanism over the model's codes, with a certified epsilon: of the
    /// mechanisms here, the one with the smallest guaranteed loss at about the same share of
    /// kept words.
    #[default]
    Exponential,
    /// Binary randomized response over the same codes: the paper's.
    Brr,
    /// Tree response over the model's tree: a word mostly becomes one of its own small group, and
    /// the loss between two words is that of their level in the tree.
    Tree,
    /// K-ary randomized response: every other word is as likely. The smallest loss between any two
    /// words at a given share of kept words, and the largest between near ones.
    KAry,
}

/// The channel of a mechanism, where its probabilities can be computed.
pub trait Channel: Send + Sync {
    /// Writes Pr[y | word] for every word y, in id order.
    fn row(&self, word: WordId, out: &mut [f64]);

    /// Writes Pr[y | a token without a code] for every word y: the same for all, unless the mechanism
    /// has another rule.
    fn row_of_unknown(&self, out: &mut [f64]) {
        out.fill(1.0 / out.len() as f64);
    }

    /// The sum of all rows, each so many times: what these counts of words become on average. Only where that
    /// takes a few passes over the words, and not their square.
    fn outputs(&self, counts: &[f64]) -> Option<Vec<f64>> {
        let _ = counts;
        None
    }

    /// The mean of a value of the output, for every word: the sum over y of `values[y]` Pr[y | w], likewise.
    fn means(&self, values: &[f64]) -> Option<Vec<f64>> {
        let _ = values;
        None
    }

    /// Pr[w | w] for every word w, likewise.
    fn kept(&self) -> Option<Vec<f64>> {
        None
    }
}

/// Pr[y | w] for one output y and every word w, estimated from the same draws for all words:
/// up to a factor that all words share.
pub struct Likelihoods {
    /// One row per draw that counts: a factor for each word.
    pub draws: Vec<Vec<f32>>,
}

/// A randomized map from words to words.
///
/// Every mechanism stands behind this trait, on the device and in the
/// evaluation, so that they can be exchanged and compared.
pub trait Mechanism: Send + Sync {
    /// Its short name: `brr`, `exponential`, ...
    fn name(&self) -> &'static str;

    /// What it promises.
    fn guarantee(&self) -> Guarantee;

    /// Its exact channel, if probabilities can be computed.
    fn channel(&self) -> Option<&dyn Channel> {
        None
    }

    /// Estimates Pr[output | w] for every word w from at most `draws` draws, if the mechanism
    /// knows a way that is better than drawing from every word.
    fn likelihoods(
        &self,
        _output: WordId,
        _draws: usize,
        _noise: &mut Noise,
    ) -> Option<Likelihoods> {
        None
    }

    /// Draws one output word for each input, independently.
    ///
    /// `None` is a token without a code: its output is a random word, by a rule of the
    /// mechanism's own, found with the same work as for any other input. What is drawn depends
    /// on the input and on `noise`, and on nothing else.
    fn privatize(&self, words: &[Option<WordId>], noise: &mut Noise) -> Vec<WordId>;

    /// Draws the noise for each input as [`privatize`](Self::privatize) does, and gives all that it
    /// leaves. [`words`](Self::words) makes the outputs of it.
    fn observe(&self, words: &[Option<WordId>], noise: &mut Noise) -> Observations {
        Observations::Words(self.privatize(words, noise))
    }

    /// The output words: a function of the observations alone.
    fn words(&self, observations: &Observations) -> Vec<WordId> {
        match observations {
            Observations::Words(words) => words.clone(),
            Observations::Codes(_) => unreachable!("a mechanism that observes codes reads them"),
        }
    }

    /// How likely its observations are, if that can be computed: what decoding with context needs.
    fn emission(&self) -> Option<&dyn Emission> {
        None
    }
}

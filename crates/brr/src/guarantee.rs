//! What a mechanism promises: an epsilon, together with the metric it is
//! measured in, and how promises add up over a text.
//!
//! # Guarantee
//!
//! A mechanism M is epsilon*d-private (metric differential privacy; Def. 1 of
//! the paper) if for all words w, w' and every output y
//!
//! ```text
//! Pr[M(w) = y]  <=  exp(epsilon * d(w, w')) * Pr[M(w') = y].
//! ```
//!
//! An epsilon without its d says nothing, so the two travel together here.
//!
//! # Composition
//!
//! The words of a text go through M independently. For texts w_1..w_k and
//! w'_1..w'_k the probabilities multiply, so the loss between them is at most
//! the sum of epsilon*d(w_i, w'_i), and at most k times the loss of the farthest
//! pair. k itself, the number of tokens, is not hidden.

use std::fmt;

use crate::codes::CodeBits;
use crate::epsilon::{Epsilon, round_down, round_up};
use crate::error::{Error, Result};

/// The distance between words in which an epsilon is measured.
///
/// ```
/// # use std::sync::Arc;
/// # use brr::{Options, Privatizer};
/// # let model = Arc::new(brr::Model::open("../brr-english/src/english.brr")?);
/// # let privatizer = Privatizer::new(model, Options::default())?;
/// assert_eq!(privatizer.guarantee().metric.to_string(), "hamming-256");
/// # Ok::<(), brr::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Metric {
    /// Bits in which two codes differ.
    Hamming(CodeBits),
    /// Length of the difference of two real vectors.
    Euclidean {
        /// Length of the vectors.
        dim: usize,
    },
    /// 1 between any two different words: plain local differential privacy.
    Discrete,
    /// Level of two words in a tree: the height of their lowest common ancestor.
    Tree {
        /// The height of the tree.
        levels: u32,
    },
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Metric::Hamming(bits) => write!(f, "hamming-{bits}"),
            Metric::Euclidean { dim } => write!(f, "euclidean-{dim}"),
            Metric::Discrete => f.write_str("discrete"),
            Metric::Tree { levels } => write!(f, "tree-{levels}"),
        }
    }
}

impl Metric {
    /// The metric that is written so.
    ///
    /// ```
    /// assert_eq!(brr::Metric::parse("hamming-256").unwrap().to_string(), "hamming-256");
    /// assert!(brr::Metric::parse("hamming-7").is_none());
    /// ```
    pub fn parse(name: &str) -> Option<Metric> {
        if let Some(bits) = name.strip_prefix("hamming-") {
            return CodeBits::new(bits.parse().ok()?).map(Metric::Hamming);
        }
        if let Some(dim) = name.strip_prefix("euclidean-") {
            return dim.parse().ok().map(|dim| Metric::Euclidean { dim });
        }
        if let Some(levels) = name.strip_prefix("tree-") {
            return levels.parse().ok().map(|levels| Metric::Tree { levels });
        }
        (name == Metric::Discrete.to_string()).then_some(Metric::Discrete)
    }
}

/// Distances between the words of a vocabulary, over all ordered pairs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairDistances {
    /// P_avg: the mean over all ordered pairs; the diagonal counts (Sec. 5).
    pub average: f64,
    /// P_max: the largest.
    pub maximum: f64,
    /// Mean distance of a word to its nearest other word.
    pub nearest_mean: f64,
    /// The smallest distance between two different words.
    pub nearest_min: f64,
}

impl PairDistances {
    /// Of the discrete metric over `words` words: 1 between any two, the diagonal counted in the
    /// average as everywhere.
    pub fn discrete(words: usize) -> PairDistances {
        let apart = f64::from(u8::from(words > 1));
        PairDistances {
            average: 1.0 - 1.0 / words as f64,
            maximum: apart,
            nearest_mean: apart,
            nearest_min: apart,
        }
    }
}

/// A mechanism's promise over a vocabulary.
///
/// ```
/// # use std::sync::Arc;
/// # use brr::{Options, Privatizer};
/// # let model = Arc::new(brr::Model::open("../brr-english/src/english.brr")?);
/// # let privatizer = Privatizer::new(model, Options::default())?;
/// let guarantee = privatizer.guarantee();
/// println!("epsilon {} in {}", guarantee.epsilon, guarantee.metric);
/// // Words that are near each other are harder to tell apart than any two words.
/// assert!(guarantee.nearest() < guarantee.bound() && guarantee.bound() < guarantee.worst());
/// # Ok::<(), brr::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Guarantee {
    /// Loss per unit of distance, of the distribution that is really sampled,
    /// rounded up.
    pub epsilon: f64,
    /// The distance.
    pub metric: Metric,
    /// How far the vocabulary's words lie apart in it.
    pub distances: PairDistances,
    /// The largest loss between a token that has no code and a word, when such
    /// tokens are replaced at random. They stand outside the word metric.
    pub unknown_loss: f64,
    /// The largest loss between two words at each whole distance, from 0 on, where it is known to be
    /// less than epsilon times the distance; empty if it is not.
    pub losses: Vec<f64>,
}

impl Guarantee {
    /// What a mechanism promises by its proof; the fields say what each number must hold.
    pub fn new(
        epsilon: f64,
        metric: Metric,
        distances: PairDistances,
        unknown_loss: f64,
    ) -> Guarantee {
        Guarantee {
            epsilon,
            metric,
            distances,
            unknown_loss,
            losses: Vec::new(),
        }
    }

    /// The same, with the loss at each whole distance from 0 on. Losses must not fall.
    pub fn with_losses(self, losses: Vec<f64>) -> Guarantee {
        Guarantee { losses, ..self }
    }

    /// The numbers of the promise, by the names that they have in every language.
    pub fn numbers(&self) -> [(&'static str, f64); 6] {
        [
            ("epsilon", self.epsilon),
            ("nearest", self.nearest()),
            ("bound", self.bound()),
            ("worst", self.worst()),
            ("unknown_loss", self.unknown_loss),
            ("worst_token", self.worst_token()),
        ]
    }

    /// The largest loss between two words at this distance.
    pub fn loss_at(&self, distance: f64) -> f64 {
        let bound = round_up(self.epsilon * distance);
        let known = self.losses.get(distance as usize);
        match known {
            Some(&loss) if distance.fract() == 0.0 => loss.min(bound),
            _ => bound,
        }
    }

    /// The privacy-loss bound epsilon * P_avg: the number by which mechanisms
    /// with different metrics are put side by side (Sec. 5).
    pub fn bound(&self) -> f64 {
        self.loss_at(self.distances.average)
    }

    /// The loss at the pair of words farthest apart: no two words exceed it.
    pub fn worst(&self) -> f64 {
        self.loss_at(self.distances.maximum)
    }

    /// The mean loss between a word and its nearest neighbour.
    pub fn nearest(&self) -> f64 {
        self.loss_at(self.distances.nearest_mean)
    }

    /// The largest loss between any two tokens, words or not.
    pub fn worst_token(&self) -> f64 {
        self.worst().max(self.unknown_loss)
    }

    /// The largest loss between two texts of `tokens` tokens each.
    pub fn total(&self, tokens: u64) -> f64 {
        if tokens == 0 {
            return 0.0;
        }
        round_up(self.worst_token() * tokens as f64)
    }
}

/// How a user states the privacy wanted.
///
/// ```
/// # use std::sync::Arc;
/// # let model = Arc::new(brr::Model::open("../brr-english/src/english.brr")?);
/// use brr::{Budget, Options, Privatizer};
///
/// let options = Options::default().with_budget(Budget::Bound(16.0));
/// let privatizer = Privatizer::new(model, options)?;
/// assert!(privatizer.guarantee().bound() <= 16.0);
/// # Ok::<(), brr::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Budget {
    /// In the mechanism's own unit.
    Epsilon(f64),
    /// As privacy-loss bound epsilon * P_avg.
    Bound(f64),
    /// As the expected share of words that stay as they are, frequent words
    /// counted as often as they are used.
    Keep(f64),
}

impl Budget {
    /// The budget when the user states none: at most half of the words stay.
    ///
    /// A start for looking at the effect, not a recommendation for a data set: what writes
    /// files asks for a budget.
    pub const DEFAULT: Budget = Budget::Keep(0.5);

    /// The ways to state one: the names of the options in every language.
    pub const NAMES: [&'static str; 3] = ["epsilon", "bound", "keep"];

    /// The budget that is stated by the option of this name.
    pub fn named(name: &str, value: f64) -> Option<Budget> {
        match name {
            "epsilon" => Some(Budget::Epsilon(value)),
            "bound" => Some(Budget::Bound(value)),
            "keep" => Some(Budget::Keep(value)),
            _ => None,
        }
    }

    /// The place of its name among [`NAMES`](Self::NAMES), and its number.
    pub fn parts(self) -> (usize, f64) {
        match self {
            Budget::Epsilon(value) => (0, value),
            Budget::Bound(value) => (1, value),
            Budget::Keep(value) => (2, value),
        }
    }

    /// Checks the number itself, without a model.
    ///
    /// ```
    /// use brr::Budget;
    ///
    /// assert!(Budget::Keep(0.4).validate().is_ok());
    /// assert!(Budget::Keep(40.0).validate().is_err());
    /// ```
    pub fn validate(self) -> Result<Budget> {
        match self {
            Budget::Epsilon(value) => {
                Epsilon::new(value)?;
            }
            Budget::Bound(value) if !(value.is_finite() && value > 0.0) => {
                return Err(Error::InvalidBound { value });
            }
            Budget::Keep(value) if !(value > 0.0 && value < 1.0) => {
                return Err(Error::InvalidKeep { value });
            }
            _ => {}
        }
        Ok(self)
    }

    /// The epsilon whose bound over `distances` is at most `bound`.
    pub(crate) fn epsilon_for_bound(bound: f64, distances: &PairDistances) -> Result<Epsilon> {
        Epsilon::new(round_down(round_down(bound) / distances.average))
            .map_err(|_| Error::InvalidBound { value: bound })
    }
}

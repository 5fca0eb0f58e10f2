//! A mechanism at any epsilon: what a calibration walks along.

use std::sync::Arc;

use brr::certify::Certifier;
use brr::guarantee::PairDistances;
use brr::mechanism::{Brr, Exponential, Mechanism};
use brr::model::Model;
use brr::{Epsilon, Result};

use super::{Kary, Madlib, NearestVector, Space};
use crate::channel::{ExponentialRows, Rows};

/// A mechanism at one epsilon, with its exact channel where there is one.
pub struct Candidate {
    /// The mechanism.
    pub mechanism: Box<dyn Mechanism>,
    /// Its row probabilities, if they can be computed.
    pub rows: Option<Box<dyn Rows>>,
}

/// A mechanism whose epsilon is not fixed yet.
pub trait Family: Send + Sync {
    /// The mechanism's name.
    fn name(&self) -> &'static str;

    /// Number of words.
    fn words(&self) -> usize;

    /// Distances of the words in the mechanism's metric.
    fn distances(&self) -> PairDistances;

    /// The mechanism with at most this epsilon.
    fn at(&self, epsilon: Epsilon) -> Result<Candidate>;

    /// The largest epsilon at which [`at`](Self::at) gives a bound of at most
    /// `bound`, up to rounding.
    fn epsilon_for_bound(&self, bound: f64) -> Result<Epsilon> {
        Epsilon::new(bound / self.distances().average)
    }
}

/// BRR over a model.
pub struct BrrFamily(pub Arc<Model>);

impl Family for BrrFamily {
    fn name(&self) -> &'static str {
        "brr"
    }

    fn words(&self) -> usize {
        self.0.vocabulary().len()
    }

    fn distances(&self) -> PairDistances {
        self.0.pair_distances()
    }

    fn at(&self, epsilon: Epsilon) -> Result<Candidate> {
        Ok(Candidate {
            mechanism: Box::new(Brr::new(self.0.clone(), epsilon)),
            rows: None,
        })
    }
}

/// The exponential mechanism over a model, certified for every epsilon if a
/// certifier is given; else with what the model's own certificates allow.
pub struct ExponentialFamily {
    /// The model.
    pub model: Arc<Model>,
    /// Makes certificates for it.
    pub certifier: Option<Certifier>,
}

impl Family for ExponentialFamily {
    fn name(&self) -> &'static str {
        "exponential"
    }

    fn words(&self) -> usize {
        self.model.vocabulary().len()
    }

    fn distances(&self) -> PairDistances {
        self.model.pair_distances()
    }

    fn at(&self, epsilon: Epsilon) -> Result<Candidate> {
        let model = self.model.clone();
        let mechanism = match &self.certifier {
            Some(certifier) => Exponential::certified(model, &certifier.certify(epsilon, None))?,
            None => Exponential::new(model, epsilon),
        };
        let rows = ExponentialRows::new(self.model.clone(), mechanism.weights());
        Ok(Candidate {
            mechanism: Box::new(mechanism),
            rows: Some(Box::new(rows)),
        })
    }
}

/// Madlib over word vectors.
pub struct MadlibFamily {
    /// The vectors.
    pub space: Arc<Space>,
    /// The search; the space itself for exact search.
    pub search: Arc<dyn NearestVector>,
}

impl MadlibFamily {
    /// With exact search.
    pub fn exact(space: Arc<Space>) -> MadlibFamily {
        MadlibFamily {
            search: space.clone(),
            space,
        }
    }
}

impl Family for MadlibFamily {
    fn name(&self) -> &'static str {
        "madlib"
    }

    fn words(&self) -> usize {
        self.space.len()
    }

    fn distances(&self) -> PairDistances {
        self.space.pair_distances()
    }

    fn at(&self, epsilon: Epsilon) -> Result<Candidate> {
        let (space, search) = (self.space.clone(), self.search.clone());
        Ok(Candidate {
            mechanism: Box::new(Madlib::with_search(space, epsilon, search)),
            rows: None,
        })
    }
}

/// K-ary randomized response over so many words.
pub struct KaryFamily(pub usize);

impl Family for KaryFamily {
    fn name(&self) -> &'static str {
        "k-ary"
    }

    fn words(&self) -> usize {
        self.0
    }

    fn distances(&self) -> PairDistances {
        super::discrete_distances(self.0)
    }

    fn at(&self, epsilon: Epsilon) -> Result<Candidate> {
        let mechanism = Kary::new(self.0, epsilon);
        Ok(Candidate {
            mechanism: Box::new(mechanism),
            rows: Some(Box::new(mechanism)),
        })
    }
}

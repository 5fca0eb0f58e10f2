//! A mechanism at any epsilon: what a calibration walks along.

use std::sync::Arc;

use brr::parts::certify::{Certifier, Weights};
use brr::parts::distances::PairDistances;
use brr::parts::epsilon::Epsilon;
use brr::parts::mechanism::{Exponential, Kary, Mechanism};
use brr::{Budget, Choice, Error, MechanismKind, Model, Options, Privatizer, Result};

use super::{Madlib, NearestVector, Space};

/// A mechanism whose epsilon is not fixed yet.
pub trait Family: Send + Sync {
    /// The mechanism's name.
    fn name(&self) -> &'static str;

    /// Number of words.
    fn words(&self) -> usize;

    /// Distances of the words in the mechanism's metric.
    fn distances(&self) -> PairDistances;

    /// The model that it draws by, if it has one.
    fn model(&self) -> Option<&Arc<Model>> {
        None
    }

    /// The mechanism with at most this epsilon.
    fn at(&self, epsilon: Epsilon) -> Result<Box<dyn Mechanism>>;

    /// The mechanism for a budget.
    fn for_budget(&self, budget: Budget) -> Result<Box<dyn Mechanism>> {
        match budget.validate()? {
            Budget::Bound(value) => self.at(self.epsilon_for_bound(value)?),
            Budget::Keep(share) => self.for_keep(share),
            Budget::Epsilon(value) => self.at(Epsilon::new(value)?),
            _ => Err(Error::NoCalibration {
                mechanism: self.name(),
            }),
        }
    }

    /// The mechanism that keeps at most this share of words, by use, where that is known without
    /// a simulation.
    fn for_keep(&self, _share: f64) -> Result<Box<dyn Mechanism>> {
        Err(Error::NoCalibration {
            mechanism: self.name(),
        })
    }

    /// The largest epsilon at which [`at`](Self::at) gives a bound of at most
    /// `bound`, up to rounding.
    fn epsilon_for_bound(&self, bound: f64) -> Result<Epsilon> {
        Epsilon::new(bound / self.distances().average)
    }
}

/// A mechanism that ships: set up by the very [`Privatizer`] that a text would go through.
pub struct ShippedFamily {
    /// The model.
    pub model: Arc<Model>,
    /// Which mechanism.
    pub kind: MechanismKind,
}

impl Family for ShippedFamily {
    fn name(&self) -> &'static str {
        self.kind.name()
    }

    fn words(&self) -> usize {
        self.model.vocabulary().len()
    }

    fn distances(&self) -> PairDistances {
        match (self.kind, self.model.tree()) {
            (MechanismKind::Tree, Some(tree)) => tree.pair_distances(),
            (MechanismKind::KAry, _) => PairDistances::discrete(self.words()),
            _ => self.model.pair_distances(),
        }
    }

    fn model(&self) -> Option<&Arc<Model>> {
        Some(&self.model)
    }

    fn at(&self, epsilon: Epsilon) -> Result<Box<dyn Mechanism>> {
        self.for_budget(Budget::Epsilon(epsilon.get()))
    }

    fn for_budget(&self, budget: Budget) -> Result<Box<dyn Mechanism>> {
        let options = Options::default()
            .with_mechanism(self.kind)
            .with_budget(budget);
        Ok(Privatizer::new(self.model.clone(), options)?.into_mechanism())
    }
}

/// Halvings of the logarithm of a range of scales, to within 0.3 %.
const SCALE_HALVINGS: usize = 12;

/// The exponential mechanism over a model, certified afresh for every epsilon: for experiments.
pub struct CertifiedFamily {
    /// The model.
    pub model: Arc<Model>,
    /// Makes certificates for it.
    pub certifier: Certifier,
}

impl Family for CertifiedFamily {
    fn name(&self) -> &'static str {
        "exponential"
    }

    fn words(&self) -> usize {
        self.model.vocabulary().len()
    }

    fn distances(&self) -> PairDistances {
        self.model.pair_distances()
    }

    fn model(&self) -> Option<&Arc<Model>> {
        Some(&self.model)
    }

    fn at(&self, epsilon: Epsilon) -> Result<Box<dyn Mechanism>> {
        let model = self.model.clone();
        let certificate = self.certifier.certify(epsilon, None);
        Ok(Box::new(Exponential::certified(model, &certificate)?))
    }

    /// The steepest weights that keep at most this share, by halving their scale.
    fn for_keep(&self, share: f64) -> Result<Box<dyn Mechanism>> {
        let measured = |scale: f64| {
            let weights = Weights::exponential(self.model.bits(), scale, None);
            self.certifier.measure(&weights)
        };
        let (mut low, mut high) = (libm::log(1e-4), libm::log(10.0));
        for _ in 0..SCALE_HALVINGS {
            let middle = (low + high) / 2.0;
            match measured(libm::exp(middle)).keep.weighted > share {
                true => high = middle,
                false => low = middle,
            }
        }
        let found = measured(libm::exp(low));
        if found.keep.weighted > share {
            return Err(Error::KeepOutOfReach {
                asked: share,
                lowest: found.keep.weighted,
                highest: 1.0,
            });
        }
        self.at(Epsilon::new(found.epsilon)?)
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

    fn at(&self, epsilon: Epsilon) -> Result<Box<dyn Mechanism>> {
        let (space, search) = (self.space.clone(), self.search.clone());
        Ok(Box::new(Madlib::with_search(space, epsilon, search)))
    }
}

/// K-ary randomized response over this many words, of no model.
pub struct KaryFamily(pub usize);

impl Family for KaryFamily {
    fn name(&self) -> &'static str {
        "k-ary"
    }

    fn words(&self) -> usize {
        self.0
    }

    fn distances(&self) -> PairDistances {
        PairDistances::discrete(self.0)
    }

    fn at(&self, epsilon: Epsilon) -> Result<Box<dyn Mechanism>> {
        Ok(Box::new(Kary::new(self.0, epsilon)))
    }

    fn for_keep(&self, share: f64) -> Result<Box<dyn Mechanism>> {
        Ok(Box::new(Kary::for_budget(self.0, Budget::Keep(share))?))
    }
}

//! What a privatizer does to a word, and what an output gives away.
//!
//! For the user's own eyes, to choose a budget by; none of it is private.

use brr::explain::{self, Method};
use pyo3::prelude::*;

use crate::failure;
use crate::privatizer::Privatizer;

/// A probability, and between which numbers it is known to lie.
#[pyclass(frozen, get_all, eq, module = "brr")]
#[derive(Clone, PartialEq)]
pub struct Chance {
    /// The best estimate.
    probability: f64,
    /// Not below this.
    low: f64,
    /// Not above this.
    high: f64,
}

impl From<explain::Chance> for Chance {
    fn from(chance: explain::Chance) -> Chance {
        Chance {
            probability: chance.probability,
            low: chance.low,
            high: chance.high,
        }
    }
}

#[pymethods]
impl Chance {
    fn __repr__(&self) -> String {
        format!(
            "Chance(probability={}, low={}, high={})",
            self.probability, self.low, self.high
        )
    }
}

/// A word, and how likely it is.
#[pyclass(frozen, get_all, eq, module = "brr")]
#[derive(Clone, PartialEq)]
pub struct Likely {
    /// The word.
    word: String,
    /// How likely.
    chance: Chance,
}

#[pymethods]
impl Likely {
    fn __repr__(&self) -> String {
        format!("Likely('{}', {})", self.word, self.chance.probability)
    }
}

/// What comes out when a word goes in.
#[pyclass(frozen, get_all, module = "brr")]
pub struct Outcomes {
    /// How likely the word stays.
    stays: Chance,
    /// The most likely outputs, the word itself among them.
    likely: Vec<Likely>,
    /// Share of outputs among the k words nearest to the input, itself counted.
    reach: Vec<(usize, f64)>,
    /// How the numbers were found: `exact` or `drawn`.
    method: &'static str,
    /// How many draws an estimate rests on.
    draws: Option<usize>,
}

/// What may have gone in when a word came out.
#[pyclass(frozen, get_all, module = "brr")]
pub struct Posterior {
    /// The most likely inputs. Empty if there were too few draws to tell.
    likely: Vec<Likely>,
    /// How the numbers were found: `drawn`, `nearest` or `opaque`.
    method: &'static str,
    /// How many draws an estimate rests on.
    draws: Option<usize>,
}

/// The most likely outputs for a word.
pub fn outcomes(
    py: Python<'_>,
    privatizer: &Privatizer,
    word: &str,
    top: usize,
    draws: usize,
) -> PyResult<Outcomes> {
    let (core, id) = (privatizer.core(), find(py, privatizer, word)?);
    let found = failure::detached(py, || explain::outcomes(core, id, top, draws))?
        .map_err(|error| failure::to_py(py, &error))?;
    let reach = explain::Outcomes::REACH.into_iter().zip(found.reach);
    Ok(Outcomes {
        stays: found.stays.into(),
        likely: named(privatizer, &found.likely),
        reach: reach.collect(),
        method: found.method.name(),
        draws: draws_of(found.method),
    })
}

/// The most likely inputs behind a word.
pub fn posterior(
    py: Python<'_>,
    privatizer: &Privatizer,
    word: &str,
    top: usize,
    draws: usize,
) -> PyResult<Posterior> {
    let (core, id) = (privatizer.core(), find(py, privatizer, word)?);
    let found = failure::detached(py, || explain::posterior(core, id, top, draws))?
        .map_err(|error| failure::to_py(py, &error))?;
    Ok(Posterior {
        likely: named(privatizer, &found.likely),
        method: found.method.name(),
        draws: draws_of(found.method),
    })
}

fn find(py: Python<'_>, privatizer: &Privatizer, word: &str) -> PyResult<u32> {
    explain::find(privatizer.core(), word).map_err(|error| failure::to_py(py, &error))
}

fn named(privatizer: &Privatizer, likely: &[explain::Likely]) -> Vec<Likely> {
    let vocabulary = privatizer.core().model().vocabulary();
    let name = |l: &explain::Likely| Likely {
        word: vocabulary.word(l.word).to_owned(),
        chance: l.chance.into(),
    };
    likely.iter().map(name).collect()
}

fn draws_of(method: Method) -> Option<usize> {
    match method {
        Method::Drawn { draws } => Some(draws),
        _ => None,
    }
}

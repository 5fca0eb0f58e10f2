//! What a privatizer does to a word or a text, and what an output gives away.
//!
//! For the user's own eyes, to choose a budget by; none of it is private.

use brr::explain::{self, Chance, Likely, Method, Part};
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::privatizer::Privatizer;
use crate::{failure, interruptible, record};

/// The most likely outputs for a word: a record `Outcomes`.
pub fn outcomes<'py>(
    py: Python<'py>,
    privatizer: &Privatizer,
    word: &str,
    top: usize,
    draws: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let found = asked(py, privatizer, word, move |core, id| {
        explain::outcomes(core, id, top, draws)
    })?;
    let reach = explain::Outcomes::REACH.into_iter().zip(found.reach);
    let fields = (
        chance(py, found.stays)?,
        named(py, privatizer, found.likely)?,
        reach.collect::<Vec<_>>(),
        found.method.name(),
        draws_of(found.method),
    );
    record::new(py, "Outcomes", fields)
}

/// The most likely inputs behind a word: a record `Posterior`.
pub fn posterior<'py>(
    py: Python<'py>,
    privatizer: &Privatizer,
    word: &str,
    top: usize,
    draws: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let found = asked(py, privatizer, word, move |core, id| {
        explain::posterior(core, id, top, draws)
    })?;
    let likely = named(py, privatizer, found.likely)?;
    let fields = (likely, found.method.name(), draws_of(found.method));
    record::new(py, "Posterior", fields)
}

/// A privatized text beside its original: a record `Trace`.
pub fn trace<'py>(
    py: Python<'py>,
    privatizer: &Privatizer,
    text: String,
) -> PyResult<Bound<'py, PyAny>> {
    let core = privatizer.share();
    let trace = interruptible::run(py, move || explain::trace(&core, &text), || {})?
        .map_err(|error| failure::to_py(py, &error))?;
    let parts = record::list(py, "TracePart", trace.parts, |part| match part {
        Part::Structure(written) => (written, None, None, false, false, false),
        Part::Word {
            output,
            drawn,
            original,
            known,
            changed,
            public,
        } => (output, drawn, Some(original), known, changed, public),
    })?;
    record::new(
        py,
        "Trace",
        (parts, trace.tokens, trace.unknown, trace.public),
    )
}

/// What the core tells about a word. After Ctrl-C the work ends in the background.
fn asked<T: Send + 'static>(
    py: Python<'_>,
    privatizer: &Privatizer,
    word: &str,
    ask: impl FnOnce(&brr::Privatizer, u32) -> brr::Result<T> + Send + 'static,
) -> PyResult<T> {
    let core = privatizer.share();
    let id = explain::find(&core, word).map_err(|error| failure::to_py(py, &error))?;
    interruptible::run(py, move || ask(&core, id), || {})?
        .map_err(|error| failure::to_py(py, &error))
}

fn chance(py: Python<'_>, chance: Chance) -> PyResult<Bound<'_, PyAny>> {
    record::new(py, "Chance", (chance.probability, chance.low, chance.high))
}

fn named<'py>(
    py: Python<'py>,
    privatizer: &Privatizer,
    likely: Vec<Likely>,
) -> PyResult<Bound<'py, PyList>> {
    let core = privatizer.share();
    let words = core.model().vocabulary();
    let chances: Vec<_> = likely
        .iter()
        .map(|l| Ok((words.word(l.word), chance(py, l.chance)?)))
        .collect::<PyResult<_>>()?;
    record::list(py, "Likely", chances, |fields| fields)
}

fn draws_of(method: Method) -> Option<usize> {
    match method {
        Method::Drawn { draws } => Some(draws),
        _ => None,
    }
}

//! Word frequencies from privatized texts: `brr estimate` from Python.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use brr_corpus::{Input, RecordProblem, Written};
use brr_estimate::{Count, Documents, Effort, EstimateOptions, Estimates, Prior, estimate_texts};
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::choices::Whole;
use crate::file::failure_of;
use crate::model::Model;
use crate::privatizer::{Privatizer, row_text};
use crate::{failure, interruptible, record};

/// Who privatized the texts.
#[derive(Clone)]
enum Source {
    Given(Arc<brr::Privatizer>),
    Recorded(Arc<Written>),
}

impl Source {
    fn privatizer(&self) -> &brr::Privatizer {
        match self {
            Source::Given(privatizer) => privatizer,
            Source::Recorded(written) => &written.privatizer,
        }
    }
}

/// Estimates from a list of privatized texts: a record `Estimates`.
#[pyfunction(name = "_estimate")]
pub fn estimate<'py>(
    privatizer: &Privatizer,
    texts: &Bound<'py, PyList>,
    unknown_words: Option<Whole>,
    prior: &Bound<'py, PyAny>,
    resamplings: Whole,
) -> PyResult<Bound<'py, PyAny>> {
    let (py, core) = (texts.py(), privatizer.share());
    if core.options().context.is_some() {
        let message = "texts that were decoded with context no longer have the mechanism's \
                       frequencies: estimate from texts that were privatized without it";
        return Err(failure::input(py, message.to_owned(), None));
    }
    let mut documents = Documents::new(core.model().vocabulary().len());
    for (row, text) in texts.iter().enumerate() {
        if let Some(text) = row_text(&text, Some(row))? {
            documents.read(core.model(), &text);
        }
    }
    let unknown = match core.options().unknown {
        brr::Unknown::Random => unknown_words.map(|n| n.0 as u64),
        _ => Some(0),
    };
    solve(
        py,
        Source::Given(core),
        documents,
        unknown,
        prior,
        resamplings,
    )
}

/// Estimates from what a run wrote, by its record: a record `Estimates`.
#[pyfunction(name = "_estimate_file")]
pub fn estimate_file<'py>(
    py: Python<'py>,
    path: PathBuf,
    manifest: &str,
    model: Option<Bound<'py, PyAny>>,
    prior: &Bound<'py, PyAny>,
    resamplings: Whole,
) -> PyResult<Bound<'py, PyAny>> {
    let unfit = |problem: RecordProblem| {
        let way_out = match problem {
            RecordProblem::OtherModel => "; give it with model=",
            RecordProblem::OtherFile => ": give one of them, or their folder",
            _ => "",
        };
        failure::input(py, format!("the manifest {problem}{way_out}"), None)
    };
    let model = Model::wanted(py, model.as_ref())?.get().inner.clone();
    let manifest = serde_json::from_str(manifest).map_err(|_| unfit(RecordProblem::NoRecord))?;
    let written = py.detach(|| Written::of(manifest, model));
    let written = Arc::new(written.map_err(unfit)?);
    let unknown = written.unknown_words(Some(&path)).map_err(unfit)?;
    let files = written.files(&path).map_err(unfit)?;
    for file in &files {
        written.reader(Some(file)).map_err(unfit)?;
    }
    let source = written.clone();
    let read = move || {
        let model = source.privatizer.model();
        let mut documents = Documents::new(model.vocabulary().len());
        for file in files {
            let reader = source.reader(Some(&file)).expect("looked at before");
            reader.read(Input::File(file), &mut |text| documents.read(model, text))?;
        }
        Ok(documents)
    };
    let documents = interruptible::run(py, read, || {})?.map_err(|e| failure_of(py, &e))?;
    solve(
        py,
        Source::Recorded(written),
        documents,
        Some(unknown),
        prior,
        resamplings,
    )
}

/// After Ctrl-C the work ends in the background.
fn solve<'py>(
    py: Python<'py>,
    source: Source,
    documents: Documents,
    unknown: Option<u64>,
    prior: &Bound<'py, PyAny>,
    resamplings: Whole,
) -> PyResult<Bound<'py, PyAny>> {
    documents
        .check()
        .map_err(|message| failure::input(py, message.to_owned(), None))?;
    let prior = believed(prior, source.privatizer().model())?;
    let received = (documents.len(), documents.total());
    let options = EstimateOptions {
        unknown,
        resamplings: resamplings.0,
        ..EstimateOptions::default()
    };
    let subject = source.clone();
    let work = move || {
        let privatizer = subject.privatizer();
        let effort = Effort::default();
        estimate_texts(privatizer, &documents, &prior, &options, &effort, &|| ())
    };
    let found = interruptible::run(py, work, || {})?;
    let found = found.map_err(|error| failure::to_py(py, &error))?;
    told(py, source.privatizer().model(), &found, received)
}

/// What is believed beforehand: a name, or public counts.
fn believed(prior: &Bound<'_, PyAny>, model: &brr::Model) -> PyResult<Prior> {
    let words = model.vocabulary().len();
    if let Ok(public) = prior.extract::<HashMap<String, f64>>() {
        let mut counts = vec![0.0; words];
        for (word, count) in public {
            if let Some(id) = model
                .find(&word)
                .filter(|_| count.is_finite() && count > 0.0)
            {
                counts[id as usize] += count;
            }
        }
        let none = "none of the words of prior= with a count is in the model";
        return Prior::from_counts(&counts).ok_or_else(|| failure::argument(prior.py(), none));
    }
    match prior.extract::<&str>() {
        Ok("rank") => Ok(Prior::by_rank(words)),
        Ok("uniform") => Ok(Prior::uniform(words)),
        _ => {
            let message = "prior= is 'rank', 'uniform', or a dictionary of words and their counts";
            Err(failure::argument(prior.py(), message))
        }
    }
}

/// A record `Estimates`, the most frequent word first.
fn told<'py>(
    py: Python<'py>,
    model: &brr::Model,
    found: &Estimates,
    (documents, received): (usize, u64),
) -> PyResult<Bound<'py, PyAny>> {
    let mut order: Vec<(usize, &Count)> = found.words.iter().enumerate().collect();
    order.sort_by(|(_, a), (_, b)| b.estimate.total_cmp(&a.estimate));
    let words = record::list(py, "WordCount", order, |(id, c)| {
        let word = model.vocabulary().word(id as u32);
        (word, c.estimate, c.low, c.high, c.unbiased, c.raw)
    })?;
    let fields = (words, documents, received, found.unknown, found.solved);
    record::new(py, "Estimates", fields)
}

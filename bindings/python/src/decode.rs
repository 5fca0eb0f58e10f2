//! The most probable original of released text: `brr decode` from Python.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use brr::{Case, Options, Policy};
use brr_corpus::{Input, Output, RecordProblem, Run, Written, recorded_policy};
use brr_estimate::posterior::Estimation;
use brr_estimate::{DecodedText, TextDecoder};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyNone};
use serde_json::Value;

use crate::choices::Whole;
use crate::file::failure_for_good;
use crate::language::Language;
use crate::model::Model;
use crate::privatizer::{Name, Privatizer, row_text};
use crate::words::Words;
use crate::{failure, interruptible, record};

const DECODED: &str =
    "were decoded with context already: decode texts that were privatized without it";

/// Decodes a list of released texts: texts, or records `DecodedText` if posteriors are wanted.
#[pyfunction(name = "_decode")]
pub fn decode<'py>(
    privatizer: &Privatizer,
    texts: &Bound<'py, PyList>,
    language: &Bound<'py, PyAny>,
    others: Option<Whole>,
) -> PyResult<Bound<'py, PyList>> {
    let (py, core) = (texts.py(), privatizer.share());
    if core.options().context.is_some() {
        return Err(failure::input(
            py,
            format!("texts of this privatizer {DECODED}"),
            None,
        ));
    }
    let language = believed(language)?;
    let others = others.map(|n| n.0.min(core.model().vocabulary().len()));
    let mut rows = Vec::with_capacity(texts.len());
    for (row, text) in texts.iter().enumerate() {
        rows.push(row_text(&text, Some(row))?.map(|text| text.to_string()));
    }
    let there: Vec<bool> = rows.iter().map(Option::is_some).collect();
    let subject = core.clone();
    let work = move || {
        let texts: Vec<String> = rows.into_iter().flatten().collect();
        let decoder = TextDecoder::new(&subject, &language, &Estimation::default())?;
        let whole = |text| DecodedText {
            text,
            tokens: Vec::new(),
        };
        match others {
            Some(others) => decoder.posteriors(&texts, others),
            None => Ok(decoder.decode(&texts)?.into_iter().map(whole).collect()),
        }
    };
    let found = interruptible::run(py, work, || {})?;
    let mut found = found
        .map_err(|error| failure::to_py(py, &error))?
        .into_iter();
    let cells = PyList::empty(py);
    for there in there {
        let decoded = if there { found.next() } else { None };
        match (decoded, others) {
            (Some(decoded), None) => cells.append(decoded.text)?,
            (Some(decoded), Some(_)) => cells.append(told(py, core.model(), &decoded)?)?,
            (None, _) => cells.append(PyNone::get(py))?,
        }
    }
    Ok(cells)
}

/// Decodes what a run wrote into another file, by its record.
#[pyfunction(name = "_decode_file")]
#[allow(clippy::too_many_arguments)] // Python's keyword arguments
pub fn decode_file<'py>(
    py: Python<'py>,
    input: PathBuf,
    output: PathBuf,
    manifest: &str,
    model: Option<Bound<'py, PyAny>>,
    language: &Bound<'py, PyAny>,
    words: Option<Words>,
    case: Name<'_>,
    force: bool,
) -> PyResult<()> {
    let unfit = |problem: RecordProblem| {
        let message = match problem {
            RecordProblem::Decoded => format!("the manifest is of texts that {DECODED}"),
            RecordProblem::OtherModel => format!("the manifest {problem}; give it with model="),
            RecordProblem::OtherList => {
                format!("the manifest {problem}; give the very list of that run with words=")
            }
            _ => format!("the manifest {problem}"),
        };
        failure::input(py, message, None)
    };
    let model = Model::wanted(py, model.as_ref())?.get().inner.clone();
    let manifest: Value =
        serde_json::from_str(manifest).map_err(|_| unfit(RecordProblem::NoRecord))?;
    let policy = policy(py, &manifest, words.as_ref(), &model)?;
    let (language, case) = (believed(language)?, case.parse::<Case>(py)?);
    let options = brr_english::with_case(Options::default().with_policy(policy), case, &model);
    let written = py.detach(|| Written::under(manifest, model, options, &|_| {}));
    let written = Arc::new(written.map_err(unfit)?);
    written.reader(Some(&input)).map_err(unfit)?;
    let work = move |stop: &AtomicBool| {
        let decoder = TextDecoder::new(&written.privatizer, &language, &Estimation::default())?;
        let rewrite = |texts: &[&str]| decoder.decode(texts);
        let run = Run {
            rewrite: Some(&rewrite),
            force,
            stop: Some(stop),
            // The decoder itself has the threads.
            threads: 1,
            ..written.reader(Some(&input)).expect("looked at before")
        };
        run.run(Input::File(input), Output::File(output)).map(drop)
    };
    interruptible::until_safe(py, work)?.map_err(|e| failure_for_good(py, &e))
}

/// The language model meant: one must be.
fn believed(language: &Bound<'_, PyAny>) -> PyResult<Arc<brr::Language>> {
    let wanted = Language::wanted(language)?;
    let none = || {
        failure::argument(
            language.py(),
            "language= is needed to decode: True is the built-in one",
        )
    };
    Ok(wanted.ok_or_else(none)?.get().inner.clone())
}

/// The policy of a record, with the list that was given or the built-in one of its name.
fn policy(
    py: Python<'_>,
    record: &Value,
    words: Option<&Words>,
    model: &brr::Model,
) -> PyResult<Policy> {
    let Some((kind, name)) = recorded_policy(record) else {
        return match words {
            None => Ok(Policy::All),
            Some(_) => Err(failure::argument(
                py,
                "words=: the manifest is of texts all of whose words were private",
            )),
        };
    };
    let stated = words.map_or(name, Words::stated);
    let [public, private] = match kind {
        "only" => [None, Some(stated)],
        _ => [Some(stated), None],
    };
    brr_english::policy(public, private, model).map_err(|error| match words {
        Some(_) => failure::to_py(py, &error),
        None => failure::input(
            py,
            "the manifest is of texts of which some words were public, by a list that is not built in: give it with words=".into(),
            None,
        ),
    })
}

/// A record `DecodedText`.
fn told<'py>(
    py: Python<'py>,
    model: &brr::Model,
    decoded: &DecodedText,
) -> PyResult<Bound<'py, PyAny>> {
    let word = |id| model.vocabulary().word(id);
    let words = record::list(py, "DecodedWord", &decoded.tokens, |guess| {
        let others: Vec<(&str, f64)> = guess.others.iter().map(|&(id, p)| (word(id), p)).collect();
        (
            guess.released.map(word),
            guess.word.map(word),
            guess.drawn,
            guess.posterior,
            others,
        )
    })?;
    record::new(py, "DecodedText", (&decoded.text, words))
}

//! Where the model comes from: a file, or the built-in English one.

use std::path::Path;
use std::sync::Arc;

use brr::parts::parallel::cores;
use brr::{Language, Model};

use crate::failure::{Failure, Result};
use crate::input;
use crate::output::is_standard;
use crate::progress::Stages;

/// Opens a model file, or the built-in model if none is named.
pub fn open(path: Option<&Path>) -> Result<Arc<Model>> {
    let Some(path) = path else {
        return Ok(Arc::new(brr_english::model()?));
    };
    let model = match is_standard(path) {
        true => Model::new(input::bytes(path)?),
        false => Model::open(path),
    };
    let model = model.map_err(|error| match error {
        brr::Error::Io { .. } => error.into(),
        _ => Failure::Failed(format!("{}: {error}", input::called(path))),
    })?;
    Ok(Arc::new(model))
}

/// As [`open`], with everything that the file says checked on this machine, unless it is the
/// built-in one, which is known to hold.
pub fn open_checked(path: Option<&Path>) -> Result<Arc<Model>> {
    let model = open(path)?;
    check(&model, path)?;
    Ok(model)
}

/// Checks everything that an opened file says.
pub fn check(model: &Model, path: Option<&Path>) -> Result {
    let stages = Stages::new();
    let share = |share| stages.show("checking the model", share);
    let checked = model.check(cores(), &share);
    stages.finish();
    match (checked, path) {
        (Err(error), Some(path)) => {
            Err(Failure::Failed(format!("{}: {error}", input::called(path))))
        }
        (checked, _) => Ok(checked?),
    }
}

/// Opens a language model for a model's words, or the built-in one if none is named.
pub fn open_language(path: Option<&Path>, model: &Model) -> Result<Language> {
    let named = |error: brr::Error| {
        match (path, error) {
        (Some(path), error) if !matches!(error, brr::Error::Io { .. }) => {
            Failure::Failed(format!("{}: {error}", input::called(path)))
        }
        (None, brr::Error::LanguageMismatch) => Failure::Failed(
            "the built-in language model is for the built-in model's words: make one for this model \
             with `brr language build --model`, and name it with --language"
                .into(),
        ),
        (_, error) => error.into(),
    }
    };
    let language = match path {
        Some(path) if is_standard(path) => Language::new(&input::bytes(path)?),
        Some(path) => Language::open(path),
        None => brr_english::language(),
    };
    let language = language.map_err(named)?;
    language
        .check_vocabulary(model.vocabulary())
        .map_err(named)?;
    Ok(language)
}

/// Bytes in hexadecimal.
#[cfg(feature = "workstation")]
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

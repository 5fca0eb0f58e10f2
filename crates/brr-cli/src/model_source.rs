//! Where the model comes from: a file, or the built-in English one.

use std::path::Path;
use std::sync::Arc;

use brr::Model;
use brr::parts::parallel::cores;

use crate::failure::{Failure, Result};
use crate::progress::Stages;

/// Opens a model file, or the built-in model if none is named.
pub fn open(path: Option<&Path>) -> Result<Arc<Model>> {
    let Some(path) = path else {
        return Ok(Arc::new(brr_english::model()?));
    };
    let model = Model::open(path).map_err(|error| match error {
        brr::Error::Io { .. } => error.into(),
        _ => Failure::Failed(format!("{}: {error}", path.display())),
    })?;
    Ok(Arc::new(model))
}

/// As [`open`], with everything that the file says checked on this machine, unless it is the
/// built-in one, which is known to hold.
pub fn open_checked(path: Option<&Path>) -> Result<Arc<Model>> {
    let model = open(path)?;
    let stages = Stages::new();
    let share = |share| stages.show("checking the model", share);
    let checked = model.check(cores(), &share);
    stages.finish();
    match (checked, path) {
        (Err(error), Some(path)) => Err(Failure::Failed(format!("{}: {error}", path.display()))),
        (checked, _) => Ok(checked.map(|()| model)?),
    }
}

/// Bytes in hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

//! Where the model comes from: a file, or the built-in English one.

use std::path::Path;
use std::sync::Arc;

use brr::Model;

use crate::failure::{Failure, Result};

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

/// How a model is called in messages.
pub fn name(model: &Model) -> &str {
    model.meta_value("name").unwrap_or("unnamed model")
}

/// Bytes in hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

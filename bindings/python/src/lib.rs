//! The Python package's native part: the core's types behind Python classes.
//!
//! Nothing of the privatization is done here. [`privatizer`] and [`model`] wrap
//! the core, [`language`] decodes after the noise, [`explain`] looks into it, [`build`] makes
//! models, [`batch`] spreads rows over threads, [`file`] hands whole files to `brr-corpus`,
//! [`mod@estimate`] and [`mod@decode`] privatized texts to `brr-estimate`, [`interruptible`] hears Ctrl-C meanwhile,
//! [`choices`] is the core's table of names and defaults,
//! [`session`] has spans and sessions, [`column`] takes and gives Arrow columns, [`record`] tells in records of Python,
//! [`failure`] turns errors into exceptions. What a pandas or polars object is, only
//! the Python sources know.

mod batch;
mod build;
mod choices;
mod column;
mod decode;
mod estimate;
mod explain;
mod failure;
mod file;
mod guarantee;
mod interruptible;
mod language;
mod model;
mod privatizer;
mod record;
mod session;
mod words;

use pyo3::prelude::*;

#[pymodule]
mod _native {
    use super::*;

    #[pymodule_export]
    use super::build::build;
    #[pymodule_export]
    use super::column::ArrowColumn;
    #[pymodule_export]
    use super::decode::{decode, decode_file};
    #[pymodule_export]
    use super::estimate::{estimate, estimate_file};
    #[pymodule_export]
    use super::file::privatize_file;
    #[pymodule_export]
    use super::guarantee::Guarantee;
    #[pymodule_export]
    use super::language::{Language, build_language};
    #[pymodule_export]
    use super::model::Model;
    #[pymodule_export]
    use super::privatizer::Privatizer;
    #[pymodule_export]
    use super::session::{Restorer, Session};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        // This library's own hook: a panic's message could quote a text.
        std::panic::set_hook(Box::new(|_| {}));
        module.add("CHOICES", choices::table(module.py())?)?;
        module.add("DEFAULT_BUDGET", choices::keyword(brr::Budget::DEFAULT))?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}

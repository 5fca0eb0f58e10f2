//! One file per verb.

pub mod bench;
pub mod build;
pub mod certify;
pub mod inspect;
pub mod privatize;

//! One file per verb.

pub mod bench;
pub mod inspect;
pub mod privatize;

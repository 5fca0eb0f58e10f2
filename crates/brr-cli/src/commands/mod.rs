//! One file per verb.

pub mod audit;
pub mod build;
pub mod calibrate;
pub mod certify;
pub mod estimate;
pub mod evaluate;
pub mod explain;
pub mod inspect;
pub mod language;
pub mod privatize;
pub mod ratio;

//! Evaluates mechanisms: what they do to words, what an attacker gains, whether
//! they keep their promise.
//!
//! [`mechanisms`] (the baselines beside brr's own) -> [`channel`] (what a
//! mechanism does to a word) -> [`calibrate`] and [`explain`] (for the person who
//! chooses epsilon) -> [`report`] (for the reader); [`audit`] tries to
//! falsify a guarantee; [`ratio`] puts two metrics side by side. [`experiment`]
//! asks what privacy costs on labelled texts ([`dataset`]): a [`classifier`]
//! learns them privatized, [`membership`] and [`reconstruction`] attack. [`attack`] is the attacker who
//! reads context.
//! [`estimate`] is what a server learns from many privatized texts, with seeded draws.
//!
//! Simulations here are seeded and say so. Nothing in this crate runs on a device.

pub mod attack;
pub mod audit;
pub mod calibrate;
pub mod channel;
pub mod classifier;
pub mod dataset;
pub mod decoded_keep;
pub mod error;
pub mod estimate;
pub mod experiment;
pub mod explain;
pub mod mechanisms;
pub mod membership;
pub mod ratio;
pub mod reconstruction;
pub mod report;

pub use brr_estimate::interval;
pub use error::{Error, Result};

#[cfg(test)]
mod fixture;

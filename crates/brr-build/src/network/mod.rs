//! Small networks with hand-written gradients: a dense layer, activations,
//! losses and Adam. The autoencoder uses them, and so does the [`Perceptron`]
//! that attacks classifiers in `brr-eval`.
//!
//! No part calls a mathematical library whose last bit depends on the platform
//! (see [`activation`]), products are reproducible ([`crate::matrix`]), and what
//! is summed is summed in a fixed order: a training run ends in the same bits
//! everywhere.

pub mod activation;
mod adam;
mod dense;
mod perceptron;

pub use adam::Adam;
pub use dense::{Dense, Gradient};
pub use perceptron::{Perceptron, Training};

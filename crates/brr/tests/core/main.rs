//! The core through its public interface. One binary: what is linked once is linked quickly.

mod attacks;
mod case;
mod context;
mod distribution;
mod error_kinds;
mod explain;
mod false_claims;
mod language_file;
mod model_file;
mod orthography;
mod policy;
mod privatizer;
mod pruning;
mod restoring;
mod session;
mod spans;
#[path = "../support/mod.rs"]
mod support;
mod tree;

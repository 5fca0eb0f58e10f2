//! Whole files through the public interface.

#[cfg(feature = "parquet")]
mod parquet;
mod run;
mod support;

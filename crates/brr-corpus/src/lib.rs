//! Whole files through a [`Privatizer`](brr::Privatizer): text, CSV, JSON lines, Parquet.
//!
//! The rule that all formats share: what the user named as text is privatized, everything else is
//! copied byte by byte. A record is never half done, and a run that was interrupted goes on from
//! its last [`checkpoint`].
//!
//! A file passes through here in this order:
//!
//! - [`compression`]: packed bytes to bytes and back;
//! - [`chunks`]: bytes to chunks of whole records, in constant memory;
//! - [`text`], [`csv`], [`jsonl`]: where in a chunk the private cells are ([`edits`]);
//! - [`pipeline`]: chunks through several threads, in order;
//! - [`output`]: a partial file, its checkpoints, and the whole file in the end; [`files`] says who
//!   may read them.
//!
//! [`units`] counts the private words of each person, if a column says whose each row is.
//!
//! [`rows`] joins these. Parquet is no stream of records and has a path of its own, [`parquet`].

pub mod checkpoint;
pub mod chunks;
pub mod compression;
pub mod csv;
pub mod edits;
mod error;
pub mod files;
pub mod format;
pub mod jsonl;
pub mod output;
#[cfg(feature = "parquet")]
pub mod parquet;
pub mod pipeline;
pub mod rows;
pub mod source;
pub mod text;
pub mod units;

pub use checkpoint::{Counts, Restart};
pub use edits::OnBadRow;
pub use error::{Error, Result};
pub use format::{Format, Packing};
pub use output::{Output, Partial};
pub use rows::{Event, Job, Report};
pub use source::Source;
pub use units::Units;

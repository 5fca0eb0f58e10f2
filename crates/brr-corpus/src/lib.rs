//! Whole files through a [`Privatizer`](brr::Privatizer): text, CSV, JSON lines, Parquet.
//!
//! The rule that all formats share: what the user named as text is privatized, everything else is
//! copied byte by byte. A record is never half done, and a run that was interrupted goes on from
//! its last checkpoint. [`Run`] is the entrance:
//!
//! ```no_run
//! use brr_corpus::{Input, Output, Run};
//! # fn example(privatizer: &brr::Privatizer) -> brr_corpus::Result {
//! let input = Input::File("reviews.csv.gz".into());
//! let output = Output::File("private.csv.zst".into());
//! let run = Run {
//!     columns: vec!["title".into(), "body".into()],
//!     resume: true,
//!     ..Run::new(privatizer)
//! };
//! let report = run.run(input, output)?;
//! println!("{} rows", report.counts.rows);
//! # Ok(())
//! # }
//! ```
//!
//! A file passes through here in this order:
//!
//! - `input`, `compression`: compressed bytes to bytes and back;
//! - `chunks`: bytes to chunks of whole records, in constant memory;
//! - `text`, `csv`, `jsonl`: where in a chunk the private cells are (`edits`);
//! - `pipeline`: chunks through several threads, in order;
//! - `output`, `partial`: a partial file, its checkpoints, and the whole file in the end; [`files`]
//!   says who may read them;
//! - [`manifest`]: what was promised and done, on record, with the output's [`Fingerprint`].
//!
//! What a run wrote is read again by its record ([`Written`]).
//!
//! `units` counts the private words of each person, if a column says whose each row is.
//!
//! `rows` joins these. Parquet is no stream of records and has a path of its own, `parquet`.

mod checkpoint;
mod chunks;
mod compression;
mod csv;
mod edits;
mod encoding;
mod error;
pub mod files;
mod fingerprint;
mod folder;
mod format;
mod input;
mod json;
mod jsonl;
pub mod manifest;
mod output;
#[cfg(feature = "parquet")]
mod parquet;
mod partial;
mod paths;
mod pipeline;
mod privatize;
mod read;
mod rows;
mod run;
mod text;
mod units;
mod walk;
mod watch;

pub use checkpoint::{Counts, Restart};
pub use edits::OnBadRow;
pub use encoding::Encoding;
pub use error::{
    ColumnProblem, ColumnRole, Difference, Error, FileProblem, RecordProblem, Result, RowProblem,
};
pub use fingerprint::Fingerprint;
pub use folder::{FolderReport, RECORD};
pub use format::{Compression, Format};
pub use input::Input;
pub use output::Output;
#[cfg(feature = "parquet")]
pub use parquet::panic_is_told;
pub use paths::Known;
pub use privatize::Report;
pub use read::{Written, recorded_policy};
pub use run::{Progress, Rewrite, Run};
pub use text::Document;
pub use units::{Histogram, Statistics};
pub use watch::Watch;

//! The settings of a [`Run`], and what follows from them.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use brr::parts::parallel::cores;
use brr::{Privatized, Privatizer};

use crate::edits::OnBadRow;
use crate::encoding::Encoding;
use crate::error::{Error, Result};
use crate::format::{Compression, Dialect, Format};
use crate::text::Document;
use crate::units::NO_CAP;

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Progress {
    /// The input is open and its columns are found: rows come next.
    Begun,
    /// Bytes of the input file that are done.
    Bytes(u64),
}

/// Texts to as many others, in order.
pub type Rewrite<'a> = dyn Fn(&[&str]) -> brr::Result<Vec<String>> + Sync + 'a;

/// What is to be done with a file or stream. [`Run::new`] has the defaults:
/// `Run { resume: true, ..Run::new(&privatizer) }`.
#[derive(Clone)]
pub struct Run<'a> {
    /// Privatizes the cells.
    pub privatizer: &'a Privatizer,
    /// The input's format, which is also the output's. Default: by the name, else text.
    pub format: Option<Format>,
    /// How the input is compressed. Default: by the name.
    pub input_compression: Option<Compression>,
    /// How the input's text is encoded; the output is always UTF-8. Default: UTF-8.
    pub encoding: Option<Encoding>,
    /// How the output is to be compressed. Default: by the name.
    pub output_compression: Option<Compression>,
    /// What is privatized: names or numbers from 1, such as `2` or `#2` (CSV), or paths such as
    /// `user.comment` (JSON lines, Parquet). Plain text has no columns.
    pub columns: Vec<String>,
    /// Rows of JSON lines may lack a column, the first row too.
    pub optional_columns: bool,
    /// The column that says whose a row is. It is copied, so it is public. Default: each document
    /// is its own unit.
    pub unit: Option<String>,
    /// The most private words that a unit keeps; words beyond are deleted.
    pub max_words: Option<u64>,
    /// CSV: whether the first row has the names of the columns. Default: it has, but then a column
    /// must be given by its name.
    pub header: Option<bool>,
    /// CSV: what stands between two cells. Default: a comma, or a tab in TSV.
    pub delimiter: Option<u8>,
    /// CSV: whether quotes have a meaning. They do by default.
    pub quotes: bool,
    /// Plain text: what a document is. Default: each line.
    pub document: Option<Document>,
    /// Plain text: writes this line for each document, in place of its text.
    pub document_line: Option<&'a (dyn Fn(&Privatized) -> String + Sync)>,
    /// What becomes of private texts, in the place of being privatized. By default they are privatized.
    pub rewrite: Option<&'a Rewrite<'a>>,
    /// What becomes of a row that cannot be read. By default the run ends there.
    pub on_bad_row: OnBadRow,
    /// The longest row that is taken into memory; a longer one is a bad row. Default: 16 MB.
    pub max_record: usize,
    /// How many threads privatize. Default: one for each core.
    pub threads: usize,
    /// Goes on with an unfinished run, if there is one. Wants files on both sides.
    pub resume: bool,
    /// Replaces an output and a manifest, and forgets an unfinished run that is not resumed.
    pub force: bool,
    /// How often to make a checkpoint. Default: every two seconds.
    pub checkpoint_interval: Duration,
    /// Where to write the record of the run, before the output takes its name.
    pub manifest: Option<PathBuf>,
    /// Set from outside, ends the run at the next safe point.
    pub stop: Option<&'a AtomicBool>,
    /// Told how far the run is.
    pub progress: Option<&'a (dyn Fn(Progress) + Sync)>,
}

impl<'a> Run<'a> {
    /// With all defaults.
    pub fn new(privatizer: &'a Privatizer) -> Run<'a> {
        Run {
            privatizer,
            format: None,
            input_compression: None,
            encoding: None,
            output_compression: None,
            columns: Vec::new(),
            optional_columns: false,
            unit: None,
            max_words: None,
            header: None,
            delimiter: None,
            quotes: true,
            document: None,
            document_line: None,
            rewrite: None,
            on_bad_row: OnBadRow::default(),
            max_record: 16 << 20,
            threads: cores(),
            resume: false,
            force: false,
            checkpoint_interval: Duration::from_secs(2),
            manifest: None,
            stop: None,
            progress: None,
        }
    }
}

impl Run<'_> {
    pub(crate) fn kind(&self) -> Format {
        self.format.unwrap_or_default()
    }

    pub(crate) fn dialect(&self) -> Dialect {
        let usual = match self.kind() {
            Format::Tsv => b'\t',
            _ => b',',
        };
        Dialect {
            delimiter: self.delimiter.unwrap_or(usual),
            quotes: self.quotes,
        }
    }

    /// The cap of a cell that no ledger was asked about.
    pub(crate) fn cap(&self) -> u64 {
        match self.unit {
            None => self.max_words.unwrap_or(NO_CAP),
            // Words that nobody counted do not pass.
            Some(_) => 0,
        }
    }

    /// What becomes of private texts, of which text `i` keeps at most `cap(i)` words.
    pub(crate) fn rewritten(
        &self,
        texts: &[impl AsRef<str>],
        cap: impl Fn(usize) -> u64,
    ) -> Result<Vec<Privatized>> {
        let Some(rewrite) = self.rewrite else {
            return Ok(self.privatizer.privatize_capped(texts, cap)?);
        };
        let texts: Vec<&str> = texts.iter().map(AsRef::as_ref).collect();
        let of = |text| {
            let mut written = Privatized::default();
            written.text = text;
            written
        };
        Ok(rewrite(&texts)?.into_iter().map(of).collect())
    }

    pub(crate) fn tell(&self, progress: Progress) {
        if let Some(tell) = self.progress {
            tell(progress);
        }
    }

    /// An error if the run was asked to stop.
    pub(crate) fn go_on(&self) -> Result {
        match self.stop {
            Some(stop) if stop.load(Ordering::Relaxed) => Err(Error::Stopped),
            _ => Ok(()),
        }
    }
}

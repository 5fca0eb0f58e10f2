//! Gathers words and vectors, whatever the format: rule, duplicates, defects, limit and account.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use super::report::{Defect, Header, LoadReport, count};
use super::source::Gauge;
use super::stream::Stream;
use super::{LoadOptions, Loaded, OnDefect, Progress, VectorFormat, Vectors};
use crate::error::{Error, Result};
use crate::vocabulary_rule::Rejection;

/// Number of rows between two progress reports.
const ROWS_BETWEEN_PROGRESS: u64 = 4096;

/// A word that may enter once its vector turns out well.
pub(super) struct Candidate {
    at: u64,
    word: String,
    /// The spelling of the file, if it is another.
    spelling: Option<String>,
}

/// What a loader fills.
pub(super) struct Collector<'a> {
    path: PathBuf,
    options: &'a LoadOptions,
    progress: &'a mut dyn FnMut(Progress),
    vectors: Vectors,
    /// Line or row of each word.
    places: Vec<u64>,
    /// The words taken, and whether the file had them in just this spelling.
    taken: HashMap<String, bool>,
    /// Other spellings that became one of them.
    spellings: HashSet<String>,
    /// Words that a list keeps out.
    excluded: HashSet<String>,
    report: LoadReport,
}

impl<'a> Collector<'a> {
    pub(super) fn new(
        path: &Path,
        format: VectorFormat,
        options: &'a LoadOptions,
        progress: &'a mut dyn FnMut(Progress),
    ) -> Self {
        Collector {
            path: path.to_owned(),
            options,
            progress,
            vectors: Vectors::default(),
            places: Vec::new(),
            taken: HashMap::new(),
            spellings: HashSet::new(),
            excluded: HashSet::new(),
            report: LoadReport::new(format, &options.exclude),
        }
    }

    /// Sets the length of the vectors.
    pub(super) fn set_dim(&mut self, dim: usize) {
        self.vectors.dim = dim;
    }

    /// Notes what the header promises.
    pub(super) fn set_header(&mut self, header: Header) {
        self.report.header = Some(header);
        self.set_dim(header.dim);
    }

    /// Notes that the last row has no line end.
    pub(super) fn set_unended(&mut self) {
        self.report.unended = true;
    }

    /// Whether there are as many words as wanted.
    pub(super) fn is_full(&self) -> bool {
        (self.options.words).is_some_and(|wanted| self.places.len() >= wanted)
    }

    /// Notes that rows were left unread, if so, since there are enough words.
    pub(super) fn stop_if(&mut self, rows_left: bool) {
        self.report.stopped_early |= rows_left;
    }

    /// Looks at the word of the next row. `None` if the row is not needed.
    pub(super) fn consider(
        &mut self,
        stream: &Stream<'_>,
        at: u64,
        token: &[u8],
    ) -> Result<Option<Candidate>> {
        self.next_row(stream);
        let Ok(token) = str::from_utf8(token) else {
            return self.defective(at, Defect::NotUtf8);
        };
        if token.is_empty() {
            return self.defective(at, Defect::EmptyWord);
        }
        let word = match self.options.filter.admit(token) {
            Ok(word) => word.into_owned(),
            Err(reason) => return Ok(self.left_out(at, reason)),
        };
        if self.is_excluded(&word) {
            return Ok(self.left_out(at, Rejection::Excluded));
        }
        let spelling = (word != token).then(|| token.to_owned());
        let same_spelling = match &spelling {
            None => self.taken.get(&word).copied() == Some(true),
            Some(spelling) => self.spellings.contains(spelling),
        };
        let candidate = Candidate { at, word, spelling };
        if same_spelling {
            self.defective(at, Defect::Duplicate)
        } else if self.taken.contains_key(&candidate.word) {
            self.note_spelling(candidate);
            Ok(self.left_out(at, Rejection::Variant))
        } else {
            Ok(Some(candidate))
        }
    }

    /// A row whose word cannot even be looked at.
    pub(super) fn bad_row(&mut self, stream: &Stream<'_>, at: u64, defect: Defect) -> Result<()> {
        self.next_row(stream);
        self.defective(at, defect).map(|_: Option<()>| ())
    }

    /// Leaves a row out whose word need not be looked at.
    pub(super) fn pass_over(&mut self, stream: &Stream<'_>, at: u64, reason: Rejection) {
        self.next_row(stream);
        self.left_out::<()>(at, reason);
    }

    /// Takes the word with its vector, unless there is something wrong with that.
    pub(super) fn take(&mut self, candidate: Candidate, row: Result<&[f32], Defect>) -> Result<()> {
        match row.and_then(check) {
            Ok(row) => {
                self.claim(candidate);
                self.vectors.data.extend_from_slice(row);
                Ok(())
            }
            Err(defect) => self.defective(candidate.at, defect).map(|_: Option<()>| ()),
        }
    }

    /// Takes the word and leaves its vector to [`Collector::set_data`].
    pub(super) fn claim(&mut self, candidate: Candidate) {
        self.places.push(candidate.at);
        self.vectors.words.push(candidate.word.clone());
        self.note_spelling(candidate);
    }

    /// The words taken so far.
    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    /// Sets the vectors of all claimed words at once, and drops the words with defective ones.
    pub(super) fn set_data(&mut self, data: Vec<f32>) -> Result<()> {
        self.vectors.data = data;
        let defects: Vec<_> = (0..self.len())
            .filter_map(|i| Some((i, check(self.vectors.row(i)).err()?)))
            .collect();
        self.give_up(&defects)
    }

    /// Drops claimed words, of ascending indices, whose vectors cannot be had.
    pub(super) fn give_up(&mut self, words: &[(usize, Defect)]) -> Result<()> {
        for &(i, defect) in words {
            self.defective(self.places[i], defect)
                .map(|_: Option<()>| ())?;
        }
        self.remove(&words.iter().map(|&(i, _)| i).collect::<Vec<_>>());
        Ok(())
    }

    /// The result, unless it is empty. If all of it was in one stream, that knows the digest.
    pub(super) fn finish(mut self, stream: Option<&Stream<'_>>) -> Result<Loaded> {
        let digest = stream.and_then(Stream::sha256);
        self.report.sha256 = digest.filter(|_| !self.report.stopped_early);
        let strays = self.options.filter.stray_letters(&self.vectors.words);
        for &i in &strays {
            self.left_out::<()>(self.places[i], Rejection::LoneLetter);
        }
        self.remove(&strays);
        self.report.words = self.len() as u64;
        self.show_progress(stream.map(Stream::gauge));
        let (path, report) = (self.path, self.report);
        if report.words == 0 && report.rows > 0 {
            let tally = report
                .losses()
                .iter()
                .map(|line| format!("\n  {line}"))
                .collect();
            return Err(Error::NoUsableWords {
                path,
                rows: report.rows,
                tally,
            });
        }
        if let (Some(promised), OnDefect::Fail) = (report.broken_promise(), self.options.on_defect)
        {
            return Err(Error::RowCount {
                path,
                promised,
                found: report.rows,
            });
        }
        if (report.is_cut_short() || stream.is_some_and(Stream::is_cut)) && !self.options.partial {
            return Err(Error::CutShort {
                path,
                rows: report.rows,
            });
        }
        if report.words == 0 {
            return Err(Error::EmptyFile { path });
        }
        self.vectors.data.shrink_to_fit();
        Ok(Loaded {
            vectors: self.vectors,
            report,
        })
    }

    fn next_row(&mut self, stream: &Stream<'_>) {
        self.report.rows += 1;
        if self.report.rows.is_multiple_of(ROWS_BETWEEN_PROGRESS) {
            self.tell_progress(stream);
        }
    }

    pub(super) fn tell_progress(&mut self, stream: &Stream<'_>) {
        // How far one file of several has been read says little.
        let several = self.report.format.has_parts();
        self.show_progress(Some(stream.gauge()).filter(|_| !several));
    }

    fn show_progress(&mut self, gauge: Option<&Gauge>) {
        (self.progress)(Progress {
            words: self.places.len(),
            words_wanted: self.options.words,
            bytes: gauge.and_then(Gauge::bytes),
            bytes_total: gauge.and_then(Gauge::len),
        });
    }

    fn note_spelling(&mut self, candidate: Candidate) {
        match candidate.spelling {
            None => {
                self.taken.insert(candidate.word, true);
            }
            Some(spelling) => {
                self.taken.entry(candidate.word).or_insert(false);
                self.spellings.insert(spelling);
            }
        }
    }

    /// Whether a list keeps the word out; the first that does takes it on its account.
    fn is_excluded(&mut self, word: &str) -> bool {
        let lists = &self.options.exclude;
        let Some(list) = lists.iter().position(|list| list.contains(word)) else {
            return false;
        };
        if self.excluded.insert(word.to_owned()) {
            self.report.excluded[list].words += 1;
        }
        true
    }

    fn left_out<T>(&mut self, at: u64, reason: Rejection) -> Option<T> {
        count(&mut self.report.left_out, reason, at);
        None
    }

    fn defective<T>(&mut self, at: u64, defect: Defect) -> Result<Option<T>> {
        match self.options.on_defect {
            OnDefect::Fail => Err(Error::Defective {
                path: self.path.clone(),
                unit: self.report.unit,
                at,
                defect,
            }),
            OnDefect::Skip => {
                count(&mut self.report.defects, defect, at);
                Ok(None)
            }
        }
    }

    /// Removes the words of ascending indices `out`, moving the others up.
    fn remove(&mut self, out: &[usize]) {
        if out.is_empty() {
            return;
        }
        let dim = self.vectors.dim;
        let stays: Vec<usize> = (0..self.len())
            .filter(|i| out.binary_search(i).is_err())
            .collect();
        for (to, &from) in stays.iter().enumerate() {
            self.vectors.words.swap(to, from);
            self.places.swap(to, from);
            if !self.vectors.data.is_empty() {
                let row = from * dim..(from + 1) * dim;
                self.vectors.data.copy_within(row, to * dim);
            }
        }
        self.vectors.words.truncate(stays.len());
        self.places.truncate(stays.len());
        self.vectors.data.truncate(stays.len() * dim);
    }
}

/// A vector must be finite and not zero.
fn check(row: &[f32]) -> Result<&[f32], Defect> {
    if !row.iter().all(|x| x.is_finite()) {
        Err(Defect::NotFinite)
    } else if row.iter().all(|x| *x == 0.0) {
        Err(Defect::AllZero)
    } else {
        Ok(row)
    }
}

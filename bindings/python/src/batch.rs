//! Many rows over several threads, results in the order of the rows.
//!
//! Rows are cut into jobs of some tens of kilobytes, and threads take one job after the other
//! until none is left. If there are fewer jobs than threads, as with one long text, the words of a
//! job are spread over several. Each job, and each part of one, is drawn by the core with a
//! generator of its own, freshly seeded by the operating system. Threads live for one call: after
//! a fork there is no pool to be missing and no generator to be doubled. The calling thread
//! waits: only it learns of signals, and it tells how far the work has come.

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use brr::Privatizer;
use pyo3::prelude::*;

use crate::choices::Whole;
use crate::failure;

/// Bytes of text in a job: several thousand words, so that a job's own costs do
/// not show.
const JOB_BYTES: usize = 32 << 10;
/// A row's cost in bytes beside its text, so that a job has not too many rows.
const ROW_BYTES: usize = 8;
/// How often the calling thread looks whether it should stop.
const LOOK: Duration = Duration::from_millis(100);

/// A privatized row.
pub struct Row<'a> {
    pub text: &'a str,
    pub tokens: u64,
    pub unknown: u64,
    pub public: u64,
}

/// Where a row ends in its job's text, and what was counted in it.
struct End {
    byte: usize,
    tokens: u64,
    unknown: u64,
    public: u64,
}

/// The privatized rows of one job, end to end.
#[derive(Default)]
struct Done {
    text: String,
    /// `None` for a row that is null.
    ends: Vec<Option<End>>,
}

/// Privatized rows, in order.
pub struct PrivatizedRows(Vec<Done>);

impl PrivatizedRows {
    /// Each row, `None` where the input was null.
    pub fn iter(&self) -> impl Iterator<Item = Option<Row<'_>>> {
        self.0.iter().flat_map(|done| {
            let mut start = 0;
            done.ends.iter().map(move |end| {
                let end = end.as_ref()?;
                Some(Row {
                    text: &done.text[std::mem::replace(&mut start, end.byte)..end.byte],
                    tokens: end.tokens,
                    unknown: end.unknown,
                    public: end.public,
                })
            })
        })
    }

    /// Each row's text, `None` where the input was null.
    pub fn texts(&self) -> impl Iterator<Item = Option<&str>> {
        self.iter().map(|row| row.map(|row| row.text))
    }
}

/// Why there are no rows.
pub enum Stopped<E> {
    /// The core failed.
    Failed(brr::Error),
    /// `look` said so.
    Asked(E),
}

/// Privatizes all rows with up to `threads` threads. `look` is called from the calling thread now
/// and then, and at the end, with the number of rows done; its error ends the work.
pub fn run<T, E>(
    privatizer: &Privatizer,
    rows: &[Option<T>],
    threads: usize,
    mut look: impl FnMut(usize) -> Result<(), E>,
) -> Result<PrivatizedRows, Stopped<E>>
where
    T: AsRef<str> + Sync,
{
    let jobs = cut(rows);
    let inner = threads / jobs.len().max(1);
    let (next, rows_done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let stop = AtomicBool::new(false);
    let finished = Mutex::new(Vec::with_capacity(jobs.len()));
    let failed = Mutex::new(None);
    let step = || {
        let number = next.fetch_add(1, Ordering::Relaxed);
        let Some(job) = jobs.get(number).filter(|_| !stop.load(Ordering::Relaxed)) else {
            return false;
        };
        match privatize(privatizer, &rows[job.clone()], inner, &stop) {
            Ok(Some(done)) => {
                unpoisoned(&finished).push((number, done));
                rows_done.fetch_add(job.len(), Ordering::Relaxed);
            }
            Ok(None) => {}
            Err(error) => {
                stop.store(true, Ordering::Relaxed);
                *unpoisoned(&failed) = Some(error);
            }
        }
        true
    };
    let mut look = || look(rows_done.load(Ordering::Relaxed));
    // What is short is done before a thread would have started.
    let helpers = if is_short(rows, &jobs) {
        0
    } else {
        threads.min(jobs.len())
    };
    let asked = thread::scope(|scope| {
        let (working, ended) = mpsc::channel::<()>();
        let helper = |_| {
            let working = working.clone();
            let work = move || {
                let _until_the_end = working;
                while step() {}
            };
            thread::Builder::new().spawn_scoped(scope, work).is_ok()
        };
        // No thread to be had: the calling one does the work.
        if (0..helpers).map(helper).filter(|&started| started).count() == 0 {
            while step() {}
        }
        drop(working);
        while let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(LOOK) {
            if let Err(error) = look() {
                stop.store(true, Ordering::Relaxed);
                return Err(error);
            }
        }
        Ok(())
    });
    if let Some(error) = unpoisoned(&failed).take() {
        return Err(Stopped::Failed(error));
    }
    asked.and_then(|()| look()).map_err(Stopped::Asked)?;
    let mut finished = std::mem::take(&mut *unpoisoned(&finished));
    finished.sort_unstable_by_key(|(number, _)| *number);
    Ok(PrivatizedRows(
        finished.into_iter().map(|(_, done)| done).collect(),
    ))
}

/// As many threads as asked for; by default one for each core.
pub fn threads(py: Python<'_>, asked: Option<Whole>) -> PyResult<usize> {
    match asked.map(|whole| whole.0) {
        Some(0) => Err(failure::argument(py, "threads must be at least 1")),
        Some(threads) => Ok(threads),
        None => Ok(brr::parts::parallel::cores()),
    }
}

/// A panic elsewhere is reported by the scope; the data behind the lock is whole.
fn unpoisoned<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Cuts rows into jobs of about equal size.
fn cut<T: AsRef<str>>(rows: &[Option<T>]) -> Vec<Range<usize>> {
    let mut jobs = Vec::new();
    let (mut start, mut bytes) = (0, 0);
    for (i, row) in rows.iter().enumerate() {
        bytes += ROW_BYTES + row.as_ref().map_or(0, |text| text.as_ref().len());
        if bytes >= JOB_BYTES {
            jobs.push(start..i + 1);
            (start, bytes) = (i + 1, 0);
        }
    }
    if start < rows.len() {
        jobs.push(start..rows.len());
    }
    jobs
}

/// Whether the rows are one job, and not a long one.
fn is_short<T: AsRef<str>>(rows: &[Option<T>], jobs: &[Range<usize>]) -> bool {
    let bytes = |row: &Option<T>| row.as_ref().map_or(0, |text| text.as_ref().len());
    jobs.len() <= 1 && rows.iter().map(bytes).sum::<usize>() < JOB_BYTES
}

/// The rows of a job; nothing if the work was stopped.
fn privatize<T: AsRef<str>>(
    privatizer: &Privatizer,
    rows: &[Option<T>],
    threads: usize,
    stop: &AtomicBool,
) -> brr::Result<Option<Done>> {
    let texts: Vec<&str> = rows.iter().flatten().map(AsRef::as_ref).collect();
    let go_on = || !stop.load(Ordering::Relaxed);
    let Some(privatized) = privatizer.privatize_parallel(&texts, threads, go_on)? else {
        return Ok(None);
    };
    let mut privatized = privatized.into_iter();
    let mut done = Done::default();
    for row in rows {
        done.ends.push(row.as_ref().map(|_| {
            let private = privatized.next().expect("a text for each text");
            done.text.push_str(&private.text);
            End {
                byte: done.text.len(),
                tokens: private.tokens,
                unknown: private.unknown,
                public: private.public,
            }
        }));
    }
    Ok(Some(done))
}

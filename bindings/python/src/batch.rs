//! Many rows over several threads, results in the order of the rows.
//!
//! Rows are cut into jobs of some tens of kilobytes. The threads, the calling
//! one among them, take one job after the other until none is left. Each job is
//! one call of the core and so has a generator of its own, freshly seeded by the
//! operating system. Threads live for one call: after a fork there is no pool
//! to be missing and no generator to be doubled.

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use brr::Privatizer;
use pyo3::prelude::*;

use crate::failure;

/// Bytes of text in a job: several thousand words, so that a job's own costs do
/// not show, and a tenth of a second at the most, so that Ctrl-C is heard.
const JOB_BYTES: usize = 32 << 10;
/// A row's cost in bytes beside its text, so that a job has not too many rows.
const ROW_BYTES: usize = 8;
/// How often the calling thread looks whether it should stop.
const LOOK: Duration = Duration::from_millis(100);

/// The privatized rows of one job, end to end.
#[derive(Default)]
struct Done {
    text: String,
    /// Where each row ends in `text`; `None` for a row that is null.
    ends: Vec<Option<usize>>,
}

/// Privatized rows, in order.
pub struct PrivatizedRows(Vec<Done>);

impl PrivatizedRows {
    /// Each row's text, `None` where the input was null.
    pub fn iter(&self) -> impl Iterator<Item = Option<&str>> {
        self.0.iter().flat_map(|done| {
            let mut start = 0;
            done.ends.iter().map(move |end| {
                let end = (*end)?;
                Some(&done.text[std::mem::replace(&mut start, end)..end])
            })
        })
    }
}

/// Why there are no rows.
pub enum Stopped<E> {
    /// The core failed.
    Failed(brr::Error),
    /// `check` said so.
    Asked(E),
}

/// Privatizes all rows with up to `threads` threads. `check` is called from the
/// calling thread now and then; its error ends the work.
pub fn run<T, E>(
    privatizer: &Privatizer,
    rows: &[Option<T>],
    threads: usize,
    mut check: impl FnMut() -> Result<(), E>,
) -> Result<PrivatizedRows, Stopped<E>>
where
    T: AsRef<str> + Sync,
{
    let jobs = cut(rows);
    let next = AtomicUsize::new(0);
    let stop = AtomicBool::new(false);
    let finished = Mutex::new(Vec::with_capacity(jobs.len()));
    let failed = Mutex::new(None);
    let step = || {
        let number = next.fetch_add(1, Ordering::Relaxed);
        let Some(job) = jobs.get(number).filter(|_| !stop.load(Ordering::Relaxed)) else {
            return false;
        };
        match privatize(privatizer, &rows[job.clone()]) {
            Ok(done) => unpoisoned(&finished).push((number, done)),
            Err(error) => {
                stop.store(true, Ordering::Relaxed);
                *unpoisoned(&failed) = Some(error);
            }
        }
        true
    };
    let asked = thread::scope(|scope| {
        for _ in 1..threads.min(jobs.len()) {
            // No thread to be had: the others do the work.
            let _ = thread::Builder::new().spawn_scoped(scope, || while step() {});
        }
        let mut looked = Instant::now();
        while step() {
            if looked.elapsed() >= LOOK {
                looked = Instant::now();
                if let Err(error) = check() {
                    stop.store(true, Ordering::Relaxed);
                    return Some(error);
                }
            }
        }
        None
    });
    if let Some(error) = asked {
        return Err(Stopped::Asked(error));
    }
    if let Some(error) = unpoisoned(&failed).take() {
        return Err(Stopped::Failed(error));
    }
    let mut finished = std::mem::take(&mut *unpoisoned(&finished));
    finished.sort_unstable_by_key(|(number, _)| *number);
    Ok(PrivatizedRows(
        finished.into_iter().map(|(_, done)| done).collect(),
    ))
}

/// As many threads as asked for; by default one for each core.
pub fn threads(py: Python<'_>, asked: Option<usize>) -> PyResult<usize> {
    match asked {
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

fn privatize<T: AsRef<str>>(privatizer: &Privatizer, rows: &[Option<T>]) -> brr::Result<Done> {
    let texts: Vec<&str> = rows.iter().flatten().map(AsRef::as_ref).collect();
    let mut privatized = privatizer.privatize_batch(&texts)?.into_iter();
    let mut done = Done::default();
    for row in rows {
        done.ends.push(row.as_ref().map(|_| {
            let private = privatized.next().expect("a text for each text");
            done.text.push_str(&private.text);
            done.text.len()
        }));
    }
    Ok(done)
}

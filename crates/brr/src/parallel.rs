//! Work split into a fixed number of parts, done by any number of threads.
//!
//! What a part computes depends on the part alone and results come back in the
//! order of the parts, so the number of threads never shows in an answer. That
//! is what makes a build reproducible.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// As many threads as the machine has cores for this process.
pub fn cores() -> usize {
    thread::available_parallelism().map_or(1, |n| n.get())
}

/// `f(0)`, `f(1)`, ... `f(parts - 1)`, computed by up to `threads` threads.
pub fn map<T: Send>(threads: usize, parts: usize, f: impl Fn(usize) -> T + Sync) -> Vec<T> {
    if threads <= 1 || parts <= 1 {
        return (0..parts).map(f).collect();
    }
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, T)>> = Mutex::new(Vec::with_capacity(parts));
    thread::scope(|scope| {
        for _ in 0..threads.min(parts) {
            scope.spawn(|| {
                loop {
                    let part = next.fetch_add(1, Ordering::Relaxed);
                    if part >= parts {
                        break;
                    }
                    let value = f(part);
                    done.lock().unwrap().push((part, value));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap();
    done.sort_unstable_by_key(|&(part, _)| part);
    done.into_iter().map(|(_, value)| value).collect()
}

/// Calls `f(part, chunk)` on consecutive chunks of `len` items (the last may be
/// shorter).
pub fn chunks<T: Send>(
    threads: usize,
    data: &mut [T],
    len: usize,
    f: impl Fn(usize, &mut [T]) + Sync,
) {
    let parts = data.len().div_ceil(len.max(1));
    let queue = Mutex::new(data.chunks_mut(len.max(1)).enumerate());
    let work = || {
        loop {
            let item = queue.lock().unwrap().next();
            let Some((part, chunk)) = item else { break };
            f(part, chunk);
        }
    };
    if threads <= 1 || parts <= 1 {
        return work();
    }
    thread::scope(|scope| {
        for _ in 0..threads.min(parts) {
            scope.spawn(work);
        }
    });
}

#[cfg(test)]
mod tests {
    #[test]
    fn results_come_in_order() {
        for threads in [1, 2, 7] {
            let got = super::map(threads, 20, |i| i * i);
            assert_eq!(got, (0..20).map(|i| i * i).collect::<Vec<_>>());
        }
        assert!(super::map(3, 0, |i| i).is_empty());
    }

    #[test]
    fn every_chunk_is_visited_once() {
        for threads in [1, 3] {
            let mut data = vec![0; 23];
            super::chunks(threads, &mut data, 5, |part, chunk| {
                chunk.iter_mut().for_each(|x| *x += part + 1);
            });
            let expected: Vec<_> = (0..23).map(|i| i / 5 + 1).collect();
            assert_eq!(data, expected);
        }
    }
}

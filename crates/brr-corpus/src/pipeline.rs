//! Chunks of work through several threads, results in the order of the input,
//! in constant memory.
//!
//! A reader thread cuts the input into chunks. Each chunk goes to whichever
//! worker is free, together with a channel for its result; the receiving ends
//! of those channels go to the writer in order. Both queues are bounded, so
//! reading waits when writing does. With one thread all of it is done in the caller's.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use crate::error::{Error, Result};

/// Runs `next` (input), `work` (in `threads` threads) and `write` (in order)
/// until `next` has nothing more or one of them fails.
pub fn run<I: Send, O: Send>(
    threads: usize,
    mut next: impl FnMut() -> Result<Option<I>> + Send,
    work: impl Fn(I) -> Result<O> + Sync,
    mut write: impl FnMut(O) -> Result,
) -> Result {
    if threads == 1 {
        while let Some(input) = next()? {
            write(work(input)?)?;
        }
        return Ok(());
    }
    type Given<I, O> = (I, SyncSender<Result<O>>);
    let (give, take) = sync_channel::<Given<I, O>>(threads);
    let (announce, ordered) = sync_channel::<Receiver<Result<O>>>(threads * 2);
    let take = Mutex::new(take);
    std::thread::scope(|scope| {
        let (take, work) = (&take, &work);
        let worker = move || {
            loop {
                let given = take.lock().map(|queue| queue.recv());
                let Ok(Ok((input, result))) = given else {
                    return;
                };
                // A worker that died would leave the reader waiting.
                let done = catch_unwind(AssertUnwindSafe(|| work(input)));
                // The writer may be gone after a failure: nobody to tell.
                let _ = result.send(done.unwrap_or(Err(Error::Thread)));
            }
        };
        for _ in 0..threads {
            scope.spawn(worker);
        }
        let reader = scope.spawn(move || -> Result {
            while let Some(input) = next()? {
                let (result, later) = sync_channel(1);
                if announce.send(later).is_err() || give.send((input, result)).is_err() {
                    break;
                }
            }
            Ok(())
        });
        let written = ordered
            .iter()
            .try_for_each(|later| write(later.recv().map_err(|_| Error::Thread)??));
        // Closing the queue stops the reader, which stops the workers.
        drop(ordered);
        let read = reader.join().map_err(|_| Error::Thread)?;
        written.and(read)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn results_come_in_order_and_reading_waits_for_writing() {
        let (read, written) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let mut got = Vec::new();
        let next = || {
            let i = read.fetch_add(1, Ordering::SeqCst);
            assert!(i <= written.load(Ordering::SeqCst) + 32, "reads far ahead");
            Ok((i < 1000).then_some(i))
        };
        let work = |i: usize| {
            std::thread::sleep(std::time::Duration::from_micros((i % 7) as u64 * 50));
            Ok(i)
        };
        let write = |i| {
            got.push(i);
            written.fetch_add(1, Ordering::SeqCst);
            Ok(())
        };
        run(4, next, work, write).unwrap();
        assert_eq!(got, (0..1000).collect::<Vec<_>>());

        let (mut left, mut got) = (3..=7, Vec::new());
        let write = |i| {
            got.push(i);
            Ok(())
        };
        run(1, || Ok(left.next()), Ok, write).unwrap();
        assert_eq!(got, [3, 4, 5, 6, 7]);
    }

    #[test]
    fn a_failure_anywhere_ends_everything() {
        let failed = || Error::Stopped;
        let endless = || Ok(Some(1));
        for threads in [1, 2] {
            assert!(run(threads, endless, Ok, |_| Err(failed())).is_err());
            assert!(run(threads, endless, |_| Err::<(), _>(failed()), |_| Ok(())).is_err());
            assert!(run(threads, || Err::<Option<()>, _>(failed()), Ok, |_| Ok(())).is_err());
        }
        let dead = |done| assert!(matches!(done, Err(Error::Thread)));
        dead(run(2, endless, |_| -> Result<()> { panic!() }, |()| Ok(())));
        dead(run(
            2,
            || -> Result<Option<()>> { panic!() },
            Ok,
            |()| Ok(()),
        ));
    }
}

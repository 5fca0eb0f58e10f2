//! Long work that Ctrl-C ends.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use pyo3::call::PyCallArgs;
use pyo3::prelude::*;

use crate::choices::Callback;
use crate::failure;

/// How often the waiting thread looks for signals.
const SIGNALS: Duration = Duration::from_millis(100);

/// Does the work on a thread of its own, with the interpreter free for others. Only Python's
/// main thread learns of signals, so the calling one waits for them; at one that raises it
/// calls `give_up` and leaves the work to end by itself.
pub fn run<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send + 'static,
    give_up: impl FnOnce(),
) -> PyResult<T> {
    let (send, mut receive) = mpsc::channel();
    // Nobody listens any more if the work was given up.
    thread::spawn(move || drop(send.send(work())));
    loop {
        let waited = py.detach(move || (receive.recv_timeout(SIGNALS), receive));
        receive = waited.1;
        match waited.0 {
            Ok(done) => return Ok(done),
            Err(mpsc::RecvTimeoutError::Timeout) => {
                if let Err(signal) = py.check_signals() {
                    give_up();
                    return Err(signal);
                }
            }
            Err(mpsc::RecvTimeoutError::Disconnected) => return Err(failure::internal(py)),
        }
    }
}

/// The same for work that ends soon after its flag is set, and is waited for: what it has done is safe
/// then, and nothing is written any more.
pub fn until_safe<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce(&AtomicBool) -> T + Send + 'static,
) -> PyResult<T> {
    let stop = Arc::new(AtomicBool::new(false));
    let (stopped, (end, ended)) = (stop.clone(), mpsc::channel::<()>());
    let work = move || {
        // Dropped when the work is done, whatever came of it.
        let _end = end;
        work(&stopped)
    };
    let give_up = || {
        stop.store(true, Ordering::Relaxed);
        py.detach(move || {
            let _ = ended.recv();
        });
    };
    run(py, work, give_up)
}

/// Calls Python from whatever thread this is. A callback that fails is shown and ends nothing.
pub fn tell(progress: Option<&Callback>, args: impl for<'py> PyCallArgs<'py>) {
    let Some(progress) = progress else { return };
    Python::attach(|py| {
        if let Err(error) = progress.0.call1(py, args) {
            error.write_unraisable(py, None);
        }
    });
}

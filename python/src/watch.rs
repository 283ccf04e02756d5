//! Work without the interpreter lock, which Python watches and interrupts.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use onnx_recast::{Array, Cancel, Error, ErrorKind, Model, Progress, Unit};
use pyo3::prelude::*;
use rayon::ThreadPool;

use crate::errors;
use crate::pool::pool;

/// The time between two checks for signals and calls of the callback.
const INTERVAL: Duration = Duration::from_millis(20);

/// A call of a function of the module: how it is cancelled, and to whom it reports its progress.
pub struct Watch {
    cancel: Cancel,
    /// Called with the number of items that are done, the total, and the name of the unit.
    callback: Option<Py<PyAny>>,
    /// What has not been reported yet.
    latest: Arc<Mutex<Option<Progress>>>,
    stage: Stage,
}

/// Whether work may still be left to itself after an interruption, or writes files and has to be
/// waited for.
#[derive(Clone, Default)]
pub struct Stage(Arc<AtomicU8>);

impl Stage {
    const FREE: u8 = 0;
    const WRITING: u8 = 1;
    const LEFT: u8 = 2;

    /// Call this before files are written.
    ///
    /// # Errors
    /// If the work has been left to itself: it must not write files any more.
    pub fn begin_to_write(&self) -> Result<(), Error> {
        if self.enter(Stage::WRITING) {
            Ok(())
        } else {
            Err(Error::new(
                ErrorKind::Cancelled,
                "the operation was cancelled",
            ))
        }
    }

    fn enter(&self, next: u8) -> bool {
        self.0
            .compare_exchange(Stage::FREE, next, Ordering::SeqCst, Ordering::SeqCst)
            .is_ok()
    }
}

impl<'a, 'py> FromPyObject<'a, 'py> for Watch {
    type Error = PyErr;

    fn extract(callback: Borrowed<'a, 'py, PyAny>) -> PyResult<Watch> {
        Ok(Watch::new(
            (!callback.is_none()).then(|| callback.to_owned().unbind()),
        ))
    }
}

impl Watch {
    fn new(callback: Option<Py<PyAny>>) -> Watch {
        Watch {
            cancel: Cancel::new(),
            callback,
            latest: Arc::default(),
            stage: Stage::default(),
        }
    }

    /// Work that is interrupted by signals, and reports nothing.
    pub fn silent() -> Watch {
        Watch::new(None)
    }

    /// What work takes along.
    pub fn control(&self) -> Control {
        let latest = self.callback.is_some().then(|| Arc::clone(&self.latest));
        Control {
            cancel: self.cancel.clone(),
            latest,
            stage: self.stage.clone(),
        }
    }

    /// Does work on the threads of the module, while other threads of Python run and this one waits
    /// for signals. After an interruption it waits for the end of the work, which uses memory of
    /// the caller: it has to notice soon that it is cancelled.
    ///
    /// # Errors
    /// Those of the work; a panic is an error of kind [`ErrorKind::Internal`]. What a signal
    /// handler or the callback raises: the work is then cancelled.
    pub fn run<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce() -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        let done = py.detach(|| {
            let (sender, receiver) = sync_channel(1);
            threads()?.in_place_scope(|scope| {
                scope.spawn(move |_| send(&sender, work));
                self.wait(&receiver, || false)
            })
        });
        self.finish(py, done)
    }

    /// Like [`Watch::run`], for work that owns what it uses. After an interruption it is left to
    /// itself, unless it writes files: models of many nodes are decoded, indexed and freed in steps
    /// of more than a moment.
    pub fn run_owned<T: Send + 'static>(
        &self,
        py: Python<'_>,
        work: impl FnOnce() -> Result<T, Error> + Send + 'static,
    ) -> PyResult<T> {
        let done = py.detach(|| {
            let (sender, receiver) = sync_channel(1);
            threads()?.spawn(move || send(&sender, work));
            self.wait(&receiver, || self.stage.enter(Stage::LEFT))
        });
        self.finish(py, done)
    }

    /// Waits for the end of the work, or until it may be left.
    fn wait<T>(
        &self,
        receiver: &Receiver<Result<T, Error>>,
        may_leave: impl Fn() -> bool,
    ) -> Result<T, Ended> {
        let mut raised = None;
        loop {
            match (receiver.recv_timeout(INTERVAL), raised.take()) {
                (Err(RecvTimeoutError::Timeout), None) => {
                    raised = Python::attach(|py| py.check_signals().and_then(|()| self.report(py)))
                        .err();
                    if let Some(error) = raised.take() {
                        self.cancel.cancel();
                        if may_leave() {
                            return Err(Ended::Raised(error));
                        }
                        raised = Some(error);
                    }
                }
                (Err(RecvTimeoutError::Timeout), still) => raised = still,
                (_, Some(error)) => return Err(Ended::Raised(error)),
                (Ok(done), None) => return done.map_err(Ended::Failed),
                (Err(RecvTimeoutError::Disconnected), None) => {
                    return Err(Ended::Failed(Error::new(
                        ErrorKind::Internal,
                        "the work has ended without a result",
                    )));
                }
            }
        }
    }

    fn finish<T>(&self, py: Python<'_>, done: Result<T, Ended>) -> PyResult<T> {
        let done = done.map_err(|ended| match ended {
            Ended::Failed(error) => errors::to_python(py, &error),
            Ended::Raised(error) => error,
        })?;
        self.report(py)?;
        Ok(done)
    }

    /// Calls the callback, if there is something new.
    fn report(&self, py: Python<'_>) -> PyResult<()> {
        let latest = self
            .latest
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let (
            Some(callback),
            Some(Progress {
                unit,
                done,
                total,
                phase: _,
            }),
        ) = (&self.callback, latest)
        {
            callback.call1(py, (done, total, name(unit)))?;
        }
        Ok(())
    }
}

fn name(unit: Unit) -> &'static str {
    match unit {
        Unit::Nodes => "nodes",
        Unit::Rules => "rules",
        Unit::Bytes => "B",
        _ => "items",
    }
}

/// What work takes along: it outlives the call if it is left to itself.
pub struct Control {
    cancel: Cancel,
    latest: Option<Arc<Mutex<Option<Progress>>>>,
    pub stage: Stage,
}

impl Control {
    /// A model whose operations are watched.
    pub fn model(&self, model: Model) -> Model {
        let model = model.with_cancel(&self.cancel);
        match &self.latest {
            Some(latest) => model.with_progress(note(Arc::clone(latest))),
            None => model,
        }
    }

    /// An array whose casts are watched.
    pub fn array(&self, array: Array) -> Array {
        let array = array.with_cancel(&self.cancel);
        match &self.latest {
            Some(latest) => array.with_progress(note(Arc::clone(latest))),
            None => array,
        }
    }
}

/// Work reports its progress from any thread, and often; Python is told by the calling thread, and
/// rarely.
fn note(latest: Arc<Mutex<Option<Progress>>>) -> impl Fn(Progress) + Send + Sync + 'static {
    move |progress| {
        let mut latest = latest.lock().unwrap_or_else(PoisonError::into_inner);
        // Threads may report in another order than they count.
        let is_older = |last: &Progress| {
            (last.unit, last.total) == (progress.unit, progress.total) && last.done > progress.done
        };
        if !latest.as_ref().is_some_and(is_older) {
            *latest = Some(progress);
        }
    }
}

/// How work has ended without a result.
enum Ended {
    Failed(Error),
    /// A signal handler or the callback has raised an exception.
    Raised(PyErr),
}

fn threads() -> Result<&'static ThreadPool, Ended> {
    pool().map_err(|error| Ended::Failed(Error::new(ErrorKind::Io, error)))
}

fn send<T>(sender: &SyncSender<Result<T, Error>>, work: impl FnOnce() -> Result<T, Error>) {
    let done = catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|panic| Err(Error::of_panic(panic.as_ref())));
    // There is no receiver if the work was left to itself.
    drop(sender.send(done));
}

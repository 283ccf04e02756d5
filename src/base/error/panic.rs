//! Panics as errors.
//!
//! A panic in one model is an error of kind `internal` with the place of the panic, and the other
//! models of a run go on: `api` catches those of passes, rules and adapters, which may belong to
//! another crate, and restores the model; the command catches those of the work on each model. With
//! the feature `internals`, the environment variable `RECAST_PANIC` names a model that causes one.

use std::any::Any;
use std::collections::BTreeMap;
use std::env;
use std::panic::{self, AssertUnwindSafe, PanicHookInfo, catch_unwind};
use std::sync::{Mutex, PoisonError};

use super::{Error, ErrorKind};

/// The locations of this process's panics, by message. Only the panic hook receives a location.
/// There is one entry per message, so that the memory is bounded.
static PLACES: Mutex<BTreeMap<String, String>> = Mutex::new(BTreeMap::new());

/// The number of texts whose places are recorded.
const MOST_PLACES: usize = 1 << 10;

impl Error {
    /// The error of a panic that was caught: a defect of this crate, or of a pass, rule or adapter
    /// of another one.
    #[must_use]
    pub fn of_panic(panic: &(dyn Any + Send)) -> Error {
        let text = text(panic);
        let place = PLACES
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(text)
            .cloned();
        let place = place.map_or_else(String::new, |place| format!(" ({place})"));
        Error::new(
            ErrorKind::Internal,
            format!("{text}{place}; this is a bug, please report it"),
        )
    }
}

/// The result of work, or the error of its panic. What the work has borrowed mutably may then be in
/// any state: the caller drops or restores it.
///
/// # Errors
/// If the work panics.
pub fn catch<T>(work: impl FnOnce() -> T) -> Result<T, Error> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| Error::of_panic(panic.as_ref()))
}

/// From now on, the place of a panic is part of its error, and is printed with a backtrace only if
/// `RUST_BACKTRACE` is set: what a script reads from standard error may be a document.
pub fn record_places() {
    let print = panic::take_hook();
    panic::set_hook(Box::new(move |info: &PanicHookInfo| {
        if let Some(location) = info.location() {
            let mut places = PLACES.lock().unwrap_or_else(PoisonError::into_inner);
            if places.len() < MOST_PLACES {
                places.insert(
                    text(info.payload()).to_owned(),
                    format!("{}:{}", location.file(), location.line()),
                );
            }
        }
        if env::var_os("RUST_BACKTRACE").is_some_and(|value| value != "0") {
            print(info);
        }
    }));
}

/// The messages of the panics whose places were recorded, for a program that a panic ends.
#[must_use]
pub fn recorded_panics() -> Vec<String> {
    let places = PLACES.lock().unwrap_or_else(PoisonError::into_inner);
    places
        .iter()
        .map(|(text, place)| format!("{text} ({place})"))
        .collect()
}

fn text(panic: &(dyn Any + Send)) -> &str {
    let text = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("a panic without a message")
}

//! A progress bar on terminals, for work that takes over a second; or reports to a callback.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::options::Messages;
use crate::report::{bytes, plural};
use crate::storage::WriteProgress;
use crate::{Model, Phase, Progress};

const TEMPLATE: &str = "{bar:30} {percent:>3}%, {msg}, {elapsed}";

type Callback = Arc<dyn Fn(Progress) + Send + Sync>;

thread_local! {
    /// The receiver of the progress of models that this thread opens, in place of the progress bar.
    static CALLBACK: RefCell<Option<Callback>> = const { RefCell::new(None) };
}

/// Runs `work` with a callback for the progress of the models that this thread opens.
pub fn reported_to<T>(
    callback: impl Fn(Progress) + Send + Sync + 'static,
    work: impl FnOnce() -> T,
) -> T {
    CALLBACK.set(Some(Arc::new(callback)));
    let result = work();
    CALLBACK.set(None);
    result
}

/// A model that reports its progress to the callback of this thread, if there is one.
pub fn reporting(model: Model) -> Model {
    match CALLBACK.with_borrow(Clone::clone) {
        Some(callback) => model.with_progress(move |progress| callback(progress)),
        None => model,
    }
}

/// Writes files, with a progress bar of their bytes and of the phase.
pub fn of_files<T>(messages: Messages, files: &[WriteProgress], write: impl FnOnce() -> T) -> T {
    let bytes: u64 = files.iter().map(WriteProgress::bytes).sum();
    let state = || {
        let written = files.iter().map(WriteProgress::written).sum();
        // The file that is written, or was written last.
        let current = files
            .iter()
            .rev()
            .find(|file| file.phase() != Phase::Planning);
        (
            written,
            words(
                current.map_or(Phase::Planning, WriteProgress::phase),
                written,
                bytes,
            ),
        )
    };
    let bar = bar(messages, bytes);
    show(&bar, PACE, state, write)
}

/// Processes models with a progress bar of their number; `verb` is what is done with them:
/// `reading`.
pub fn of_models<T>(
    messages: Messages,
    verb: &str,
    models: usize,
    work: impl FnOnce(&Completed) -> T,
) -> T {
    let bar = bar(messages, models as u64);
    let done = Completed::default();
    let state = || {
        let done = done.0.load(Ordering::Relaxed);
        (
            done,
            format!("{verb}, {done} of {}", plural(models, "model")),
        )
    };
    show(&bar, PACE, state, || work(&done))
}

/// The phase, and how much is written.
fn words(phase: Phase, written: u64, all: u64) -> String {
    let (written, all) = (bytes(written), bytes(all));
    match phase {
        Phase::Flushing => format!("flushing {all}"),
        Phase::Verifying => format!("verifying {all}"),
        _ => format!("writing, {written} of {all}"),
    }
}

/// The number of processed models.
#[derive(Default)]
pub struct Completed(AtomicU64);

impl Completed {
    pub fn count(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// A bar on standard error; drawn on terminals only.
fn bar(messages: Messages, total: u64) -> ProgressBar {
    let target = if messages.quiet {
        ProgressDrawTarget::hidden()
    } else {
        ProgressDrawTarget::stderr()
    };
    ProgressBar::with_draw_target(Some(total), target).with_style(style())
}

fn style() -> ProgressStyle {
    ProgressStyle::with_template(TEMPLATE).expect("the template is valid")
}

/// When the bar is drawn.
#[derive(Clone, Copy)]
struct Pace {
    first: Duration,
    next: Duration,
}

const PACE: Pace = Pace {
    first: Duration::from_secs(1),
    next: Duration::from_millis(100),
};

/// The amount done, of the total, and in words.
type State = (u64, String);

/// Runs `work`; if it takes long, another thread polls its progress and draws the bar until it
/// ends.
fn show<T>(
    bar: &ProgressBar,
    pace: Pace,
    state: impl Fn() -> State + Sync,
    work: impl FnOnce() -> T,
) -> T {
    if bar.is_hidden() {
        return work();
    }
    let (end, ended) = mpsc::channel();
    thread::scope(|scope| {
        let state = &state;
        // If no thread can be started, the work runs without a bar.
        let _ = thread::Builder::new()
            .spawn_scoped(scope, move || draw_until(&ended, bar, pace, state));
        let result = work();
        drop(end);
        result
    })
}

fn draw_until(
    ended: &Receiver<()>,
    bar: &ProgressBar,
    pace: Pace,
    state: &(impl Fn() -> State + Sync),
) {
    let draw = || {
        let (done, words) = state();
        bar.set_message(words);
        bar.update(|state| state.set_pos(done));
    };
    let mut wait = pace.first;
    let mut is_drawn = false;
    while ended.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
        draw();
        (wait, is_drawn) = (pace.next, true);
    }
    // The last state, of which 100 % is part, would otherwise be skipped.
    if is_drawn {
        draw();
    }
    bar.finish_and_clear();
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use indicatif::InMemoryTerm;

    use super::*;

    fn bar_on(terminal: &InMemoryTerm, total: u64) -> ProgressBar {
        let target = ProgressDrawTarget::term_like(Box::new(terminal.clone()));
        let style = ProgressStyle::with_template("{pos} of {len}, {msg}").unwrap();
        ProgressBar::with_draw_target(Some(total), target).with_style(style)
    }

    #[test]
    fn the_bar_shows_progress_and_is_cleared_at_the_end() {
        let terminal = InMemoryTerm::new(10, 80);
        let pace = Pace {
            first: Duration::ZERO,
            next: Duration::ZERO,
        };
        let (look, looks) = mpsc::channel();
        let (go, goes) = mpsc::channel();
        let (look, goes) = (Mutex::new(look), Mutex::new(goes));
        let done = || {
            look.lock().unwrap().send(()).ok();
            goes.lock().unwrap().recv().ok();
            (3, "writing".to_owned())
        };
        // The second poll happens after the first was drawn; it blocks, so that nothing is drawn
        // while the terminal is read.
        go.send(()).unwrap();
        let seen = show(&bar_on(&terminal, 10), pace, done, || {
            looks.iter().take(2).count();
            let seen = terminal.contents();
            drop(go);
            seen
        });
        assert_eq!(
            (seen.as_str(), terminal.contents().as_str()),
            ("3 of 10, writing", "")
        );
    }

    #[test]
    fn short_work_shows_nothing() {
        let terminal = InMemoryTerm::new(10, 80);
        let never = Pace {
            first: Duration::MAX,
            next: Duration::MAX,
        };
        let result = show(
            &bar_on(&terminal, 10),
            never,
            || unreachable!("not polled"),
            || 7,
        );
        assert_eq!(
            (
                result,
                terminal
                    .moves_since_last_check()
                    .trim_end_matches("Flush\n")
            ),
            (7, "")
        );
    }

    #[test]
    fn the_last_that_is_drawn_is_the_end() {
        let terminal = InMemoryTerm::new(10, 80);
        let (drawn, draws) = mpsc::channel();
        let drawn = Mutex::new(drawn);
        let position = AtomicU64::new(0);
        let state = || {
            let done = position.load(Ordering::Relaxed);
            drawn.lock().unwrap().send(done).ok();
            (done, "writing".to_owned())
        };
        let pace = Pace {
            first: Duration::ZERO,
            next: Duration::ZERO,
        };
        show(&bar_on(&terminal, 10), pace, state, || {
            draws.recv().unwrap();
            position.store(10, Ordering::Relaxed);
        });
        assert_eq!(
            (draws.try_iter().last(), terminal.contents().as_str()),
            (Some(10), "")
        );
    }

    #[test]
    fn the_words_name_the_phase() {
        let cases = [
            (Phase::Planning, "writing, 1.0 KiB of 4.0 KiB"),
            (Phase::Writing, "writing, 1.0 KiB of 4.0 KiB"),
            (Phase::Flushing, "flushing 4.0 KiB"),
            (Phase::Verifying, "verifying 4.0 KiB"),
        ];
        for (phase, expected) in cases {
            let terminal = InMemoryTerm::new(10, 80);
            let bar = bar_on(&terminal, 4096).with_style(style());
            bar.set_message(words(phase, 1024, 4096));
            bar.set_position(1024);
            bar.tick();
            assert!(
                terminal
                    .contents()
                    .ends_with(&format!(" 25%, {expected}, 0s")),
                "{}",
                terminal.contents()
            );
            bar.abandon();
        }
    }
}

//! A progress bar on terminals, for work that takes over a second.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::options::Messages;
use crate::wire::Progress;

const OF_FILES: &str = "{bar:30} {bytes} of {total_bytes}, {elapsed}";
const OF_MODELS: &str = "{bar:30} {pos} of {len} models, {elapsed}";

/// Writes files with a progress bar in bytes.
pub fn of_files<T>(messages: Messages, files: &[Progress], write: impl FnOnce() -> T) -> T {
    let bytes = files.iter().map(Progress::bytes).sum();
    let bar = bar(messages, bytes, OF_FILES);
    show(&bar, Pace::default(), || files.iter().map(Progress::written).sum(), write)
}

/// Processes models with a progress bar of their number.
pub fn of_models<T>(messages: Messages, models: usize, work: impl FnOnce(&Done) -> T) -> T {
    let bar = bar(messages, models as u64, OF_MODELS);
    let done = Done::default();
    show(&bar, Pace::default(), || done.0.load(Ordering::Relaxed), || work(&done))
}

/// The number of processed models.
#[derive(Default)]
pub struct Done(AtomicU64);

impl Done {
    pub fn count(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// A bar on standard error; drawn on terminals only.
fn bar(messages: Messages, total: u64, template: &str) -> ProgressBar {
    let target = if messages.quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
    ProgressBar::with_draw_target(Some(total), target).with_style(style(template))
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("the template is valid")
}

/// When the bar is drawn.
#[derive(Clone, Copy)]
struct Pace {
    first: Duration,
    next: Duration,
}

impl Default for Pace {
    fn default() -> Pace {
        Pace { first: Duration::from_secs(1), next: Duration::from_millis(100) }
    }
}

/// Runs `work`; if it takes long, another thread polls its progress and draws the bar until it ends.
fn show<T>(bar: &ProgressBar, pace: Pace, done: impl Fn() -> u64 + Sync, work: impl FnOnce() -> T) -> T {
    if bar.is_hidden() {
        return work();
    }
    let (end, ended) = mpsc::channel();
    thread::scope(|scope| {
        let done = &done;
        // If no thread can be started, the work runs without a bar.
        let _ = thread::Builder::new().spawn_scoped(scope, move || draw_until(&ended, bar, pace, done));
        let result = work();
        drop(end);
        result
    })
}

fn draw_until(ended: &Receiver<()>, bar: &ProgressBar, pace: Pace, done: &(impl Fn() -> u64 + Sync)) {
    let mut wait = pace.first;
    while ended.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
        bar.update(|state| state.set_pos(done()));
        wait = pace.next;
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
        let style = ProgressStyle::with_template("{pos} of {len}").unwrap();
        ProgressBar::with_draw_target(Some(total), target).with_style(style)
    }

    #[test]
    fn the_bar_shows_progress_and_is_cleared_at_the_end() {
        let terminal = InMemoryTerm::new(10, 80);
        let pace = Pace { first: Duration::ZERO, next: Duration::ZERO };
        let (look, looks) = mpsc::channel();
        let (go, goes) = mpsc::channel();
        let (look, goes) = (Mutex::new(look), Mutex::new(goes));
        let done = || {
            look.lock().unwrap().send(()).ok();
            goes.lock().unwrap().recv().ok();
            3
        };
        // The second poll happens after the first was drawn; it blocks, so that nothing is drawn while the terminal is read.
        go.send(()).unwrap();
        let seen = show(&bar_on(&terminal, 10), pace, done, || {
            looks.iter().take(2).count();
            let seen = terminal.contents();
            drop(go);
            seen
        });
        assert_eq!((seen.as_str(), terminal.contents().as_str()), ("3 of 10", ""));
    }

    #[test]
    fn short_work_shows_nothing() {
        let terminal = InMemoryTerm::new(10, 80);
        let never = Pace { first: Duration::MAX, next: Duration::MAX };
        let result = show(&bar_on(&terminal, 10), never, || unreachable!("not polled"), || 7);
        assert_eq!((result, terminal.moves_since_last_check().trim_end_matches("Flush\n")), (7, ""));
    }

    #[test]
    fn bars_show_units() {
        for (template, expected) in [(OF_FILES, "1.00 KiB of 4.00 KiB, 0s"), (OF_MODELS, "1024 of 4096 models, 0s")] {
            let terminal = InMemoryTerm::new(10, 80);
            let target = ProgressDrawTarget::term_like(Box::new(terminal.clone()));
            let bar = ProgressBar::with_draw_target(Some(4096), target).with_style(style(template));
            bar.set_position(1024);
            bar.tick();
            assert!(terminal.contents().ends_with(expected), "{}", terminal.contents());
            bar.abandon();
        }
    }
}

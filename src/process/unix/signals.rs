//! Signals that end the process: temporary files are removed, changes of names are completed, and a
//! message names a file that became shorter while it was read.
//!
//! A signal is not lost: the number of holds and the pending signal are one atomic number.
#![allow(unsafe_code)]

use std::ffi::CString;
use std::path::Path;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

/// The maximum number of temporary files at a time: one for each file that is being written.
const SLOTS: usize = 64;

/// The paths of the files to be removed, as C strings; null for an unused entry. An atomic exchange
/// takes a path out of its entry. Either the thread that is done with the file takes the path, and
/// frees it, or a signal handler does, and the process ends.
static FILES: [AtomicPtr<libc::c_char>; SLOTS] =
    [const { AtomicPtr::new(std::ptr::null_mut()) }; SLOTS];

/// A guard: while it exists, a signal that ends the process unlinks the file first.
#[derive(Debug)]
pub(crate) struct RemovedOnSignal(Option<&'static AtomicPtr<libc::c_char>>);

impl RemovedOnSignal {
    /// If there are too many files at a time, or the path contains a null byte, the file is not
    /// removed.
    pub(crate) fn new(path: &Path) -> RemovedOnSignal {
        let Ok(path) = CString::new(path.as_os_str().as_encoded_bytes()) else {
            return RemovedOnSignal(None);
        };
        let path = path.into_raw();
        count_path(1);
        let is_free = |slot: &&AtomicPtr<libc::c_char>| {
            slot.compare_exchange(
                std::ptr::null_mut(),
                path,
                Ordering::Release,
                Ordering::Relaxed,
            )
            .is_ok()
        };
        let slot = FILES.iter().find(is_free);
        if slot.is_none() {
            free_path(path);
        }
        RemovedOnSignal(slot)
    }
}

impl Drop for RemovedOnSignal {
    /// If a handler has taken the path, the process is ending; the entry may then have the path of
    /// another file, which is freed instead.
    fn drop(&mut self) {
        if let Some(slot) = self.0 {
            free_path(slot.swap(std::ptr::null_mut(), Ordering::AcqRel));
        }
    }
}

/// Frees a path that was taken out of its entry, or never was in one; null is ignored.
fn free_path(path: *mut libc::c_char) {
    if !path.is_null() {
        count_path(-1);
        // SAFETY: The path was made by `CString::into_raw`. No entry has it, so that no handler or
        // other thread can take it.
        drop(unsafe { CString::from_raw(path) });
    }
}

/// Counts the paths that are not freed, for a test.
#[cfg(test)]
fn count_path(by: isize) {
    tests::PATHS.fetch_add(by, Ordering::SeqCst);
}

#[cfg(not(test))]
fn count_path(_: isize) {}

/// The current effect of signals that end the process.
static GATE: Gate = Gate::new();

/// The number of [`Hold`]s, and the signal that is pending until the last of them ends. Both are in
/// one number: with two, a signal between a read of the one and a write of the other would be lost.
struct Gate(AtomicU32);

/// The bits of [`Gate`] for the number of the signal, or 0.
const SIGNAL: u32 = 0xff;
/// The unit of the number of holds in a [`Gate`].
const HOLD: u32 = SIGNAL + 1;

impl Gate {
    const fn new() -> Gate {
        Gate(AtomicU32::new(0))
    }

    /// Adds a hold.
    fn enter(&self) {
        self.0.fetch_add(HOLD, Ordering::SeqCst);
    }

    /// Removes a hold. Returns the pending signal, if this was the last hold.
    fn leave(&self) -> Option<i32> {
        let after = |state: u32| if state - HOLD < HOLD { 0 } else { state - HOLD };
        let before = self
            .0
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |state| {
                Some(after(state))
            });
        let (Ok(before) | Err(before)) = before;
        let signal = before & SIGNAL;
        (before - HOLD < HOLD && signal != 0).then_some(signal as i32)
    }

    /// Whether a signal must wait; it is then pending. Async-signal-safe.
    fn arrive(&self, signal: i32) -> bool {
        self.arrive_while(signal, || ())
    }

    /// Like [`Gate::arrive`]; `between` runs between the read and the write, for tests.
    fn arrive_while(&self, signal: i32, mut between: impl FnMut()) -> bool {
        let wait = |state: u32| {
            between();
            (state >= HOLD).then_some(state & !SIGNAL | signal as u32)
        };
        self.0
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, wait)
            .is_ok()
    }
}

/// A guard: while it exists, a signal that would end the process is deferred.
pub(crate) struct Hold(());

/// Starts a hold, for a few short steps that must not be interrupted.
pub(crate) fn hold() -> Hold {
    GATE.enter();
    Hold(())
}

impl Drop for Hold {
    fn drop(&mut self) {
        if let Some(signal) = GATE.leave() {
            raise(signal);
        }
    }
}

fn raise(signal: i32) {
    // SAFETY: The call takes no pointer; the signal was received.
    unsafe { libc::raise(signal) };
}

/// Installs the signal handlers. For programs, not for libraries: they end the process.
///
/// - SIGINT, SIGTERM and SIGHUP remove temporary files and then have their default effect; a signal
///   that was ignored when the program was started stays ignored.
/// - SIGBUS in a mapped file removes temporary files, prints which file became shorter, and exits
///   with code 2.
/// - SIGXFSZ is ignored: a write beyond the maximum file size is then an ordinary error.
pub fn install_signal_handlers() {
    // SAFETY: `sigaction` and `signal` get valid pointers; the handlers call nothing but
    // async-signal-safe functions.
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
            let mut before: libc::sigaction = std::mem::zeroed();
            libc::sigaction(signal, std::ptr::null(), &raw mut before);
            if before.sa_sigaction != libc::SIG_IGN {
                set_handler(signal, on_end as *const () as libc::sighandler_t, 0);
            }
        }
        set_handler(
            libc::SIGBUS,
            on_bus_error as *const () as libc::sighandler_t,
            libc::SA_SIGINFO,
        );
    }
}

unsafe fn set_handler(signal: libc::c_int, handler: libc::sighandler_t, flags: libc::c_int) {
    // SAFETY: The action is initialized as `sigaction` requires; the caller guarantees that the
    // handler is async-signal-safe.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler;
        // Every thread that Rust starts has an alternative stack.
        action.sa_flags = flags | libc::SA_ONSTACK;
        libc::sigemptyset(&raw mut action.sa_mask);
        libc::sigaction(signal, &raw const action, std::ptr::null_mut());
    }
}

extern "C" fn on_end(signal: libc::c_int) {
    if GATE.arrive(signal) {
        return;
    }
    remove_files();
    // SAFETY: Both are async-signal-safe. The signal is blocked while it is handled, and is
    // delivered as soon as this returns.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
        libc::raise(signal);
    }
}

extern "C" fn on_bus_error(
    signal: libc::c_int,
    info: *mut libc::siginfo_t,
    _context: *mut libc::c_void,
) {
    // SAFETY: With SA_SIGINFO the system passes a valid `info`, which contains an address for
    // SIGBUS.
    let address = unsafe { (*info).si_addr() } as usize;
    let Some(name) = super::map::name_at(address) else {
        // Not a mapped file: the instruction is executed again, and the process ends as it would
        // without a handler.
        // SAFETY: `signal` is async-signal-safe.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
        return;
    };
    end_with_message(
        b"",
        &[
            b"recast: ",
            &name,
            b": became shorter while it was read, or its disk failed\n",
        ],
    )
}

/// Whether a [`Hold`] exists.
pub(crate) fn is_held() -> bool {
    GATE.0.load(Ordering::SeqCst) >= HOLD
}

/// Removes the temporary files, prints a document to standard output and a message in parts to
/// standard error, and exits with code 2. Does not allocate, and takes no lock.
pub(crate) fn end_with_message(document: &[u8], parts: &[&[u8]]) -> ! {
    remove_files();
    write_all(libc::STDOUT_FILENO, document);
    parts
        .iter()
        .for_each(|part| write_all(libc::STDERR_FILENO, part));
    // SAFETY: `_exit` is async-signal-safe.
    unsafe { libc::_exit(2) }
}

/// Ends the process at once: nothing is freed, since the system does that faster.
pub fn exit(code: u8) -> ! {
    // SAFETY: `_exit` can be called at any time.
    unsafe { libc::_exit(code.into()) }
}

/// Writes until an error occurs, which cannot be reported.
fn write_all(stream: libc::c_int, mut bytes: &[u8]) {
    while !bytes.is_empty() {
        // SAFETY: `write` is async-signal-safe and gets a valid slice.
        let written = unsafe { libc::write(stream, bytes.as_ptr().cast(), bytes.len()) };
        match usize::try_from(written) {
            Ok(written) if written > 0 => bytes = &bytes[written..],
            _ => return,
        }
    }
}

fn remove_files() {
    for slot in &FILES {
        let path = slot.swap(std::ptr::null_mut(), Ordering::Acquire);
        if !path.is_null() {
            // SAFETY: `unlink` is async-signal-safe; the path is a C string that this handler owns
            // now.
            unsafe { libc::unlink(path) };
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Command, Output};
    use std::sync::atomic::AtomicIsize;

    use super::*;

    /// The paths that are not freed.
    pub(super) static PATHS: AtomicIsize = AtomicIsize::new(0);

    /// Runs `child` in a process of its own, in a new folder with these files. The process runs the
    /// test that calls this, `test`, again.
    fn in_a_child(test: &str, files: &[&str], child: impl FnOnce()) -> (tempfile::TempDir, Output) {
        if std::env::var_os("RECAST_TEST_IS_CHILD").is_some() {
            child();
            std::process::exit(0);
        }
        let folder = tempfile::tempdir().unwrap();
        for name in files {
            fs::write(folder.path().join(name), name).unwrap();
        }
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args([
            "--exact",
            &format!("process::system::signals::tests::{test}"),
            "--nocapture",
        ]);
        let output = command
            .env("RECAST_TEST_IS_CHILD", "1")
            .current_dir(folder.path())
            .output()
            .unwrap();
        (folder, output)
    }

    #[test]
    fn a_signal_removes_the_files_that_are_being_written() {
        let test = "a_signal_removes_the_files_that_are_being_written";
        let (folder, output) = in_a_child(test, &["first", "second", "done"], || {
            install_signal_handlers();
            let _removed = RemovedOnSignal::new(Path::new("first"));
            drop(RemovedOnSignal::new(Path::new("done")));
            let _too = RemovedOnSignal::new(Path::new("second"));
            rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::TERM)
                .unwrap();
            unreachable!("the signal ends the process");
        });
        assert_eq!(output.status.signal(), Some(libc::SIGTERM));
        let left: Vec<_> = fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        assert_eq!(left, ["done"]);
    }

    #[test]
    fn the_path_of_a_file_is_freed_when_the_file_is_done() {
        let (_, output) = in_a_child(
            "the_path_of_a_file_is_freed_when_the_file_is_done",
            &[],
            || {
                let name = |index: usize| format!("file {index}");
                for index in 0..10 * SLOTS {
                    drop(RemovedOnSignal::new(Path::new(&name(index))));
                }
                assert_eq!(PATHS.load(Ordering::SeqCst), 0);
                // More files at a time than there are entries, and threads that come and go.
                let many: Vec<RemovedOnSignal> = (0..2 * SLOTS)
                    .map(|index| RemovedOnSignal::new(Path::new(&name(index))))
                    .collect();
                assert_eq!(PATHS.load(Ordering::SeqCst), SLOTS as isize);
                drop(many);
                std::thread::scope(|scope| {
                    for _ in 0..4 {
                        scope.spawn(|| {
                            (0..1000).for_each(|index| {
                                drop(RemovedOnSignal::new(Path::new(&name(index))))
                            })
                        });
                    }
                });
                assert_eq!(PATHS.load(Ordering::SeqCst), 0);
                assert!(
                    FILES
                        .iter()
                        .all(|slot| slot.load(Ordering::SeqCst).is_null())
                );
            },
        );
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stdout)
        );
    }

    #[test]
    fn a_signal_that_comes_while_a_hold_ends_is_never_lost() {
        for holds in 1..4 {
            let gate = Gate::new();
            (0..holds).for_each(|_| gate.enter());
            // The last hold ends after the handler has read the number of holds, and before it has
            // recorded the signal.
            let mut raised = None;
            let mut left = 0;
            let waits = gate.arrive_while(libc::SIGTERM, || {
                while left < holds {
                    raised = raised.or(gate.leave());
                    left += 1;
                }
            });
            assert_eq!(
                (waits, raised),
                (false, None),
                "the signal ends the process now"
            );
            // The last hold ends before the handler reads the number, or after it has recorded the
            // signal.
            gate.enter();
            assert!(gate.arrive(libc::SIGTERM));
            assert_eq!(gate.leave(), Some(libc::SIGTERM));
            assert!(!gate.arrive(libc::SIGTERM));
        }
    }

    #[test]
    fn a_signal_waits_until_it_is_let_through() {
        let (folder, output) = in_a_child("a_signal_waits_until_it_is_let_through", &[], || {
            install_signal_handlers();
            let held = hold();
            rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::TERM)
                .unwrap();
            fs::write("finished", "a model").unwrap();
            drop(held);
            unreachable!("the signal ends the process");
        });
        assert_eq!(output.status.signal(), Some(libc::SIGTERM));
        assert!(folder.path().join("finished").exists());
    }

    #[test]
    fn a_file_that_becomes_shorter_while_it_is_read_ends_the_process_with_a_message() {
        let test = "a_file_that_becomes_shorter_while_it_is_read_ends_the_process_with_a_message";
        let (folder, output) = in_a_child(test, &["half"], || {
            install_signal_handlers();
            let _removed = RemovedOnSignal::new(Path::new("half"));
            fs::write("weights", vec![1; 1 << 20]).unwrap();
            let bytes = crate::files::open(Path::new("weights")).unwrap().bytes;
            fs::File::options()
                .write(true)
                .open("weights")
                .unwrap()
                .set_len(0)
                .unwrap();
            let sum: u64 = bytes.iter().map(|&byte| u64::from(byte)).sum();
            unreachable!("the sum {sum} is not there to be read");
        });
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(
            message.contains("recast: weights: became shorter while it was read"),
            "{message}"
        );
        assert!(!folder.path().join("half").exists());
    }
}

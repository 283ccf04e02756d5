//! The functions that depend on the system, for systems other than Unix.
#![allow(unsafe_code)]

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use bytes::Bytes;

/// Maps a file that is not empty.
///
/// Windows does not replace or remove a mapped file. A map is a `Bytes` that the input, the model,
/// its layout and its `DataFolder` contain. `storage::Plan` consumes the model,
/// [`crate::files::save_together`] drops each layout before it gives names to files, and
/// [`crate::files::DataFolder::release`] is called before a data file is removed;
/// `storage/tests.rs` checks this. A caller drops its [`crate::files::Input`] before a model is
/// written in place.
#[cfg(windows)]
pub(crate) fn map(file: &File, _path: &Path) -> io::Result<Bytes> {
    // SAFETY: The map is private and read-only. Another process may change the file meanwhile;
    // every byte is then still a valid `u8`.
    Ok(Bytes::from_owner(unsafe { memmap2::Mmap::map(file)? }))
}

/// Reads a file: this system cannot map files.
#[cfg(not(windows))]
pub(crate) fn map(mut file: &File, _path: &Path) -> io::Result<Bytes> {
    let mut bytes = Vec::new();
    io::Read::read_to_end(&mut file, &mut bytes)?;
    Ok(bytes.into())
}

/// Does nothing: this system has no such request.
pub(crate) fn release(_bytes: &[u8]) {}

/// Whether a path is that of standard output. Such paths do not exist on this system.
#[must_use]
pub fn is_standard_output(_path: &Path) -> bool {
    false
}

/// Does nothing: this system has no signals.
pub fn install_signal_handlers() {}

/// Does nothing: this system has no such choice. Returns whether there is one.
pub(crate) fn use_huge_pages(_huge: bool) -> bool {
    false
}

/// Ends the process.
pub fn exit(code: u8) -> ! {
    std::process::exit(code.into())
}

/// A file to be removed by signal handlers, which do not exist on this system.
#[derive(Debug)]
pub(crate) struct RemovedOnSignal;

impl RemovedOnSignal {
    pub(crate) fn new(_path: &Path) -> RemovedOnSignal {
        RemovedOnSignal
    }
}

/// The number of [`Hold`]s.
static HOLDS: AtomicU32 = AtomicU32::new(0);

/// A guard: while it exists, the memory limit does not end the process.
pub(crate) struct Hold(());

/// Starts a hold, for a few short steps that must not be interrupted.
pub(crate) fn hold() -> Hold {
    HOLDS.fetch_add(1, Ordering::SeqCst);
    Hold(())
}

impl Drop for Hold {
    fn drop(&mut self) {
        HOLDS.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Whether a [`Hold`] exists.
pub(crate) fn is_held() -> bool {
    HOLDS.load(Ordering::SeqCst) > 0
}

/// Prints a document and a message in parts, and exits with code 2.
#[expect(
    clippy::disallowed_methods,
    reason = "the text was made safe to print by the caller"
)]
pub(crate) fn end_with_message(document: &[u8], parts: &[&[u8]]) -> ! {
    // The process ends in any case, so errors are ignored.
    io::stdout().write_all(document).ok();
    for part in parts {
        io::stderr().write_all(part).ok();
    }
    std::process::exit(2)
}

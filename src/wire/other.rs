//! What the files of this module need of systems other than Unix.
#![allow(unsafe_code)]

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use bytes::Bytes;

use super::chunks::write_in_order;
use super::layout::Layout;

/// Maps all of a file that is not empty.
///
/// Windows does not replace or remove a file that is mapped. A map is a `Bytes`, which the input, the model, its layout and its
/// `DataFolder` hold. `external::Plan` takes the model, [`super::save_together`] drops each layout before it gives names to files, and
/// [`super::DataFolder::release`] is called before a data file is removed; `external/tests.rs` checks it. A caller drops its
/// [`super::Input`] before a model is written in place.
#[cfg(windows)]
pub(super) fn map(file: &File, _path: &Path) -> io::Result<Bytes> {
    // SAFETY: The map is private and read-only. Another process may change the file meanwhile; every byte is then still a valid `u8`.
    Ok(Bytes::from_owner(unsafe { memmap2::Mmap::map(file)? }))
}

/// Reads all of a file: this system has no maps.
#[cfg(not(windows))]
pub(super) fn map(mut file: &File, _path: &Path) -> io::Result<Bytes> {
    let mut bytes = Vec::new();
    io::Read::read_to_end(&mut file, &mut bytes)?;
    Ok(bytes.into())
}

/// Writes a layout from the first byte to the last.
pub(super) fn write_anywhere(layout: &Layout, mut file: &File) -> io::Result<()> {
    write_in_order(layout, &mut file)
}

/// Whether a path leads to standard output. Such paths do not exist on this system.
#[must_use]
pub fn is_standard_output(_path: &Path) -> bool {
    false
}

/// Installs nothing: this system has no signals.
pub fn install_signal_handlers() {}

/// A file that signals would remove; none do here.
#[derive(Debug)]
pub(super) struct RemovedOnSignal;

impl RemovedOnSignal {
    pub(super) fn new(_path: &Path) -> RemovedOnSignal {
        RemovedOnSignal
    }
}

/// How many [`Hold`]s there are.
static HOLDS: AtomicU32 = AtomicU32::new(0);

/// While it lives, the process is not ended.
pub(super) struct Hold(());

/// For a few quick steps that must not be interrupted.
pub(super) fn hold() -> Hold {
    HOLDS.fetch_add(1, Ordering::SeqCst);
    Hold(())
}

impl Drop for Hold {
    fn drop(&mut self) {
        HOLDS.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Whether a [`Hold`] lives.
pub(super) fn is_held() -> bool {
    HOLDS.load(Ordering::SeqCst) > 0
}

/// Prints a document and a message in parts, and exits with code 2.
pub(super) fn end_with_message(document: &[u8], parts: &[&[u8]]) -> ! {
    // The process ends in any case.
    io::stdout().write_all(document).ok();
    for part in parts {
        io::stderr().write_all(part).ok();
    }
    std::process::exit(2)
}

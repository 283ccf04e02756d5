//! The functions that depend on the system, for Unix: maps and signals.

mod map;
mod signals;

use std::fs;
use std::path::Path;

pub use signals::{exit, install_signal_handlers};

pub(crate) use map::{map, release};
pub(crate) use signals::{RemovedOnSignal, end_with_message, hold, is_held};

/// Chooses whether memory may consist of huge pages from now on. Returns whether the system has
/// this choice.
#[cfg(target_os = "linux")]
pub(crate) fn use_huge_pages(huge: bool) -> bool {
    rustix::thread::disable_transparent_huge_pages(!huge).is_ok()
}

/// Does nothing: this system has no such choice.
#[cfg(not(target_os = "linux"))]
pub(crate) fn use_huge_pages(_huge: bool) -> bool {
    false
}

/// Whether a path is that of standard output, to which a report must not be written after a model.
#[must_use]
pub fn is_standard_output(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;

    let id = |metadata: &fs::Metadata| (metadata.dev(), metadata.ino());
    let (Ok(path), Ok(stdout)) = (
        fs::metadata(path),
        rustix::fs::fstat(rustix::stdio::stdout()),
    ) else {
        return false;
    };
    // The null device can be standard output too, but nothing is mixed up there.
    let is_null = fs::metadata("/dev/null").is_ok_and(|null| id(&null) == id(&path));
    #[allow(clippy::unnecessary_cast)] // The types of the fields differ between systems.
    let stdout = (stdout.st_dev as u64, stdout.st_ino as u64);
    id(&path) == stdout && !is_null
}

//! Hints to the system about bytes that are read once and written once. Without them, a run is slower and its resident memory appears
//! larger; the result is the same.
#![allow(unsafe_code)]

#[cfg(target_os = "linux")]
pub(super) use linux::{release, start_flushing};

#[cfg(target_os = "linux")]
mod linux {
    use std::fs::File;
    use std::os::fd::AsRawFd;

    use crate::process::system::map::is_mapped;

    /// The largest page size of supported systems: only complete pages are released.
    const PAGE: usize = 1 << 16;

    /// Releases the pages of mapped bytes, which the system reads again if they are used again. Does nothing for bytes that are not
    /// mapped.
    pub(crate) fn release(bytes: &[u8]) {
        let start = (bytes.as_ptr() as usize).next_multiple_of(PAGE);
        let end = (bytes.as_ptr() as usize + bytes.len()) / PAGE * PAGE;
        if start < end && is_mapped(bytes) {
            // SAFETY: The pages are part of `bytes` and belong to a read-only map of a file, so that no data can be lost.
            unsafe { libc::madvise(start as *mut libc::c_void, end - start, libc::MADV_DONTNEED) };
        }
    }

    /// Fewer bytes are left to the flush of the file: a call for each few of them would write the same block many times.
    const BLOCK: usize = 4096;

    /// Starts writing these bytes to the disk, so that little is left to do when the file is flushed.
    pub(crate) fn start_flushing(file: &File, place: u64, bytes: usize) {
        if bytes < BLOCK {
            return;
        }
        let range = (i64::try_from(place), i64::try_from(bytes));
        if let (Ok(place), Ok(bytes)) = range {
            // SAFETY: The call takes no pointer, and the file is open.
            unsafe { libc::sync_file_range(file.as_raw_fd(), place, bytes, libc::SYNC_FILE_RANGE_WRITE) };
        }
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) fn release(_bytes: &[u8]) {}

#[cfg(not(target_os = "linux"))]
pub(super) fn start_flushing(_file: &std::fs::File, _place: u64, _bytes: usize) {}

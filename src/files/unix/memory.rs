//! A hint to the system about bytes that are written once. Without it, a run is slower; the result
//! is the same.
#![allow(unsafe_code)]

#[cfg(target_os = "linux")]
pub(super) use linux::start_flushing;

#[cfg(target_os = "linux")]
mod linux {
    use std::fs::File;
    use std::os::fd::AsRawFd;

    /// Fewer bytes are left to the flush of the file: a call for each few of them would write the
    /// same block many times.
    const BLOCK: usize = 4096;

    /// Starts writing these bytes to the disk, so that little is left to do when the file is
    /// flushed.
    pub(crate) fn start_flushing(file: &File, place: u64, bytes: usize) {
        if bytes < BLOCK {
            return;
        }
        let range = (i64::try_from(place), i64::try_from(bytes));
        if let (Ok(place), Ok(bytes)) = range {
            // SAFETY: The call takes no pointer, and the file is open.
            unsafe {
                libc::sync_file_range(file.as_raw_fd(), place, bytes, libc::SYNC_FILE_RANGE_WRITE)
            };
        }
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) fn start_flushing(_file: &std::fs::File, _place: u64, _bytes: usize) {}

//! Causes of errors in writing.

use std::io;

/// The error code of a write from unmapped memory.
#[cfg(unix)]
const BAD_ADDRESS: Option<i32> = Some(libc::EFAULT);
#[cfg(not(unix))]
const BAD_ADDRESS: Option<i32> = None;

/// Explains an error in writing. A bad address means that a mapped file became shorter.
pub(super) fn explained(error: io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(code) if Some(code) == BAD_ADDRESS => {
            io::Error::other("an input file became shorter while it was read")
        }
        _ => error,
    }
}

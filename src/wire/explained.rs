//! What an error of a write means.

use std::io;

/// The error of a write from an address without memory.
#[cfg(unix)]
const BAD_ADDRESS: Option<i32> = Some(libc::EFAULT);
#[cfg(not(unix))]
const BAD_ADDRESS: Option<i32> = None;

/// The error of a write. A bad address means a mapped file that became shorter.
pub(super) fn explained(error: io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(code) if Some(code) == BAD_ADDRESS => io::Error::other("a file that it is made from became shorter while it was read"),
        _ => error,
    }
}

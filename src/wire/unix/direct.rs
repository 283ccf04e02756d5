//! Writes that go from memory to the disk, without a copy in the system's cache.
//!
//! Bytes of a data file that are only moved take hardly any processor time that way, and the cache keeps what it has. Where there are
//! no such writes, as the system or the file system has none, the caller writes as usual.

use std::fs::File;
use std::io;

/// The alignment of the bytes in memory: the block size of disks, or a multiple of it.
const BLOCK: usize = 4096;

/// Fewer bytes are not worth a request of their own to the disk.
const LEAST: usize = 1 << 20;

/// Bytes to write at a time.
pub(super) const MOST: usize = 8 << 20;

/// What the place and the number of the bytes are multiples of: no page of the file is then written both ways at once, which the
/// system does not keep apart.
#[cfg(target_os = "linux")]
fn page() -> usize {
    rustix::param::page_size().max(BLOCK)
}

#[cfg(not(target_os = "linux"))]
fn page() -> usize {
    BLOCK
}

/// Whether bytes can be written to a place in a file this way, except a last part of a page.
pub(super) fn suits(bytes: &[u8], place: u64) -> bool {
    bytes.len() >= LEAST && bytes.as_ptr().addr().is_multiple_of(BLOCK) && place.is_multiple_of(page() as u64)
}

/// A second handle of a file, for such writes; none if the file system has none.
#[derive(Debug)]
pub(super) struct Direct(Option<File>);

impl Direct {
    #[cfg(target_os = "linux")]
    pub(super) fn to(file: &File) -> Direct {
        use std::os::fd::AsRawFd;
        use std::os::unix::fs::OpenOptionsExt;

        let path = format!("/proc/self/fd/{}", file.as_raw_fd());
        Direct(File::options().write(true).custom_flags(libc::O_DIRECT).open(path).ok())
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn to(_file: &File) -> Direct {
        Direct(None)
    }

    /// Writes the whole pages of bytes that suit their place. Returns how many bytes that are: none, if the file takes no such writes.
    ///
    /// # Errors
    /// Those of the operating system.
    pub(super) fn write(&self, bytes: &[u8], place: u64) -> io::Result<usize> {
        use std::os::unix::fs::FileExt;

        let Some(file) = &self.0 else {
            return Ok(0);
        };
        let pages = &bytes[..bytes.len() / page() * page()];
        match file.write_all_at(pages, place) {
            Ok(()) => Ok(pages.len()),
            // The file system refuses direct writes of these bytes; ordinary ones work.
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(0),
            Err(error) => Err(error),
        }
    }
}

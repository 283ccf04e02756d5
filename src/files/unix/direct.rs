//! Direct writes from memory to the disk, which bypass the page cache.
//!
//! A file that has to be on the disk before it gets its name is there sooner this way, bytes of a
//! data file that are only moved take almost no processor time, and the page cache keeps its
//! content. If the system or the file system does not support direct writes, the caller writes in
//! the usual way.

use std::fs::File;
use std::io;

use crate::base::threshold::Threshold;

/// The alignment of the bytes in memory: the block size of disks, or a multiple of it.
pub(super) const BLOCK: Threshold = Threshold::new("block of a direct write", 4096);

/// The minimum number of bytes for which a direct write is worthwhile, and the number that is
/// computed or copied before it is written.
pub(super) const LEAST: Threshold = Threshold::new("smallest direct write", 1 << 20).small_from(7);

/// The number of bytes to write at a time that are in memory already.
pub(super) const MOST: Threshold = Threshold::new("largest direct write", 8 << 20).small_from(7);

/// The offset and the number of bytes are multiples of this, so that no page of the file is written
/// both directly and through the cache: systems do not support this.
fn page() -> usize {
    let block = BLOCK.get();
    // Tests also replace the page of the system. Systems refuse direct writes of a few bytes, and
    // the caller writes these in the usual way.
    if block < BLOCK.usual() {
        block
    } else {
        system_page().max(block)
    }
}

#[cfg(target_os = "linux")]
fn system_page() -> usize {
    rustix::param::page_size()
}

#[cfg(not(target_os = "linux"))]
fn system_page() -> usize {
    BLOCK.usual()
}

/// The number of bytes between an offset in a file and the next one at which a direct write can
/// begin.
pub(super) fn before_page(place: u64) -> usize {
    (place.next_multiple_of(page() as u64) - place) as usize
}

/// Whether bytes can be written directly at an offset in a file, except for the last, incomplete
/// page.
pub(super) fn suits(bytes: &[u8], place: u64) -> bool {
    bytes.len() >= LEAST.get()
        && bytes.as_ptr().addr().is_multiple_of(BLOCK.get())
        && before_page(place) == 0
}

/// A second handle of a file, for direct writes; none if the file system does not support them.
#[derive(Debug)]
pub(super) struct Direct(Option<File>);

impl Direct {
    /// No handle: all bytes go through the page cache.
    pub(super) fn none() -> Direct {
        Direct(None)
    }

    /// The handle of an empty file that will have this length.
    ///
    /// # Errors
    /// If the file system has too little space for the file.
    #[cfg(target_os = "linux")]
    pub(super) fn to(file: &File, length: u64) -> io::Result<Direct> {
        use std::os::fd::AsRawFd;
        use std::os::unix::fs::OpenOptionsExt;

        use rustix::fs::{FallocateFlags, fallocate};
        use rustix::io::Errno;

        if length < LEAST.get() as u64 {
            return Ok(Direct(None));
        }
        let path = format!("/proc/self/fd/{}", file.as_raw_fd());
        let direct = File::options()
            .write(true)
            .custom_flags(libc::O_DIRECT)
            .open(path)
            .ok();
        // Threads can write at the same time into blocks that the file already has.
        match direct
            .as_ref()
            .map(|file| fallocate(file, FallocateFlags::empty(), 0, length))
        {
            Some(Err(error)) if error == Errno::NOSPC => Err(error.into()),
            _ => Ok(Direct(direct)),
        }
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn to(_file: &File, _length: u64) -> io::Result<Direct> {
        Ok(Direct(None))
    }

    /// Writes the complete pages of bytes. Returns the number of written bytes: 0 if the bytes or
    /// the file are not suited to direct writes.
    ///
    /// # Errors
    /// Any I/O error.
    pub(super) fn write(&self, bytes: &[u8], place: u64) -> io::Result<usize> {
        use std::os::unix::fs::FileExt;

        let Some(file) = self.0.as_ref().filter(|_| suits(bytes, place)) else {
            return Ok(0);
        };
        let page = page();
        let pages = &bytes[..bytes.len() / page * page];
        match file.write_all_at(pages, place) {
            Ok(()) => Ok(pages.len()),
            // The file system refuses direct writes of these bytes; the caller writes them in the
            // usual way.
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(0),
            Err(error) => Err(error),
        }
    }
}

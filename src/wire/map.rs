//! Mapped files: what maps them, what gives their pages back, and which of them a faulting address lies in.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use bytes::Bytes;
use memmap2::Mmap;

/// A file's map, with an entry in the list of all maps.
struct Mapped {
    map: Mmap,
    entry: &'static Entry,
}

/// Where a map lies. A signal handler reads the list, so entries are never freed; those of closed files are used again.
struct Entry {
    /// The first address; [`VACANT`] if nothing is mapped, [`TAKEN`] while the other fields are written.
    start: AtomicUsize,
    end: AtomicUsize,
    name: AtomicPtr<Vec<u8>>,
    next: Option<&'static Entry>,
}

const VACANT: usize = 0;
/// No map begins at an odd address.
const TAKEN: usize = 1;

static ENTRIES: AtomicPtr<Entry> = AtomicPtr::new(std::ptr::null_mut());

/// Maps all of a file that is not empty. `path` is its name in messages.
pub(super) fn map(file: &File, path: &Path) -> io::Result<Bytes> {
    // SAFETY: The map is private and read-only. Another process may change the file meanwhile; every byte is then still a valid
    // `u8`, and nothing here relies on two reads giving the same answer for memory safety. If it makes the file shorter, a read
    // beyond its end raises SIGBUS, which ends the process.
    let map = unsafe { Mmap::map(file)? };
    let entry = vacant_entry();
    let name = Box::leak(Box::new(path.display().to_string().into_bytes()));
    entry.name.store(name, Ordering::Relaxed);
    entry.end.store(map.as_ptr() as usize + map.len(), Ordering::Relaxed);
    entry.start.store(map.as_ptr() as usize, Ordering::Release);
    Ok(Bytes::from_owner(Mapped { map, entry }))
}

/// Gives the pages of mapped bytes back to the system, which reads them again should they be used again. Does nothing to bytes that
/// are not mapped. For a program that reads each byte of a large file once.
pub(super) fn release(bytes: &[u8]) {
    #[cfg(target_os = "linux")]
    {
        /// The largest page of the systems this runs on: only whole ones are given back.
        const PAGE: usize = 1 << 16;
        let start = (bytes.as_ptr() as usize).next_multiple_of(PAGE);
        let end = (bytes.as_ptr() as usize + bytes.len()) / PAGE * PAGE;
        let is_mapped = |entry: &Entry| {
            let first = entry.start.load(Ordering::Acquire);
            TAKEN < first && first <= start && end <= entry.end.load(Ordering::Relaxed)
        };
        if start < end && entries().any(is_mapped) {
            // SAFETY: The pages belong to a read-only map of a file, which outlives `bytes`: what is given back is read again from
            // the file, and nothing else can be lost.
            unsafe { libc::madvise(start as *mut libc::c_void, end - start, libc::MADV_DONTNEED) };
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = bytes;
}

/// The name of the file whose map an address lies in. Made for a signal handler: takes no lock and allocates nothing.
pub(super) fn name_at(address: usize) -> Option<&'static [u8]> {
    let entry = entries().find(|entry| {
        let start = entry.start.load(Ordering::Acquire);
        TAKEN < start && start <= address && address < entry.end.load(Ordering::Relaxed)
    })?;
    // SAFETY: A name is written before `start` is, and leaked.
    unsafe { entry.name.load(Ordering::Relaxed).as_ref() }.map(Vec::as_slice)
}

fn entries() -> impl Iterator<Item = &'static Entry> {
    // SAFETY: The list holds leaked entries only.
    let first = unsafe { ENTRIES.load(Ordering::Acquire).as_ref() };
    std::iter::successors(first, |entry: &&'static Entry| entry.next)
}

/// An entry that nobody uses, in state [`TAKEN`].
fn vacant_entry() -> &'static Entry {
    let take = |entry: &&Entry| entry.start.compare_exchange(VACANT, TAKEN, Ordering::Acquire, Ordering::Relaxed).is_ok();
    if let Some(entry) = entries().find(take) {
        return entry;
    }
    let mut first = ENTRIES.load(Ordering::Acquire);
    loop {
        // SAFETY: The list holds leaked entries only.
        let next = unsafe { first.as_ref() };
        let (start, end, name) = (AtomicUsize::new(TAKEN), AtomicUsize::new(0), AtomicPtr::default());
        let entry = Box::into_raw(Box::new(Entry { start, end, name, next }));
        match ENTRIES.compare_exchange_weak(first, entry, Ordering::Release, Ordering::Acquire) {
            // SAFETY: The entry was leaked above and is never freed.
            Ok(_) => return unsafe { &*entry },
            Err(other) => {
                // SAFETY: The entry did not get into the list: it is still ours alone.
                drop(unsafe { Box::from_raw(entry) });
                first = other;
            }
        }
    }
}

impl AsRef<[u8]> for Mapped {
    fn as_ref(&self) -> &[u8] {
        &self.map
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        self.entry.start.store(VACANT, Ordering::Release);
    }
}

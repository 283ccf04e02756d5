//! Mapped files, and which of them an address lies in.
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

/// Whether bytes lie in a map.
pub(super) fn is_mapped(bytes: &[u8]) -> bool {
    let range = bytes.as_ptr_range();
    entries().any(|entry| {
        let start = entry.start.load(Ordering::Acquire);
        TAKEN < start && start <= range.start as usize && range.end as usize <= entry.end.load(Ordering::Relaxed)
    })
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

//! Mapped files, and the file to which an address belongs.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::ops::{Deref, Range};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicUsize, Ordering, fence};

use bytes::Bytes;
use memmap2::Mmap;

/// A file's map, with an entry in the list of all maps.
struct Mapped {
    map: Mmap,
    entry: &'static Entry,
}

/// The addresses of a map. A signal handler reads the list, so entries are never freed; those of
/// closed files are reused.
///
/// Readers take no lock: `version` is odd while the other fields are written. A reader that finds
/// different versions before and after its reads discards them, so that the values it uses belong
/// to one map, which existed at that moment.
struct Entry {
    is_taken: AtomicBool,
    version: AtomicUsize,
    start: AtomicUsize,
    end: AtomicUsize,
    name: [AtomicU8; LONGEST_NAME],
    name_bytes: AtomicUsize,
    next: Option<&'static Entry>,
}

/// The number of bytes of a path that a message shows: the last ones.
const LONGEST_NAME: usize = 512;

static ENTRIES: AtomicPtr<Entry> = AtomicPtr::new(std::ptr::null_mut());

/// Maps a file that is not empty. `path` is its name in messages.
pub(crate) fn map(file: &File, path: &Path) -> io::Result<Bytes> {
    // SAFETY: The map is private and read-only. If another process changes the file, every byte is
    // still a valid `u8`, and memory safety does not depend on two reads having the same result. If
    // it makes the file shorter, a read beyond the end raises SIGBUS, which ends the process.
    let map = unsafe { Mmap::map(file)? };
    let entry = take_entry();
    let start = map.as_ptr() as usize;
    entry.set(
        start..start + map.len(),
        path.display().to_string().as_bytes(),
    );
    Ok(Bytes::from_owner(Mapped { map, entry }))
}

/// Whether bytes are in a map. Borrowed bytes cannot be unmapped, so an entry that covers them is
/// the entry of their map.
#[cfg(any(target_os = "linux", test))]
pub(crate) fn is_mapped(bytes: &[u8]) -> bool {
    let range = bytes.as_ptr_range();
    entries().any(|entry| {
        let map = entry.read(|_| ());
        map.is_some_and(|(map, ())| {
            map.start <= range.start as usize && range.end as usize <= map.end
        })
    })
}

/// The largest page size of supported systems: only complete pages are released.
#[cfg(target_os = "linux")]
const PAGE: usize = 1 << 16;

/// Releases the pages of mapped bytes that were read, so that the resident memory of a run stays
/// small. The system reads them again if they are used again. Does nothing for bytes that are not
/// mapped.
#[cfg(target_os = "linux")]
pub(crate) fn release(bytes: &[u8]) {
    let start = (bytes.as_ptr() as usize).next_multiple_of(PAGE);
    let end = (bytes.as_ptr() as usize + bytes.len()) / PAGE * PAGE;
    if start < end && is_mapped(bytes) {
        // SAFETY: The pages are part of `bytes` and belong to a read-only map of a file, so that no
        // data can be lost.
        unsafe { libc::madvise(start as *mut libc::c_void, end - start, libc::MADV_DONTNEED) };
    }
}

/// Does nothing: this system has no such request.
#[cfg(not(target_os = "linux"))]
pub(crate) fn release(_bytes: &[u8]) {}

/// The name of the mapped file at an address. For a signal handler: takes no lock and does not
/// allocate.
pub(super) fn name_at(address: usize) -> Option<Name> {
    entries().find_map(|entry| {
        let (map, name) = entry.read(Entry::name)?;
        map.contains(&address).then_some(name)
    })
}

/// A copy of a name.
pub(super) struct Name {
    bytes: [u8; LONGEST_NAME],
    length: usize,
}

impl Deref for Name {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[..self.length.min(LONGEST_NAME)]
    }
}

impl Entry {
    fn new(next: Option<&'static Entry>) -> Entry {
        Entry {
            is_taken: AtomicBool::new(true),
            version: AtomicUsize::new(0),
            start: AtomicUsize::new(0),
            end: AtomicUsize::new(0),
            name: [const { AtomicU8::new(0) }; LONGEST_NAME],
            name_bytes: AtomicUsize::new(0),
            next,
        }
    }

    /// Only for the owner of the entry.
    fn set(&self, map: Range<usize>, name: &[u8]) {
        let name = &name[name.len().saturating_sub(LONGEST_NAME)..];
        self.version.fetch_add(1, Ordering::Relaxed);
        fence(Ordering::Release);
        self.start.store(map.start, Ordering::Relaxed);
        self.end.store(map.end, Ordering::Relaxed);
        for (place, &byte) in self.name.iter().zip(name) {
            place.store(byte, Ordering::Relaxed);
        }
        self.name_bytes.store(name.len(), Ordering::Relaxed);
        self.version.fetch_add(1, Ordering::Release);
    }

    /// The addresses of the map, and the result of `more`; none if the entry is written at the same
    /// time.
    fn read<T>(&self, more: impl FnOnce(&Entry) -> T) -> Option<(Range<usize>, T)> {
        let before = self.version.load(Ordering::Acquire);
        let map = self.start.load(Ordering::Relaxed)..self.end.load(Ordering::Relaxed);
        let more = more(self);
        fence(Ordering::Acquire);
        let is_one_map = before.is_multiple_of(2) && self.version.load(Ordering::Relaxed) == before;
        is_one_map.then_some((map, more))
    }

    fn name(&self) -> Name {
        let mut bytes = [0; LONGEST_NAME];
        for (byte, place) in bytes.iter_mut().zip(&self.name) {
            *byte = place.load(Ordering::Relaxed);
        }
        Name {
            bytes,
            length: self.name_bytes.load(Ordering::Relaxed),
        }
    }
}

fn entries() -> impl Iterator<Item = &'static Entry> {
    // SAFETY: The list contains leaked entries only.
    let first = unsafe { ENTRIES.load(Ordering::Acquire).as_ref() };
    std::iter::successors(first, |entry: &&'static Entry| entry.next)
}

/// An entry for one map.
fn take_entry() -> &'static Entry {
    let take = |entry: &&Entry| {
        entry
            .is_taken
            .compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed)
            .is_ok()
    };
    if let Some(entry) = entries().find(take) {
        return entry;
    }
    let mut first = ENTRIES.load(Ordering::Acquire);
    loop {
        // SAFETY: The list contains leaked entries only.
        let next = unsafe { first.as_ref() };
        let entry = Box::into_raw(Box::new(Entry::new(next)));
        match ENTRIES.compare_exchange_weak(first, entry, Ordering::Release, Ordering::Acquire) {
            // SAFETY: The entry was leaked above and is never freed.
            Ok(_) => return unsafe { &*entry },
            Err(other) => {
                // SAFETY: The entry was not added to the list, so no other thread has a reference
                // to it.
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
    /// The entry is cleared before the file is unmapped, so that it never covers memory that is
    /// reused.
    fn drop(&mut self) {
        self.entry.set(0..0, b"");
        self.entry.is_taken.store(false, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_mapped_as_long_as_their_file_is_and_no_others_are() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("w");
        std::fs::write(&path, vec![7; 1 << 16]).unwrap();
        let opened = || map(&File::open(&path).unwrap(), &path).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..500 {
                        let (bytes, heap) = (opened(), vec![7_u8; 1 << 16]);
                        assert!(
                            is_mapped(&bytes)
                                && is_mapped(&bytes.slice(100..200))
                                && !is_mapped(&heap)
                        );
                        let name = name_at(bytes.as_ptr() as usize + 5).unwrap();
                        assert!(path.display().to_string().as_bytes().ends_with(&name));
                    }
                });
            }
        });
    }

    #[test]
    fn of_a_long_path_the_end_is_shown() {
        let entry = Entry::new(None);
        entry.set(
            4096..8192,
            &[b"x".repeat(LONGEST_NAME), b"weights".to_vec()].concat(),
        );
        let (_, name) = entry.read(Entry::name).unwrap();
        assert!(name.len() == LONGEST_NAME && name.ends_with(b"weights"));
    }
}

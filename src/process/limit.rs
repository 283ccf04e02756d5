//! A limit for the memory of the process.
//!
//! Rust aborts if an allocation fails, so a program that should end properly has to stop before.
//! [`Limited`] counts allocated bytes and ends the process with a message if they exceed the limit.
//! It is for programs: a library must not end the process of its user.
//!
//! The process does not end while files get their names. Huge pages are used from 8 MiB on and for
//! large graphs: they make decoding a third faster, but would double the memory of a run that only
//! copies weights.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout};
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicIsize, Ordering};

use super::system;
use crate::base::memory_message;

/// The maximum number of allocated bytes.
static LIMIT: AtomicIsize = AtomicIsize::new(isize::MAX);
/// The number of allocated bytes, except for those that are still [`PENDING`] on a thread.
static ALLOCATED: AtomicIsize = AtomicIsize::new(0);

/// The number of allocated bytes from which the process uses huge pages. With huge pages, millions
/// of small messages take a third less time, but a process that needs little memory needs much
/// more.
const LARGE: isize = 8 << 20;
/// Whether the process uses huge pages.
static HAS_HUGE_PAGES: AtomicBool = AtomicBool::new(true);

/// Whether the process decodes a large graph, or has decoded one.
static HAS_LARGE_GRAPH: AtomicBool = AtomicBool::new(false);

/// A thread adds to [`ALLOCATED`] after it has allocated or freed this many bytes.
const BATCH: isize = 1 << 16;
/// Whether a part of the result was written to standard output.
static HAS_OUTPUT: AtomicBool = AtomicBool::new(false);
/// Whether a thread is ending the process.
static IS_ENDING: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// The bytes that this thread has allocated and not yet added to [`ALLOCATED`].
    static PENDING: Cell<isize> = const { Cell::new(0) };
}

/// Sets the limit of all [`Limited`] allocators.
pub fn set_memory_limit(bytes: u64) {
    LIMIT.store(
        isize::try_from(bytes).unwrap_or(isize::MAX),
        Ordering::Relaxed,
    );
}

/// Uses small pages until the process has allocated 8 MiB, or decodes a large graph.
pub fn defer_huge_pages() {
    HAS_HUGE_PAGES.store(!system::use_huge_pages(false), Ordering::Relaxed);
}

/// Tells the process that a large graph, which consists of millions of small messages, will be
/// decoded.
pub fn expect_large_graph() {
    HAS_LARGE_GRAPH.store(true, Ordering::Relaxed);
}

/// Notes that a result is being written to standard output, after which no document may be printed.
pub fn note_output() {
    HAS_OUTPUT.store(true, Ordering::Relaxed);
}

/// An allocator that ends the process with exit code 2 if the limit is reached or the system has no
/// free memory.
#[derive(Debug)]
pub struct Limited<A>(pub A);

// SAFETY: Every call is passed on to the allocator unchanged. The code around it does not allocate.
unsafe impl<A: GlobalAlloc> GlobalAlloc for Limited<A> {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size().cast_signed());
        // SAFETY: The caller guarantees what the allocator requires.
        checked(unsafe { self.0.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size().cast_signed());
        // SAFETY: As above.
        checked(unsafe { self.0.alloc_zeroed(layout) })
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size.cast_signed() - layout.size().cast_signed());
        // SAFETY: As above.
        checked(unsafe { self.0.realloc(pointer, layout, size) })
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-layout.size().cast_signed());
        // SAFETY: As above.
        unsafe { self.0.dealloc(pointer, layout) }
    }
}

#[inline]
fn count(bytes: isize) {
    // A thread that is ending no longer has the cell; it frees little memory then.
    let pending = PENDING.try_with(|pending| {
        let sum = pending.get() + bytes;
        let batch = if sum.abs() < BATCH { 0 } else { sum };
        pending.set(sum - batch);
        batch
    });
    match pending {
        Ok(0) | Err(_) => {}
        Ok(batch) => add(batch),
    }
}

#[cold]
fn add(bytes: isize) {
    let allocated = ALLOCATED.fetch_add(bytes, Ordering::Relaxed) + bytes;
    choose_pages(allocated, HAS_LARGE_GRAPH.load(Ordering::Relaxed));
    // The process must not end while files get their names; that takes little memory.
    if bytes > 0 && allocated > LIMIT.load(Ordering::Relaxed) && !system::is_held() {
        end(0);
    }
}

fn choose_pages(allocated: isize, has_large_graph: bool) {
    if !HAS_HUGE_PAGES.load(Ordering::Relaxed) && (allocated > LARGE || has_large_graph) {
        HAS_HUGE_PAGES.store(true, Ordering::Relaxed);
        system::use_huge_pages(true);
    }
}

fn checked(pointer: *mut u8) -> *mut u8 {
    if pointer.is_null() {
        end(1);
    }
    pointer
}

/// Ends the process. Does not allocate.
#[cold]
fn end(reason: usize) -> ! {
    // If another thread ends the process at the same time, its message suffices.
    while IS_ENDING.swap(true, Ordering::Relaxed) {
        std::thread::sleep(std::time::Duration::from_secs(1));
    }
    let [text, document] = memory_message::current().map_or([""; 2], |words| {
        [words[reason].text, words[reason].document]
    });
    let document = if HAS_OUTPUT.load(Ordering::Relaxed) {
        ""
    } else {
        document
    };
    system::end_with_message(document.as_bytes(), &[text.as_bytes()])
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn huge_pages_are_used_from_8_mib_on_and_for_large_graphs() {
        let are_off = || rustix::thread::transparent_huge_pages_are_disabled().ok();
        let cases = [
            (LARGE, false, true),
            (LARGE + 1, false, false),
            (0, true, false),
        ];
        for (allocated, has_large_graph, expected) in cases {
            defer_huge_pages();
            choose_pages(allocated, has_large_graph);
            // A sandbox may not offer this choice.
            assert_eq!(
                are_off(),
                are_off().and(Some(expected)),
                "{allocated} bytes, large graph: {has_large_graph}"
            );
        }
        choose_pages(LARGE + 1, false);
    }
}

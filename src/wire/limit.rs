//! A limit on the memory of the process.
//!
//! Rust aborts where an allocation fails, so a program that is to end in good order has to stop before. [`Limited`] counts what is
//! allocated and ends the process with a message when that is more than the limit. It is for programs; a library must not end the
//! process of its user.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout};
use std::cell::Cell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicIsize, Ordering};

use super::system;

/// The most bytes that may be allocated at a time.
static LIMIT: AtomicIsize = AtomicIsize::new(isize::MAX);
/// How many bytes are allocated, except for what is still [`PENDING`] on some thread.
static ALLOCATED: AtomicIsize = AtomicIsize::new(0);

/// A thread adds to [`ALLOCATED`] when it has allocated or freed this much.
const BATCH: isize = 1 << 16;
/// What the process says when it ends for lack of memory; made beforehand, since nothing can be allocated then.
#[derive(Clone, Copy, Debug)]
pub struct LastWords {
    /// For people, to standard error: a line.
    pub text: &'static str,
    /// For programs, to standard output: a document, unless part of another one is there already.
    pub document: &'static str,
}

/// What a thread says that was not told: the first that any was told, which is of the run as a whole.
static FIRST_WORDS: OnceLock<[LastWords; 2]> = OnceLock::new();
/// Whether standard output has something of the result.
static HAS_OUTPUT: AtomicBool = AtomicBool::new(false);
/// Whether a thread is ending the process.
static IS_ENDING: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// What this thread has allocated and not yet added to [`ALLOCATED`].
    static PENDING: Cell<isize> = const { Cell::new(0) };
    /// What this thread says at the end: where the limit is reached, and where the system has no memory left.
    static LAST_WORDS: Cell<Option<[LastWords; 2]>> = const { Cell::new(None) };
}

/// Sets the limit of all [`Limited`] allocators.
pub fn set_memory_limit(bytes: u64) {
    LIMIT.store(isize::try_from(bytes).unwrap_or(isize::MAX), Ordering::Relaxed);
}

/// Sets what this thread says from now on where the limit is reached, and where the system has no memory left.
pub fn set_last_words(at_limit: LastWords, without_memory: LastWords) {
    let words = [at_limit, without_memory];
    FIRST_WORDS.get_or_init(|| words);
    LAST_WORDS.set(Some(words));
}

/// Notes that a result is being written to standard output: no document may follow it.
pub fn note_output() {
    HAS_OUTPUT.store(true, Ordering::Relaxed);
}

/// An allocator that ends the process with exit code 2 when the limit is reached or the system has no memory left.
#[derive(Debug)]
pub struct Limited<A>(pub A);

// SAFETY: Every call is passed on to the allocator unchanged. What is done beside it allocates nothing.
unsafe impl<A: GlobalAlloc> GlobalAlloc for Limited<A> {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size().cast_signed());
        // SAFETY: The caller's promises are those that the allocator asks for.
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
    // A thread that ends has no cell any more; what it frees then is little.
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
    // While files get their names, nothing may end the process; that takes little memory.
    if bytes > 0 && allocated > LIMIT.load(Ordering::Relaxed) && !system::is_held() {
        end(0);
    }
}

fn checked(pointer: *mut u8) -> *mut u8 {
    if pointer.is_null() {
        end(1);
    }
    pointer
}

/// Ends the process. Allocates nothing.
#[cold]
fn end(reason: usize) -> ! {
    // Another thread may have ended the process at the same time: it speaks for both.
    while IS_ENDING.swap(true, Ordering::Relaxed) {
        std::thread::sleep(std::time::Duration::from_secs(1));
    }
    let own = LAST_WORDS.try_with(Cell::get).ok().flatten();
    let [text, document] =
        own.or_else(|| FIRST_WORDS.get().copied()).map_or([""; 2], |words| [words[reason].text, words[reason].document]);
    let document = if HAS_OUTPUT.load(Ordering::Relaxed) { "" } else { document };
    system::end_with_message(document.as_bytes(), &[text.as_bytes()])
}

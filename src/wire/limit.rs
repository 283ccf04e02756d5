//! A limit on the memory of the process.
//!
//! Rust aborts where an allocation fails, so a program that is to end in good order has to stop before. [`Limited`] counts what is
//! allocated and ends the process with a message when that is more than the limit. It is for programs; a library must not end the
//! process of its user.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout};
use std::cell::Cell;
use std::sync::atomic::{AtomicIsize, Ordering};

use super::signals;

/// The most bytes that may be allocated at a time.
static LIMIT: AtomicIsize = AtomicIsize::new(isize::MAX);
/// How many bytes are allocated, except for what is still [`PENDING`] on some thread.
static ALLOCATED: AtomicIsize = AtomicIsize::new(0);

/// A thread adds to [`ALLOCATED`] when it has allocated or freed this much.
const BATCH: isize = 1 << 16;
/// Longer names of inputs are cut in the message.
const LONGEST_NAME: usize = 256;

thread_local! {
    /// What this thread has allocated and not yet added to [`ALLOCATED`].
    static PENDING: Cell<isize> = const { Cell::new(0) };
    /// The input that this thread works on, and the length of its name.
    static INPUT: Cell<([u8; LONGEST_NAME], usize)> = const { Cell::new(([0; LONGEST_NAME], 0)) };
}

/// Sets the limit of all [`Limited`] allocators.
pub fn set_memory_limit(bytes: u64) {
    LIMIT.store(isize::try_from(bytes).unwrap_or(isize::MAX), Ordering::Relaxed);
}

/// Names the input that this thread works on from now on, for the message.
pub fn name_input(name: &str) {
    let mut start = [0; LONGEST_NAME];
    let length = (0..=name.len().min(LONGEST_NAME)).rev().find(|&end| name.is_char_boundary(end)).unwrap_or(0);
    start[..length].copy_from_slice(&name.as_bytes()[..length]);
    INPUT.set((start, length));
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
    if bytes > 0 && allocated > LIMIT.load(Ordering::Relaxed) && !signals::is_held() {
        end(b"needs more memory than the limit of ", true);
    }
}

fn checked(pointer: *mut u8) -> *mut u8 {
    if pointer.is_null() {
        end(b"the system has no memory left", false);
    }
    pointer
}

/// Ends the process. Allocates nothing.
#[cold]
fn end(what: &[u8], tell_limit: bool) -> ! {
    let (name, length) = INPUT.try_with(Cell::get).unwrap_or(([0; LONGEST_NAME], 0));
    let mut digits = [0; 20];
    let limit = decimal(LIMIT.load(Ordering::Relaxed).unsigned_abs() >> 20, &mut digits);
    let separator: &[u8] = if length > 0 { b": " } else { b"" };
    let limit: [&[u8]; 2] = if tell_limit { [limit, b" MiB; raise it with --max-memory BYTES"] } else { [b"", b""] };
    signals::end_with_message(&[b"recast: ", &name[..length], separator, what, limit[0], limit[1], b"\n"])
}

fn decimal(mut number: usize, digits: &mut [u8; 20]) -> &[u8] {
    let mut start = digits.len();
    loop {
        start -= 1;
        digits[start] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            return &digits[start..];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_in_decimal() {
        for number in [0, 9, 10, 8192, usize::MAX] {
            assert_eq!(decimal(number, &mut [0; 20]), number.to_string().as_bytes());
        }
    }

    #[test]
    fn a_long_name_is_cut_between_characters() {
        let name = "é".repeat(LONGEST_NAME);
        name_input(&format!("a{name}"));
        let (start, length) = INPUT.get();
        assert_eq!(length, LONGEST_NAME - 1);
        assert!(String::from_utf8(start[..length].to_vec()).is_ok());
    }
}

//! The context in which this thread decodes a message: prost's functions have no parameter for it.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use bytes::Bytes;

/// The memory limit for messages and lists, without their values: a constant plus a multiple of the
/// length of the file. The densest models, which declare the shapes of many values, need 20 bytes
/// per byte; an empty node, of two bytes, takes 188.
const ROOM: usize = 256 << 20;
const ROOM_PER_BYTE: usize = 20;

thread_local! {
    /// The bytes that are decoded.
    static INPUT: RefCell<Arc<Bytes>> = RefCell::default();
    /// The offset of the innermost field that could not be decoded.
    static FAILED_AT: Cell<Option<usize>> = const { Cell::new(None) };
    /// The memory that is left for messages.
    static ROOM_LEFT: Cell<usize> = const { Cell::new(usize::MAX) };
}

/// The memory for the messages of an input.
pub(super) fn memory_budget(length: usize) -> usize {
    ROOM.saturating_add(length.saturating_mul(ROOM_PER_BYTE))
}

/// The memory for the messages in a part of an input, in proportion.
pub(super) fn memory_budget_of_part(part: usize, length: usize) -> usize {
    let share = ROOM as u128 * part as u128 / length.max(1) as u128;
    (share as usize).saturating_add(part.saturating_mul(ROOM_PER_BYTE))
}

/// Begins to decode an input that may take this much memory.
pub(super) fn begin(input: Bytes, room: usize) {
    INPUT.set(Arc::new(input));
    FAILED_AT.set(None);
    ROOM_LEFT.set(room);
}

/// Ends decoding, and returns how much memory is left.
pub(super) fn end() -> usize {
    INPUT.take();
    ROOM_LEFT.replace(usize::MAX)
}

/// Calls a function with the input.
pub(super) fn with_input<T>(work: impl FnOnce(&Arc<Bytes>) -> T) -> T {
    INPUT.with_borrow(work)
}

/// Notes the offset of a field that cannot be decoded; fields inside it come first.
pub(super) fn fail_at(offset: usize) {
    FAILED_AT.set(FAILED_AT.get().or(Some(offset)));
}

/// The offset of the innermost field that could not be decoded.
pub(super) fn failed_at() -> Option<usize> {
    FAILED_AT.get()
}

/// Counts memory that decoding allocates.
pub(super) fn count_allocation(bytes: usize) {
    ROOM_LEFT.set(ROOM_LEFT.get().saturating_sub(bytes));
}

/// Whether no memory is left.
pub(super) fn is_full() -> bool {
    ROOM_LEFT.get() == 0
}

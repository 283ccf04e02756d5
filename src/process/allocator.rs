//! When the allocator of the command returns freed memory to the system.
#![allow(unsafe_code)]

/// Returns freed memory to the system after half a second. By default that takes ten seconds,
/// longer than a conversion of a million nodes, and memory freed by one of its steps is not always
/// used by the next.
#[cfg(feature = "mimalloc")]
pub fn return_memory_soon() {
    use libmimalloc_sys::{mi_option_get, mi_option_set, mi_option_t};

    /// `mi_option_purge_delay`, for which the crate has no name, and its default.
    const PURGE_DELAY: mi_option_t = 15;
    const DEFAULT: std::ffi::c_long = 1000;
    /// Milliseconds; the allocator waits ten times as long before it returns large areas.
    const SOON: std::ffi::c_long = 50;

    // SAFETY: Both functions take any number of an option. An option with another default is not
    // this one, and stays as it is.
    unsafe {
        if mi_option_get(PURGE_DELAY) == DEFAULT {
            mi_option_set(PURGE_DELAY, SOON);
        }
    }
}

/// Other allocators return memory by their own rules.
#[cfg(not(feature = "mimalloc"))]
pub fn return_memory_soon() {}

//! Writing on Unix: at offsets, on all cores, past the page cache where that is possible.

mod direct;
mod memory;
mod write;

pub(super) use write::write_anywhere;

//! The process: the limit for its memory, signals that end it, files that are mapped into it.
//!
//! The library uses maps and the removal of temporary files. The rest is for the command, to which
//! the process belongs.

mod allocator;
mod limit;
#[cfg(unix)]
#[path = "unix/mod.rs"]
pub(crate) mod system;
#[cfg(not(unix))]
#[path = "other.rs"]
pub(crate) mod system;

pub use allocator::return_memory_soon;
pub use limit::{Limited, defer_huge_pages, expect_large_graph, note_output, set_memory_limit};
pub use system::{exit, install_signal_handlers, is_standard_output};

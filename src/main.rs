//! The command `recast`.

#![deny(clippy::disallowed_methods, clippy::print_stderr, clippy::print_stdout)]

use onnx_recast::cli::{
    self, Limited, defer_huge_pages, exit, install_signal_handlers, return_memory_soon,
};

/// Counts memory for `--max-memory`.
#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: Limited<mimalloc::MiMalloc> = Limited(mimalloc::MiMalloc);

/// Counts memory for `--max-memory`.
#[cfg(not(feature = "mimalloc"))]
#[global_allocator]
static ALLOCATOR: Limited<std::alloc::System> = Limited(std::alloc::System);

fn main() {
    return_memory_soon();
    defer_huge_pages();
    install_signal_handlers();
    exit(cli::main().into())
}

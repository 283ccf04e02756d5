//! The command `recast`.

#![deny(clippy::disallowed_methods, clippy::print_stderr, clippy::print_stdout)]

use onnx_recast::cli::{Command, Limited, exit};

/// Counts memory for `--max-memory`.
#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: Limited<mimalloc::MiMalloc> = Limited(mimalloc::MiMalloc);

/// Counts memory for `--max-memory`.
#[cfg(not(feature = "mimalloc"))]
#[global_allocator]
static ALLOCATOR: Limited<std::alloc::System> = Limited(std::alloc::System);

fn main() {
    exit(Command::new().run().into())
}

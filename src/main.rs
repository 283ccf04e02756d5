//! The command `recast`: parses the command line, runs it, prints the error, sets the exit code.

use std::io;
use std::process::ExitCode;

use clap::Parser;
use onnx_recast::cli::{Cli, run, say};
use onnx_recast::wire::{Limited, install_signal_handlers};

/// Counts memory for `--max-memory`.
#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: Limited<mimalloc::MiMalloc> = Limited(mimalloc::MiMalloc);

/// Counts memory for `--max-memory`.
#[cfg(not(feature = "mimalloc"))]
#[global_allocator]
static ALLOCATOR: Limited<std::alloc::System> = Limited(std::alloc::System);

fn main() -> ExitCode {
    install_signal_handlers();
    match run(Cli::parse()) {
        Ok(code) => code,
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            say(format!("recast: {error:#}"));
            ExitCode::from(2)
        }
    }
}

/// Whoever reads the output has seen enough.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe))
}

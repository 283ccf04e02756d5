//! The command `recast`.

#![deny(clippy::disallowed_methods, clippy::print_stderr, clippy::print_stdout)]

use std::process::ExitCode;

use onnx_recast::cli;
use onnx_recast::wire::install_signal_handlers;

fn main() -> ExitCode {
    install_signal_handlers();
    cli::main()
}

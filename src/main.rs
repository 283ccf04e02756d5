//! The command `recast`.

use std::process::ExitCode;

use onnx_recast::cli;
use onnx_recast::wire::install_signal_handlers;

fn main() -> ExitCode {
    install_signal_handlers();
    cli::main()
}

//! Options and text of several commands.

use clap::{Args, ValueEnum};

/// The verbosity of a run.
#[derive(Args, Clone, Copy)]
pub struct Messages {
    /// Print only errors and machine-readable output; no progress bar, no text report
    #[arg(long, short, global = true, conflicts_with = "verbose")]
    pub quiet: bool,
    /// List every node instead of totals
    #[arg(long, short, global = true)]
    pub verbose: bool,
}

/// The output format of a result.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Human-readable text
    Text,
    /// One versioned JSON document per run
    Json,
}

pub const EXIT_CODES: &str = "Exit codes:
  0  done or clean
  1  findings, differences or an unsupported conversion
  2  error: usage, unreadable or malformed input, I/O";

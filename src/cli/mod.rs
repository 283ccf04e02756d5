//! The command line: `run`. Each command is a file, or a folder (`lint`), with its options and its
//! implementation; what several commands use is in the other files.

mod adapters;
mod cast;
mod cast_number;
mod completions;
mod convert;
mod diff;
mod exit_code;
mod explain;
mod extended;
mod failures;
mod files;
mod fold;
mod help;
pub(crate) mod in_memory;
mod inspect;
mod lint;
mod manual;
mod memory;
mod models;
mod open_results;
mod opset;
mod options;
mod output;
mod page;
mod passes;
mod paths;
mod precision;
mod prepare;
mod progress;
mod remedy;
mod report;
pub(crate) mod run;
mod streams;
mod targets;
mod usage;

pub use crate::process::{Limited, exit};
pub use exit_code::ExitCode;
pub use extended::Command;

//! The tests of the whole crate, in one binary.

mod architecture;
mod arrays;
mod bad_input;
mod cast_file;
mod cast_number;
mod changing_inputs;
mod command;
#[cfg(unix)]
mod commands_page;
mod convert;
#[cfg(unix)]
mod crash;
#[cfg(unix)]
mod data_names;
mod decisions;
mod diff;
#[cfg(target_os = "linux")]
mod doubtful;
mod explain;
mod external_data;
mod extremes;
#[cfg(target_os = "linux")]
mod faults;
mod fold;
mod folded_parts;
mod fuzz;
#[cfg(unix)]
mod hostile_files;
mod ignored;
mod import_cycles;
mod in_memory;
mod inference;
mod inputs;
mod kept;
mod kernels;
#[cfg(unix)]
mod left_over;
mod library;
mod lint;
#[cfg(target_os = "linux")]
mod many_models;
mod memory;
#[cfg(unix)]
mod mistakes;
mod moved;
mod order;
#[cfg(unix)]
mod page;
mod panics;
mod passes;
mod places;
mod precision;
#[cfg(target_os = "linux")]
mod progress;
mod properties;
mod read_in_ranges;
mod reasons;
#[cfg(unix)]
mod reference;
#[cfg(unix)]
mod replaced;
#[cfg(unix)]
mod run_files;
mod runtimes;
mod schemas;
mod storage;
mod support;
mod symbols;
mod thresholds;
#[cfg(target_os = "linux")]
mod traced;
#[cfg(target_os = "linux")]
mod users;
mod valid;
mod verify;
mod wire_tree;
mod without_files;
mod words;

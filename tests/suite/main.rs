//! The tests of the whole crate, in one binary.

mod architecture;
mod bad_input;
mod cast_file;
mod command;
mod convert;
#[cfg(unix)]
mod crash;
mod external_data;
mod fold;
mod kept;
mod lint;
mod properties;
mod storage;
mod support;
mod wire_tree;

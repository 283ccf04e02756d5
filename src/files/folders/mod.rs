//! The files that this crate reads and writes: the only module that opens, creates, renames or
//! removes them by name.
//!
//! A [`Folder`] is an open folder. Names are looked up beneath it, one component at a time, without
//! following links: a file outside of the folder cannot be opened, even if a component is replaced
//! by a link between two calls. A path that may contain links is resolved first; its target is then
//! opened beneath the folder that must contain it.
//!
//! There are two backends: `system`, the files of the operating system, and `memory`, tables of
//! names and bytes. Callers see opaque types and paths; a path that begins with the path of a table
//! in memory refers to that table, see [`Folder::memory`].

mod components;
mod file;
mod folder;
mod memory;
mod paths;
mod stat;
#[cfg(unix)]
#[path = "unix.rs"]
mod system;
#[cfg(not(unix))]
#[path = "other.rs"]
mod system;

pub use file::{OpenFile, OpenNewFile, Reading};
pub use folder::{Folder, Lock};
pub use paths::{
    create_folders, exists, id_of, is_file, is_folder, is_in_memory, list, process_id, read,
    read_text, resolve, resolve_in, stat, stat_target,
};
pub use stat::{EntryKind, FileId, Stat};

/// The permissions of a new file, as on Unix, before the user's umask is applied.
pub const DEFAULT_MODE: u32 = 0o666;
/// The permissions of a file that only its owner can read.
pub const PRIVATE_MODE: u32 = 0o600;

#[cfg(test)]
mod tests;

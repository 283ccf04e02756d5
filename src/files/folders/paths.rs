//! Access to files by path, following links: before a [`Folder`] is opened.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::file::Reading;
use super::folder::Folder;
use super::stat::{EntryKind, FileId, Stat};
use super::{memory, system};

/// The identity of the file at a path; links are followed. None if the path does not exist.
#[must_use]
pub fn id_of(path: &Path) -> Option<FileId> {
    match memory::root_of(path) {
        Some((root, below)) => root.stat(below.as_os_str()).ok()?.id,
        None => system::id_of(path),
    }
}

/// The path without links, `.` and `..`.
///
/// # Errors
/// Any I/O error; also if the path does not exist.
pub fn resolve(path: &Path) -> io::Result<PathBuf> {
    match memory::root_of(path) {
        Some((root, below)) => root.resolve(&below),
        None => fs::canonicalize(path),
    }
}

/// Like [`resolve`], in the file system of an open folder, with whose path the path may begin: any
/// thread finds the same entry.
///
/// # Errors
/// Any I/O error; also if the path does not exist.
pub fn resolve_in(folder: &Folder, path: &Path) -> io::Result<PathBuf> {
    match folder.in_own_table(path) {
        Some((table, below)) => table.resolve(below),
        None => resolve(path),
    }
}

/// The metadata of a path; links are not followed.
///
/// # Errors
/// Any I/O error; also if the path does not exist.
pub fn stat(path: &Path) -> io::Result<Stat> {
    match memory::root_of(path) {
        Some((root, below)) => root.stat(below.as_os_str()),
        None => Ok(Stat::of(&fs::symlink_metadata(path)?)),
    }
}

/// The metadata of a path; links are followed.
///
/// # Errors
/// Any I/O error; also if the path does not exist.
pub fn stat_target(path: &Path) -> io::Result<Stat> {
    match memory::root_of(path) {
        Some((root, below)) => root.stat(below.as_os_str()),
        None => Ok(Stat::of(&fs::metadata(path)?)),
    }
}

/// Whether a path is that of a regular file; links are followed.
#[must_use]
pub fn is_file(path: &Path) -> bool {
    stat_target(path).is_ok_and(|found| found.kind == EntryKind::File)
}

/// Whether a path is that of a folder; links are followed.
#[must_use]
pub fn is_folder(path: &Path) -> bool {
    stat_target(path).is_ok_and(|found| found.kind == EntryKind::Folder)
}

/// Whether a path exists; links are followed.
#[must_use]
pub fn exists(path: &Path) -> bool {
    stat_target(path).is_ok()
}

/// The text of the file at a path; links are followed.
///
/// # Errors
/// Any I/O error; also if it is not UTF-8.
pub fn read_text(path: &Path) -> io::Result<String> {
    io::read_to_string(read(path)?)
}

/// The sorted paths of the entries of the folder at a path.
///
/// # Errors
/// Any I/O error; also if only a part of the entries can be read.
pub fn list(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths: Vec<PathBuf> = match memory::root_of(folder) {
        Some((root, below)) => root
            .open(&below)?
            .list()
            .into_iter()
            .map(|name| folder.join(name))
            .collect(),
        None => fs::read_dir(folder)?
            .map(|entry| Ok(entry?.path()))
            .collect::<io::Result<_>>()?,
    };
    paths.sort();
    Ok(paths)
}

/// Opens the file, device or pipe at a path; links are followed.
///
/// # Errors
/// Any I/O error.
pub fn read(path: &Path) -> io::Result<Reading> {
    match memory::root_of(path) {
        Some((root, below)) => Ok(Reading::Memory(root.read(below.as_os_str())?.bytes(), 0)),
        None => Ok(Reading::System(File::open(path)?)),
    }
}

/// Creates a folder at a path, and missing parent folders.
///
/// # Errors
/// Any I/O error.
pub fn create_folders(path: &Path) -> io::Result<()> {
    match memory::root_of(path) {
        Some((root, below)) => Folder::in_memory(root)
            .create_folders_to(&below.join("file"))
            .map(drop),
        None => fs::create_dir_all(path),
    }
}

/// The id of this process; 0 if the system has no processes.
#[must_use]
pub fn process_id() -> u32 {
    if cfg!(any(unix, windows)) {
        std::process::id()
    } else {
        0
    }
}

/// Whether a path is that of a file in memory, which is computed whenever it is read.
pub fn is_in_memory(path: &Path) -> bool {
    memory::root_of(path).is_some()
}

//! Checks whether a path may be replaced by a new file.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::folders::{EntryKind, Folder, Stat};
use super::paths::{folder_of, is_stream, names_a_folder};

/// The minimum number of hexadecimal digits in the name of a cached file: MD5, two digits of which
/// may be the name of the folder.
const SHORTEST_HASH: usize = 30;

/// The target of a new file, with links resolved.
#[derive(Debug)]
pub(super) struct NewFileTarget {
    pub folder: Folder,
    pub name: OsString,
    /// The existing file.
    pub old: Option<Stat>,
}

/// Why the file at a path is not replaced.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotReplaceable {
    /// A dangling link.
    #[error("is a link to {}, which does not exist; use that path, or remove the link", .0.display())]
    DanglingLink(PathBuf),
    /// A link into a cache of files that are named by their content.
    #[error("is a link to {}, a file of a cache that other links share; write to another file", .0.display())]
    Cached(PathBuf),
    /// The file has other names.
    #[error(
        "has {0} names (hard links), and the other names would keep the old content; write to another file, or replace this name by a copy"
    )]
    HardLinks(u64),
}

/// Checks that a path can be replaced by a new file without effects on other names: an unused path,
/// a file with one name, or a link to such a file. A device or a pipe is written to, and not
/// replaced.
///
/// # Errors
/// [`NotReplaceable`] as the source of the error; also any I/O error.
pub fn check_replaceable(path: &Path) -> io::Result<()> {
    if is_stream(path) {
        return Ok(());
    }
    match NewFileTarget::of(path, None, 1) {
        // The folder may be created later.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        place => place.map(drop),
    }
}

/// The id of the owner of the file at a path, if a file that replaces it will belong to another
/// user.
#[must_use]
pub fn owner_if_it_would_change(path: &Path) -> Option<u32> {
    if is_stream(path) {
        return None;
    }
    let old = NewFileTarget::of(path, None, u64::MAX).ok()?.old?;
    (!old.can_keep_owner()).then_some(old.owner)
}

impl NewFileTarget {
    /// The target at a path, or, in an open folder, at the last name of the path, which must not be
    /// a link. An existing file may have `names` names.
    pub(super) fn of(path: &Path, folder: Option<Folder>, names: u64) -> io::Result<NewFileTarget> {
        if names_a_folder(path) {
            return Err(is_folder());
        }
        let resolved = if folder.is_some() {
            path.to_owned()
        } else {
            resolved(path)?
        };
        let name = resolved.file_name().ok_or_else(is_folder)?.to_owned();
        let folder = folder.map_or_else(|| Folder::open(&folder_of(&resolved)), Ok)?;
        let old = folder.stat(name.as_ref())?;
        match &old {
            Some(Stat {
                kind: EntryKind::Folder,
                ..
            }) => Err(is_folder()),
            Some(Stat {
                kind: EntryKind::Link | EntryKind::Other,
                ..
            }) => Err(io::Error::other("is not a regular file")),
            Some(Stat { links, .. }) if *links > names => {
                Err(io::Error::other(NotReplaceable::HardLinks(*links)))
            }
            _ => Ok(NewFileTarget { folder, name, old }),
        }
    }

    /// The path, with links resolved.
    pub(super) fn path(&self) -> PathBuf {
        self.folder.path().join(&self.name)
    }
}

/// The target of a link; any other path unchanged.
fn resolved(path: &Path) -> io::Result<PathBuf> {
    let is_link = fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink());
    if !is_link {
        return Ok(path.to_owned());
    }
    match fs::canonicalize(path) {
        Ok(target) if is_cached(&target) => Err(io::Error::other(NotReplaceable::Cached(target))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let target = fs::read_link(path)?;
            Err(io::Error::other(NotReplaceable::DanglingLink(
                folder_of(path).join(target),
            )))
        }
        target => target,
    }
}

/// Whether a file appears to be named by its content, as in the caches of model hubs.
fn is_cached(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default().as_encoded_bytes();
    let has_hash = name
        .split(|byte| !byte.is_ascii_hexdigit())
        .any(|run| run.len() >= SHORTEST_HASH);
    has_hash
        || file
            .parent()
            .and_then(Path::file_name)
            .is_some_and(|folder| folder == "blobs")
}

fn is_folder() -> io::Error {
    io::Error::new(io::ErrorKind::IsADirectory, "is a folder, not a file")
}

//! Metadata of files.

use std::fs::File;
use std::io;
#[cfg(not(unix))]
use std::time::SystemTime;

/// The type of an entry of a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link.
    Link,
    /// A device, pipe or socket.
    Other,
}

/// The identity of a file, independent of its names. Equal if both are known to be the same file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub(super) Id);

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Id {
    /// Device and inode.
    Numbers(u64, u64),
    /// The resolved path, on systems for which the standard library has no file ids.
    #[cfg(not(unix))]
    Path(std::path::PathBuf),
}

/// The metadata of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stat {
    /// Its type.
    pub kind: EntryKind,
    /// Its length.
    pub bytes: u64,
    /// The number of its names.
    pub links: u64,
    /// Its permissions, as on Unix; 0 on other systems.
    pub mode: u32,
    /// The id of its owner; 0 except on Unix.
    pub owner: u32,
    /// The id of its group; 0 except on Unix.
    pub group: u32,
    /// Its identity; none if the system has no file ids.
    pub id: Option<FileId>,
    /// The time of the last change of its content.
    pub(super) modified: Time,
    /// The time of the last change of its content or metadata.
    pub(super) changed: Time,
}

/// Seconds and nanoseconds.
#[cfg(unix)]
pub(super) type Time = (i64, i64);
#[cfg(not(unix))]
pub(super) type Time = Option<SystemTime>;

impl Stat {
    /// The metadata of an open file.
    ///
    /// # Errors
    /// Any I/O error.
    pub fn of_file(file: &File) -> io::Result<Stat> {
        Ok(Stat::of(&file.metadata()?))
    }

    /// Whether it is that of the same file, as far as the metadata shows: some file systems have
    /// other ids for an open file, and Windows, which has none here, states the time of a file when
    /// it is closed.
    #[must_use]
    pub fn is_file_of(&self, other: &Stat) -> bool {
        let has_ids = self.id.is_some() && other.id.is_some();
        let has_same_id = has_ids && self.id == other.id;
        has_same_id || (self.bytes == other.bytes && (!has_ids || self.modified == other.modified))
    }

    /// Whether the content is the same as before, as far as the metadata shows. Other names and
    /// permissions do not count.
    #[must_use]
    pub fn has_content_of(&self, before: &Stat) -> bool {
        let is_same_file = self.id.is_none() || before.id.is_none() || self.id == before.id;
        let is_same =
            is_same_file && self.bytes == before.bytes && self.modified == before.modified;
        // A writer can reset the modification time, but not the change time, which new names and
        // permissions update too.
        let is_renamed =
            (self.links, self.mode, self.owner) != (before.links, before.mode, before.owner);
        is_same && (self.changed == before.changed || is_renamed)
    }

    #[cfg(unix)]
    pub(super) fn of(metadata: &std::fs::Metadata) -> Stat {
        use std::os::unix::fs::MetadataExt;

        Stat {
            kind: kind(metadata.file_type()),
            bytes: metadata.size(),
            links: metadata.nlink(),
            mode: metadata.mode() & 0o7777,
            owner: metadata.uid(),
            group: metadata.gid(),
            id: Some(FileId(Id::Numbers(metadata.dev(), metadata.ino()))),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }

    #[cfg(not(unix))]
    pub(super) fn of(metadata: &std::fs::Metadata) -> Stat {
        Stat {
            kind: kind(metadata.file_type()),
            bytes: metadata.len(),
            links: 1,
            mode: 0,
            owner: 0,
            group: 0,
            id: None,
            modified: metadata.modified().ok(),
            changed: None,
        }
    }
}

pub(super) fn kind(found: std::fs::FileType) -> EntryKind {
    match found {
        found if found.is_file() => EntryKind::File,
        found if found.is_dir() => EntryKind::Folder,
        found if found.is_symlink() => EntryKind::Link,
        _ => EntryKind::Other,
    }
}

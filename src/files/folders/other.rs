//! Folders of systems for which the standard library has no folder handles: paths, each component
//! of which is checked before use. Unlike on the systems of `unix.rs`, a component can be replaced
//! by a link between the check and the use.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::stat::{EntryKind, FileId, Id, Stat};

#[derive(Debug)]
pub(super) struct Folder(PathBuf);

/// Folders have no locks here.
pub(super) type Lock = ();

/// Without locks, no other process can hold one.
pub(super) fn claim(_file: &File) -> bool {
    true
}

/// Without locks, no file is known to be unused.
pub(super) fn is_unclaimed(_file: &File) -> bool {
    false
}

pub(super) fn set_mode(_file: &File, _mode: u32) -> io::Result<()> {
    Ok(())
}

/// Attributes are not copied here.
pub(super) fn take_attributes(_file: &File, _old: &File) {}

/// A new file inherits the permissions of its folder.
pub(super) fn can_keep_owner(_old: &Stat) -> bool {
    true
}

pub(super) fn take_permissions(_file: &File, _old: &Stat) -> io::Result<()> {
    Ok(())
}

impl Folder {
    pub(super) fn open(path: &Path) -> io::Result<Folder> {
        let path = fs::canonicalize(path)?;
        if path.is_dir() {
            Ok(Folder(path))
        } else {
            Err(io::ErrorKind::NotADirectory.into())
        }
    }

    pub(super) fn folder(&self, name: &OsStr) -> io::Result<Folder> {
        match self.stat(name)?.kind {
            EntryKind::Folder => Ok(Folder(self.0.join(name))),
            _ => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    pub(super) fn id(&self) -> io::Result<FileId> {
        Ok(FileId(Id::Path(fs::canonicalize(&self.0)?)))
    }

    pub(super) fn read(&self, name: &OsStr) -> io::Result<File> {
        match self.stat(name)?.kind {
            EntryKind::File => File::open(self.0.join(name)),
            _ => Err(super::components::not_regular()),
        }
    }

    pub(super) fn stat(&self, name: &OsStr) -> io::Result<Stat> {
        let path = self.0.join(name);
        let stat = Stat::of(&fs::symlink_metadata(&path)?);
        Ok(Stat {
            id: id_of(&path),
            ..stat
        })
    }

    pub(super) fn list(&self) -> io::Result<Vec<OsString>> {
        fs::read_dir(&self.0)?
            .map(|entry| Ok(entry?.file_name()))
            .collect()
    }

    pub(super) fn create_folder(&self, name: &OsStr) -> io::Result<()> {
        fs::create_dir(self.0.join(name))
    }

    pub(super) fn create(&self, name: &OsStr, _mode: u32) -> io::Result<File> {
        File::options()
            .read(true)
            .write(true)
            .create_new(true)
            .open(self.0.join(name))
    }

    pub(super) fn create_unnamed(&self) -> Option<File> {
        None
    }

    pub(super) fn link(&self, _file: &File, _name: &OsStr) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        fs::rename(self.0.join(from), self.0.join(to))
    }

    pub(super) fn rename_new(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        match fs::symlink_metadata(self.0.join(to)) {
            Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => self.rename(from, to),
            Err(error) => Err(error),
        }
    }

    pub(super) fn link_again(&self, from: &OsStr, into: &Folder, to: &OsStr) -> io::Result<()> {
        fs::hard_link(self.0.join(from), into.0.join(to))
    }

    pub(super) fn lock(&self, _wait: Duration) -> io::Result<Option<Lock>> {
        Ok(None)
    }

    pub(super) fn remove(&self, name: &OsStr) -> io::Result<()> {
        fs::remove_file(self.0.join(name))
    }

    /// There is no sticky bit here.
    pub(super) fn lets_replace(&self, _file: &Stat) -> io::Result<bool> {
        Ok(true)
    }

    pub(super) fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}

pub(super) fn id_of(path: &Path) -> Option<FileId> {
    fs::canonicalize(path)
        .ok()
        .map(|path| FileId(Id::Path(path)))
}

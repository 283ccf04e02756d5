//! Folders of systems without handles of folders in the standard library: paths, each component of which is looked at before use.
//! Between the look and the use it can be replaced by a link, which the systems of `unix.rs` exclude.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::stat::{FileId, Kind, Stat};

#[derive(Debug)]
pub(super) struct Folder(PathBuf);

impl Folder {
    pub(super) fn open(path: &Path) -> io::Result<Folder> {
        let path = fs::canonicalize(path)?;
        if path.is_dir() { Ok(Folder(path)) } else { Err(io::ErrorKind::NotADirectory.into()) }
    }

    pub(super) fn folder(&self, name: &OsStr) -> io::Result<Folder> {
        match self.stat(name)?.kind {
            Kind::Folder => Ok(Folder(self.0.join(name))),
            _ => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    pub(super) fn id(&self) -> io::Result<FileId> {
        Ok(FileId(fs::canonicalize(&self.0)?))
    }

    pub(super) fn read(&self, name: &OsStr) -> io::Result<File> {
        match self.stat(name)?.kind {
            Kind::File => File::open(self.0.join(name)),
            _ => Err(super::not_regular()),
        }
    }

    pub(super) fn stat(&self, name: &OsStr) -> io::Result<Stat> {
        let path = self.0.join(name);
        let stat = Stat::of(&fs::symlink_metadata(&path)?);
        Ok(Stat { id: fs::canonicalize(&path).ok().map(FileId), ..stat })
    }

    pub(super) fn list(&self) -> io::Result<Vec<OsString>> {
        fs::read_dir(&self.0)?.map(|entry| Ok(entry?.file_name())).collect()
    }

    pub(super) fn create_folder(&self, name: &OsStr) -> io::Result<()> {
        fs::create_dir(self.0.join(name))
    }

    pub(super) fn create(&self, name: &OsStr) -> io::Result<File> {
        File::options().read(true).write(true).create_new(true).open(self.0.join(name))
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

    pub(super) fn remove(&self, name: &OsStr) -> io::Result<()> {
        fs::remove_file(self.0.join(name))
    }

    pub(super) fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}

pub(super) fn id_of(path: &Path) -> Option<FileId> {
    fs::canonicalize(path).ok().map(FileId)
}

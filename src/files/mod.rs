//! The files that this crate reads and writes: the only module that opens, creates, renames or removes them by name.
//!
//! A [`Folder`] is an open folder. Names are looked up beneath it, one component at a time, and no link is followed: a file outside
//! of the folder cannot be reached, even if a component is replaced by a link between two calls. A path that may contain links is
//! resolved first, and its target is then opened beneath the folder that it must be in.
//!
//! `system` is the only backend today. Callers see opaque types, so that a backend in memory changes none of them.

mod stat;
#[cfg(unix)]
#[path = "unix.rs"]
mod system;
#[cfg(not(unix))]
#[path = "other.rs"]
mod system;

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

pub use stat::{FileId, Kind, Stat};

/// An open folder. Clones are the same folder, which stays the same whatever happens to its name.
#[derive(Clone, Debug)]
pub struct Folder {
    system: Arc<system::Folder>,
    path: PathBuf,
}

/// A regular file that is open for reading.
#[derive(Debug)]
pub struct OpenFile {
    file: File,
    /// What it was when it was opened.
    stat: Stat,
}

/// A new file that is open for writing.
#[derive(Debug)]
pub struct NewFile {
    file: File,
}

/// The lock of a folder, see [`Folder::lock`].
#[derive(Debug)]
pub struct Lock(#[allow(dead_code)] system::Lock);

/// Which file a path leads to, with links followed; none if there is nothing.
#[must_use]
pub fn id_of(path: &Path) -> Option<FileId> {
    system::id_of(path)
}

/// Attempts to open a folder whose path changes meanwhile.
const ATTEMPTS: usize = 8;

impl Folder {
    /// Opens the folder at a path; links are followed.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn open(path: &Path) -> io::Result<Folder> {
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        for _ in 0..ATTEMPTS {
            let system = system::Folder::open(path)?;
            let resolved = fs::canonicalize(path)?;
            // The handle and the resolved path must mean one folder, since links are resolved by path.
            if system.id()? == system::Folder::open(&resolved)?.id()? {
                return Ok(Folder { system: Arc::new(system), path: resolved });
            }
        }
        Err(io::Error::other("the folder changed while it was opened"))
    }

    /// The path of the folder when it was opened, with links resolved.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Which folder this is, whatever its name.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn id(&self) -> io::Result<FileId> {
        self.system.id()
    }

    /// Opens a folder beneath this one.
    ///
    /// # Errors
    /// Those of the operating system. A link is not followed: "not a directory".
    pub fn folder(&self, path: &Path) -> io::Result<Folder> {
        let mut folder = self.clone();
        for name in names(path)? {
            folder = Folder { system: Arc::new(folder.system.folder(name)?), path: folder.path.join(name) };
        }
        Ok(folder)
    }

    /// Opens a regular file beneath this folder for reading.
    ///
    /// # Errors
    /// Those of the operating system; also if there is something other than a regular file, which is not opened.
    pub fn read(&self, path: &Path) -> io::Result<OpenFile> {
        let (folder, name) = self.parent(path)?;
        OpenFile::new(folder.system.read(name)?)
    }

    /// What is at a path beneath this folder; a link is not followed. None if there is nothing.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn stat(&self, path: &Path) -> io::Result<Option<Stat>> {
        let found = self.parent(path).and_then(|(folder, name)| folder.system.stat(name));
        match found {
            Ok(stat) => Ok(Some(stat)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Checks that the file at a path beneath this folder is the one that was opened, with the content that it had then, as far as the
    /// system tells.
    ///
    /// # Errors
    /// "changed while it was read" if not; also those of the operating system.
    pub fn expect_unchanged(&self, path: &Path, opened: &Stat) -> io::Result<()> {
        match self.stat(path)? {
            Some(now) if now.has_content_of(opened) => Ok(()),
            _ => Err(io::Error::other("changed while it was read")),
        }
    }

    /// The names of everything in this folder, in order.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn list(&self) -> io::Result<Vec<OsString>> {
        let mut names = self.system.list()?;
        names.sort();
        Ok(names)
    }

    /// Creates a folder in this one.
    ///
    /// # Errors
    /// Those of the operating system; also if the name is in use.
    pub fn create_folder(&self, name: &OsStr) -> io::Result<()> {
        self.system.create_folder(only(name)?)
    }

    /// Creates the folders on the way to a path beneath this one, as far as they do not exist, and opens the last of them.
    ///
    /// # Errors
    /// Those of the operating system; also if something other than a folder has one of the names.
    pub fn create_folders_to(&self, path: &Path) -> io::Result<Folder> {
        let mut folder = self.clone();
        for name in names(path.parent().unwrap_or(Path::new("")))? {
            match folder.create_folder(name) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                _ => folder = folder.folder(Path::new(name))?,
            }
        }
        Ok(folder)
    }

    /// Creates a file in this folder, with the permissions of a new file.
    ///
    /// # Errors
    /// Those of the operating system; also if the name is in use, be it by a link to nothing.
    pub fn create(&self, name: &OsStr) -> io::Result<NewFile> {
        Ok(NewFile { file: self.system.create(only(name)?)? })
    }

    /// Creates a file without a name in the file system of this folder; it is deleted when it is closed, unless [`Folder::link`] gives
    /// it a name. None where the system has no such files.
    #[must_use]
    pub fn create_unnamed(&self) -> Option<NewFile> {
        self.system.create_unnamed().map(|file| NewFile { file })
    }

    /// Gives a name in this folder to a file that has none.
    ///
    /// # Errors
    /// Those of the operating system; also if the name is in use.
    pub fn link(&self, file: &NewFile, name: &OsStr) -> io::Result<()> {
        self.system.link(&file.file, only(name)?)
    }

    /// Renames a file of this folder, in one step. A file of the new name is replaced.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        self.system.rename(only(from)?, only(to)?)
    }

    /// Renames a file of this folder, in one step. Nothing is replaced.
    ///
    /// # Errors
    /// Those of the operating system; also if the new name is in use.
    pub fn rename_new(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        self.system.rename_new(only(from)?, only(to)?)
    }

    /// Gives a second name, in another folder or this one, to a file of this folder (a hard link).
    ///
    /// # Errors
    /// Those of the operating system; also if the new name is in use, or the file system has no hard links.
    pub fn link_again(&self, from: &OsStr, into: &Folder, to: &OsStr) -> io::Result<()> {
        self.system.link_again(only(from)?, &into.system, only(to)?)
    }

    /// Waits until no other process holds the lock of this folder, and holds it until the value is dropped. None where the system, the
    /// file system or the permissions of the folder do not allow it.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn lock(&self) -> io::Result<Option<Lock>> {
        Ok(self.system.lock()?.map(Lock))
    }

    /// Removes a file of this folder.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn remove(&self, name: &OsStr) -> io::Result<()> {
        self.system.remove(only(name)?)
    }

    /// Makes the names in this folder last through a power failure.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn sync(&self) -> io::Result<()> {
        self.system.sync()
    }

    /// The folder that a path beneath this one ends in, and the last name.
    fn parent<'p>(&self, path: &'p Path) -> io::Result<(Folder, &'p OsStr)> {
        let name = names(path)?.next_back().ok_or_else(not_beneath)?;
        Ok((self.folder(path.parent().unwrap_or(Path::new("")))?, name))
    }
}

impl OpenFile {
    /// Takes a file that is open.
    ///
    /// # Errors
    /// Those of the operating system; also if it is not a regular file.
    pub fn new(file: File) -> io::Result<OpenFile> {
        let stat = Stat::of_file(&file)?;
        match stat.kind {
            Kind::File => Ok(OpenFile { file, stat }),
            _ => Err(not_regular()),
        }
    }

    /// The open file of the system, to be mapped. A backend in memory has none.
    #[must_use]
    pub fn system(&self) -> Option<&File> {
        Some(&self.file)
    }

    /// What it was when it was opened.
    #[must_use]
    pub fn stat(&self) -> &Stat {
        &self.stat
    }

    /// Whether it is certain that no running process has marked it, see [`NewFile::claim`].
    #[must_use]
    pub fn is_unclaimed(&self) -> bool {
        system::is_unclaimed(&self.file)
    }
}

impl NewFile {
    /// The open file of the system, for writes that need more than this module offers. A backend in memory has none.
    #[must_use]
    pub fn system(&self) -> Option<&File> {
        Some(&self.file)
    }

    /// What it is now.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn stat(&self) -> io::Result<Stat> {
        Stat::of_file(&self.file)
    }

    /// Gives it the owner, the group and the permissions of an older file, as far as this user may. Where the group cannot be kept, the
    /// new group may do no more than everybody.
    ///
    /// # Errors
    /// Those of the operating system when the permissions are set.
    pub fn take_permissions_of(&self, old: &Stat) -> io::Result<()> {
        system::take_permissions(&self.file, old)
    }

    /// Gives it the attributes that users and access control lists attached to an older file, as far as the system allows.
    pub fn take_attributes_of(&self, old: &OpenFile) {
        system::take_attributes(&self.file, &old.file);
    }

    /// Gives it permissions, as in Unix; elsewhere it has those that its folder gives.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn set_mode(&self, mode: u32) -> io::Result<()> {
        system::set_mode(&self.file, mode)
    }

    /// Marks it as in use by this process, which ends with the process. False if another process has marked it.
    #[must_use]
    pub fn claim(&self) -> bool {
        system::claim(&self.file)
    }

    /// Brings its bytes to the disk.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn sync(&self) -> io::Result<()> {
        self.file.sync_all()
    }
}

/// The components of a path that leads down only.
fn names(path: &Path) -> io::Result<impl DoubleEndedIterator<Item = &OsStr>> {
    let name = |component| match component {
        Component::Normal(name) => Ok(name),
        _ => Err(not_beneath()),
    };
    Ok(path.components().map(name).collect::<io::Result<Vec<_>>>()?.into_iter())
}

/// A name that is one component.
fn only(name: &OsStr) -> io::Result<&OsStr> {
    let mut names = names(Path::new(name))?;
    match (names.next(), names.next()) {
        (Some(only), None) if only == name => Ok(name),
        _ => Err(not_beneath()),
    }
}

fn not_beneath() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "is not a path beneath the folder")
}

fn not_regular() -> io::Error {
    io::Error::other("is not a regular file")
}

#[cfg(test)]
mod tests;

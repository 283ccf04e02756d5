//! An open folder, and everything that is done beneath it.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;

use super::file::{Content, NewFile, OpenFile};
use super::names::{names, not_beneath, only};
use super::stat::{FileId, Stat};
use super::{memory, system};

/// An open folder. Clones are the same folder, which stays the same whatever happens to its name.
#[derive(Clone, Debug)]
pub struct Folder {
    backend: Backend,
    path: PathBuf,
}

#[derive(Clone, Debug)]
enum Backend {
    System(Arc<system::Folder>),
    Memory(memory::Folder),
}

/// The lock of a folder, see [`Folder::lock`].
#[derive(Debug)]
pub struct Lock(#[allow(dead_code)] system::Lock);

/// Attempts to open a folder whose path changes meanwhile.
const ATTEMPTS: usize = 8;

impl Folder {
    /// Opens the folder at a path; links are followed.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn open(path: &Path) -> io::Result<Folder> {
        if let Some((root, below)) = memory::root_of(path) {
            return Ok(Folder::in_memory(root.open(&below)?));
        }
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        for _ in 0..ATTEMPTS {
            let system = system::Folder::open(path)?;
            let resolved = fs::canonicalize(path)?;
            // The handle and the resolved path must mean one folder, since links are resolved by path.
            if system.id()? == system::Folder::open(&resolved)?.id()? {
                return Ok(Folder { backend: Backend::System(Arc::new(system)), path: resolved });
            }
        }
        Err(io::Error::other("the folder changed while it was opened"))
    }

    /// A new folder in memory. It lives as long as a clone of it, a folder beneath it, or a model that was read from it; until then, the
    /// files in it can be read and written under [`Folder::path`] like those of the operating system.
    ///
    /// ```
    /// use onnx_recast::internals::files::Folder;
    ///
    /// # fn main() -> std::io::Result<()> {
    /// let folder = Folder::memory();
    /// folder.insert("weights.bin", vec![0; 40])?;
    /// assert_eq!(folder.bytes("weights.bin")?.len(), 40);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn memory() -> Folder {
        Folder::in_memory(memory::Folder::new(false))
    }

    /// A folder in memory that behaves as on Windows: a file whose bytes someone holds can be neither replaced nor removed.
    #[cfg(test)]
    pub(crate) fn memory_that_keeps_files_in_use() -> Folder {
        Folder::in_memory(memory::Folder::new(true))
    }

    pub(super) fn in_memory(folder: memory::Folder) -> Folder {
        Folder { path: folder.path(), backend: Backend::Memory(folder) }
    }

    /// Puts a file into a folder in memory. A file of this name is replaced; `/` in the name makes folders.
    ///
    /// # Errors
    /// If the name leads out of the folder or is that of a folder; also if this is a folder of the operating system.
    pub fn insert(&self, name: impl AsRef<Path>, bytes: impl Into<Bytes>) -> io::Result<()> {
        match &self.backend {
            Backend::System(_) => Err(io::ErrorKind::Unsupported.into()),
            Backend::Memory(folder) => folder.insert(name.as_ref(), bytes.into()),
        }
    }

    /// All bytes of a file beneath this folder; a file in memory is not copied.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn bytes(&self, name: impl AsRef<Path>) -> io::Result<Bytes> {
        let file = self.read(name.as_ref())?;
        match &file.content {
            Content::Memory(inode) => Ok(inode.bytes()),
            Content::System(file) => {
                let mut bytes = Vec::new();
                io::Read::read_to_end(&mut &*file, &mut bytes)?;
                Ok(bytes.into())
            }
        }
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
        match &self.backend {
            Backend::System(folder) => folder.id(),
            Backend::Memory(folder) => Ok(folder.id()),
        }
    }

    /// Opens a folder beneath this one.
    ///
    /// # Errors
    /// Those of the operating system. A link is not followed: "not a directory".
    pub fn folder(&self, path: &Path) -> io::Result<Folder> {
        let mut folder = self.clone();
        for name in names(path)? {
            let backend = match &folder.backend {
                Backend::System(folder) => Backend::System(Arc::new(folder.folder(name)?)),
                Backend::Memory(folder) => Backend::Memory(folder.folder(name)?),
            };
            folder = Folder { backend, path: folder.path.join(name) };
        }
        Ok(folder)
    }

    /// Opens a regular file beneath this folder for reading.
    ///
    /// # Errors
    /// Those of the operating system; also if there is something other than a regular file, which is not opened.
    pub fn read(&self, path: &Path) -> io::Result<OpenFile> {
        let (folder, name) = self.parent(path)?;
        match &folder.backend {
            Backend::System(folder) => OpenFile::new(folder.read(name)?),
            Backend::Memory(folder) => {
                let inode = folder.read(name)?;
                Ok(OpenFile { stat: inode.stat(), content: Content::Memory(inode) })
            }
        }
    }

    /// What is at a path beneath this folder; a link is not followed. None if there is nothing.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn stat(&self, path: &Path) -> io::Result<Option<Stat>> {
        let found = self.parent(path).and_then(|(folder, name)| match &folder.backend {
            Backend::System(folder) => folder.stat(name),
            Backend::Memory(folder) => folder.stat(name),
        });
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
        let mut names = match &self.backend {
            Backend::System(folder) => folder.list()?,
            Backend::Memory(folder) => folder.list(),
        };
        names.sort();
        Ok(names)
    }

    /// Creates a folder in this one.
    ///
    /// # Errors
    /// Those of the operating system; also if the name is in use.
    pub fn create_folder(&self, name: &OsStr) -> io::Result<()> {
        match &self.backend {
            Backend::System(folder) => folder.create_folder(only(name)?),
            Backend::Memory(folder) => folder.create_folder(only(name)?),
        }
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
        match &self.backend {
            Backend::System(folder) => Ok(NewFile(Content::System(folder.create(only(name)?)?))),
            Backend::Memory(folder) => {
                let inode = memory::Inode::new();
                folder.link(&inode, only(name)?)?;
                Ok(NewFile(Content::Memory(inode)))
            }
        }
    }

    /// Creates a file without a name in the file system of this folder; it is deleted when it is closed, unless [`Folder::link`] gives
    /// it a name. None where the system has no such files.
    #[must_use]
    pub fn create_unnamed(&self) -> Option<NewFile> {
        match &self.backend {
            Backend::System(folder) => folder.create_unnamed().map(|file| NewFile(Content::System(file))),
            Backend::Memory(_) => Some(NewFile(Content::Memory(memory::Inode::new()))),
        }
    }

    /// Gives a name in this folder to a file that has none.
    ///
    /// # Errors
    /// Those of the operating system; also if the name is in use.
    pub fn link(&self, file: &NewFile, name: &OsStr) -> io::Result<()> {
        match (&self.backend, &file.0) {
            (Backend::System(folder), Content::System(file)) => folder.link(file, only(name)?),
            (Backend::Memory(folder), Content::Memory(inode)) => folder.link(inode, only(name)?),
            _ => Err(io::ErrorKind::CrossesDevices.into()),
        }
    }

    /// Renames a file of this folder, in one step. A file of the new name is replaced.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        match &self.backend {
            Backend::System(folder) => folder.rename(only(from)?, only(to)?),
            Backend::Memory(folder) => folder.rename(only(from)?, only(to)?),
        }
    }

    /// Renames a file of this folder, in one step. Nothing is replaced.
    ///
    /// # Errors
    /// Those of the operating system; also if the new name is in use.
    pub fn rename_new(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        match &self.backend {
            Backend::System(folder) => folder.rename_new(only(from)?, only(to)?),
            Backend::Memory(folder) => folder.rename_new(only(from)?, only(to)?),
        }
    }

    /// Gives a second name, in another folder or this one, to a file of this folder (a hard link).
    ///
    /// # Errors
    /// Those of the operating system; also if the new name is in use, or the file system has no hard links.
    pub fn link_again(&self, from: &OsStr, into: &Folder, to: &OsStr) -> io::Result<()> {
        match (&self.backend, &into.backend) {
            (Backend::System(folder), Backend::System(into)) => folder.link_again(only(from)?, into, only(to)?),
            (Backend::Memory(folder), Backend::Memory(into)) => into.link(&folder.read(only(from)?)?, only(to)?),
            _ => Err(io::ErrorKind::CrossesDevices.into()),
        }
    }

    /// Waits until no other process holds the lock of this folder, and holds it until the value is dropped. None where the system, the
    /// file system or the permissions of the folder do not allow it.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn lock(&self) -> io::Result<Option<Lock>> {
        match &self.backend {
            Backend::System(folder) => Ok(folder.lock()?.map(Lock)),
            // No other process has it.
            Backend::Memory(_) => Ok(None),
        }
    }

    /// Removes a file of this folder.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn remove(&self, name: &OsStr) -> io::Result<()> {
        match &self.backend {
            Backend::System(folder) => folder.remove(only(name)?),
            Backend::Memory(folder) => folder.remove(only(name)?),
        }
    }

    /// Makes the names in this folder last through a power failure.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn sync(&self) -> io::Result<()> {
        match &self.backend {
            Backend::System(folder) => folder.sync(),
            Backend::Memory(_) => Ok(()),
        }
    }

    /// The folder that a path beneath this one ends in, and the last name.
    fn parent<'p>(&self, path: &'p Path) -> io::Result<(Folder, &'p OsStr)> {
        let name = names(path)?.next_back().ok_or_else(not_beneath)?;
        Ok((self.folder(path.parent().unwrap_or(Path::new("")))?, name))
    }
}

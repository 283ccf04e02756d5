//! An open folder, and all operations beneath it.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use super::components::{names, not_beneath, only};
use super::file::{FileContent, OpenFile, OpenNewFile};
use super::stat::{FileId, Stat};
use super::{memory, system};
use crate::base::stored::Stored;

/// An open folder. Clones refer to the same folder, which stays the same even if it is renamed.
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

/// How long another process may keep the lock of a folder.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// Attempts to open a folder whose path is being changed.
const ATTEMPTS: usize = 8;

impl Folder {
    /// Opens the folder at a path; links are followed.
    ///
    /// # Errors
    /// Any I/O error.
    pub fn open(path: &Path) -> io::Result<Folder> {
        if let Some((root, below)) = memory::root_of(path) {
            return Ok(Folder::in_memory(root.open(&below)?));
        }
        let path = if path.as_os_str().is_empty() {
            Path::new(".")
        } else {
            path
        };
        for _ in 0..ATTEMPTS {
            let system = system::Folder::open(path)?;
            let resolved = fs::canonicalize(path)?;
            // The handle and the resolved path must mean one folder, since links are resolved by
            // path.
            if system.id()? == system::Folder::open(&resolved)?.id()? {
                return Ok(Folder {
                    backend: Backend::System(Arc::new(system)),
                    path: resolved,
                });
            }
        }
        Err(io::Error::other("the folder changed while it was opened"))
    }

    /// A new folder in memory. It exists while a clone of it, a folder beneath it, or a model that
    /// was read from it exists. Meanwhile, its files can be read and written under [`Folder::path`]
    /// like files of the operating system.
    ///
    /// ```
    /// use onnx_recast::internals::files::folders::Folder;
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

    /// Runs `work` with a folder in memory in place of the files of the operating system: on this
    /// thread, relative paths and those that begin with `/` are paths beneath it.
    pub fn with_virtual_file_system<T>(work: impl FnOnce(&Folder) -> T) -> T {
        memory::Folder::with_virtual_file_system(|folder| work(&Folder::in_memory(folder.clone())))
    }

    /// The paths and bytes of all files of the table in memory of which this folder is a part; none
    /// if it is one of the operating system.
    #[must_use]
    pub fn files(&self) -> Vec<(PathBuf, Stored)> {
        match &self.backend {
            Backend::System(_) => Vec::new(),
            Backend::Memory(folder) => folder.files(),
        }
    }

    /// A folder in memory that behaves as on Windows: a file whose bytes are in use can be neither
    /// replaced nor removed.
    #[cfg(test)]
    pub(crate) fn memory_that_keeps_files_in_use() -> Folder {
        Folder::in_memory(memory::Folder::new(true))
    }

    pub(super) fn in_memory(folder: memory::Folder) -> Folder {
        Folder {
            path: folder.path(),
            backend: Backend::Memory(folder),
        }
    }

    /// Adds a file to a folder in memory. A file of this name is replaced; folders in the name
    /// (`a/b`) are created.
    ///
    /// # Errors
    /// If the name leads out of the folder or is that of a folder; also if this is a folder of the
    /// operating system.
    pub fn insert(&self, name: impl AsRef<Path>, bytes: impl Into<Stored>) -> io::Result<()> {
        match &self.backend {
            Backend::System(_) => Err(io::ErrorKind::Unsupported.into()),
            Backend::Memory(folder) => folder.insert(name.as_ref(), bytes.into()),
        }
    }

    /// The bytes of a file beneath this folder; those of a file in memory are not copied.
    ///
    /// # Errors
    /// Any I/O error.
    pub fn bytes(&self, name: impl AsRef<Path>) -> io::Result<Bytes> {
        let file = self.read(name.as_ref())?;
        match &file.content {
            FileContent::Memory(inode) => inode.bytes().try_to_bytes(),
            FileContent::System(file) => {
                let mut bytes = Vec::new();
                io::Read::read_to_end(&mut &*file, &mut bytes)?;
                Ok(bytes.into())
            }
        }
    }

    /// The path of the folder at the time when it was opened, with links resolved.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folder in memory, and the components of a path after that of its table, if the path begins
    /// with it.
    pub(super) fn in_own_table<'p>(&self, path: &'p Path) -> Option<(&memory::Folder, &'p Path)> {
        match &self.backend {
            Backend::System(_) => None,
            Backend::Memory(folder) => Some((folder, folder.below_root(path)?)),
        }
    }

    /// The identity of the folder, independent of its name.
    ///
    /// # Errors
    /// Any I/O error.
    pub fn id(&self) -> io::Result<FileId> {
        match &self.backend {
            Backend::System(folder) => folder.id(),
            Backend::Memory(folder) => Ok(folder.id()),
        }
    }

    /// Opens a folder beneath this one.
    ///
    /// # Errors
    /// Any I/O error. A link is not followed: "not a directory".
    pub fn folder(&self, path: &Path) -> io::Result<Folder> {
        let mut folder = self.clone();
        for name in names(path)? {
            let backend = match &folder.backend {
                Backend::System(folder) => Backend::System(Arc::new(folder.folder(name)?)),
                Backend::Memory(folder) => Backend::Memory(folder.folder(name)?),
            };
            folder = Folder {
                backend,
                path: folder.path.join(name),
            };
        }
        Ok(folder)
    }

    /// Opens a regular file beneath this folder for reading.
    ///
    /// # Errors
    /// Any I/O error; also if the path is not that of a regular file, which is then
    /// not opened.
    pub fn read(&self, path: &Path) -> io::Result<OpenFile> {
        let (folder, name) = self.parent(path)?;
        match &folder.backend {
            Backend::System(folder) => OpenFile::new(folder.read(name)?),
            Backend::Memory(folder) => {
                let inode = folder.read(name)?;
                Ok(OpenFile {
                    stat: inode.stat(),
                    content: FileContent::Memory(inode),
                })
            }
        }
    }

    /// The metadata of a path beneath this folder; links are not followed. None if the path does
    /// not exist.
    ///
    /// # Errors
    /// Any I/O error.
    pub fn stat(&self, path: &Path) -> io::Result<Option<Stat>> {
        let found = self
            .parent(path)
            .and_then(|(folder, name)| match &folder.backend {
                Backend::System(folder) => folder.stat(name),
                Backend::Memory(folder) => folder.stat(name),
            });
        match found {
            Ok(stat) => Ok(Some(stat)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Checks that the file at a path beneath this folder is still the file that was opened, with
    /// the same content, as far as the system's metadata shows.
    ///
    /// # Errors
    /// If the file has changed; also any I/O error.
    pub fn expect_unchanged(&self, path: &Path, opened: &Stat) -> io::Result<()> {
        match self.stat(path)? {
            Some(now) if now.has_content_of(opened) => Ok(()),
            _ => Err(io::Error::other("changed while it was read")),
        }
    }

    /// The sorted names of the entries of this folder.
    ///
    /// # Errors
    /// Any I/O error.
    pub fn list(&self) -> io::Result<Vec<OsString>> {
        let mut names = match &self.backend {
            Backend::System(folder) => folder.list()?,
            Backend::Memory(folder) => folder.list(),
        };
        names.sort();
        Ok(names)
    }

    /// Creates a folder in this folder.
    ///
    /// # Errors
    /// Any I/O error; also if the name is in use.
    pub fn create_folder(&self, name: &OsStr) -> io::Result<()> {
        match &self.backend {
            Backend::System(folder) => folder.create_folder(only(name)?),
            Backend::Memory(folder) => folder.create_folder(only(name)?),
        }
    }

    /// Creates the missing folders of a path beneath this folder, and opens the innermost.
    ///
    /// # Errors
    /// Any I/O error; also if something other than a folder has one of the names.
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

    /// Creates a file in this folder. `mode` is its permissions, as on Unix, before the user's
    /// umask is applied.
    ///
    /// # Errors
    /// Any I/O error; also if the name is in use, even by a dangling link.
    pub fn create(&self, name: &OsStr, mode: u32) -> io::Result<OpenNewFile> {
        match &self.backend {
            Backend::System(folder) => Ok(OpenNewFile(FileContent::System(
                folder.create(only(name)?, mode)?,
            ))),
            Backend::Memory(folder) => {
                let inode = folder.create();
                folder.link(&inode, only(name)?)?;
                Ok(OpenNewFile(FileContent::Memory(inode)))
            }
        }
    }

    /// Creates an unnamed file in the file system of this folder. It is deleted when it is closed,
    /// unless [`Folder::link`] gives it a name. None if the system does not support unnamed files.
    #[must_use]
    pub fn create_unnamed(&self) -> Option<OpenNewFile> {
        match &self.backend {
            Backend::System(folder) => folder
                .create_unnamed()
                .map(|file| OpenNewFile(FileContent::System(file))),
            Backend::Memory(folder) => Some(OpenNewFile(FileContent::Memory(folder.create()))),
        }
    }

    /// Gives an unnamed file a name in this folder.
    ///
    /// # Errors
    /// Any I/O error; also if the name is in use.
    pub fn link(&self, file: &OpenNewFile, name: &OsStr) -> io::Result<()> {
        match (&self.backend, &file.0) {
            (Backend::System(folder), FileContent::System(file)) => folder.link(file, only(name)?),
            (Backend::Memory(folder), FileContent::Memory(inode)) => {
                folder.link(inode, only(name)?)
            }
            _ => Err(io::ErrorKind::CrossesDevices.into()),
        }
    }

    /// Atomically renames a file of this folder. A file of the new name is replaced.
    ///
    /// # Errors
    /// Any I/O error.
    pub fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        match &self.backend {
            Backend::System(folder) => folder.rename(only(from)?, only(to)?),
            Backend::Memory(folder) => folder.rename(only(from)?, only(to)?),
        }
    }

    /// Atomically renames a file of this folder. Does not replace a file.
    ///
    /// # Errors
    /// Any I/O error; also if the new name is in use.
    pub fn rename_new(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        match &self.backend {
            Backend::System(folder) => folder.rename_new(only(from)?, only(to)?),
            Backend::Memory(folder) => folder.rename_new(only(from)?, only(to)?),
        }
    }

    /// Gives a file of this folder a second name (a hard link), in this folder or another one.
    ///
    /// # Errors
    /// Any I/O error; also if the new name is in use, or the file system does not
    /// support hard links.
    pub fn link_again(&self, from: &OsStr, into: &Folder, to: &OsStr) -> io::Result<()> {
        match (&self.backend, &into.backend) {
            (Backend::System(folder), Backend::System(into)) => {
                folder.link_again(only(from)?, into, only(to)?)
            }
            (Backend::Memory(folder), Backend::Memory(into)) => {
                into.link(&folder.read(only(from)?)?, only(to)?)
            }
            _ => Err(io::ErrorKind::CrossesDevices.into()),
        }
    }

    /// Waits until no other process has locked this folder, at most for a minute, and locks it
    /// until the value is dropped. None if the system, the file system or the permissions of the
    /// folder do not allow this.
    ///
    /// # Errors
    /// Any I/O error; also if another process keeps the lock: it needs it for
    /// milliseconds, unless it was stopped.
    pub fn lock(&self) -> io::Result<Option<Lock>> {
        self.lock_within(LONGEST_WAIT)
    }

    pub(super) fn lock_within(&self, wait: Duration) -> io::Result<Option<Lock>> {
        match &self.backend {
            Backend::System(folder) => Ok(folder.lock(wait)?.map(Lock)),
            // No other process can use a folder in memory.
            Backend::Memory(_) => Ok(None),
        }
    }

    /// Removes a file of this folder.
    ///
    /// # Errors
    /// Any I/O error.
    pub fn remove(&self, name: &OsStr) -> io::Result<()> {
        match &self.backend {
            Backend::System(folder) => folder.remove(only(name)?),
            Backend::Memory(folder) => folder.remove(only(name)?),
        }
    }

    /// Whether the sticky bit permits the user to replace and remove a file of this folder. In a
    /// folder with the sticky bit, only the owner of the file or of the folder may do so.
    ///
    /// # Errors
    /// Any I/O error.
    pub fn lets_replace(&self, file: &Stat) -> io::Result<bool> {
        match &self.backend {
            Backend::System(folder) => folder.lets_replace(file),
            Backend::Memory(_) => Ok(true),
        }
    }

    /// Flushes the names in this folder to the disk, so that they survive a power failure.
    ///
    /// # Errors
    /// Any I/O error.
    pub fn sync(&self) -> io::Result<()> {
        match &self.backend {
            Backend::System(folder) => folder.sync(),
            Backend::Memory(_) => Ok(()),
        }
    }

    /// The innermost folder of a path beneath this folder, and the file name.
    fn parent<'p>(&self, path: &'p Path) -> io::Result<(Folder, &'p OsStr)> {
        let name = names(path)?.next_back().ok_or_else(not_beneath)?;
        Ok((self.folder(path.parent().unwrap_or(Path::new("")))?, name))
    }
}

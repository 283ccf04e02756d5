//! Open files.

use std::fs::File;
use std::io::{self, Write};
use std::sync::Arc;

use super::components::not_regular;
use super::stat::{EntryKind, Stat};
use super::{memory, system};
use crate::base::stored::Stored;
use crate::protobuf::Layout;

/// A regular file, open for reading.
#[derive(Debug)]
pub struct OpenFile {
    pub(super) content: FileContent,
    /// Its metadata when it was opened.
    pub(super) stat: Stat,
}

/// A new file, open for writing.
#[derive(Debug)]
pub struct OpenNewFile(pub(super) FileContent);

#[derive(Debug)]
pub(super) enum FileContent {
    System(File),
    Memory(Arc<memory::Inode>),
}

/// A file that is read sequentially, from its first byte.
#[derive(Debug)]
pub enum Reading {
    /// A file of the operating system.
    System(File),
    /// A file in memory, and how many of its bytes were read.
    Memory(Stored, u64),
}

impl OpenFile {
    /// Wraps an open file.
    ///
    /// # Errors
    /// Any I/O error; also if it is not a regular file.
    pub fn new(file: File) -> io::Result<OpenFile> {
        let stat = Stat::of_file(&file)?;
        match stat.kind {
            EntryKind::File => Ok(OpenFile {
                content: FileContent::System(file),
                stat,
            }),
            _ => Err(not_regular()),
        }
    }

    /// The open file of the operating system, for mapping. None for a file in memory.
    #[must_use]
    pub fn system(&self) -> Option<&File> {
        match &self.content {
            FileContent::System(file) => Some(file),
            FileContent::Memory(_) => None,
        }
    }

    /// The bytes of a file in memory.
    #[must_use]
    pub fn in_memory(&self) -> Option<Stored> {
        match &self.content {
            FileContent::System(_) => None,
            FileContent::Memory(inode) => Some(inode.bytes()),
        }
    }

    /// Its metadata when it was opened.
    #[must_use]
    pub fn stat(&self) -> &Stat {
        &self.stat
    }

    /// Whether it is certain that no running process has claimed it, see [`OpenNewFile::claim`].
    #[must_use]
    pub fn is_unclaimed(&self) -> bool {
        self.system().is_none_or(system::is_unclaimed)
    }
}

impl OpenNewFile {
    /// The open file of the operating system, for writes that need more than this module offers.
    /// None for a file in memory.
    #[must_use]
    pub fn system(&self) -> Option<&File> {
        match &self.0 {
            FileContent::System(file) => Some(file),
            FileContent::Memory(_) => None,
        }
    }

    /// Writes a complete file in memory, of which the pieces are kept: they are read or computed
    /// when the file is read. False if the bytes have to be written.
    #[must_use]
    pub fn keep(&self, layout: &Layout) -> bool {
        match &self.0 {
            FileContent::System(_) => false,
            FileContent::Memory(inode) => inode.keep(layout),
        }
    }

    /// The file, open for reading.
    ///
    /// # Errors
    /// Any I/O error.
    pub fn reopened(&self) -> io::Result<OpenFile> {
        match &self.0 {
            FileContent::System(file) => OpenFile::new(file.try_clone()?),
            FileContent::Memory(inode) => Ok(OpenFile {
                content: FileContent::Memory(Arc::clone(inode)),
                stat: inode.stat(),
            }),
        }
    }

    /// Its current metadata.
    ///
    /// # Errors
    /// Any I/O error.
    pub fn stat(&self) -> io::Result<Stat> {
        match &self.0 {
            FileContent::System(file) => Stat::of_file(file),
            FileContent::Memory(inode) => Ok(inode.stat()),
        }
    }

    /// Sets the owner, group and permissions of an older file, as far as the user is permitted to.
    /// If the group cannot be set, the new group gets no permission that others do not have.
    ///
    /// # Errors
    /// Any I/O error when the permissions are set.
    pub fn take_permissions_of(&self, old: &Stat) -> io::Result<()> {
        match self.system() {
            Some(file) => system::take_permissions(file, old),
            None => Ok(()),
        }
    }

    /// Copies the user attributes and the access control list of an older file, as far as the
    /// system allows.
    pub fn take_attributes_of(&self, old: &OpenFile) {
        if let (FileContent::System(file), FileContent::System(old)) = (&self.0, &old.content) {
            system::take_attributes(file, old);
        }
    }

    /// Sets its permissions on Unix; on other systems it has those that its folder gives.
    ///
    /// # Errors
    /// Any I/O error.
    pub fn set_mode(&self, mode: u32) -> io::Result<()> {
        match self.system() {
            Some(file) => system::set_mode(file, mode),
            None => Ok(()),
        }
    }

    /// Marks it as in use until this process ends. False if another process has marked it.
    #[must_use]
    pub fn claim(&self) -> bool {
        self.system().is_none_or(system::claim)
    }

    /// Flushes its bytes to the disk.
    ///
    /// # Errors
    /// Any I/O error.
    pub fn sync(&self) -> io::Result<()> {
        match self.system() {
            Some(file) => file.sync_all(),
            None => Ok(()),
        }
    }
}

/// Writes from the first byte to the last.
impl Write for &OpenNewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &self.0 {
            FileContent::System(file) => (&*file).write(bytes),
            FileContent::Memory(inode) => {
                inode.append(bytes);
                Ok(bytes.len())
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl io::Read for Reading {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match self {
            Reading::System(file) => file.read(out),
            Reading::Memory(bytes, read) => {
                let part = out
                    .len()
                    .min(usize::try_from(bytes.len() - *read).unwrap_or(usize::MAX));
                bytes.read(*read, &mut out[..part]);
                *read += part as u64;
                bytes.failure().map_or(Ok(part), Err)
            }
        }
    }
}

impl Stat {
    /// Whether a file that replaces this one can have the same owner.
    #[must_use]
    pub fn can_keep_owner(&self) -> bool {
        system::can_keep_owner(self)
    }
}

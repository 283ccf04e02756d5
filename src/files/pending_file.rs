//! New files that do not have their names yet.
//!
//! A file is complete and flushed before it gets its name, so that a crash leaves the old file or
//! the new one. Each chunk is passed to the disk as soon as it is written.

use std::ffi::OsStr;
use std::io;
use std::path::PathBuf;

use super::folders::{DEFAULT_MODE, Folder, PRIVATE_MODE, Stat};
use super::mapped::mapped;
use super::paths::at;
use super::replaceable::NewFileTarget;
use super::system::write_anywhere;
use super::temporary::Temporary;
use crate::base::progress::Phase;
use crate::base::stored::Stored;
use crate::protobuf::Layout;

/// Why a file of another user is not replaced.
const NOT_OWNED: &str = "belongs to another user, and only its owner can replace it, since the folder has the sticky bit; write to another file";

/// A file to be written.
#[derive(Debug)]
pub struct PendingFile {
    /// Its path.
    pub path: PathBuf,
    /// Its content.
    pub layout: Layout,
    /// The open folder in which it is created; none for the folder of the path.
    pub folder: Option<Folder>,
    /// Its permissions, as on Unix; `None` for the permissions of the replaced file, or the default
    /// permissions.
    pub mode: Option<u32>,
    /// The file whose owner and permissions a new file gets; none for the default ones.
    pub like: Option<Stat>,
    /// Whether the name must be unused; an existing file is then an error.
    pub is_new: bool,
    /// The maximum number of names of the old file: 1 and the known additional names.
    pub names: u64,
}

impl PendingFile {
    /// A file whose name must be unused.
    #[must_use]
    pub fn new(path: PathBuf, layout: Layout) -> PendingFile {
        PendingFile {
            path,
            layout,
            folder: None,
            mode: None,
            like: None,
            is_new: true,
            names: 1,
        }
    }

    /// A file that replaces an existing file and has its permissions.
    #[must_use]
    pub fn replacing(path: PathBuf, layout: Layout) -> PendingFile {
        PendingFile {
            is_new: false,
            ..PendingFile::new(path, layout)
        }
    }
}

/// A file that is complete, but does not have its name yet. It is removed if it does not get its
/// name.
#[derive(Debug)]
pub(super) struct Written {
    file: Temporary,
    pub(super) place: NewFileTarget,
    /// Whether it must not replace a file.
    pub(super) is_new: bool,
}

impl Written {
    /// Writes a file in the folder in which it gets its name, and starts to flush it.
    ///
    /// # Errors
    /// Any I/O error, with the path.
    pub(super) fn new(file: PendingFile, is_read_again: bool) -> io::Result<Written> {
        let PendingFile {
            path,
            layout,
            folder,
            mode,
            like,
            is_new,
            names,
        } = file;
        let write = || {
            let place = NewFileTarget::of(&path, folder, names)?;
            // Names that are made on the way could not be removed again.
            if let Some(old) = &place.old
                && !place.folder.lets_replace(old)?
            {
                return Err(io::Error::new(io::ErrorKind::PermissionDenied, NOT_OWNED));
            }
            let is_default = place.old.is_none() && like.is_none() && mode.is_none();
            // Other users must not read it before it has its permissions.
            let file = Temporary::new(
                &place.folder,
                if is_default {
                    DEFAULT_MODE
                } else {
                    PRIVATE_MODE
                },
            )?;
            layout.enter(Phase::Writing);
            let written = match file.file().system() {
                Some(file) => write_anywhere(&layout, file, is_read_again),
                None if file.file().keep(&layout) => layout.count_written(layout.bytes()),
                None => layout.write_to(&mut file.file()),
            };
            if let Err(error) = written {
                file.discard();
                return Err(error);
            }
            if let Some(old) = &place.old {
                if let Ok(old) = place.folder.read(place.name.as_ref()) {
                    file.file().take_attributes_of(&old);
                }
                file.file().take_permissions_of(old)?;
            } else if let Some(like) = &like {
                file.file().take_permissions_of(like)?;
            }
            if let Some(mode) = mode {
                file.file().set_mode(mode)?;
            }
            layout.enter(Phase::Flushing);
            Ok(Written {
                file,
                place,
                is_new,
            })
        };
        write().map_err(|error| at(&path, error))
    }

    /// Waits until the file is on the disk.
    ///
    /// # Errors
    /// Any I/O error, with the path.
    pub(super) fn flush(&self) -> io::Result<()> {
        self.file
            .file()
            .sync()
            .map_err(|error| at(&self.place.path(), error))
    }

    /// Its bytes, read again.
    ///
    /// # Errors
    /// Any I/O error, with the path.
    pub(super) fn bytes(&self) -> io::Result<Stored> {
        let path = self.place.path();
        let bytes = self
            .file
            .file()
            .reopened()
            .and_then(|file| mapped(&file, &path));
        bytes.map_err(|error| at(&path, error))
    }

    /// Atomically gives the file its name. A file of this name is replaced.
    pub(super) fn name(self) -> io::Result<()> {
        self.give(Temporary::name)
    }

    /// Atomically gives the file its name. Does not replace a file.
    pub(super) fn name_new(self) -> io::Result<()> {
        self.give(Temporary::name_new)
    }

    /// Gives the file its name, and looks whether it has it now. If that cannot be seen, the
    /// system's word is taken: it is too late for an error that says that nothing has changed.
    fn give(self, name: fn(Temporary, &Folder, &OsStr) -> io::Result<()>) -> io::Result<()> {
        let Written { file, place, .. } = self;
        let written = file.file().stat()?;
        name(file, &place.folder, &place.name)?;
        match place.folder.stat(place.name.as_ref()) {
            Ok(Some(found)) if found.is_file_of(&written) => Ok(()),
            Err(_) => Ok(()),
            Ok(_) => Err(io::Error::other(
                "the system reports that the new file has its name, but another file has it, or none",
            )),
        }
    }
}
